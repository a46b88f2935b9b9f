"""The last lines of a report: which file to open next, and which command to run then."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from pathlib import Path

from grader import settings
from grader.checks.outcome import Status
from grader.checks.plan import Entry, Plan, case_arguments, is_own
from grader.exercise import PROJECT, Exercise, load_all
from grader.report.line import Line, line
from grader.score import ExerciseScore, Score
from grader.submission import is_starter

_ANEW = "make starter"
Step = tuple[Line, ...] | None


def next_lines(score: Score, plan: Plan, graded: bool = False) -> Iterator[Line]:
    """What a student does next. Passing the public tests is never told as the end.

    `graded`: after a grading, whose tests are not the public ones.
    """
    entries = {entry.exercise.name: entry for entry in plan.entries}
    yield line()
    for wanted in (_repair, _resume, _begin):
        for one in score.exercises:
            if step := wanted(one, entries[one.exercise.name], score, plan):
                yield from step
                return
    yield from _passed(score, plan, graded)


def _repair(one: ExerciseScore, entry: Entry, score: Score, plan: Plan) -> Step:
    if one.status == "grader_error" and not one.interrupted:
        return (line("Next: ", ("make doctor", "bold"), " says what this machine lacks."),)
    failed = [check.outcome for check in one.checks if check.outcome.status is Status.FAIL]
    if not failed:
        return None
    is_empty = any(finding.kind == "empty_file" for finding in failed[0].findings)
    if is_empty and is_own(entry.path.parent):
        return (line("Next: ", (_ANEW, "bold"), " writes it anew."),)
    places = [place for finding in failed[0].findings for place in finding.locations]
    where = f"{places[0].file}:{places[0].line}" if places else _file(entry)
    # The same folder and seed, so that the same failure is met until it is mended.
    return _open(where, one.exercise.short, case_arguments(plan, entry) or "")


def _resume(one: ExerciseScore, entry: Entry, score: Score, plan: Plan) -> Step:
    if not one.interrupted:
        return None
    return (line("Next: ", (f"make test EX={one.exercise.short}", "bold")),)


def _begin(one: ExerciseScore, entry: Entry, score: Score, plan: Plan) -> Step:
    if one.status == "missing":
        return (_missing(entry),)
    if one.status != "not_started":
        return None
    untouched = all(each.status in ("not_started", "missing") for each in score.exercises)
    if untouched and len(score.exercises) > 1 and _warm_up_waits():
        return _open("starter/00_warmup.cu", "warmup")
    return _read_and_open(one.exercise, _file(entry))


def _missing(entry: Entry) -> Line:
    fact, step = missing(entry.path)
    return line(f"{fact} Next: ", (step, "bold"))


def missing(path: Path) -> tuple[str, str]:
    """What to say of a file that is not there, and what mends it."""
    own = is_own(path.parent)
    folder = Path("starter") if own else path.parent
    shown = folder / path.name
    if other := _misspelt(path):
        return (
            f"{shown} is missing; {other}, which is called otherwise, is not looked at.",
            f"mv {shlex.join((str(folder / other), str(shown)))}",
        )
    step = _ANEW if own else f"put {path.name} into {folder}"
    return f"{shown} is missing.", step


def _misspelt(path: Path) -> str:
    """The name of a file beside the missing one that differs from it by case or by an ending that
    Windows does not show; else ""."""
    names = sorted(one.name for one in path.parent.iterdir()) if path.parent.is_dir() else []
    meant = path.name.casefold()
    return next((name for name in names if name.casefold() in (meant, f"{meant}.txt")), "")


def _warm_up_waits() -> bool:
    """True while the warm-up is as it was handed out: it is complete, so no check says so."""
    exercise = next((one for one in load_all(PROJECT) if not one.graded), None)
    return exercise is not None and is_starter(settings.STARTER / f"{exercise.name}.cu", exercise)


def _passed(score: Score, plan: Plan, graded: bool) -> Iterator[Line]:
    exercise = score.exercises[0].exercise
    following = _following(exercise)
    if not any(one.status == "pass" for one in score.exercises):
        yield line("Nothing here could be graded on this machine. Next: make doctor")
    elif plan.shape is not None:
        yield line(f"Right for {plan.shape}. Next: ", (f"make test EX={exercise.short}", "bold"))
    elif len(score.exercises) == 1:
        if not graded:
            yield line(
                "All public tests of this exercise passed."
                if exercise.graded
                else "The warm-up is done."
            )
        if following is not None:
            yield from _read_and_open(following, f"starter/{following.name}.cu")
        else:
            yield line("Next: ", ("make grade" if graded else "make test", "bold"))
    elif graded:
        yield line("Everything that can be graded here passed.")
    else:
        yield line("All public tests passed; the grade uses other shapes and numbers, drawn anew.")
        yield line("Next: ", ("make grade", "bold"))


def _following(exercise: Exercise) -> Exercise | None:
    """The exercise after this one; None after the last."""
    return next((one for one in load_all(PROJECT) if one.name > exercise.name), None)


def _read_and_open(exercise: Exercise, file: str) -> tuple[Line, ...]:
    handout = f"exercises/{exercise.name}/README.md"
    return (line("Read: ", (handout, "bold")), *_open(file, exercise.short))


def _open(file: str, short: str, arguments: str = "") -> tuple[Line, ...]:
    command = f"make test EX={short} {arguments}".rstrip()
    return (line("Next: open ", (file, "bold"), ", then: ", (command, "bold")),)


def _file(entry: Entry) -> str:
    return entry.submission.name if entry.submission else f"starter/{entry.exercise.name}.cu"
