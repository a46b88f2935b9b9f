"""The kernels of the proof: `kernels.toml`, read strictly."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from grader import exercise as exercises
from grader import settings
from grader.exercise import PROJECT, Exercise
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.submission import Submission, fingerprint, read

TABLE = Path(__file__).with_name("kernels.toml")
_NEEDED = ("name", "file", "exercise", "shape")
_KEYS = (*_NEEDED, "edits", "differs")


class KernelTableError(GraderFault):
    """kernels.toml is wrong; the text names the kernel and the key."""


@dataclass(frozen=True)
class Kernel:
    """One row of the table. `differs`: counter -> why it is not the hardware's."""

    name: str
    exercise: Exercise
    submission: Submission
    shape: Shape
    differs: Mapping[str, str]

    @property
    def fingerprint(self) -> str:
        """Changes with the code and the shape, not with comments."""
        return fingerprint(f"{self.submission.text}\n{self.shape}")[:16]


@cache
def load(table: Path = TABLE) -> tuple[Kernel, ...]:
    """Every kernel, in the order of its launch. Raises KernelTableError."""
    rows = settings.read(table, KernelTableError).entries.get("kernel", [])
    kernels = tuple(_kernel(row) for row in rows)
    names = [kernel.name for kernel in kernels]
    if twice := {name for name in names if names.count(name) > 1}:
        raise KernelTableError(f"{table.name}: two kernels are called {twice.pop()!r}")
    return kernels


def _kernel(row: Mapping[str, Any]) -> Kernel:
    name = row.get("name", "without a name")
    if unknown := set(row) - set(_KEYS):
        raise KernelTableError(f"{name}: unknown key {unknown.pop()!r}")
    if lacking := set(_NEEDED) - set(row):
        raise KernelTableError(f"{name}: no {lacking.pop()!r}")
    exercise = exercises.load(PROJECT / "exercises" / row["exercise"])
    path = PROJECT / row["file"]
    whole = read(path, exercise, path.parent)
    text = whole.text
    for old, new in row.get("edits", ()):
        if text.count(old) != 1:
            raise KernelTableError(f"{name}: {old!r} is in {row['file']} {text.count(old)} times")
        text = text.replace(old, new)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    submission = Submission(whole.name, path, text, sha256)
    return Kernel(name, exercise, submission, Shape.parse(row["shape"]), row.get("differs", {}))
