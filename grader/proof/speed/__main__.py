"""`python -m grader.proof.speed`: does the speed grading hold on this GPU?

Needs a GPU and its calibration. Parts: `repeat` measures each solution and each kernel that is just
too slow many times; `dial` does so with kernels 10 % under and over the minimum; `grade` grades the
four solutions and tells where the time goes; `load` times kernels beside a second process that uses
the GPU. Exit status 0: all answers right.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field

from grader import course
from grader.checks.devices import choose, open_gpu
from grader.exercise import PROJECT, Exercise, find
from grader.finding import GraderFault, KernelFault
from grader.messages import say
from grader.proof.speed import gradings
from grader.proof.speed.claims import calibration_of, claims
from grader.proof.speed.dial import around_minimum
from grader.proof.speed.load import busy_gpu
from grader.proof.speed.repetition import Again, Repeated, answer_of, repeat, table
from grader.speed import Timer
from grader.timing.kernels import build_kernel, timed_exercises
from grader.timing.shapes import ShapeKind

PARTS = ("repeat", "dial", "grade", "load")
# Medians of one kernel lie within this in all repetitions.
_SPREAD = 0.01


@dataclass
class ProofReport:
    """Lines to print last, and whether all was right."""

    lines: list[str] = field(default_factory=list)
    right: bool = True

    def add(self, title: str, lines: Iterator[str], right: bool) -> None:
        self.lines += ["", title, *lines, f"  {'all right' if right else 'WRONG'}"]
        self.right = self.right and right


def main(arguments: Sequence[str] | None = None) -> int:
    """0: all answers right; 1: one was wrong or took too long; 2: an error."""
    options = _parser().parse_args(arguments)
    try:
        choose("gpu")  # raises where there is none
    except GraderFault as fault:
        print(fault, file=sys.stderr)
        return 2
    report = ProofReport()
    for part in options.parts or PARTS:
        begin = time.monotonic()
        _say(f"{part} ...")
        try:
            _RUN[part](options, report)
        except GraderFault as fault:  # the other parts still say something
            report.add(part, iter([f"  {fault}"]), right=False)
        except KernelFault as fault:
            report.add(part, iter([f"  {say(fault.findings[0])}"]), right=False)
        _say(f"{part}: {time.monotonic() - begin:.0f} s")
    print("\n".join(report.lines))
    return 0 if report.right else 1


def _repeat(options: argparse.Namespace, report: ProofReport) -> None:
    with _timers() as again:
        rows = []
        for one in claims(calibration_of(again(0)), _exercises(options)):
            rows.append(repeat(again, one, options.times))
            _say(f"  {one.name}")
    narrow = all(row.spread <= _SPREAD for row in rows)
    title = f"Measured {options.times} times each (spread of the medians: at most {_SPREAD:.0%})"
    report.add(title, table(rows), narrow and all(row.right for row in rows))


def _dial(options: argparse.Namespace, report: ProofReport) -> None:
    rows: list[Repeated] = []
    with _timers() as again:
        found = calibration_of(again(0))
        for one in claims(found, _exercises(options)):
            own = found.exercises[one.kernel.exercise.name]
            if one.quarters:
                minimum = own.thresholds[ShapeKind.SQUARE].minimum
                rows += around_minimum(again, one.kernel, own.size, minimum, options.dialled)
                _say(f"  {one.name}")
    title = f"10 % under and over the minimum, {options.dialled} times each"
    report.add(title, table(rows), all(row.right for row in rows))


def _grade(options: argparse.Namespace, report: ProofReport) -> None:
    target = course.load(PROJECT).target
    done = []
    for _ in range(options.gradings):
        done.append(gradings.grade_solutions(target))
        _say(f"  {done[-1].seconds:.1f} s")
    title = f"{options.gradings} x four solutions, compile included"
    report.add(title, gradings.table(done), gradings.all_right(done))


def _load(options: argparse.Namespace, report: ProofReport) -> None:
    lines, right = [], True
    with _timers() as again, busy_gpu():
        for one in claims(calibration_of(again(0)), _exercises(options)):
            answer, speedup, _ = answer_of(again(1), build_kernel(again(1).device, one.kernel))
            good = answer in ("inconclusive", f"{one.quarters} quarters")
            right = right and good
            told = f"  {one.name}: {answer}, {speedup:.3f} times the baseline"
            lines.append(told + ("" if good else f"  WRONG: expected {one.quarters} quarters"))
            _say(lines[-1])
    report.add("Beside a second process that uses the GPU", iter(lines), right)


_RUN: dict[str, Callable[[argparse.Namespace, ProofReport], None]] = {
    "repeat": _repeat,
    "dial": _dial,
    "grade": _grade,
    "load": _load,
}


@contextmanager
def _timers() -> Iterator[Again]:
    """A function that gives a Timer for a seed; the device is closed behind it."""
    with closing(open_gpu(course.load(PROJECT).target, print)) as device:
        yield lambda seed: Timer(device, seed, cublas=False)


def _exercises(options: argparse.Namespace) -> tuple[Exercise, ...]:
    known = timed_exercises()
    return (find(known, options.exercise),) if options.exercise else known


def _part(word: str) -> str:
    if word not in PARTS:
        raise argparse.ArgumentTypeError(f"is none of {', '.join(PARTS)}")
    return word


def _say(line: str) -> None:
    print(line, flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grader.proof.speed", description=__doc__)
    parser.add_argument(
        "parts", nargs="*", type=_part, metavar="PART", help=f"default: all, {', '.join(PARTS)}"
    )
    parser.add_argument("--exercise", metavar="EX", help="only this one: 02_tiled, 02 or tiled")
    parser.add_argument("--times", type=int, default=50, help="of `repeat`; default: 50")
    parser.add_argument("--dialled", type=int, default=10, help="of `dial`; default: 10")
    parser.add_argument("--gradings", type=int, default=1, help="of `grade`; default: 1")
    return parser


if __name__ == "__main__":
    sys.exit(main())
