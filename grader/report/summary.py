"""The report of a grading as lines: a table of checks per exercise, then what failed and why."""

from __future__ import annotations

from collections.abc import Iterator

from grader.checks.outcome import Outcome, Status
from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.problems.matmul import Shape
from grader.report.line import STYLES, Line, line, paragraph
from grader.report.speed import share, timing_lines
from grader.report.words import STATUS, check_name, explanation, reason_in_short, repeat, told
from grader.score import CheckScore, ExerciseScore, Score

# Told instead of "grader error" for what somebody ended.
_INTERRUPTED = "interrupted"


def exercise_lines(
    score: ExerciseScore, with_points: bool, arguments: str | None = ""
) -> Iterator[Line]:
    """One exercise; points are left out where only a part of the checks ran.

    `arguments` belong to the command that repeats a failure (see `words.repeat`).
    """
    yield line()
    yield _title(score, with_points)
    if score.status in ("not_started", "missing"):
        return
    for check in score.checks:
        if check.points or not check.outcome.status.undecided:
            yield _row(check, with_points)
            yield from timing_lines(check.outcome.timing)
    yield from _failures(score, arguments)
    if score.status == "pass":  # who still looks for a fault has other worries
        yield from _notes(score)


def _title(score: ExerciseScore, with_points: bool) -> Line:
    word = _INTERRUPTED if score.interrupted else STATUS[score.status]
    pieces: list[str | tuple[str, str]] = [
        (f"{score.exercise.name}  ", "bold"),
        f"{score.exercise.title}: ",
        (word, STYLES[word]),
    ]
    if with_points and score.points and score.status != "not_started":
        pieces.append(f", {_points(score.earned, score.points, score.not_graded)}")
    return line(*pieces)


def _points(earned: int, points: int, not_graded: int) -> str:
    here = f"{earned} of {points - not_graded} points"
    return f"{here} ({not_graded} more are not graded)" if not_graded else here


def _row(check: CheckScore, with_points: bool) -> Line:
    outcome = check.outcome
    word = _INTERRUPTED if outcome.interrupted else STATUS[outcome.status]
    note = explanation(outcome)
    if outcome.status is Status.GRADER_ERROR:
        note = "" if outcome.interrupted else "see below"
    elif outcome.status is Status.PASS and outcome.timing:
        note = f"{note}: {share(check)}"
    elif outcome.status is Status.PASS and check.earned < check.points:
        note = "counts in full once any shape passes"
        if outcome.check == "safe":
            note = "counts once whole tiles passes"
    earned = "-" if outcome.status.undecided else str(check.earned)
    points = f"{earned:>4}/{check.points:<4}" if check.points else " " * 9
    after = f"{points if with_points else ''}  {note}".rstrip()
    return line(
        f"  {check_name(outcome.check):<12}",
        (f"{word:<13}" if after else word, STYLES[word]),
        after,
    )


def _failures(score: ExerciseScore, arguments: str | None) -> Iterator[Line]:
    """Each cause once, with the checks that it failed."""
    causes: dict[tuple[str, Shape | None, str], list[Outcome]] = {}
    for check in score.checks:
        outcome = check.outcome
        if outcome.status is Status.FAIL:
            first = outcome.findings[0]
            text = told(first, score.exercise).text
            causes.setdefault((text, first.shape, first.device), []).append(outcome)
        elif outcome.status is Status.GRADER_ERROR and not outcome.interrupted:
            causes.setdefault((outcome.detail, None, ""), []).append(outcome)
    for (text, _, _), outcomes in causes.items():
        yield line()
        if outcomes[0].findings:
            yield from _failure(outcomes, score.exercise, arguments)
        else:
            yield from paragraph(text, "  ", first="Grader error: ")


def _failure(outcomes: list[Outcome], exercise: Exercise, arguments: str | None) -> Iterator[Line]:
    first = outcomes[0].findings[0]
    checks = ", ".join(check_name(outcome.check) for outcome in outcomes)
    where = f" on the {first.device}" if first.device else ""
    yield line("  ", (checks, "bold"), ": ", (first.verdict.value, "bold red"), where)
    message = told(first, exercise)
    yield from paragraph(message.text, "    ")
    if message.hint:
        yield from paragraph(message.hint, "    ", "italic", first="Hint: ")
    if first.locations:
        yield from paragraph(places(first.locations), "    ", first="At: ")
    if others := _others(outcomes[0].findings):
        yield from paragraph(others, "    ", first="Also: ")
    if command := repeat(first, exercise, arguments):
        yield line("    Repeat: ", (command, "bold"))


def _notes(score: ExerciseScore) -> Iterator[Line]:
    """One of each kind; the record has all, and alone the one that nearly every kernel has."""
    notes = {note.kind: note for check in score.checks for note in reversed(check.outcome.notes)}
    for note in (note for kind, note in notes.items() if kind != "overflow_beyond"):
        text = told(note, score.exercise).text
        where = f" At: {places(note.locations)}" if note.locations else ""
        yield from paragraph(f"{text}{where}", "  ", first="Note: ")


def places(locations: tuple[Location, ...]) -> str:
    """`starter/02_tiled.cu:28 (read), ...`, each place once."""
    named = (
        f"{place.file}:{place.line}" + (f" ({place.role})" if place.role else "")
        for place in locations
    )
    return ", ".join(dict.fromkeys(named))


def _others(findings: tuple[Finding, ...]) -> str:
    others = dict.fromkeys(finding.verdict.value for finding in findings[1:])
    return ", ".join(name for name in others if name != findings[0].verdict.value)


def total_lines(score: Score) -> Iterator[Line]:
    """The sum, with both numbers, and why some points could not be graded."""
    yield line()
    here = f"{score.earned} of {score.gradable} points"
    if not score.not_graded:
        yield line("Score: ", (here, "bold"))
        return
    yield line("Score: ", (here, "bold"), f" that can be graded here; {_why_not(score)}")


def _why_not(score: Score) -> str:
    """`25 of 100 points are not graded: needs a GPU`."""
    reasons = dict.fromkeys(
        _undecided(check.outcome)
        for exercise in score.exercises
        for check in exercise.checks
        if check.outcome.status.undecided and check.points
    )
    return f"{score.not_graded} of {score.points} points are not graded: {'; '.join(reasons)}"


def _undecided(outcome: Outcome) -> str:
    if outcome.interrupted:
        return _INTERRUPTED
    return "grader error" if outcome.status is Status.GRADER_ERROR else reason_in_short(outcome)
