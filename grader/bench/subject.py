"""What `bench` and `sweep` measure, and where: from their options to files and devices."""

from __future__ import annotations

import argparse
from contextlib import ExitStack, closing

from rich.console import Console

from grader import course
from grader.bench.report import Machine
from grader.caller import make_variable
from grader.checks import devices
from grader.checks.plan import PRACTICE_SEED, Entry, folder_entries, solution_entries
from grader.commands import existing
from grader.exercise import Exercise
from grader.finding import GraderFault
from grader.report.next_step import missing
from grader.settings import PROJECT, STARTER


def entries(options: argparse.Namespace, chosen: tuple[Exercise, ...]) -> tuple[Entry, ...]:
    """The submission's files, or the reference solutions."""
    if not options.solutions:
        return folder_entries(chosen, existing(options.folder or STARTER))
    if options.folder:
        raise GraderFault("Give either a folder or --solutions, not both.")
    return solution_entries(chosen)


def checked_entry(entry: Entry) -> Entry:
    """The entry; raises GraderFault where no kernel was written yet."""
    if entry.state == "missing":
        raise GraderFault(" Next: ".join(missing(entry.path)))
    if entry.state == "not_started":
        raise GraderFault(
            f"{entry.path.name} is as it was handed out: nothing of the kernel is written yet. "
            f"Next: make test EX={entry.exercise.short}"
        )
    return entry


def open_machine(word: str, stack: ExitStack, screen: Console | None) -> Machine:
    """The simulator, and the GPU where there is one; `stack` closes both. Raises GraderFault."""
    target = course.load(PROJECT).target
    choice = devices.choose(word)
    if choice.note and screen:
        screen.print(choice.note)
    counting = devices.open_simulator(target)
    stack.enter_context(closing(counting))
    nvcc = devices.compiler_check(target)
    if "gpu" not in choice.kinds:
        return Machine(target, counting, nvcc=nvcc)

    def wait(text: str) -> None:
        if screen:
            screen.print(text)

    gpu = devices.open_gpu(target, wait)
    stack.enter_context(closing(gpu))
    return Machine(target, counting, gpu, nvcc)


def seed_of(options: argparse.Namespace) -> int:
    return PRACTICE_SEED if options.seed is None else int(options.seed)


def submission_of(options: argparse.Namespace) -> str:
    """What `make test` needs besides the exercise to look at the same file."""
    return f" {make_variable('SUBMISSION', str(options.folder))}" if options.folder else ""
