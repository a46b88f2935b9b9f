"""The verb `verify`."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

from rich.console import Console

from grader import record
from grader.checks.plan import Entry, Plan, folder_entries
from grader.cli import ERROR, FAILED, OK
from grader.commands import existing, run_plan
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.formats import reading
from grader.formats.reading import Record
from grader.report.line import console, is_plain, line, show
from grader.verification.comparison import Comparison, compare
from grader.verification.conditions import minor_differences, obstacles


def main(options: argparse.Namespace) -> int:
    """0: the same, 1: different, 2: cannot be compared."""
    told = reading.read(options.record)
    data = reading.load(options.record)
    entries = _entries(told, options)
    screen = console(is_plain(options.plain))
    if found := list(obstacles(data, told, entries)):
        show(screen, [line(f"{one}.") for one in found])
        show(screen, [line("Not compared.")])
        return ERROR
    word = "gpu" if "gpu" in told.devices else "simulator"
    grading = run_plan(Plan(entries, told.seed), word, screen, is_plain(options.plain))
    if any(one.interrupted for one in grading.score.exercises):
        raise GraderFault("Interrupted: nothing was compared. Next: verify again")
    if grading.ended_early:
        raise GraderFault(grading.ended_early)
    now = json.loads(json.dumps(record.compose(grading.score, grading.plan, grading.ledger)))
    notes = [*_absent(told), *minor_differences(data["devices"], now["devices"])]
    show(screen, [line(f"Note: {one}.") for one in notes])
    return _tell(compare(told, reading.parse(now)), told, screen)


def _absent(told: Record) -> Iterator[str]:
    """Who leaves out of a record what went wrong does not hide it."""
    names = {one.name for one in told.exercises}
    if absent := [e.name for e in load_all(PROJECT) if e.graded and e.name not in names]:
        yield f"the record is not about {', '.join(absent)}"


def _entries(told: Record, options: argparse.Namespace) -> tuple[Entry, ...]:
    known = {exercise.name: exercise for exercise in load_all(PROJECT)}
    unknown = [one.name for one in told.exercises if one.name not in known]
    if unknown:
        raise GraderFault(
            f"{options.record} is about {unknown[0]}, which this course does not have. "
            "Next: verify with the copy of the project that graded"
        )
    names = [one.name for one in told.exercises]
    return folder_entries([known[name] for name in names], existing(options.folder))


def _tell(found: Comparison, told: Record, screen: Console) -> int:
    show(screen, [line(("Different: ", "bold red"), f"{one}.") for one in found.different])
    show(screen, [line(("Not compared: ", "cyan"), f"{one}.") for one in found.open])
    what = f"{found.checks} checks, seed {told.seed}"
    if found.different:
        again = "Next: verify once more; if it stays so, keep both and report it"
        show(screen, [line(f"Not the same ({what}). {again}")])
        return FAILED
    if found.open:
        again = "Next: grade again, so that there is a whole record"
        show(screen, [line(f"The rest is the same ({what}). {again}")])
        return ERROR
    show(screen, [line(f"The same: {what}, {told.total_line}.")])
    return OK
