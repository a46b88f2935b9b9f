"""The kernels that a calibration measures: exercises/calibration/kernels/kernels.toml."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from grader import settings
from grader.exercise import PROJECT, Exercise
from grader.finding import GraderFault
from grader.submission import Submission, read

TABLE = PROJECT / "exercises" / "calibration" / "kernels" / "kernels.toml"


class KernelTableError(GraderFault):
    """kernels.toml is wrong or not there; the text names the kernel and the key."""


class Role(StrEnum):
    """What a kernel says about the threshold. SLOWER lacks what its exercise teaches; OTHER is an
    honest answer of another make, measured to see what it would earn."""

    REFERENCE = "reference"
    OTHER = "other"
    SLOWER = "slower"


@dataclass(frozen=True, eq=False)
class Kernel:
    """One row of the table; a key by what it is, not by what it holds."""

    exercise: Exercise
    name: str
    role: Role
    submission: Submission


def load(exercises: tuple[Exercise, ...], table: Path = TABLE) -> tuple[Kernel, ...]:
    """The kernels of these exercises, in the table's order. Raises KernelTableError."""
    if not table.exists():
        raise KernelTableError(
            f"{settings.shown(table)} is not there: a student's copy holds no solutions, and a "
            "calibration measures them. Next: make calibrate in the teacher's copy, then copy "
            "exercises/calibration/*.toml"
        )
    top = settings.read(table, KernelTableError)
    top.only(("kernel",))
    wanted = {exercise.name: exercise for exercise in exercises}
    rows = [
        settings.Table(table, row, KernelTableError, f'kernel "{row.get("name", "")}": ')
        for row in top.entries.get("kernel", [])
    ]
    kernels = tuple(_kernel(row, wanted) for row in rows if row.text("exercise") in wanted)
    for exercise in exercises:
        _one_reference(kernels, exercise, table)
    return kernels


def _kernel(row: settings.Table, exercises: dict[str, Exercise]) -> Kernel:
    row.only(("exercise", "name", "role", "file", "edits"))
    exercise = exercises[row.text("exercise")]
    path = PROJECT / row.text("file")
    whole = read(path, exercise, path.parent)
    text = whole.text
    for old, new in row.entries.get("edits", ()):
        text = edited(row, text, old, new)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    submission = Submission(whole.name, path, text, sha256)
    return Kernel(exercise, row.text("name"), Role(row.choice("role", list(Role))), submission)


def edited(row: settings.Table, text: str, old: str, new: str) -> str:
    """The text with `old` replaced, which must be in it exactly once."""
    if text.count(old) != 1:
        raise row.fault(
            "edits", f"wants to replace {old!r}, which is there {text.count(old)} times."
        )
    return text.replace(old, new)


def _one_reference(kernels: tuple[Kernel, ...], exercise: Exercise, table: Path) -> None:
    roles = [kernel.role for kernel in kernels if kernel.exercise is exercise]
    if roles.count(Role.REFERENCE) != 1 or Role.SLOWER not in roles:
        raise KernelTableError(
            f'{settings.shown(table)}: {exercise.name} needs one kernel with role "reference" and '
            'at least one with role "slower".'
        )
