"""Arrays without a length, of which no compiler can say where they end.

That of `extern __shared__` is known elsewhere, a parameter is a pointer, and what is given values
has their number. Of what remains (a window on a constant that is defined later, the last member of
a struct) compilers watch no index.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.source.brackets import CLOSING, OPENING, closing
from grader.source.expanded import placed
from grader.source.tokens import Kind, Token

_EMPTY = re.compile(r"(?:\[|<:)(?:\s|#[^\n]*\n)*(?:\]|:>)")
_SHARED = "thread_local"  # what __shared__ stands for
_NOT_A_LENGTH = frozenset({"operator", "delete"})  # before the brackets
_VALUES = frozenset({"=", "{", "("})  # behind them; also of a lambda


def has_open_array(output: str, source: str) -> bool:
    """Whether `source` has one, in the `output` of a preprocessor."""
    return _EMPTY.search(output) is not None and any(_open_arrays(output, source))


def _open_arrays(output: str, source: str) -> Iterator[bool]:
    own = [item for item in placed(output, source) if isinstance(item, Token) and item.line]
    shared, begins = False, [0]  # where the bracket around begins, or its part behind a comma
    for number, token in enumerate(own[:-2]):
        if token.text in (";", "{", "}"):
            shared, begins = False, [number + 1]
        shared |= token.text == _SHARED
        if token.text == "[" and own[number + 1].text == "]" and not shared:
            before, after = own[number - 1], own[number + 2].text
            parameter = (
                len(begins) > 1 and after in (",", ")") and _has_type(own, begins[-1], number)
            )
            yield not (parameter or before.text in _NOT_A_LENGTH or after in _VALUES)
        if token.text in OPENING:
            begins.append(number + 1)
        elif token.text in CLOSING:
            begins = begins[:-1] or [number + 1]
        elif token.text == ",":
            begins[-1] = number + 1


def _has_type(row: Sequence[Token], start: int, end: int) -> bool:
    """Whether a name of a type comes before that of the array: not in `(name[])`, which declares a
    variable as `name[]` does."""
    while row[start].text == "__attribute__":
        start = closing(row, start + 1) + 1
    return start < end - 1 and row[start].kind is Kind.NAME
