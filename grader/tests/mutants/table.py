"""Grades of mutants as a table: operators and exercises against what became of the mutants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from grader.tests.mutants.grading import Grade
from grader.verdict import Verdict

# A larger share of mutants without a fault would mean that the operators change nothing.
MOST_EQUIVALENT = 0.05
# A text of which the compiler makes the same program, or none, is no mutant.
NO_MUTANTS = ("same_program", "not_compiled")
FATES = ("caught", *NO_MUTANTS, "equivalent", "harmless", "missed", "grader_error")


def lines(grades: Sequence[Grade], whole: bool = True) -> Iterator[str]:
    """The table, its sums, and by name every mutant that was not caught; see `problems`."""
    yield f"{'operator':<18}{'exercise':<11}" + "".join(f"{title:>11}" for title in _TITLES)
    for (operator, exercise), some in _groups(grades).items():
        yield f"{operator:<18}{exercise:<11}{_numbers(some)}   {_verdicts(some)}"
    for exercise in sorted({grade.mutant.exercise for grade in grades}):
        some = [grade for grade in grades if grade.mutant.exercise == exercise]
        yield f"{'all':<18}{exercise:<11}{_numbers(some)}"
    yield f"{'all':<18}{'all':<11}{_numbers(grades)}   {_verdicts(grades)}"
    for fate in FATES[1:]:
        yield from _named(grades, fate)
    yield conclusion(grades, whole)


_TITLES = ("texts", "caught", "same code", "no code", "equivalent", "harmless", "missed", "error")


def _groups(grades: Sequence[Grade]) -> dict[tuple[str, str], list[Grade]]:
    groups: dict[tuple[str, str], list[Grade]] = {}
    for grade in sorted(grades, key=lambda one: (one.mutant.operator, one.mutant.exercise)):
        groups.setdefault((grade.mutant.operator, grade.mutant.exercise), []).append(grade)
    return groups


def _numbers(grades: Sequence[Grade]) -> str:
    fates = Counter(grade.fate for grade in grades)
    return "".join(f"{number:>11}" for number in (len(grades), *(fates[fate] for fate in FATES)))


def _verdicts(grades: Sequence[Grade]) -> str:
    """`race 3, wrong_answer 12`, in the order of precedence."""
    found = Counter(grade.verdict for grade in grades if grade.fate == "caught")
    return ", ".join(f"{verdict} {found[verdict]}" for verdict in Verdict if found[verdict])


def _named(grades: Sequence[Grade], fate: str) -> Iterator[str]:
    for grade in grades:
        if grade.fate == fate:
            yield f"{fate}: {grade.mutant.name}" + (f" ({grade.kind})" if grade.kind else "")


def problems(grades: Sequence[Grade], whole: bool = True) -> Iterator[str]:
    """What must not be: a mutant that nobody caught; of the `whole` set, too many that change
    nothing."""
    fates = Counter(grade.fate for grade in grades)
    for fate in ("missed", "grader_error"):
        if fates[fate]:
            yield f"{fates[fate]} of {len(grades)} mutants: {fate.replace('_', ' ')}"
    mutants = len(grades) - sum(fates[fate] for fate in NO_MUTANTS)
    if whole and fates["equivalent"] > MOST_EQUIVALENT * mutants:
        limit = f"at most {MOST_EQUIVALENT:.0%} may be"
        yield f"{fates['equivalent']} of {mutants} mutants are equivalent, {limit}"


def conclusion(grades: Sequence[Grade], whole: bool = True) -> str:
    found = "; ".join(problems(grades, whole))
    return f"Not as it should be: {found}." if found else f"All {len(grades)} as they should be."
