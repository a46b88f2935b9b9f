"""`bench` of students' kernels: one with everything, or a line for each."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from rich.console import Console

from grader import settings
from grader.bench import listing, plot
from grader.bench.cpu import Processor
from grader.bench.preparation import Refusal
from grader.bench.progress import steps
from grader.bench.report import MOST_STEPS, Report, compose, measure
from grader.bench.subject import checked_entry, entries, open_machine, seed_of, submission_of
from grader.cli import FAILED, OK
from grader.commands import RESULTS, exercises, parse_shape
from grader.machine_fault import unwritable
from grader.messages import say
from grader.problems.matmul import Shape
from grader.report.line import Line, console, is_plain, line, show

# Large enough for every kernel to show what it can, and soon over.
SUMMARY_SHAPE = Shape(4096, 4096, 4096)


def one(options: argparse.Namespace) -> int:
    """Exit status 1 where the kernel is wrong. Raises GraderFault."""
    plain = is_plain(options.plain)
    screen = console(plain)
    (entry,) = map(checked_entry, entries(options, exercises(options.exercise, graded=True)))
    shape = parse_shape(options.shape)
    shown = None if options.json else screen
    with ExitStack() as stack:
        machine = open_machine(options.device, stack, shown)
        count = 1 if machine.gpu is None else 3 if shape else MOST_STEPS
        with steps(shown, plain, f"Measuring {entry.exercise.name}", count) as step:
            processor = Processor() if machine.gpu else None
            shapes = (shape,) if shape else ()
            report = measure(entry, machine, step, shapes, processor, seed_of(options))
    if isinstance(report, Refusal) and options.json:
        print(json.dumps(refused(entry.exercise.name, report), indent=1))
        return FAILED
    if isinstance(report, Refusal):
        told = listing.refusal_lines(report, entry.exercise.short, submission_of(options))
        show(screen, told)
        return FAILED
    picture = _draw(report, options.svg or RESULTS / f"bench_{entry.exercise.name}.svg")
    if options.json:
        print(json.dumps(compose(report), indent=1))
        return OK
    print_report(report, screen, plain)
    if picture:
        show(screen, [line(), line(f"Picture: {settings.shown(picture)}")])
    return OK


def refused(name: str, report: Refusal) -> dict[str, Any]:
    """Why there is nothing to measure, as data."""
    finding = report.finding
    verdict = {"verdict": finding.verdict.value, "message": say(finding)}
    return {"exercise": name, "refused": {"check": report.check, **verdict}}


def print_report(report: Report, screen: Console, plain: bool) -> None:
    """Times where there are some, and counters."""
    prepared = report.prepared
    tried = "on the simulator and the GPU" if report.gpu else "on the simulator"
    show(screen, listing.head_lines(prepared, prepared.config, tried))
    show(screen, [line()])
    if report.gpu:
        show(screen, [listing.gpu_line(report.gpu, report.roof, report.rows)])
        listing.print_times(report.rows, screen, plain)
    else:
        show(screen, [line("There is no GPU here to time it on: counters instead of times.")])
    if report.counted:
        show(screen, [line()])
        show(screen, listing.counter_lines(report.counted, report.roof))


def _draw(report: Report, path: Path) -> Path | None:
    """The picture's file; None where there is nothing to draw. Raises GraderFault."""
    name = report.prepared.entry.exercise.name
    place = f"on {report.gpu}" if report.gpu else "counted by the simulator"
    text = plot.draw(plot.Picture(f"{name} {place}", report.counted, report.roof, report.rows))
    if text is None:
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise unwritable(path, fault, "--svg FILE") from None
    return path


def all_of_them(options: argparse.Namespace, screen: Console, plain: bool) -> int:
    """A line for each kernel at one shape; exit status 1 where one is wrong."""
    found = entries(options, exercises(None))
    shape = parse_shape(options.shape) or SUMMARY_SHAPE
    wrong = False
    with ExitStack() as stack:
        machine = open_machine(options.device, stack, screen)
        assert machine.gpu is not None, "the summary is of times"
        name = str(machine.gpu.describe()["name"])
        lines: list[Line] = [line((f"{name}, {shape}", "bold"))]
        with steps(screen, plain, "Measuring all kernels", 3 * len(found)) as step:
            for entry in found:
                if entry.state != "started":
                    lines.append(
                        line(f"  {entry.exercise.name:<12}{entry.state.replace('_', ' ')}")
                    )
                    continue
                report = measure(entry, machine, step, (shape,), None, seed_of(options))
                wrong |= isinstance(report, Refusal)
                lines += _summary(entry.exercise.name, report)
    show(screen, [*lines, line()])
    return FAILED if wrong else OK


def _summary(name: str, report: Report | Refusal) -> Iterator[Line]:
    if isinstance(report, Refusal):
        yield listing.refused_line(name, report)
        return
    for row in report.rows:
        yield line(f"  {name:<12}{listing.told(row)}")
