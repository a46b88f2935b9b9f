"""The last lines of a report: which file to open next, and which command to run then."""

from __future__ import annotations

from collections.abc import Iterator

from grader.checks.outcome import Status
from grader.checks.plan import Entry, Plan
from grader.report.line import Line, line
from grader.score import ExerciseScore, Score


def next_lines(score: Score, plan: Plan) -> Iterator[Line]:
    """What a student does next. Passing the public tests is never told as the end."""
    entries = {entry.exercise.name: entry for entry in plan.entries}
    yield line()
    for wanted in (_repair, _begin):
        for one in score.exercises:
            if step := wanted(one, entries[one.exercise.name], score):
                yield from step
                return
    yield from _passed(score, plan)


def _repair(one: ExerciseScore, entry: Entry, score: Score) -> tuple[Line, ...] | None:
    if one.status == "grader_error":
        return (line("Next: ", ("make doctor", "bold"), " says what this machine lacks."),)
    failed = [check.outcome for check in one.checks if check.outcome.status is Status.FAIL]
    if not failed:
        return None
    places = [place for finding in failed[0].findings for place in finding.locations]
    where = f"{places[0].file}:{places[0].line}" if places else _file(entry)
    return _open(where, one.exercise.short)


def _begin(one: ExerciseScore, entry: Entry, score: Score) -> tuple[Line, ...] | None:
    if one.status not in ("not_started", "missing"):
        return None
    untouched = all(each.status in ("not_started", "missing") for each in score.exercises)
    if untouched and len(score.exercises) > 1:
        return _open("starter/00_warmup.cu", "warmup")
    handout = f"exercises/{one.exercise.name}/README.md"
    return (line("Read: ", (handout, "bold")), *_open(_file(entry), one.exercise.short))


def _passed(score: Score, plan: Plan) -> Iterator[Line]:
    short = score.exercises[0].exercise.short
    if not any(one.status == "pass" for one in score.exercises):
        yield line("Nothing here could be graded on this machine. Next: make doctor")
    elif plan.shape is not None:
        yield line(f"Right for {plan.shape}. Next: ", (f"make test EX={short}", "bold"))
    elif not score.exercises[0].exercise.graded:
        yield line("The warm-up is done.")
        yield line("Read: ", ("exercises/01_naive/README.md", "bold"))
        yield from _open("starter/01_naive.cu", "naive")
    elif len(score.exercises) == 1:
        yield line("All public tests of this exercise passed. Next: ", ("make test", "bold"))
    else:
        yield line("All public tests passed; the grade uses other shapes and numbers, drawn anew.")
        yield line("Next: ", ("make grade", "bold"))


def _open(file: str, short: str) -> tuple[Line, ...]:
    return (line("Next: open ", (file, "bold"), ", then: ", (f"make test EX={short}", "bold")),)


def _file(entry: Entry) -> str:
    return entry.submission.name if entry.submission else f"starter/{entry.exercise.name}.cu"
