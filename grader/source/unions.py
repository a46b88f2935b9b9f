"""Unions of vectors: a preprocessed text, with plain vectors as the members of its unions.

A vector of the simulator's headers is copied by a function of its own, so that it stays one access.
A union with such a member could not be copied; one with a plain vector, which converts to and from
the other, can.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.source.directives import items_of
from grader.source.tokens import Kind, Token, scan_tokens

# Of vector_types.h: those with such a copy, and what the name of the plain one begins with.
VECTORS = frozenset(
    f"{scalar}{count}"
    for count in (2, 4)
    for scalar in ("char", "uchar", "short", "ushort", "int", "uint", "float")
) | {"double2", "longlong2", "ulonglong2"}
PLAIN = "sim_plain_"

_ATTRIBUTES = frozenset({"__attribute__", "__attribute", "__declspec", "alignas"})
# What ends the head of a union that is only named: `union Quad quad;`, `(union Quad *)`.
_NAMED_ONLY = frozenset({";", "=", ",", ")", "}", ">", "*", "&"})


def mark(text: str) -> str:
    """`text`, the output of a preprocessor, with the other vectors in its unions."""
    pieces, last = [], 0
    for place, name, vector in _places(text):
        pieces += [text[last:place], PLAIN + vector]
        last = place + len(name)
    return "".join([*pieces, text[last:]])


def _places(text: str) -> Iterator[tuple[int, str, str]]:
    """Where a vector is named inside of a union: place, the name there, and the vector's own."""
    inside = _Inside()
    known = {vector: vector for vector in VECTORS}
    before: tuple[str, ...] = ("",) * 3
    for item in items_of(scan_tokens(text)):
        if not isinstance(item, Token):
            continue
        inside.follow(item)
        if inside.bodies and item.kind is Kind.NAME and item.text in known:
            yield item.place, item.text, known[item.text]
        first, name, mark = before
        if first == "using" and mark == "=" and item.text in known:  # using Vec = float4
            known[name] = known[item.text]
        elif name == "typedef" and mark in known and item.kind is Kind.NAME:  # typedef float4 Vec
            known[item.text] = known[mark]
        before = (name, mark, item.text)


class _Inside:
    """Follows a text from token to token: `bodies` has the depths of the unions around it."""

    def __init__(self) -> None:
        self.bodies: list[int] = []
        self._depth = 0
        self._heading = False  # between `union` and its brace
        self._parentheses = 0  # of an attribute in such a head
        self._before = ""

    def follow(self, token: Token) -> None:
        if self._heading:
            self._head(token.text)
        if token.text == "union":
            self._heading = True
        elif token.text == "{":
            self._depth += 1
        elif token.text == "}":
            self._depth -= 1
            if self.bodies and self._depth <= self.bodies[-1]:
                self.bodies.pop()
        self._before = token.text

    def _head(self, text: str) -> None:
        if self._parentheses or (text == "(" and self._before in _ATTRIBUTES):
            self._parentheses += (text == "(") - (text == ")")
        elif text == "{":
            self.bodies.append(self._depth)
            self._heading = False
        elif text in _NAMED_ONLY or text == "(":
            self._heading = False
