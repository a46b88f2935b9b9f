"""The verb `bench`: from its options to what it prints."""

from __future__ import annotations

import argparse
import json

from grader import course
from grader.bench import kernels, oclgrind, simulator, table
from grader.bench.outcome import BenchOutcome, compose
from grader.bench.progress import Step, silent, steps
from grader.checks import devices
from grader.cli import OK
from grader.commands import exercises
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.report.line import console, is_plain
from grader.toolchain import host_compiler


def main(options: argparse.Namespace) -> int:
    """One kernel where an exercise is named; else the simulator, and on a GPU all kernels first.

    Exit status 0 whatever the speed: the machine may be a slow one. 1 where a kernel is wrong.
    """
    if options.exercise is not None and not options.simulator:
        return kernels.one(options)
    plain = is_plain(options.plain)
    screen = console(plain)
    status = OK
    if not (options.simulator or options.json) and "gpu" in devices.choose(options.device).kinds:
        status = kernels.all_of_them(options, screen, plain)
        if not simulator.is_measurable():
            return status
    if not simulator.is_measurable():
        raise GraderFault("Which kernel? Next: make bench EX=tiled")
    chosen = exercises(options.exercise, graded=True)
    workloads = (*simulator.solutions(chosen), simulator.comparison(load_all(PROJECT)))
    shown = None if options.json else screen
    with steps(shown, plain, "Measuring the simulator", len(workloads) + 1) as step:
        outcome = measure(workloads, options.compiler, with_oclgrind=True, step=step)
    if options.json:
        print(json.dumps(compose(outcome), indent=1))
    else:
        table.print_outcome(outcome, screen, plain)
    return status


def measure(
    workloads: tuple[simulator.Workload, ...],
    family: str | None,
    with_oclgrind: bool,
    shape: Shape = simulator.SHAPE,
    repeats: int = simulator.REPEATS,
    step: Step = silent,
) -> BenchOutcome:
    """The last of `workloads` is the kernel that Oclgrind runs, too."""
    compiler, target = host_compiler(family), course.load(PROJECT).target
    measured = []
    for one in workloads:
        step(one.name)
        measured.append(simulator.measure(one, compiler, target, shape, repeats))
    step("Oclgrind")
    tool = oclgrind.find() if with_oclgrind else None
    version = ".".join(map(str, compiler.version))
    return BenchOutcome(
        f"{compiler.family} {version}",
        str(shape),
        tuple(measured),
        oclgrind.measure(tool, repeats) if tool else None,
    )
