"""Variables of the host that code of the device uses: nvcc does not know them there.

To the simulator's compilers they are variables like any other. Where the text leaves doubt (another
variable of that name, a macro), nothing is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader.source.brackets import OPENING, closing
from grader.source.directives import Item, Macros
from grader.source.heads import names_of
from grader.source.scopes import survey
from grader.source.tokens import Kind, Token

DEVICE = frozenset({"__global__", "__device__"})
# Where one of these stands, no variable of the host is declared, or not here.
_OTHERS = frozenset(
    """
    __device__ __constant__ __shared__ __managed__
    class concept enum extern friend namespace static_assert struct template typedef union using
    """.split()
)
CONSTANT = frozenset({"const", "constexpr"})
# What stands before an expression; any other word before a name declares it.
_BEFORE_EXPRESSIONS = frozenset({"return", "else", "do", "case", "and", "or", "not"})
TYPES = frozenset(
    "auto bool char double float float2 float4 int long short size_t unsigned void const".split()
)
_AFTER_NAMES = ("=", "[", ",", ";")
# What stands in their parentheses is worked out while compiling.
_ASKING = frozenset({"static_assert", "alignas", "__align__"})
_NO_ARGUMENTS = frozenset({";", "{", "}", "&&", "||"})  # what ends no `<` as template arguments do
_LONGEST, _ARGUMENTS = 500, 40  # tokens of an expression, and of arguments, that are looked at
_NOTHING = Token(Kind.MARK, ";", 0)


@dataclass(frozen=True)
class Use:
    """Where a variable of the host is used; `array`: it is an array of constants. Of any other
    constant the device knows the value."""

    name: str
    line: int
    array: bool


@dataclass(frozen=True)
class Declared:
    """A variable of the host. `kind` is "array", "lambda" or ""."""

    name: str
    constant: bool
    kind: str


def first_use(items: Sequence[Item], macros: Macros) -> Use | None:
    """The first one in a function of the device; None where there is none."""
    found = survey(items, macros)
    if not found.sound:
        return None
    hosts = {
        one.name: one.constant
        for row in found.statements
        for one in declared(row, macros)
        if one.kind == "array" or not one.constant
    }
    marks = macros.reaching(DEVICE)
    uses = [
        token
        for function, body in found.inside.items()
        if hosts and function.names & marks and "constexpr" not in function.names
        for token in _at_run_time(body, hosts, used(body, hosts.keys() - function.names))
    ]
    first = min(uses, key=lambda token: token.place, default=None)
    return first and Use(first.text, first.line, hosts[first.text])


def declared(row: Sequence[Token], macros: Macros) -> Iterator[Declared]:
    """The host's variables of a declaration."""
    names = names_of(row)
    if names & macros.reaching(_OTHERS) or any(name in macros for name in names):
        return
    constant = bool(names & CONSTANT)
    depth, named = 0, True  # brackets; whether the name that comes next may be the variable's
    ahead = [*row[1:], _NOTHING, _NOTHING]
    for before, token, after, then in zip([_NOTHING, *row], row, ahead, ahead[1:], strict=False):
        depth += (token.text in ("(", "[", "<")) - (token.text in (")", "]", ">"))
        if depth == 0 and token.text == ",":
            named = True
        elif depth == 0 and named and token.kind is Kind.NAME and after.text in _AFTER_NAMES:
            named = False
            if before is not _NOTHING:
                is_lambda = "auto" in names and (after.text, then.text) == ("=", "[")
                kind = "array" if after.text == "[" else "lambda" if is_lambda else ""
                yield Declared(token.text, constant, kind)
        elif token.text == "(":  # a function
            return


def used(body: Sequence[Token], names: Collection[str]) -> list[Token]:
    """Where a body uses one of the names; none of those that it declares itself."""
    own: set[str] = set()
    uses: list[Token] = []
    parentheses = 0
    row = [_NOTHING, _NOTHING, _NOTHING, *body, _NOTHING]
    for number, token in enumerate(row[3:-1], 3):
        parentheses += (token.text == "(") - (token.text == ")")
        if token.text not in names:
            continue
        before, after = row[number - 1], row[number + 1]
        if before.text in (".", "->", "::", "sizeof") or row[number - 2].text == "sizeof":
            continue
        if _declares(row[number - 3 : number], after, parentheses):
            own.add(token.text)
        uses.append(token)
    return [use for use in uses if use.text not in own]


def _at_run_time(
    body: Sequence[Token], hosts: Mapping[str, bool], uses: Sequence[Token]
) -> list[Token]:
    """The uses that the device itself makes: the compiler may read arrays of constants, too."""
    if not any(hosts[use.text] for use in uses):
        return list(uses)
    early = set(_while_compiling(body))
    return [use for use in uses if not hosts[use.text] or use.place not in early]


def _while_compiling(body: Sequence[Token]) -> Iterator[int]:
    """The places of tokens whose values may be worked out before the kernel runs."""
    row = [*[_NOTHING] * 4, *body, _NOTHING]
    number = 4
    while number < len(row) - 1:
        end = max(_end_of_constants(row, number), number + 1)
        if end > number + 1:
            yield from (one.place for one in row[number:end])
        number = end


def _end_of_constants(row: Sequence[Token], number: int) -> int:
    """The index behind what the token there makes the compiler work out; 0 for nothing."""
    text, before, after = row[number].text, row[number - 1].text, row[number + 1].text
    if text in _ASKING or (before, text) == ("if", "constexpr"):
        return number + 1 + _length(row, number + 1) if after == "(" else 0
    if text in ("constexpr", "enum", "case"):
        return _next(row, number, ":" if text == "case" else ";")
    if text == "<":
        return number + _length_of_arguments(row, number)
    named = text == "[" and row[number - 1].kind is Kind.NAME
    if not named or not _declares(row[number - 4 : number - 1], row[number], 0):
        return 0
    while number < len(row) and row[number].text == "[":  # `[4][2]`
        number += _length(row, number) + 1
    return number


def _length(row: Sequence[Token], opening: int) -> int:
    return closing(row[opening : opening + _LONGEST], 0)


def _next(row: Sequence[Token], start: int, mark: str) -> int:
    """Where that mark stands next, outside of all brackets."""
    number = start
    while number < min(start + _LONGEST, len(row)) and row[number].text != mark:
        number += 1 + (_length(row, number) if row[number].text in OPENING else 0)
    return number


def _length_of_arguments(row: Sequence[Token], start: int) -> int:
    """Of what may be the arguments of a template; 0 where it is a comparison."""
    depth = 0
    for number, token in enumerate(row[start : start + _ARGUMENTS]):
        depth += (token.text == "<") - (token.text == ">")
        if depth == 0:
            return number
        if token.text in _NO_ARGUMENTS:
            return 0
    return 0


def may_drop(body: Sequence[Token]) -> bool:
    """Whether nvcc may leave a part of it out, as it does with templates that nobody uses."""
    pairs = {(before.text, after.text) for before, after in pairwise(body)}
    return ("if", "constexpr") in pairs or ("decltype", "(") in pairs


def _declares(ahead: Sequence[Token], after: Token, parentheses: int) -> bool:
    """Whether a name may be declared where these tokens stand before it, rather than used."""
    start, kind, before = ahead
    if before.kind is Kind.NAME:
        return before.text not in _BEFORE_EXPRESSIONS
    if before.text in ("*", "&"):  # `int *tile` or `row * tile`
        return kind.text in TYPES or (kind.kind is Kind.NAME and start.text in (";", "{", "}"))
    return before.text == ">" or (before.text == "," and parentheses == 0) or after.text == ":"
