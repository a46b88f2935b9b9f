"""A plan: which files are checked, with which seed, and how thoroughly."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader import settings
from grader.caller import make_variable
from grader.exercise import Exercise
from grader.finding import Finding, GraderFault
from grader.problems.matmul import Shape
from grader.submission import Submission, SubmissionProblem, read, status

# Enough to meet every pair of tail cases of M, N and K; `make test` trades some for speed.
GRADING_EXAMPLES = 100
PRACTICE_EXAMPLES = 25

# `make test` draws the same shapes every time, so that a failure stays until it is mended.
PRACTICE_SEED = 0


@dataclass(frozen=True)
class Entry:
    """One exercise's file. `state` is "missing", "not_started" or "started".

    Where a file that is there could not be read, `submission` is None: `problem` says what the
    student can mend, `fault` what the machine did.
    """

    exercise: Exercise
    path: Path
    state: str
    submission: Submission | None = None
    problem: tuple[Finding, ...] = ()
    fault: str = ""


@dataclass(frozen=True)
class Plan:
    """What is checked. `shape` restricts every check to that one shape."""

    entries: tuple[Entry, ...]
    seed: int
    examples: int = GRADING_EXAMPLES
    shape: Shape | None = None


def case_arguments(plan: Plan, entry: Entry) -> str | None:
    """What `make test` needs besides exercise and shape to meet the same case; None where it cannot
    (a solution, a fixture: files of another name)."""
    if entry.path.name != f"{entry.exercise.name}.cu":
        return None
    arguments = []
    if not is_own(entry.path.parent):
        arguments.append(make_variable("SUBMISSION", str(entry.path.parent)))
    if plan.seed != PRACTICE_SEED:
        arguments.append(f"SEED={plan.seed}")
    return " ".join(arguments)


def is_own(folder: Path) -> bool:
    """Whether it is this copy's own starter/, which may be a link to another disk."""
    return folder.resolve() == settings.STARTER.resolve()


def entry(exercise: Exercise, path: Path, root: Path) -> Entry:
    """Reads one file; `root` is the folder that a symbolic link must not leave."""
    state = status(path, exercise)
    if state == "missing":
        return Entry(exercise, path, state)
    try:
        return Entry(exercise, path, state, read(path, exercise, root))
    except SubmissionProblem as problem:
        return Entry(exercise, path, "started", problem=problem.findings)
    except GraderFault as fault:
        return Entry(exercise, path, "started", fault=str(fault))


def folder_entries(exercises: Sequence[Exercise], folder: Path) -> tuple[Entry, ...]:
    """The files of a submitted folder, one entry per exercise, also for missing ones."""
    return tuple(entry(one, folder / f"{one.name}.cu", folder) for one in exercises)


def solution_entries(exercises: Sequence[Exercise]) -> tuple[Entry, ...]:
    """The reference solutions as if they had been submitted."""
    return tuple(entry(one, one.folder / "solution.cu", one.folder) for one in exercises)


def ignored_files(folder: Path, exercises: Sequence[Exercise]) -> tuple[str, ...]:
    """Names in a submitted folder that nothing will look at."""
    known = {f"{exercise.name}.cu" for exercise in exercises}
    names = (path.name for path in folder.iterdir())
    return tuple(sorted(name for name in names if name not in known and name != ".gitkeep"))


def derived_seed(seed: int, *parts: object) -> int:
    """A 64-bit seed that depends on the session's seed and on nothing but these parts."""
    text = "\0".join(str(part) for part in (seed, *parts))
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")
