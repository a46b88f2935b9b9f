"""Variables of the host that code of the device uses: nvcc does not know them there.

To the simulator's compilers they are variables like any other. Where the text leaves doubt (another
variable of that name, a macro), nothing is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
        for token in used(body, hosts.keys() - function.names)
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
