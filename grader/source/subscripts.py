"""Whose element `strip.v[k]` is: the object that an index belongs to, as far as the text tells."""

from __future__ import annotations

from collections.abc import Sequence

from grader.source.brackets import closing, opening
from grader.source.tokens import Kind, Token

_MEMBER = frozenset({".", "->", "::"})
_END = Token(Kind.MARK, "", 0)


def indexed(row: Sequence[Token], place: int) -> tuple[Token, ...]:
    """The names of what an index is for, its object first: `strip`, `v`. `place` is a token of the
    code `row`: the first one of such an expression, or a bracket of the index itself.

    A name that stands for another object (`float (&row)[16] = As[ty]`) is followed to that one. ()
    where no name leads.
    """
    start = _start(row, place) if row[place].text in ("[", "]") else place
    found, before = _object(row, start), start
    names: tuple[Token, ...] = ()
    while found is not None:
        names = _names(row, found)
        # Only what stands further up: no text leads round in a circle.
        before, initialiser = _declaration(row, row[found].text, before)
        found = _object(row, initialiser) if initialiser else None
    return names


def _object(row: Sequence[Token], start: int) -> int | None:
    """The first name of the expression that begins there, without its namespace."""
    while _text(row, start) in ("(", "*", "&", "::"):
        start += 1
    while _text(row, start + 1) == "::":
        start += 2
    return start if start < len(row) and row[start].kind is Kind.NAME else None


def _start(row: Sequence[Token], place: int) -> int:
    """Where the expression begins that has this index."""
    before = (opening(row, place) if row[place].text == "]" else place) - 1
    while True:
        while _text(row, before) in ("]", ")"):
            before = opening(row, before) - 1
        if before < 0 or row[before].kind is not Kind.NAME:
            return max(before + 1, 0)
        if _text(row, before - 1) not in _MEMBER:
            return before
        before -= 2


def _names(row: Sequence[Token], start: int) -> tuple[Token, ...]:
    names = [row[start]]
    end = start + 1
    while _text(row, end) in (".", "["):
        if row[end].text == "[":
            end = closing(row, end) + 1
            continue
        names += row[end + 1 : end + 2]
        end += 2
    return tuple(names)


def _declaration(row: Sequence[Token], name: str, before: int) -> tuple[int, int]:
    """Where the last declaration of `name` before a place stands, and where the expression begins
    that it stands for, as a reference to an array or a pointer to one; 0 for any other."""
    for number in range(before - 1, 0, -1):
        if row[number].text != name:
            continue
        if row[number - 1].text in ("&", "*", "auto"):
            after = number + 1 + (_text(row, number + 1) == ")")
            while _text(row, after) == "[":
                after = closing(row, after) + 1
            if _text(row, after) == "=":
                return number, after + 1
        elif row[number - 1].kind is Kind.NAME and row[number - 1].text != "return":
            return number, 0  # `float name[16]`
    return 0, 0


def _text(row: Sequence[Token], number: int) -> str:
    return row[number].text if 0 <= number < len(row) else _END.text
