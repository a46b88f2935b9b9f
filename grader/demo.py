"""The verb `demo`: what the reports look like, for right kernels and for instructive wrong ones."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from grader.checks.plan import Plan, entry, solution_entries
from grader.cli import FAILED, OK
from grader.commands import exercises, exit_status, run_plan, show_end, show_exercises
from grader.exercise import PROJECT
from grader.grading import Grading
from grader.report.line import console, is_plain, line, show
from grader.report.summary import total_lines

SUBMISSIONS = PROJECT / "grader" / "tests" / "submissions"

# Mistakes that everybody makes once: at the edge of C, along K, a race that a GPU may hide, and a
# kernel that is right and wastes shared memory.
WRONG = (
    "01_naive/out_of_bounds/unguarded_store.cu",
    "02_tiled/wrong_answer/k_tail_dropped.cu",
    "02_tiled/race/no_barrier_before_next_load.cu",
    "03_padded/bank_conflicts/no_padding.cu",
)

# The demo shows reports; it need not search as hard as a grading does.
_EXAMPLES = 25
_SEED = 1


@dataclass(frozen=True)
class Expected:
    """A wrong submission and the verdict that its folder names."""

    path: Path
    exercise: str
    verdict: str


def main(options: argparse.Namespace) -> int:
    """0 when every submission came out as expected."""
    plain = is_plain(options.plain)
    screen = console(plain)
    solutions = _solutions_pass(screen, plain)
    wrong = [_comes_out(one, screen, plain) for one in wrong_submissions()]
    surprises = [solutions, *wrong].count(False)
    told = (
        "Every submission came out as expected."
        if not surprises
        else f"{surprises} did not come out as expected."
    )
    show(screen, [line(), line(told)])
    return FAILED if surprises else OK


def wrong_submissions() -> Iterator[Expected]:
    """Those of WRONG; none in a students' copy, which comes without the grader's own tests."""
    if not SUBMISSIONS.is_dir():
        return
    for name in WRONG:
        exercise, verdict, _ = name.split("/")
        yield Expected(SUBMISSIONS / name, exercise, verdict)


def _solutions_pass(screen: Console, plain: bool) -> bool:
    known = exercises(None)
    if not all((one.folder / "solution.cu").exists() for one in known):
        show(screen, [line("The reference solutions are not part of this copy.")])
        return True
    show(screen, [line(("The reference solutions", "bold"))])
    grading = run_plan(Plan(solution_entries(known), _SEED, _EXAMPLES), "auto", screen, plain)
    _report(screen, grading)
    return exit_status(grading) == OK and grading.score.earned == grading.score.gradable


def _comes_out(expected: Expected, screen: Console, plain: bool) -> bool:
    (exercise,) = exercises(expected.exercise)
    title = f"Wrong on purpose: {expected.path.relative_to(PROJECT)}"
    show(screen, [line(), line((title, "bold"))])
    plan = Plan((entry(exercise, expected.path, expected.path.parent),), _SEED, _EXAMPLES)
    grading = run_plan(plan, "auto", screen, plain)
    _report(screen, grading)
    return expected.verdict in _verdicts(grading)


def _verdicts(grading: Grading) -> set[str]:
    """The verdict of each failed check."""
    return {
        check.outcome.findings[0].verdict.value
        for exercise in grading.score.exercises
        for check in exercise.checks
        if check.outcome.findings
    }


def _report(screen: Console, grading: Grading) -> None:
    show_exercises(screen, grading, with_points=True)
    show(screen, total_lines(grading.score))
    show_end(screen, grading, None)
