"""`python -m grader.bench.ladder`: what each step from the naive kernel to the tuned one gains."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from grader.bench.clock import Clock, LeftOut, ShapeTimes
from grader.bench.ladder.rungs import RUNGS, Rung, submission
from grader.bench.progress import Step, silent, steps
from grader.bench.subject import open_machine
from grader.checks.plan import PRACTICE_SEED
from grader.commands import parse_shape
from grader.exercise import PROJECT, Exercise, load_all
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.report.line import console, is_plain, line, show
from grader.timing.device import TimingDevice

# Large enough to fill every GPU, and small enough that the naive kernel is soon over.
SHAPE = Shape(4096, 4096, 4096)
_HEADS = ("rung", "what it changes", "ms", "TFLOP/s", "naive 16x16", "cuBLAS")


@dataclass(frozen=True)
class Climb:
    """A rung and its times at one shape."""

    rung: Rung
    timed: ShapeTimes


def climb(
    device: TimingDevice, exercises: Sequence[Exercise], shape: Shape, step: Step
) -> Iterator[Climb]:
    """Every rung, measured. Raises GraderFault where one does not build or run, or fit."""
    for rung in RUNGS:
        step(rung.name)
        exercise, file = submission(rung, exercises)
        build = device.build(exercise, file)
        if build.config is None:
            raise GraderFault(f"{rung.path} does not build. Next: make doctor")
        for row in Clock(device, build, PRACTICE_SEED).rows((shape,), silent):
            if isinstance(row, LeftOut):
                raise GraderFault(f"{shape}: {row.reason}. Next: --shape with a smaller one")
            yield Climb(rung, row)


def cells(climbed: Climb) -> tuple[str, ...]:
    """One row of the table, in the order of its heads; "-" for a library that is not there."""
    rung, timed = climbed.rung, climbed.timed
    share = f"{timed.cublas_s / timed.student_s:.0%}".replace("%", " %")
    return (
        rung.name,
        rung.change,
        f"{timed.student_s * 1e3:.2f}",
        f"{timed.gflops / 1e3:.1f}",
        f"{timed.speedup:.2f} x",
        share if timed.cublas_s else "-",
    )


def print_climb(climbed: Sequence[Climb], screen: Console, plain: bool) -> None:
    if plain:
        for one in climbed:
            name, change, ms, tflops, naive, cublas = cells(one)
            told = f"{name} ({change}): {ms} ms, {tflops} TFLOP/s, {naive} naive, {cublas} cuBLAS"
            show(screen, [line(told)])
        return
    table = Table(box=box.SIMPLE)
    for number, head in enumerate(_HEADS):
        table.add_column(head, justify="left" if number < 2 else "right")
    for one in climbed:
        table.add_row(*cells(one))
    screen.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """0: measured; 2: an error, or no GPU."""
    parser = argparse.ArgumentParser(prog="python -m grader.bench.ladder", description=__doc__)
    parser.add_argument("--shape", metavar="MxNxK", help=f"default: {SHAPE}")
    parser.add_argument("--plain", action="store_true", help="no colours, no table")
    options = parser.parse_args(arguments)
    plain = is_plain(options.plain)
    screen = console(plain)
    try:
        shape = parse_shape(options.shape) or SHAPE
        with ExitStack() as stack:
            gpu = open_machine("gpu", stack, screen).gpu
            assert gpu is not None, "without a GPU open_machine has raised"
            show(screen, [line((f"{gpu.describe()['name']}, {shape}", "bold"))])
            with steps(screen, plain, "Climbing", len(RUNGS)) as step:
                climbed = tuple(climb(gpu, load_all(PROJECT), shape, step))
        print_climb(climbed, screen, plain)
    except GraderFault as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
