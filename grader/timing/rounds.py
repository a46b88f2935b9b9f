"""Measures the kernels of a calibration, round after round; refuses to do so beside other work."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial

from grader.device import Build
from grader.finding import GraderFault, KernelFault
from grader.messages import say
from grader.problems.matmul import Shape
from grader.timing import quiet
from grader.timing.device import TimingDevice
from grader.timing.evidence import ExerciseEvidence, KernelEvidence, spread
from grader.timing.kernels import CalibrationKernel, KernelRole, build_kernel
from grader.timing.measurement import warm_up
from grader.timing.sample import Contestant
from grader.timing.session import Pair, Session
from grader.timing.shapes import LONGEST_BASELINE_S, ShapeKind, shape_of

_COMPILERS = 8  # at once
# A desktop that draws, a process that ends: a round is taken again, not a whole calibration.
_TRIES = 4
# Rounds of one kernel at its graded size agree within this, or the GPU is not quiet. Thresholds
# stand further than this from every kernel.
STEADY = 0.03


class NotQuiet(GraderFault):
    """The GPU is not quiet enough to be calibrated; the text says what shows it."""

    def __init__(self, why: str) -> None:
        super().__init__(
            f"The GPU is not quiet: {why}. No calibration was written. Next: end other work on it "
            "(nvidia-smi shows it), then: make calibrate"
        )


@dataclass(frozen=True)
class Taken:
    """One round of one kernel at one shape."""

    speedup: float
    seconds: float
    baseline_s: float


@dataclass(frozen=True)
class Calibrator:
    """`tell` gets one line whenever a part is done; `key` seeds contents and orders."""

    device: TimingDevice
    key: int
    rounds: int
    pairs: int
    tell: Callable[[str], None]

    def builds(self, kernels: Sequence[CalibrationKernel]) -> Mapping[CalibrationKernel, Build]:
        """Compile every kernel; raises GraderFault for one that cannot be launched here."""
        self.device.describe()  # finds compiler and GPU, once for all
        with ThreadPoolExecutor(_COMPILERS) as pool:
            made = pool.map(partial(build_kernel, self.device), kernels)
            return dict(zip(kernels, made, strict=True))

    def sizes(self, build: Build, sizes: Sequence[int]) -> dict[int, float]:
        """The baseline's seconds for every size that may be graded here, smallest first."""
        known: dict[int, float] = {}
        for size in sizes:
            shape = shape_of(ShapeKind.SQUARE, size)
            smaller = max(known, default=size)
            expected_s = known.get(smaller, 0.0) * (size / smaller) ** 3
            if expected_s > LONGEST_BASELINE_S or not self.device.fits(shape):
                break
            taken_s = self._baseline_s(build, shape)
            if taken_s <= LONGEST_BASELINE_S:
                known[size] = taken_s
        if not known:
            raise GraderFault(
                f"Not even {sizes[0]} x {sizes[0]} can be timed on this GPU: memory is taken, or "
                f"the baseline takes over {LONGEST_BASELINE_S:g} s. Next: nvidia-smi"
            )
        return known

    def exercise(
        self, name: str, builds: Mapping[CalibrationKernel, Build], sizes: Sequence[int]
    ) -> ExerciseEvidence:
        """All kernels of one exercise at these sizes and at the largest one's ragged neighbour."""
        shapes = [shape_of(ShapeKind.SQUARE, size) for size in sizes]
        shapes.append(shape_of(ShapeKind.RAGGED, sizes[-1]))
        taken: dict[tuple[CalibrationKernel, Shape], list[Taken]] = {}
        for number in range(1, self.rounds + 1):
            for kernel, build in builds.items():
                for shape in shapes:
                    try:
                        one = self._round(build, shape, number)
                    except KernelFault as fault:
                        told = f"{name}, {kernel.name}: {say(fault.findings[0])}"
                        raise GraderFault(told) from None
                    taken.setdefault((kernel, shape), []).append(one)
            self.tell(f"{name}: round {number} of {self.rounds}")
        for kernel, shape in taken:
            if shape in [shape_of(kind, sizes[-1]) for kind in ShapeKind]:
                taken[kernel, shape] = self._agreeing(builds[kernel], shape, taken[kernel, shape])
        rows = tuple(_row(kernel, shape, found) for (kernel, shape), found in taken.items())
        return ExerciseEvidence(name, sizes[-1], rows)

    def _agreeing(self, build: Build, shape: Shape, taken: list[Taken]) -> list[Taken]:
        """Rounds of one kernel, of which one that stands alone was taken again, a few times."""
        for number in range(self.rounds + 1, self.rounds + _TRIES):
            if spread([one.speedup for one in taken]) <= STEADY:
                break
            middle = statistics.median(one.speedup for one in taken)
            alone = max(taken, key=lambda one: abs(one.speedup - middle))
            taken = [one for one in taken if one is not alone]
            taken.append(self._round(build, shape, number))
        return taken

    def _round(self, build: Build, shape: Shape, number: int) -> Taken:
        """Loaded anew, as in a grading of its own. Raises NotQuiet after several tries."""
        why = ""
        for again in range(_TRIES):
            key = self.key + number * _TRIES + again
            with closing(self.device.stopwatch(build, shape, key)) as watch:
                session = Session(watch, key)
                warm_up(session)
                pairs = [session.pair() for _ in range(self.pairs)]
                conditions = session.conditions()
            why = _why_not_quiet(pairs)
            if not why and not quiet.slowdown(conditions):
                return Taken(
                    statistics.median(pair.ratio for pair in pairs),
                    statistics.median(pair.student.seconds for pair in pairs),
                    statistics.median(pair.baseline.seconds for pair in pairs),
                )
            why = why or f"{quiet.slowdown(conditions)} at {shape}"
        raise NotQuiet(why)

    def _baseline_s(self, build: Build, shape: Shape) -> float:
        with closing(self.device.stopwatch(build, shape, self.key)) as watch:
            session = Session(watch, self.key)
            return min(session.sample(Contestant.BASELINE).seconds for _ in range(3))


def _why_not_quiet(pairs: Sequence[Pair]) -> str:
    if away := [pair for pair in pairs if quiet.is_away(pair)]:
        gap_s = max(pair.longest_gap_s for pair in away)
        return f"right before a launch it was away for {gap_s * 1e3:.2g} ms"
    return ""


def check_steady(evidence: ExerciseEvidence) -> None:
    """Raises NotQuiet where the rounds of a kernel that decides about the thresholds disagree at a
    graded shape. A kernel of another make may be unsteady by nature."""
    for kind in ShapeKind:
        for row in evidence.at(shape_of(kind, evidence.size)):
            if row.spread > STEADY and row.kernel.role is not KernelRole.OTHER:
                raise NotQuiet(
                    f"rounds of {evidence.name}, {row.kernel.name}, {row.shape} differ by "
                    f"{100 * row.spread:.1f} %"
                )


def _row(kernel: CalibrationKernel, shape: Shape, taken: Sequence[Taken]) -> KernelEvidence:
    return KernelEvidence(
        kernel,
        shape,
        tuple(one.speedup for one in taken),
        statistics.median(one.seconds for one in taken),
        statistics.median(one.baseline_s for one in taken),
    )
