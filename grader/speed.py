"""How fast a right kernel is, against the grader's own naive kernel, and what that earns.

Never an absolute time: the ratio inside one grading, held against the calibration of this GPU
model. Without a calibration the speed is measured and shown, and nothing is graded.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from grader.checks.plan import derived_seed
from grader.device import Build
from grader.finding import Finding, GraderFault, KernelFault, NotGraded
from grader.problems.matmul import Shape
from grader.timing import calibration as calibrations
from grader.timing.calibration import Calibration, ExerciseThresholds, Thresholds
from grader.timing.device import TimingDevice
from grader.timing.measurement import Measurement, cublas_seconds, measure
from grader.timing.roofline import of_device
from grader.timing.rule import StoppingRule
from grader.timing.sample import Contestant
from grader.timing.session import Session
from grader.timing.shapes import ShapeKind, largest, shape_of
from grader.verdict import Verdict

Measure = Callable[[Session, StoppingRule, float], Measurement]


@dataclass(frozen=True)
class TimedShape:
    """One shape. `thresholds`: None where none are known. Seconds are 0 where nothing is known."""

    kind: ShapeKind
    measurement: Measurement
    thresholds: Thresholds | None = None
    bound_s: float = 0.0  # what the roofline allows
    cublas_s: float = 0.0

    @property
    def quarters(self) -> int | None:
        """Of the points; None where the measurement says nothing or nothing says what it earns."""
        if self.thresholds is None or self.measurement.disturbance:
            return None
        return self.thresholds.quarters(self.measurement.deciding)


@dataclass(frozen=True)
class Timing:
    """All timed shapes of one exercise, and the calibration they were held against."""

    gpu: str
    calibration: Calibration | None
    own: ExerciseThresholds | None  # of this exercise in the calibration
    shapes: tuple[TimedShape, ...]

    @property
    def decisive(self) -> TimedShape:
        """The shape that the verdict is about: the first disturbed one, else the slowest."""
        for shape in self.shapes:
            if shape.measurement.disturbance:
                return shape
        graded = [shape for shape in self.shapes if shape.quarters is not None]
        return min(
            graded or self.shapes,
            key=lambda shape: (shape.quarters or 0, shape.measurement.deciding),
        )

    @property
    def quarters(self) -> int | None:
        """What is earned: the worse of the shapes."""
        return self.decisive.quarters


@dataclass(frozen=True)
class Timer:
    """Times builds on one device; `cublas` is the library to compare with, a yardstick only.

    `measure` is another function only in tests.
    """

    device: TimingDevice
    seed: int
    folder: Path = calibrations.FOLDER
    measure: Measure = lambda session, rule, expected_s: measure(
        session, rule, expected_s=expected_s
    )
    cublas: bool = True

    def time(self, build: Build, any_shape: bool) -> Timing:
        """The square, and where the kernel is right for any shape the ragged one.

        Raises KernelFault for what the kernel does when timed, and NotGraded when no graded size
        fits into the GPU's memory. After a shape that earns nothing the other one is left out.
        """
        gpu = str(self.device.describe()["name"])
        known = calibrations.find(gpu, self.folder)
        own = known.exercises.get(build.exercise.name) if known else None
        size = own.size if own else self._size(build)
        timed: list[TimedShape] = []
        for kind in ShapeKind if any_shape else (ShapeKind.SQUARE,):
            shape = shape_of(kind, size) if any_shape else _whole(build, size)
            timed.append(self._shape(build, kind, shape, known, own))
            if timed[-1].quarters == 0 or timed[-1].measurement.disturbance:
                break
        return Timing(gpu, known, own, tuple(timed))

    def _shape(
        self,
        build: Build,
        kind: ShapeKind,
        shape: Shape,
        known: Calibration | None,
        own: ExerciseThresholds | None,
    ) -> TimedShape:
        if not self.device.fits(shape):
            raise NotGraded("inconclusive", f"{shape} does not fit into the GPU's free memory")
        thresholds = own.thresholds.get(kind) if own else None
        bound_s = of_device(self.device.describe()).bound_s(shape)
        rule = StoppingRule(thresholds=thresholds)
        key = derived_seed(self.seed, build.exercise.name, "timing", kind.value)
        stopwatch = self.device.stopwatch(build, shape, key, cublas=self.cublas)
        try:
            session = Session(stopwatch, key, bound_s)
            measured = self.measure(session, rule, known.expected_s(shape) if known else 0.0)
            cublas_s = _cublas(session) if self.cublas and not measured.disturbance else 0.0
        except KernelFault as fault:
            raise KernelFault(tuple(_timed(finding, shape) for finding in fault.findings)) from None
        finally:
            stopwatch.close()
        return TimedShape(kind, measured, thresholds, bound_s, cublas_s)

    def _size(self, build: Build) -> int:
        """Without a calibration: from two launches of the baseline at the smallest size."""
        sizes = build.exercise.speed_sizes
        shape = shape_of(ShapeKind.SQUARE, sizes[0])
        stopwatch = self.device.stopwatch(build, shape, self.seed)
        try:
            first, second = (stopwatch.sample(Contestant.BASELINE, draw) for draw in (1, 2))
        finally:
            stopwatch.close()
        taken_s = min(first.seconds, second.seconds)
        expected = {size: taken_s * (size / sizes[0]) ** 3 for size in sizes}
        return largest(sizes, expected, lambda s: self.device.fits(shape_of(ShapeKind.SQUARE, s)))


def judge(timing: Timing) -> None:
    """Returns where the kernel is fast enough for points; raises KernelFault or NotGraded."""
    shape = timing.decisive
    if shape.measurement.disturbance:
        raise NotGraded("inconclusive", shape.measurement.disturbance)
    if timing.own is None:
        raise NotGraded("not_calibrated", f"no calibration for {timing.gpu}. Next: make calibrate")
    if timing.own.moved:
        raise NotGraded("no_gap")
    if shape.quarters == 0:
        raise KernelFault((_too_slow(shape),))


def _too_slow(shape: TimedShape) -> Finding:
    assert shape.thresholds is not None, "without thresholds nothing is too slow"
    speedup = shape.measurement.speedup
    facts = {
        "speedup": speedup.median,
        "low": speedup.low,
        "high": speedup.high,
        "steady": shape.measurement.steady,
        "minimum": shape.thresholds.minimum,
        "full": shape.thresholds.full,
    }
    return Finding(Verdict.TOO_SLOW, "too_slow", facts, (), shape.measurement.shape, "gpu")


def _cublas(session: Session) -> float:
    """cuBLAS is a yardstick to show; a machine may lack it."""
    try:
        return cublas_seconds(session)
    except GraderFault:
        return 0.0


def _timed(finding: Finding, shape: Shape) -> Finding:
    return replace(finding, shape=finding.shape or shape, device="gpu")


def _whole(build: Build, size: int) -> Shape:
    """Whole tiles, for a kernel that promises no more."""
    return shape_of(ShapeKind.SQUARE, size).filled(build.launch_config.tiles)
