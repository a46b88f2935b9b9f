"""Constants of the host that code of the device uses as more than a value.

nvcc puts the value of a constant where the device uses it, but the constant itself lies in the
host's memory. `std::min(TILE, K)`, which takes its address, and the call of a lambda, whose object
it is, do not compile, unless all arguments are constants: that is worked out while compiling.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from grader.source.brackets import CLOSING, OPENING, closing
from grader.source.directives import Item, Macros
from grader.source.heads import Function, past_angles
from grader.source.host_variables import CONSTANT, DEVICE, TYPES, declared, may_drop, used
from grader.source.scopes import survey
from grader.source.tokens import Kind, Token

_BY_REFERENCE = frozenset({"min", "max", "clamp"})  # of std::
_OF_THREADS = frozenset({"threadIdx", "blockIdx"})
_WITHOUT_VALUES = frozenset({"sizeof", "decltype", "alignof"})


def addressed(items: Sequence[Item], macros: Macros) -> Iterator[tuple[Token, str]]:
    """Where such a constant is used, with the function that takes it; "" where it is called."""
    found = survey(items, macros)
    if not found.sound:
        return
    known = {
        one.name: one.kind == "lambda"
        for row in found.statements
        for one in declared(row, macros)
        if one.constant and one.kind != "array"
    }
    marks = macros.reaching(DEVICE)
    for function, body in found.inside.items():
        if function.names & {"constexpr", "template"} or may_drop(body):
            continue
        if function.names & marks:
            names = used(body, known.keys() - function.names)
            own = {name.place: known[name.text] for name in names}
            yield from _in_calls(body, own, _varying(function, body))


def _in_calls(
    body: Sequence[Token], own: Mapping[int, bool], varying: Collection[str]
) -> Iterator[tuple[Token, str]]:
    for number, token in enumerate(body):
        called = own.get(token.place, False)
        if not called and [one.text for one in body[number - 2 : number]] != ["std", "::"]:
            continue
        first = number + 1
        if first < len(body) and body[first].text == "<":
            first = past_angles(body, first)
        if first >= len(body) or body[first].text != "(":
            continue
        row = body[first : closing(body, first) + 1]
        if not _varies(row, varying):
            continue
        if called:
            yield token, ""
        elif token.text in _BY_REFERENCE:
            for argument in _arguments(row):
                if len(argument) == 1 and argument[0].place in own:
                    yield argument[0], f"std::{token.text}"


def _arguments(row: Sequence[Token]) -> Iterator[Sequence[Token]]:
    """What stands between the commas of a list in brackets."""
    depth, start = 0, 1
    for number, token in enumerate(row):
        depth += (token.text in OPENING) - (token.text in CLOSING)
        if (depth, token.text) == (1, ",") or depth == 0:
            yield row[start:number]
            start = number + 1


def _varies(row: Sequence[Token], varying: Collection[str]) -> bool:
    """Whether the value of arguments in brackets is surely not known before the kernel runs."""
    if any(token.text in _WITHOUT_VALUES for token in row):
        return False
    return any(
        token.text in varying
        and before.text not in (".", "->", "::")
        and after.text not in ("(", "{", "::", "<")
        and (before is row[0] or (before.text, after.text) != ("(", ")"))  # `(size_t)4`
        for before, token, after in zip(row, row[1:], row[2:], strict=False)
    )


def _varying(function: Function, body: Sequence[Token]) -> set[str]:
    """Parameters and variables of a function that are no constants."""
    varying = set(function.names | _OF_THREADS) - TYPES
    constants: set[str] = set()
    for number, token in enumerate(body):
        start = number
        while start and body[start - 1].text in TYPES | CONSTANT:
            start -= 1
        if token.kind is Kind.NAME and start < number and token.text not in TYPES | CONSTANT:
            kinds = {one.text for one in body[start:number]}
            (constants if kinds & CONSTANT else varying).add(token.text)
    return varying - constants
