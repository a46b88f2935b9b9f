"""All mutants of the solutions, and a few of them that stand for all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

from grader.exercise import Exercise
from grader.tests.mutants import expressions, source, statements
from grader.tests.mutants.mutant import Mutant, Operator, apply, distinct

OPERATORS: Mapping[str, Operator] = MappingProxyType(
    {
        "dimension": expressions.dimension,
        "index swap": expressions.index_swap,
        "stride": expressions.stride,
        "matrix": expressions.matrix,
        "barrier dropped": statements.barrier_dropped,
        "barrier moved": statements.barrier_moved,
        "barrier guarded": statements.barrier_guarded,
        "barrier of a warp": statements.barrier_of_a_warp,
        "comparison": expressions.comparison,
        "rounding": expressions.rounding,
        "guard": statements.guard,
        "constant": expressions.constant,
        "number": expressions.number,
        "initial value": expressions.initial_value,
        "assignment": expressions.assignment,
        "component": expressions.component,
        "statement dropped": statements.statement_dropped,
    }
)


def mutants_of(exercise: str, text: str) -> tuple[Mutant, ...]:
    """Every mutant of one solution, by line; no two have the same text."""
    original = source.read(exercise, text)
    plain = original.text()
    made = [mutant for mutant in distinct(_made(original)) if mutant.text != plain]
    return tuple(sorted(made, key=lambda mutant: mutant.line))


def _made(original: source.Source) -> Iterator[Mutant]:
    for name, operator in OPERATORS.items():
        for change in operator(original):
            yield apply(original, name, change)


def solutions(exercises: Iterable[Exercise]) -> dict[str, str]:
    """The text of each graded exercise's solution by the exercise's name."""
    return {
        one.name: (one.folder / "solution.cu").read_text("utf-8") for one in exercises if one.graded
    }


def sample(mutants: Sequence[Mutant]) -> tuple[Mutant, ...]:
    """One mutant of each operator, the exercises in turn; of the last only what no other has, since
    its tiles take long. The same for the same solutions."""
    exercises = sorted({mutant.exercise for mutant in mutants})
    exercises = exercises[:-1] or exercises
    chosen = []
    for turn, operator in enumerate(OPERATORS):
        wanted = exercises[turn % len(exercises)]
        of_operator = [mutant for mutant in mutants if mutant.operator == operator]
        found = [mutant for mutant in of_operator if mutant.exercise == wanted] or of_operator
        if found:
            chosen.append(min(found, key=_scattered))
    return tuple(chosen)


def _scattered(mutant: Mutant) -> str:
    return hashlib.sha256(mutant.name.encode()).hexdigest()
