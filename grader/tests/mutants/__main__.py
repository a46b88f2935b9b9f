"""`python -m grader.tests.mutants`: mutates the solutions and grades every mutant.

Exit status 0 when every mutant is caught or equivalent, 1 when one was missed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

from grader import cores
from grader.exercise import find, load_all
from grader.settings import PROJECT
from grader.tests.mutants.collection import OPERATORS, mutants_of, sample, solutions
from grader.tests.mutants.grading import Grade
from grader.tests.mutants.mutant import Mutant
from grader.tests.mutants.session import grade_all
from grader.tests.mutants.table import lines, problems


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    chosen = _chosen(options)
    if options.list or options.show:
        for mutant in chosen:
            print(mutant.text if options.show else mutant.name)
        return 0
    if not chosen:
        print("No mutant is like that. Next: --list names them all.", file=sys.stderr)
        return 2
    begin_s = time.monotonic()
    grades = grade_all(chosen, options.jobs, lambda done, one: _tell(done, len(chosen), one))
    whole = not (options.exercise or options.operator or options.name or options.sample)
    print("\n".join(lines(grades, whole)))
    print(f"{time.monotonic() - begin_s:.0f} s with {options.jobs} processes.")
    return 1 if any(problems(grades, whole)) else 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grader.tests.mutants", description=__doc__)
    parser.add_argument("--exercise", help="mutants of this exercise only")
    parser.add_argument("--operator", choices=OPERATORS, help="of this operator only")
    parser.add_argument("--name", default="", help="whose name holds this text")
    parser.add_argument("--sample", action="store_true", help="one of each operator")
    parser.add_argument("--list", action="store_true", help="print names, grade nothing")
    parser.add_argument("--show", action="store_true", help="print texts, grade nothing")
    parser.add_argument("--jobs", type=int, default=cores.usable())
    return parser


def _chosen(options: argparse.Namespace) -> list[Mutant]:
    exercises = load_all(PROJECT)
    wanted = [find(exercises, options.exercise)] if options.exercise else exercises
    texts = solutions(wanted)
    found = [mutant for name, text in texts.items() for mutant in mutants_of(name, text)]
    kept = sample(found) if options.sample else found
    return [
        mutant
        for mutant in kept
        if options.operator in (None, mutant.operator) and options.name in mutant.name
    ]


def _tell(done: int, of: int, one: Grade) -> None:
    """A line for each mutant, on standard error: the table alone is the result."""
    verdict = f" ({one.check}: {one.verdict}, {one.kind})" if one.verdict else ""
    print(f"{done}/{of} {one.fate}{verdict}  {one.mutant.name}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
