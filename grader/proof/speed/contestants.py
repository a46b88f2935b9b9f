"""The kernels of the proof: each exercise's reference, and the one that is just too slow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.device import Build
from grader.exercise import PROJECT, Exercise, load_all
from grader.finding import GraderFault
from grader.messages import say
from grader.speed import Timer
from grader.timing import kernels
from grader.timing.calibration import Calibration, find
from grader.timing.device import TimingDevice
from grader.timing.kernels import Kernel, Role
from grader.timing.shapes import Kind, shape_of


@dataclass(frozen=True)
class Contestant:
    """A kernel and what it must earn at the graded square: 4 quarters or none."""

    kernel: Kernel
    quarters: int

    @property
    def name(self) -> str:
        return f"{self.kernel.exercise.name}, {self.kernel.name}"


def timed_exercises() -> tuple[Exercise, ...]:
    return tuple(one for one in load_all(PROJECT) if one.speed_sizes)


def calibration_of(timer: Timer) -> Calibration:
    """That of the device's GPU. Raises GraderFault: without one nothing is graded."""
    gpu = str(timer.device.describe()["name"])
    found = find(gpu, timer.folder)
    if found is None:
        raise GraderFault(f"There is no calibration for {gpu}. Next: make calibrate")
    return found


def contestants(found: Calibration, exercises: Sequence[Exercise]) -> tuple[Contestant, ...]:
    """Two for each exercise whose speed is graded on this GPU."""
    chosen = []
    known = kernels.load(tuple(exercises))
    for exercise in exercises:
        step = found.steps[exercise.name]
        if step.moved:
            continue
        own = {one.name: one for one in known if one.exercise is exercise}
        slower = [
            one
            for one in found.evidence
            if (one.exercise, one.role) == (exercise.name, Role.SLOWER)
            and one.shape == shape_of(Kind.SQUARE, step.size)
        ]
        next_worse = max(slower, key=lambda one: one.speedup).name
        reference = next(one for one in own.values() if one.role is Role.REFERENCE)
        chosen += [Contestant(reference, 4), Contestant(own[next_worse], 0)]
    return tuple(chosen)


def build(device: TimingDevice, kernel: Kernel) -> Build:
    """The kernel compiled; raises GraderFault where it cannot be launched."""
    built = device.build(kernel.exercise, kernel.submission)
    if built.artifact is None:
        why = built.unsupported or say(built.findings[0])
        raise GraderFault(f"{kernel.exercise.name}, {kernel.name}: cannot be used: {why}")
    return built
