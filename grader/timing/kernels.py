"""The kernels that a calibration measures: exercises/calibration/kernels/kernels.toml."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from grader import kernel_table, settings
from grader.device import Build, Device
from grader.exercise import PROJECT, Exercise, load_all
from grader.finding import GraderFault
from grader.kernel_table import KernelTableError
from grader.messages import say
from grader.submission import Submission

TABLE = PROJECT / "exercises" / "calibration" / "kernels" / "kernels.toml"


class KernelRole(StrEnum):
    """What a kernel says about the threshold. SLOWER lacks what its exercise teaches; OTHER is an
    honest answer of another make, measured to see what it would earn."""

    REFERENCE = "reference"
    OTHER = "other"
    SLOWER = "slower"


@dataclass(frozen=True, eq=False)
class CalibrationKernel:
    """One row of the table; a key by what it is, not by what it holds."""

    exercise: Exercise
    name: str
    role: KernelRole
    submission: Submission


def timed_exercises() -> tuple[Exercise, ...]:
    return tuple(one for one in load_all(PROJECT) if one.speed_sizes)


def load(exercises: tuple[Exercise, ...], table: Path = TABLE) -> tuple[CalibrationKernel, ...]:
    """The kernels of these exercises, in the table's order. Raises KernelTableError."""
    if not table.exists():
        raise KernelTableError(
            f"{settings.shown(table)} is not there: a student's copy holds no solutions, and a "
            "calibration measures them. Next: make calibrate in the teacher's copy, then copy "
            "exercises/calibration/*.toml"
        )
    wanted = {exercise.name: exercise for exercise in exercises}
    kernels = tuple(
        _kernel(row, wanted[row.text("exercise")])
        for row in kernel_table.rows(table, "role")
        if row.text("exercise") in wanted
    )
    for exercise in exercises:
        _one_reference(kernels, exercise, table)
    return kernels


def build_kernel(device: Device, kernel: CalibrationKernel) -> Build:
    """The kernel compiled; raises GraderFault where it cannot be launched."""
    built = device.build(kernel.exercise, kernel.submission)
    if built.artifact is None:
        why = built.unsupported or say(built.findings[0])
        raise GraderFault(f"{kernel.exercise.name}, {kernel.name}: cannot be used: {why}")
    return built


def _kernel(row: settings.Table, exercise: Exercise) -> CalibrationKernel:
    role = KernelRole(row.choice("role", list(KernelRole)))
    return CalibrationKernel(
        exercise, row.text("name"), role, kernel_table.submission(row, exercise)
    )


def _one_reference(kernels: tuple[CalibrationKernel, ...], exercise: Exercise, table: Path) -> None:
    roles = [kernel.role for kernel in kernels if kernel.exercise is exercise]
    if roles.count(KernelRole.REFERENCE) != 1 or KernelRole.SLOWER not in roles:
        raise KernelTableError(
            f'{settings.shown(table)}: {exercise.name} needs one kernel with role "reference" and '
            'at least one with role "slower".'
        )
