"""Takes the time of one kernel on a GPU, for one shape after another."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from grader.bench.cpu import Processor
from grader.bench.progress import Step
from grader.device import Build, LaunchConfig
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.timing.device import TimingDevice
from grader.timing.measurement import Measurement, attempt, cublas_seconds
from grader.timing.roofline import gflops, of_device, operations
from grader.timing.rule import StoppingRule
from grader.timing.sample import Conditions
from grader.timing.session import Session
from grader.timing.shapes import ShapeKind, shape_of

SIZES = (512, 1024, 2048, 4096, 8192)
# The ragged neighbours of these: one small, one large.
RAGGED_SIZES = (1024, 4096)
# A second a shape: a plot needs no third digit. Grading has its own rule.
RULE = StoppingRule(least_pairs=7, half_width=0.01, budget_s=1.0)
# A kernel that would take longer than this for one launch is not made to.
LONGEST_LAUNCH_S = 2.0


@dataclass(frozen=True)
class ShapeTimes:
    """One shape. Seconds are medians; `cublas_s` is 0 where the library is not there; `numpy_s` is
    0 where it was not asked, and an estimate unless `numpy_measured`. `bound_s` is what
    the roofline allows, 0 where it is not known; `note` says what disturbed the measurement."""

    shape: Shape
    student_s: float
    baseline_s: float
    cublas_s: float = 0.0
    numpy_s: float = 0.0
    numpy_measured: bool = True
    bound_s: float = 0.0
    note: str = ""
    conditions: Conditions | None = None

    @property
    def gflops(self) -> float:
        return gflops(self.shape, self.student_s)

    @property
    def speedup(self) -> float:
        """How many times faster than the baseline."""
        return self.baseline_s / self.student_s

    @property
    def roof_share(self) -> float:
        """Of what the roofline allows; 0 where it is not known."""
        return self.bound_s / self.student_s


@dataclass(frozen=True)
class LeftOut:
    """A shape that was not measured, and why."""

    shape: Shape
    reason: str


ShapeResult = ShapeTimes | LeftOut


def usual_shapes(config: LaunchConfig, ragged: bool) -> tuple[Shape, ...]:
    """Squares, made of whole tiles where the kernel needs that, and ragged neighbours."""
    squares = [shape_of(ShapeKind.SQUARE, size) for size in SIZES]
    if not ragged:
        return tuple(shape.filled(config.tiles) for shape in squares)
    return (*squares, *(shape_of(ShapeKind.RAGGED, size) for size in RAGGED_SIZES))


class Clock:
    """Measures a build, shape by shape, smallest first; draws no more than it needs."""

    def __init__(
        self, device: TimingDevice, build: Build, seed: int, processor: Processor | None = None
    ) -> None:
        """Without a `processor` NumPy is not measured."""
        self._device = device
        self._build = build
        self._seed = seed
        self._processor = processor
        self._slowest = 0.0  # seconds of the last launch for each operation

    def rows(self, shapes: Sequence[Shape], step: Step) -> Iterator[ShapeResult]:
        """Raises KernelFault where a timed launch goes wrong, GraderFault."""
        for shape in shapes:
            step(str(shape))
            yield self._row(shape)

    def _row(self, shape: Shape) -> ShapeResult:
        if not self._device.fits(shape):
            return LeftOut(shape, "does not fit into the GPU's free memory")
        expected_s = self._slowest * operations(shape)
        if expected_s > LONGEST_LAUNCH_S:
            return LeftOut(shape, f"one launch would take about {expected_s:.1f} s")
        bound_s = of_device(self._device.describe()).bound_s(shape)
        measured, cublas_s = self._measure(shape, bound_s)
        self._slowest = measured.student_s / operations(shape)
        numpy_s, known = self._processor.seconds(shape) if self._processor else (0.0, True)
        return ShapeTimes(
            shape=shape,
            student_s=measured.student_s,
            baseline_s=measured.baseline_s,
            cublas_s=cublas_s,
            numpy_s=numpy_s,
            numpy_measured=known,
            bound_s=bound_s,
            note=measured.disturbance,
            conditions=measured.conditions,
        )

    def _measure(self, shape: Shape, bound_s: float) -> tuple[Measurement, float]:
        watch = self._device.stopwatch(self._build, shape, self._seed, cublas=True)
        with closing(watch):
            session = Session(watch, self._seed, bound_s)
            measured = attempt(session, RULE)
            try:
                return measured, cublas_seconds(session)
            except GraderFault:  # the library is not installed
                return measured, 0.0
