"""The kernels of the proof: each exercise's reference, and the one that is just too slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.exercise import Exercise
from grader.finding import GraderFault
from grader.speed import Timer
from grader.timing import kernels
from grader.timing.calibration import Calibration, find
from grader.timing.kernels import CalibrationKernel, KernelRole
from grader.timing.shapes import ShapeKind, shape_of


@dataclass(frozen=True)
class Claim:
    """A kernel and what it must earn at the graded square: 4 quarters or none."""

    kernel: CalibrationKernel
    quarters: int

    @property
    def name(self) -> str:
        return f"{self.kernel.exercise.name}, {self.kernel.name}"


def calibration_of(timer: Timer) -> Calibration:
    """That of the device's GPU. Raises GraderFault: without one nothing is graded."""
    gpu = str(timer.device.describe()["name"])
    found = find(gpu, timer.folder)
    if found is None:
        raise GraderFault(f"There is no calibration for {gpu}. Next: make calibrate")
    return found


def claims(found: Calibration, exercises: Sequence[Exercise]) -> tuple[Claim, ...]:
    """Two for each exercise whose speed is graded on this GPU."""
    chosen = []
    known = kernels.load(tuple(exercises))
    for exercise in exercises:
        graded = found.exercises[exercise.name]
        if graded.moved:
            continue
        own = {one.name: one for one in known if one.exercise is exercise}
        slower = [
            one
            for one in found.evidence
            if (one.exercise, one.role) == (exercise.name, KernelRole.SLOWER)
            and one.shape == shape_of(ShapeKind.SQUARE, graded.size)
        ]
        next_worse = max(slower, key=lambda one: one.speedup).name
        reference = next(one for one in own.values() if one.role is KernelRole.REFERENCE)
        chosen += [Claim(reference, 4), Claim(own[next_worse], 0)]
    return tuple(chosen)
