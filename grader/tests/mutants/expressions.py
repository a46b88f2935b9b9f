"""Operators on expressions: the slips of a hand that knows what it wants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from grader.source.tokens import Kind
from grader.tests.mutants.mutant import Change, replace
from grader.tests.mutants.source import Edit, Function, Source

_DIMENSIONS = ("M", "N", "K")
_BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!="}
_BUILTINS = frozenset({"threadIdx", "blockIdx", "blockDim"})
_TWINS = (("tx", "ty"), ("row", "col"), ("row0", "col0"), ("i", "j"))
_COMPONENTS = {"x": "y", "y": "z", "z": "w", "w": "x"}


def dimension(source: Source) -> Iterator[Change]:
    """M, N or K where another of them belongs."""
    for function, at in source.bodies():
        if source.word(at) in _DIMENSIONS and source.word(at - 1) != ".":
            for other in _DIMENSIONS:
                if other != source.word(at) and other in function.parameters:
                    yield replace(at, other)


def comparison(source: Source) -> Iterator[Change]:
    """One element more or fewer: `<` for `<=` and back; `!=` for `==`."""
    for _, at in source.bodies():
        word = source.word(at)
        if word in _BOUNDARIES and not _is_angle(source, at):
            yield replace(at, _BOUNDARIES[word])


def _is_angle(source: Source, at: int) -> bool:
    """Whether a mark belongs to `some_cast<type *>(...)`."""
    before = source.word(at - 1)
    return before.endswith("_cast") or (before == "*" and source.word(at + 1) == "(")


def rounding(source: Source) -> Iterator[Change]:
    """Ceiling for floor and back: whole steps only, a division rounded the other way."""
    for _, at in source.bodies():
        if source.word(at) == "for":
            yield from _whole_steps(source, at)
        elif source.word(at) == "/" and source.is_name(at - 1):
            name, divisor = source.word(at - 1), source.word(at + 1)
            yield replace(at - 1, f"({name} + {divisor} - 1)")
        elif source.word(at) == ")" and source.word(at + 1) == "/":
            divisor = source.word(at + 2)
            if [source.word(n) for n in range(at - 4, at)] == ["+", divisor, "-", "1"]:
                yield replace(at - 4, "", at)


def _whole_steps(source: Source, at: int) -> Iterator[Change]:
    """`i < end; i += step` stops before a step that is not whole: `i + step <= end`."""
    for mark in range(at, source.closing[at + 1]):
        step = mark + 4
        if source.word(mark) == "<" and source.word(step) == "+=":
            yield replace(mark, f"+ {source.word(step + 1)} <=")


def stride(source: Source) -> Iterator[Change]:
    """A row one element longer than it is."""
    for _, at in source.bodies():
        if source.word(at) == "*" and source.word(at + 1) in _DIMENSIONS:
            yield replace(at + 1, f"({source.word(at + 1)} + 1)")


def constant(source: Source) -> Iterator[Change]:
    """A constant of the file, off by one where it is used.

    Not where it is defined: what all uses follow is another right kernel. For the same reason no
    tile is declared smaller than it is, and no block larger: threads that idle are no fault. The
    depth of a step along K is only declared to help the grader choose shapes.
    """
    constants = frozenset(_constants(source))
    for at in _uses(source):
        if source.word(at) in constants and source.word(at - 1) != ".":
            for sign in _signs(source, at):
                yield replace(at, f"({source.word(at)} {sign} 1)")


_OPTIONS = {"tile_m": "+", "tile_n": "+", "block_x": "-", "block_y": "-", "tile_k": ""}


def _signs(source: Source, at: int) -> str:
    """The ways to be off by one that are faults."""
    if source.word(at - 3) == "." or source.word(at - 2) in _OPTIONS:
        return _OPTIONS.get(source.word(at - 2), "+-")
    return "-" if _is_size(source, at) else "+-"  # a larger array is no fault


def _constants(source: Source) -> Iterator[str]:
    for at in range(len(source.tokens)):
        if source.word(at) == "constexpr":
            yield source.word(at + 2)  # constexpr int NAME


def _uses(source: Source) -> Iterator[int]:
    """Tokens of code without definitions of constants and without static assertions."""
    at = 0
    while at < len(source.tokens):
        if source.word(at) in ("constexpr", "static_assert"):
            at = source.statement_end(at)
        elif source.tokens[at].directive:
            at += 1
        else:
            yield at
            at += 1


def number(source: Source) -> Iterator[Change]:
    """A whole number in an expression, off by one."""
    for _, at in source.bodies():
        text = source.word(at)
        if source.tokens[at].kind is not Kind.NUMBER or not text.isdigit():
            continue
        if _begins(source, at) or source.word(at - 2) == "__align__":
            continue
        if not _is_size(source, at):  # a larger array is no fault
            yield replace(at, str(int(text) + 1))
        if int(text) > 1:
            yield replace(at, str(int(text) - 1))


def _begins(source: Source, at: int) -> bool:
    """Whether the token is the whole value that a variable begins with."""
    return source.word(at - 1) == "=" and source.word(at + 1) in (";", ",")


def _is_size(source: Source, at: int) -> bool:
    """Whether the token stands in the size of an array that is declared here."""
    opening = at
    while source.word(opening) not in ("[", ";", "{", "}", "(", ""):
        opening -= 1
    while source.word(opening - 1) == "]":  # the size before, of an array of arrays
        opening = source.opening[opening - 1]
    named = source.is_name(opening - 1) and source.is_name(opening - 2)
    typed = source.word(opening - 2) == "=" and source.word(opening - 1) == "float"
    return source.word(opening) == "[" and (named or typed)


def initial_value(source: Source) -> Iterator[Change]:
    """A variable begins with another value, or with none; a place outside is filled with 1."""
    for _, at in source.bodies():
        word = source.word(at)
        if source.tokens[at].kind is Kind.NUMBER:
            if _begins(source, at) and word.isdigit():
                yield replace(at, str(int(word) + 1))
            elif word == "0.0f":
                yield replace(at, "1.0f")
            if _begins(source, at) and _is_declared(source, at - 2):
                yield replace(at - 1, "", at + 1)
        elif [source.word(n) for n in range(at, at + 4)] == ["=", "{", "}", ";"]:
            yield replace(at, "", at + 3)


def _is_declared(source: Source, name: int) -> bool:
    """Whether a type stands before the name, so that `= value` may be left out."""
    return source.is_name(name) and source.word(name - 1) in ("float", "int")


def index_swap(source: Source) -> Iterator[Change]:
    """x for y: of a built-in variable, of a pair of names, of neighbouring subscripts."""
    for function, at in source.bodies():
        if source.word(at) in _BUILTINS and source.word(at + 2) in ("x", "y"):
            yield replace(at + 2, "y" if source.word(at + 2) == "x" else "x")
        for first, second in _TWINS:
            if source.word(at) in (first, second) and not _names_anew(source, at):
                other = second if source.word(at) == first else first
                if _is_known(source, function, other, at):
                    yield replace(at, other)
        if source.word(at) == "[":
            yield from _subscripts(source, at)


def _names_anew(source: Source, at: int) -> bool:
    return source.word(at - 1) in ("int", "float", "bool", ".", "&", "*")


def _is_known(source: Source, function: Function, name: str, at: int) -> bool:
    """Whether a variable of that name is in scope, as far as that can be told without types."""
    declared = (n for n in range(function.start, at) if source.word(n) == name)
    return name in function.parameters or any(_names_anew(source, n) for n in declared)


def _subscripts(source: Source, at: int) -> Iterator[Change]:
    """`[i][j]` becomes `[j][i]`."""
    middle = source.closing[at]
    if source.word(middle + 1) != "[":
        return
    end = source.closing[middle + 1]
    first, second = source.excerpt(at + 1, middle), source.excerpt(middle + 2, end)
    if first != second:
        yield Change((Edit(at + 1, middle, second), Edit(middle + 2, end, first)))


def assignment(source: Source) -> Iterator[Change]:
    """`=` for `+=`, and a step of two."""
    for _, at in source.bodies():
        if source.word(at) == "+=":
            yield replace(at, "=")
        elif source.word(at) == "++" and source.is_name(at + 1):
            yield replace(at, f"{source.word(at + 1)} += 2", at + 2)


def matrix(source: Source) -> Iterator[Change]:
    """The other matrix, or the other tile, under the same index."""
    pairs: Mapping[str, str] = {"A": "B", "B": "A", "As": "Bs", "Bs": "As"}
    for function, at in source.bodies():
        other = pairs.get(source.word(at), "")
        if other and source.word(at + 1) == "[" and not _names_anew(source, at):
            declared = (n for n in range(function.start, at) if source.word(n) == other)
            if other in function.parameters or any(declared):
                yield replace(at, other)


def component(source: Source) -> Iterator[Change]:
    """The neighbouring word of a vector."""
    for _, at in source.bodies():
        of_vector = source.word(at - 1) == "." and source.word(at - 2) not in _BUILTINS
        if of_vector and source.word(at) in _COMPONENTS:
            yield replace(at, _COMPONENTS[source.word(at)])
