"""Whether a results.json from a machine that ran a student's code can be published.

Nobody can tell from a file whether a kernel was fast. What can be told: that the record is about
these files and was made by this grader, that every check has the points of exercise.toml, that no
check passed that could not have run, and that the points follow from the statuses, quarters and
reasons by the same rules with which they were given (`score`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.checks.outcome import Outcome, Status
from grader.checks.plan import Entry, folder_entries
from grader.exercise import CHECKS, NEEDS, PROJECT, load_all
from grader.finding import NotGraded
from grader.formats import reading
from grader.formats.reading import Check, Record, RecordProblem
from grader.score import ExerciseScore, score_exercise
from grader.tree import SHORT, tree_sha256
from grader.verdict import Verdict

_VERDICTS = {"", *(verdict.value for verdict in Verdict)}
_NEXT = "Nothing is published. Next: look at the machine that graded, then grade again."


def read(path: Path, submission: Path) -> Record:
    """The record in `path`, made from the files in the folder `submission`.

    Raises RecordProblem, which names the place, for one that does not hold together.
    """
    data = reading.load(path)
    try:
        return validate(data, submission)
    except RecordProblem as problem:
        raise RecordProblem(f"{path}: {problem} {_NEXT}") from None


def validate(data: Any, submission: Path) -> Record:
    """As `read`, for what the file says."""
    record = reading.parse(data)
    if record.tree_sha256 != tree_sha256(PROJECT):
        raise RecordProblem(
            f"grader.tree_sha256 is {record.tree_sha256[:SHORT]!r}: another grader than this one."
        )
    graded = tuple(exercise for exercise in load_all(PROJECT) if exercise.graded)
    names = tuple(exercise.name for exercise in record.exercises)
    if names != tuple(exercise.name for exercise in graded):
        raise RecordProblem("the exercises are not those of this course, in their order.")
    entries = folder_entries(graded, submission)
    for entry, told in zip(entries, record.exercises, strict=True):
        _hold(entry, told)
    return record


def _hold(entry: Entry, told: reading.Exercise) -> None:
    name = told.name
    expected = entry.submission.sha256 if entry.submission else ""
    if told.sha256 != expected:
        raise RecordProblem(f"{name}: sha256 is not that of the file that was handed in.")
    if tuple(check.name for check in told.checks) != CHECKS:
        raise RecordProblem(f"{name}: the checks are not {', '.join(CHECKS)}.")
    # Where nothing was timed, all points of `fast` are worth what `score` has it.
    quarters = 4 if told.quarters is None else told.quarters
    outcomes = tuple(_outcome(check, quarters) for check in told.checks)
    for outcome in outcomes:
        _could_run(outcome, entry, outcomes)
    _agree(score_exercise(entry.exercise, entry.state, outcomes), told)


def _outcome(check: Check, quarters: int) -> Outcome:
    status = Status(check.status)  # `parse` has seen that it is one
    if check.verdict not in _VERDICTS:
        raise RecordProblem(f"{check.title}: {check.verdict[:40]!r} is no verdict.")
    if bool(check.verdict) != (status is Status.FAIL):
        raise RecordProblem(f"{check.title}: {check.status} with the verdict {check.verdict!r}.")
    worth = quarters if check.name == "fast" else 4
    return Outcome(
        check.exercise, "", check.name, "", status, reason=check.reason, quarters=worth
    )  # fmt: skip


def _could_run(outcome: Outcome, entry: Entry, outcomes: Sequence[Outcome]) -> None:
    title = f"{entry.exercise.name}: {outcome.check.replace('_', ' ')}"
    if entry.state != "started":
        if outcome.status in (Status.PASS, Status.FAIL):
            raise RecordProblem(f"{title}: {outcome.status}, but the file is {entry.state}.")
        return
    reasons: Mapping[Status, Sequence[str]] = {
        Status.SKIPPED: CHECKS,
        Status.NOT_GRADED: NotGraded.REASONS,
    }
    if outcome.reason not in reasons.get(outcome.status, ("",)):
        raise RecordProblem(f"{title}: {outcome.status} for {outcome.reason[:40]!r}.")
    by_check = {other.check: other for other in outcomes}
    needed = by_check.get(NEEDS[outcome.check])
    lost = needed is not None and needed.status in (Status.FAIL, Status.SKIPPED)
    if lost and outcome.status in (Status.PASS, Status.FAIL):
        raise RecordProblem(f"{title}: {outcome.status} without {NEEDS[outcome.check]}.")


def _agree(score: ExerciseScore, told: reading.Exercise) -> None:
    if told.status != score.status:
        raise RecordProblem(f"{told.name}: status {told.status!r}, its checks say {score.status}.")
    for check, expected in zip(told.checks, score.checks, strict=True):
        if (check.earned, check.points) != (expected.earned, expected.points):
            raise RecordProblem(
                f"{check.title}: {check.earned} of {check.points} points, "
                f"by the rules {expected.earned} of {expected.points}."
            )
