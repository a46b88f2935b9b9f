"""A mutant: one small change of a solution, with a name that finds it again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from grader.tests.mutants.source import Edit, Source

# Tokens on either side of a change that its name shows.
_CONTEXT = 3
_LONGEST = 60  # characters of either side of a name


@dataclass(frozen=True)
class Mutant:
    """`text` is the whole file; `before` and `after` show the change in its surroundings."""

    exercise: str
    line: int
    operator: str
    before: str
    after: str
    text: str

    @property
    def name(self) -> str:
        """`02_tiled:34 comparison: k < TILE -> k <= TILE`"""
        return f"{self.exercise}:{self.line} {self.operator}: {self.before} -> {self.after}"


@dataclass(frozen=True)
class Change:
    """What an operator does to a source: edits that do not overlap, in ascending order."""

    edits: tuple[Edit, ...]
    before: str = ""  # where the surrounding tokens do not say enough
    after: str = ""


Operator = Callable[[Source], Iterable[Change]]


def replace(at: int, words: str, end: int = 0) -> Change:
    """One token, or those up to `end`, become `words`."""
    return Change((Edit(at, end or at + 1, words),))


def apply(source: Source, operator: str, change: Change) -> Mutant:
    first, last = change.edits[0], change.edits[-1]
    line = source.tokens[first.start].line
    start, end = first.start, max(last.end, last.start + 1)
    for _ in range(_CONTEXT):  # the name stays on the lines of the change itself
        start -= start > 0 and source.tokens[start - 1].line == line
        end += end < len(source.tokens) and source.tokens[end].line == source.tokens[end - 1].line
    return Mutant(
        exercise=source.exercise,
        line=line,
        operator=operator,
        before=_short(change.before or source.excerpt(start, end)),
        after=_short(change.after or source.excerpt(start, end, change.edits)),
        text=source.text(change.edits),
    )


def _short(text: str) -> str:
    half = (_LONGEST - 7) // 2
    return text if len(text) <= _LONGEST else f"{text[:half]} [...] {text[-half:]}"


def distinct(mutants: Iterable[Mutant]) -> Iterator[Mutant]:
    """Without those whose text another mutant has already; a repeated name gets a number."""
    texts: set[str] = set()
    names: dict[str, int] = {}
    for mutant in mutants:
        if mutant.text in texts:
            continue
        texts.add(mutant.text)
        names[mutant.name] = count = names.get(mutant.name, 0) + 1
        again = f"{mutant.after} (no. {count})" if count > 1 else mutant.after
        yield Mutant(**{**vars(mutant), "after": again})
