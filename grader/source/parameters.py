"""In which order a kernel's definition names its sizes: a fact of the text.

All three have one type, so no compiler minds. It is no fault by itself; it explains indices that
leave a matrix, and values that come out wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from grader.source.brackets import closing
from grader.source.directives import live_tokens
from grader.source.tokens import Kind, Token

_SIZES = ("M", "N", "K")


@lru_cache(maxsize=8)
def other_order(text: str, kernel: str) -> tuple[tuple[str, ...], int] | None:
    """The names of the last three parameters where they are M, N and K in another order, and the
    line of the kernel's name; None where there is nothing to say."""
    code = live_tokens(text)
    for place, token in enumerate(code[:-1]):
        if token.text == kernel and code[place + 1].text == "(":
            end = closing(code, place + 1)
            names = _names(code[place + 2 : end])[-len(_SIZES) :]
            is_defined = [token.text for token in code[end + 1 : end + 2]] == ["{"]
            order = tuple(name.upper() for name in names)
            if is_defined and order != _SIZES and sorted(order) == sorted(_SIZES):
                return names, token.line
    return None


def _names(parameters: Sequence[Token]) -> tuple[str, ...]:
    """The last name before each comma, and before the end: here no parameter has a default."""
    ends = [place for place, token in enumerate(parameters) if token.text == ","]
    last = [parameters[end - 1] for end in (*ends, len(parameters)) if end]
    return tuple(token.text for token in last if token.kind is Kind.NAME)
