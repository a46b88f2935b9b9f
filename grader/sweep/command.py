"""The verb `sweep`: from its options to what it prints."""

from __future__ import annotations

import argparse
import json
from contextlib import ExitStack

from grader.bench.progress import steps
from grader.bench.subject import checked_entry, entries, open_machine, seed_of
from grader.cli import FAILED, OK
from grader.commands import exercises, parse_shape
from grader.finding import GraderFault
from grader.messages import say
from grader.problems.matmul import Shape
from grader.report.line import console, is_plain
from grader.sweep import table
from grader.sweep.measurement import best, measure
from grader.sweep.variants import read_values, usual_values, variants

# Fast enough for dozens of variants, large enough to fill a GPU.
SHAPE = Shape(2048, 2048, 2048)


def main(options: argparse.Namespace) -> int:
    """Exit status 1 where no variant could be measured. Raises GraderFault."""
    if options.exercise is None:
        raise GraderFault("Which exercise? For example: make sweep EX=tiled")
    plain = is_plain(options.plain)
    screen = console(plain)
    (entry,) = map(checked_entry, entries(options, exercises(options.exercise, graded=True)))
    if entry.submission is None:
        raise GraderFault(entry.fault or say(entry.problem[0]))
    chosen = read_values(options.values, entry.submission) or usual_values(entry.submission)
    shape = parse_shape(options.shape) or SHAPE
    shown = None if options.json else screen
    with ExitStack() as stack:
        machine = open_machine(options.device, stack, shown)
        # Counters do not change with unrolling: without a GPU and nvcc there is nothing to see.
        visible = machine.gpu is not None or machine.nvcc is not None
        tried = variants(entry.submission, chosen, visible and not options.no_unrolling)
        title = f"Sweeping {entry.exercise.name}: {len(tried)} variants"
        with steps(shown, plain, title, 2 * len(tried)) as step:
            rows = measure(entry, tried, machine, shape, seed_of(options), step)
    found = table.Sweep(entry.submission.name, shape, rows, machine.gpu is not None, visible)
    if options.json:
        print(json.dumps(table.compose(found), indent=1))
    else:
        table.print_sweep(found, screen, plain)
    return OK if best(rows) else FAILED
