"""Which tile of a submission is meant to be shared by a block and is not: a fact of the text.

It is no fault by itself; it explains values that come out wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from grader.source.directives import Item, Line, live
from grader.source.tokens import Kind, Token

_TILES = frozenset({"As", "Bs"})  # what the handouts and starters call them
_TYPES = frozenset({"float", "float2", "float4", "double"})
# Where these stand, an array may be a member of something that is shared.
_CLASSES = frozenset({"struct", "union", "class"})


@lru_cache(maxsize=8)
def unshared(text: str) -> tuple[str, int] | None:
    """Name and line of a tile's array that each thread has for itself; ("", 0) where the file
    shares nothing at all; None where there is nothing to say."""
    items = tuple(live(text))
    words = {token.text for token in _all_tokens(items)}
    if not words & _CLASSES:
        for token in _private(item for item in items if isinstance(item, Token)):
            return token.text, token.line
    return None if "__shared__" in words else ("", 0)


def _all_tokens(items: tuple[Item, ...]) -> Iterator[Token]:
    for item in items:
        yield from item.rest if isinstance(item, Line) else (item,)


def _private(code: Iterator[Token]) -> Iterator[Token]:
    """The tiles that a statement declares which begins with a type: nothing marks them."""
    before: tuple[Token, ...] = (Token(Kind.MARK, ";", 0),) * 3
    for token in code:
        start, kind, name = before
        begins = start.text in (";", "{", "}")
        if begins and kind.text in _TYPES and name.text in _TILES and token.text == "[":
            yield name
        before = (kind, name, token)
