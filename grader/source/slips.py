"""Slips of the pen in a submission's frame that compilers word badly, or place nowhere.

Only for files that a compiler has refused: each of these is then a reason, and told in the words of
this course. Code under every condition is looked at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from grader import settings
from grader.finding import Finding, Location
from grader.source import host_constants, host_variables, marks
from grader.source.brackets import closing
from grader.source.directives import Item, Line, Macros, live, unconditional
from grader.source.expanded import shared_values
from grader.source.inclusion import Found, header
from grader.source.tokens import Kind, Token
from grader.verdict import Verdict

if TYPE_CHECKING:
    from grader.submission import Submission

_MACRO = "LAUNCH_CONFIG"
_HEADER = "launch.cuh"
_ARITHMETIC = ("(", ")", "+", "-", "*", "/")
# In the order of the struct in launch.cuh, which initialisers have to keep.
FIELDS = ("block_x", "block_y", "tile_m", "tile_n", "tile_k", "dynamic_shared")


@dataclass(frozen=True)
class _Use:
    """A macro's name in code and its arguments. `ended`: as far as the text tells, by a `;`."""

    name: Token
    arguments: tuple[Token, ...]
    ended: bool

    def fields(self) -> list[Token]:
        """The names of `.block_x = 16, ...`."""
        row = [Token(Kind.MARK, ",", 0), *self.arguments]
        starts = zip(row, row[1:], row[2:], strict=False)
        return [name for mark, dot, name in starts if mark.text == "," and dot.text == "."]

    def without_comma(self) -> Iterator[Token]:
        """The names of `.block_y = 16` that stand right behind another value."""
        row = self.arguments
        for before, dot, name, sets in zip(row, row[1:], row[2:], row[3:], strict=False):
            named = dot.text == "." and name.text in FIELDS and sets.text == "="
            if named and before.text != ",":
                yield name


def first(submission: Submission) -> Found | None:
    """The first slip as (line, kind, facts); None where the compiler's words are the best there
    are.

    Kinds: host_swap {}, shared_first_value {name}, host_variable {name, array}, host_constant
    {name, taker}, kernel_called {name}, marked_lambda {mark}, unroll_macro {name},
    define_punctuated {name, value}, config_without_header {}, config_misspelt {name},
    config_unended {}, config_field {name, nearest, order}, config_comma {name}, config_order
    {first, second, order}, brace_open {opened}.
    """
    return next(_slips(tuple(live(submission.text))), None)


def reworded(findings: tuple[Finding, ...], submission: Submission) -> tuple[Finding, ...]:
    """Of a file that does not compile: what the text shows, where it tells more than a compiler."""
    if not findings or findings[0].kind not in ("compile_error", "compile_gave_up"):
        return findings
    slip = first(submission)
    if slip is None:
        return findings
    line, kind, facts = slip
    places = (Location(submission.name, line, "error"),)
    facts = {**findings[0].facts, **facts}
    return (replace(findings[0], kind=kind, facts=facts, locations=places), *findings[1:])


def only_for_nvcc(submission: Submission) -> tuple[Finding, ...]:
    """Why nvcc would refuse a file that the simulator's compilers take."""
    items = tuple(live(submission.text))
    found = _of_nvcc(items, Macros(items))
    return tuple(
        Finding(Verdict.COMPILE_ERROR, kind, facts, (Location(submission.name, line, "error"),))
        for line, kind, facts in sorted(found, key=lambda one: one[0])
    )


def _slips(items: tuple[Item, ...]) -> Iterator[Found]:
    lines = [item for item in items if isinstance(item, Line)]
    code = [item for item in items if isinstance(item, Token)]
    if any(line.name == "define" and line.rest and line.rest[0].text == _MACRO for line in lines):
        return
    macros = Macros(items)
    yield from _host_swap(code)
    for name in shared_values(code, "__shared__"):
        yield name.line, "shared_first_value", {"name": name.text}
    yield from _of_nvcc(items, macros)
    yield from _unroll_macro(lines, macros)
    yield from _punctuated(lines, code)
    use = _use(code)
    if use is None:
        return
    line = use.name.line
    if not any(_takes_in_header(one) and one.line < line for one in lines):
        yield line, "config_without_header", {}
    if use.name.text != _MACRO:
        yield line, "config_misspelt", {"name": use.name.text}
    yield from _open_brace(code, lines, use.name)
    yield from _fields(use)
    if not use.ended:
        yield line, "config_unended", {}


def _host_swap(code: list[Token]) -> Iterator[Found]:
    """`std::swap`, which is no constexpr function in C++17 and so has no device version."""
    for names in zip(code, code[1:], code[2:], strict=False):
        if [token.text for token in names] == ["std", "::", "swap"]:
            yield names[2].line, "host_swap", {}


def _of_nvcc(items: tuple[Item, ...], macros: Macros) -> Iterator[Found]:
    """What no other compiler refuses, in code that every condition keeps."""
    items = tuple(unconditional(items))
    use = host_variables.first_use(items, macros)
    if use is not None:
        yield use.line, "host_variable", {"name": use.name, "array": use.array}
    for name, taker in host_constants.addressed(items, macros):
        yield name.line, "host_constant", {"name": name.text, "taker": taker}
    for name in marks.called_kernels(items, macros):
        yield name.line, "kernel_called", {"name": name.text}
    for mark in marks.marked_lambdas(items):
        yield mark.line, "marked_lambda", {"mark": mark.text}


def _unroll_macro(lines: list[Line], macros: Macros) -> Iterator[Found]:
    """`#pragma unroll UF` with a macro UF, which no compiler of CUDA replaces there."""
    for line in lines:
        if line.name == "pragma" and line.rest and line.rest[0].text == "unroll":
            for token in line.rest[1:]:
                if token.text in macros:
                    yield line.line, "unroll_macro", {"name": token.text}


def _punctuated(lines: list[Line], code: list[Token]) -> Iterator[Found]:
    """`#define TILE 32;` or `#define TILE = 32`, where TILE is used as a number. Macros that stand
    for whole statements may well end with a semicolon."""
    used = {token.text for token, behind in pairwise(code) if behind.text != ";"}
    defines = [line for line in lines if line.name == "define" and line.rest[1:]]
    for line in defines:
        name, *value = line.rest
        if name.text not in used:
            continue
        number = all(one.kind is Kind.NUMBER or one.text in _ARITHMETIC for one in value[:-1])
        if value[0].text == "=" or (value[1:] and value[-1].text == ";" and number):
            text = "".join(" " * one.spaced + one.text for one in value).strip()
            yield line.line, "define_punctuated", {"name": name.text, "value": text}


def _takes_in_header(line: Line) -> bool:
    return line.name == "include" and bool(line.rest) and header(line.rest[0].text) == _HEADER


def _use(code: list[Token]) -> _Use | None:
    """Where LAUNCH_CONFIG stands, or what was probably meant to be it."""
    called = [i for i, token in enumerate(code[:-1]) if code[i + 1].text == "("]
    names = {code[i].text for i in called}
    meant = _MACRO
    if meant not in names:  # a large file has few names, and comparing them takes time
        meant = settings.nearest(_MACRO, sorted(names), 0.75)
    return next((_used(code, i) for i in called if code[i].text == meant), None)


def _used(code: list[Token], index: int) -> _Use:
    end = closing(code, index + 1)
    behind = [token.text for token in code[end : end + 2]]
    # Without a `)` of its own it is another slip, and the compiler's words are the best.
    ended = behind[:1] != [")"] or behind[1:] == [";"]
    return _Use(code[index], tuple(code[index + 2 : end]), ended)


def _fields(use: _Use) -> Iterator[Found]:
    for token in use.without_comma():
        yield token.line, "config_comma", {"name": token.text}
        return
    last = -1
    for token in use.fields():
        if token.text not in FIELDS:
            facts: dict[str, object] = {
                "name": token.text,
                "nearest": settings.nearest(token.text, FIELDS),
            }
            yield token.line, "config_field", {**facts, "order": list(FIELDS)}
            return
        place = FIELDS.index(token.text)
        if place < last:
            facts = {"first": token.text, "second": FIELDS[last], "order": list(FIELDS)}
            yield token.line, "config_order", facts
            return
        last = place


def _open_brace(code: list[Token], lines: list[Line], name: Token) -> Iterator[Found]:
    """A block that is still open where LAUNCH_CONFIG stands, and to the end of the file."""
    if any(line.name == "else" for line in lines):  # each branch may hold a brace of its own
        return
    texts = [token.text for token in code]
    if texts.count("{") <= texts.count("}"):
        return
    opened: list[int] = []
    for token in code:
        if token is name:
            break
        if token.text == "{":
            opened.append(token.line)
        elif token.text == "}" and opened:
            opened.pop()
    if opened:
        yield opened[0], "brace_open", {"opened": opened[0], "config": name.line}
