"""Which bracket of a row of tokens belongs to which."""

from __future__ import annotations

from collections.abc import Sequence

from grader.source.tokens import Token

OPENING, CLOSING = frozenset("([{"), frozenset(")]}")


def closing(row: Sequence[Token], opening: int) -> int:
    """The number of the mark that closes the one at `opening`; the row's length where none does."""
    depth = 0
    for number in range(opening, len(row)):
        depth += (row[number].text in OPENING) - (row[number].text in CLOSING)
        if depth <= 0:
            return number if number > opening else len(row)
    return len(row)


def opening(row: Sequence[Token], closing: int) -> int:
    """The number of the mark that the one at `closing` closes; -1 where there is none."""
    depth = 0
    for number in range(closing, -1, -1):
        depth += (row[number].text in CLOSING) - (row[number].text in OPENING)
        if depth <= 0:
            return number if number < closing else -1
    return -1
