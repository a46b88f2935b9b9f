"""Loops that are not unrolled: a preprocessed text, with a call between each two iterations.

nvcc merges loads of one iteration, and of neighbouring ones where it unrolls the loop; under
`#pragma unroll 1` it merges none of two iterations. Only that pragma counts for nvcc, however it is
spelt (`_Pragma("unroll 1")`, `unroll(1)`, any constant expression); it expands no macros there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.source.brackets import CLOSING, OPENING, closing
from grader.source.directives import items_of
from grader.source.tokens import Kind, Token, scan_tokens

_Edit = tuple[int, int, str]  # from where to where in the text, and what stands there instead


def mark(text: str, call: str) -> str:
    """`text`, the output of a preprocessor, in which each loop under `#pragma unroll N` calls
    `call` between two iterations where N is 1. No line moves. An N that is more than a number
    becomes code: "N == 1 ? call() : ...".

    Left as they are: a `for` over a range and a `do` without braces.
    """
    pieces, last = [], 0
    for start, end, inserted in sorted(_edits(text, call)):
        pieces += [text[last:start], inserted]
        last = end
    return "".join([*pieces, text[last:]])


def _edits(text: str, call: str) -> Iterator[_Edit]:
    items = list(items_of(scan_tokens(text)))
    code = [item for item in items if isinstance(item, Token)]
    count = ""  # of the last pragma, while nothing but preprocessor lines follows it
    number = 0  # of the next token in `code`
    for item in items:
        if isinstance(item, Token):
            if count:
                called = f"{call}()" if count == "1" else f"(({count}) == 1 ? {call}() : (void)0)"
                yield from _EDITS.get(item.text, _no_loop)(code, number, called)
            count = ""
            number += 1
        elif item.name == "pragma" and item.rest and item.rest[0].text == "unroll":
            count = _count(item.rest[1:])


def _count(row: Sequence[Token]) -> str:
    """The expression of a pragma that may be 1: a word or something in parentheses, with nothing
    behind it, as nvcc takes it; else ""."""
    if len(row) == 3 and (row[0].text, row[2].text) == ("(", ")"):
        row = row[1:2]
    alone = len(row) == 1 and row[0].kind in (Kind.NAME, Kind.NUMBER)
    wrapped = len(row) > 3 and row[0].text == "(" and closing(row, 0) == len(row) - 1
    if alone and row[0].text.isdecimal() and row[0].text.lstrip("0") != "1":
        return ""
    return " ".join(token.text for token in row) if alone or wrapped else ""


def _of_for(code: Sequence[Token], start: int, call: str) -> Iterator[_Edit]:
    end = closing(code, start + 1)
    stops = _stops(code[start + 2 : end])
    if end < len(code) and len(stops) == 2:
        comma = "" if code[end - 1].text == ";" else ", "
        yield code[end].place, code[end].place, comma + call


def _of_while(code: Sequence[Token], start: int, call: str) -> Iterator[_Edit]:
    """A `for`: in `while (int i = next())` nothing can stand before the condition."""
    end = closing(code, start + 1)
    if end < len(code):
        yield code[start].place, code[start + 1].place + 1, "for (;"
        yield code[end].place, code[end].place, "; " + call


def _of_do(code: Sequence[Token], start: int, call: str) -> Iterator[_Edit]:
    head = closing(code, start + 1) + 2
    if head < len(code) and (code[head - 1].text, code[head].text) == ("while", "("):
        yield code[head].place + 1, code[head].place + 1, call + ", "


def _no_loop(code: Sequence[Token], start: int, call: str) -> Iterator[_Edit]:
    return iter(())


_EDITS = {"for": _of_for, "while": _of_while, "do": _of_do}


def _stops(row: Sequence[Token]) -> list[int]:
    """Which tokens of a loop's head are the `;` between its parts."""
    depth, found = 0, []
    for number, token in enumerate(row):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if token.text == ";" and depth == 0:
            found.append(number)
    return found
