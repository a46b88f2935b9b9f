"""The kernels of the proof: `kernels.toml`, read strictly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader import exercise as exercises
from grader import kernel_table, settings
from grader.exercise import PROJECT, Exercise
from grader.kernel_table import KernelTableError
from grader.problems.matmul import Shape
from grader.submission import Submission, fingerprint

TABLE = Path(__file__).with_name("kernels.toml")


@dataclass(frozen=True)
class ProofKernel:
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
def load(table: Path = TABLE) -> tuple[ProofKernel, ...]:
    """Every kernel, in the order of its launch. Raises KernelTableError."""
    kernels = tuple(_kernel(row) for row in kernel_table.rows(table, "shape", "differs"))
    names = [kernel.name for kernel in kernels]
    if twice := {name for name in names if names.count(name) > 1}:
        raise KernelTableError(f"{table.name}: two kernels are called {twice.pop()!r}")
    return kernels


def _kernel(row: settings.Table) -> ProofKernel:
    exercise = exercises.load(PROJECT / "exercises" / row.text("exercise"))
    submission = kernel_table.submission(row, exercise)
    shape = Shape.parse(row.text("shape"))
    return ProofKernel(
        row.text("name"), exercise, submission, shape, row.entries.get("differs", {})
    )
