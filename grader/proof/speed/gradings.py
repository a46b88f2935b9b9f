"""Grades the four solutions as a teacher would, and tells where the time goes."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from grader import grading
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome
from grader.checks.plan import Plan, folder_entries
from grader.course import Target
from grader.exercise import PROJECT, load_all

# The whole grading of four exercises, compile included.
LIMIT_S = 25.0

_PARTS: Mapping[str, tuple[str, ...]] = {
    "compile": ("compiles",),
    "correctness": ("safe", "whole_tiles", "any_shape"),
    "counters": ("efficient",),
    "speed": ("fast",),
}


@dataclass(frozen=True)
class Graded:
    """One grading: seconds on the wall, outcomes of both devices, and what was earned."""

    seconds: float
    outcomes: tuple[Outcome, ...]
    earned: Mapping[str, str]  # exercise -> checks and points in a line, to compare
    started_s: float  # until the first outcome: processes, driver, waiting for the GPU

    @property
    def in_time(self) -> bool:
        return self.seconds <= LIMIT_S


class _FirstOutcome(Ledger):
    """Notes when the first outcome came."""

    at: float = 0.0

    def outcome(self, outcome: Outcome) -> None:
        self.at = self.at or time.monotonic()
        super().outcome(outcome)


def grade_solutions(target: Target) -> Graded:
    """With texts that no cache knows, so that compiling takes what it takes."""
    exercises = [one for one in load_all(PROJECT) if one.graded]
    with TemporaryDirectory(prefix="matmul-proof-") as name:
        folder = Path(name)
        for exercise in exercises:
            text = (exercise.folder / "solution.cu").read_text("utf-8")
            unknown = f"\n// {secrets.token_hex(8)}\n"
            (folder / f"{exercise.name}.cu").write_text(text + unknown, "utf-8")
        plan = Plan(folder_entries(exercises, folder), secrets.randbits(53))
        listener = _FirstOutcome()
        begin = time.monotonic()
        graded = grading.grade(plan, ("simulator", "gpu"), target, listener)
        seconds = time.monotonic() - begin
    earned = {
        one.exercise.name: ", ".join(
            f"{check.outcome.check} {check.outcome.status.value} {check.earned}/{check.points}"
            for check in one.checks
        )
        for one in graded.score.exercises
    }
    return Graded(seconds, tuple(graded.ledger.outcomes), earned, listener.at - begin)


def table(gradings: Sequence[Graded]) -> Iterator[str]:
    """Where the time of the first grading goes, and whether the others gave the same."""
    first = gradings[0]
    yield f"  {'seconds':<12}  {'device':<9}" + "".join(f"  {part:>11}" for part in _PARTS)
    for exercise in first.earned:
        for device in ("gpu", "simulator"):
            cells = "".join(
                f"  {_seconds(first, exercise, device, part):>11.2f}" for part in _PARTS
            )
            yield f"  {exercise:<12}  {device:<9}{cells}"
    gpu = [sum(_seconds(first, one, "gpu", part) for one in first.earned) for part in _PARTS]
    yield f"  {'sum':<12}  {'gpu':<9}" + "".join(f"  {seconds:>11.2f}" for seconds in gpu)
    yield f"  {first.started_s:.2f} s until the first check had ended; both devices work at once"
    walls = ", ".join(f"{one.seconds:.1f}" for one in gradings)
    yield f"  on the wall: {walls} s, at most {LIMIT_S:g} s are allowed"
    for exercise in first.earned:
        same = all(one.earned[exercise] == first.earned[exercise] for one in gradings)
        differs = "" if same else f"  WRONG: differs between {len(gradings)} gradings"
        yield f"  {exercise}: {first.earned[exercise]}{differs}"


def all_right(gradings: Sequence[Graded]) -> bool:
    """In time, all alike, and every check of every solution passed."""
    passed = all("fail" not in line and "error" not in line for line in gradings[0].earned.values())
    alike = all(one.earned == gradings[0].earned for one in gradings)
    return passed and alike and all(one.in_time for one in gradings)


def _seconds(graded: Graded, exercise: str, device: str, part: str) -> float:
    return sum(
        outcome.seconds
        for outcome in graded.outcomes
        if (outcome.exercise, outcome.device) == (exercise, device)
        and outcome.check in _PARTS[part]
    )
