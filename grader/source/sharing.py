"""Which tile of a submission is meant to be shared by a block and is not: a fact of the text.

It is no fault by itself; it explains values that come out wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from grader.source.brackets import closing
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
        arrays = list(_arrays(item for item in items if isinstance(item, Token)))
        sizes = {size for _, size, shared in arrays if shared}
        for name, size, shared in arrays:
            if not shared and (name.text in _TILES or size in sizes):
                return name.text, name.line
    return None if "__shared__" in words else ("", 0)


def _all_tokens(items: tuple[Item, ...]) -> Iterator[Token]:
    for item in items:
        yield from item.rest if isinstance(item, Line) else (item,)


def _arrays(code: Iterable[Token]) -> Iterator[tuple[Token, str, bool]]:
    """The arrays that statements declare: name, size as it is written, whether they are shared. Of
    others only those are told that begin with a type: nothing marks them."""
    statement: list[Token] = []
    for token in code:
        if token.text not in (";", "{", "}"):
            statement.append(token)
            continue
        shared = any(word.text == "__shared__" for word in statement)
        if shared or (statement and statement[0].text in _TYPES):
            yield from ((name, size, shared) for name, size in _declared(statement))
        statement = []


def _declared(statement: list[Token]) -> Iterator[tuple[Token, str]]:
    """Each name of a declaration that has a size behind it."""
    for place in range(1, len(statement) - 1):
        before, name = statement[place - 1 : place + 1]
        if name.kind is not Kind.NAME or not (before.kind is Kind.NAME or before.text in ",)"):
            continue
        end = place + 1
        while end < len(statement) and statement[end].text == "[":
            end = closing(statement, end) + 1
        if end > place + 1:
            yield name, " ".join(token.text for token in statement[place + 1 : end])
