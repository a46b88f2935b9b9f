"""Operators on statements: barriers, guards, and what is left out."""

from __future__ import annotations

from collections.abc import Iterator

from grader.source.tokens import Kind
from grader.tests.mutants.mutant import Change, replace
from grader.tests.mutants.source import Edit, Function, Source

_BARRIER = "__syncthreads"
# True for some threads of a block only, in the last blocks along M.
_SOME_ROWS = "if (blockIdx.y * blockDim.y + threadIdx.y < M)"
_LEAVING = ("return", "break", "continue")
_JOINTS = {"&&": "||", "||": "&&"}


def barrier_dropped(source: Source) -> Iterator[Change]:
    """A barrier is missing."""
    for start, end in _barriers(source):
        yield Change((Edit(start, end, ""),), source.excerpt(start, end), "nothing")


def barrier_of_a_warp(source: Source) -> Iterator[Change]:
    """A barrier waits for the threads of a warp only."""
    for start, _ in _barriers(source):
        yield replace(start, "__syncwarp")


def barrier_moved(source: Source) -> Iterator[Change]:
    """A barrier one statement earlier or later, or behind the loop or branch that it ends."""
    for function in source.functions:
        spans = list(source.statements(function))
        barriers = [span for span in spans if source.word(span[0]) == _BARRIER]
        for start, end in barriers:
            for span in spans:
                if span[1] == start:
                    yield _moved(source, (start, end), span[0], "before")
                if span[0] == end:
                    yield _moved(source, (start, end), span[1], "after")
                if span[1] == end + 1 and source.word(end) == "}":
                    yield _moved(source, (start, end), span[1], "behind")


def _moved(source: Source, barrier: tuple[int, int], to: int, how: str) -> Change:
    words = source.excerpt(*barrier)
    taken, put = Edit(*barrier, ""), Edit(to, to, words)
    if how == "before":
        landmark = source.excerpt(to, min(to + 8, barrier[0]))
        return Change((put, taken), words, f"before `{landmark}`")
    if how == "behind":
        return Change((taken, put), words, "behind the block that it ends")
    landmark = source.excerpt(barrier[1], min(barrier[1] + 8, to))
    return Change((taken, put), words, f"after `{landmark}`")


def barrier_guarded(source: Source) -> Iterator[Change]:
    """A barrier that only the threads with a row of C come to."""
    for function in source.functions:
        for start, _ in _barriers_of(source, function):
            if "M" in function.parameters:
                yield Change((Edit(start, start, _SOME_ROWS),))


def _barriers(source: Source) -> Iterator[tuple[int, int]]:
    for function in source.functions:
        yield from _barriers_of(source, function)


def _barriers_of(source: Source, function: Function) -> Iterator[tuple[int, int]]:
    return (span for span in source.statements(function) if source.word(span[0]) == _BARRIER)


def guard(source: Source) -> Iterator[Change]:
    """A guard is missing: all of it, or one of its conditions; or any of them is enough."""
    for function in source.functions:
        for start, end in source.statements(function):
            if source.word(start) == "if":
                yield from _unguarded(source, start, end)
    for _, at in source.bodies():
        if source.word(at) in _JOINTS:
            first, last = _side(source, at, -1), _side(source, at, 1)
            yield replace(first, "", at + 1)
            yield replace(at, "", last + 1)
            yield replace(at, _JOINTS[source.word(at)])
        elif source.word(at) == "?":
            yield from _always(source, at)


def _unguarded(source: Source, start: int, end: int) -> Iterator[Change]:
    """An `if` whose statement is always done; one that leaves is left out instead."""
    body = source.closing[start + 1] + 1
    after = source.statement_end(body)
    if source.word(after) == "else":
        yield Change((Edit(start, body, ""), Edit(after, end, "")))  # always the first part
        yield replace(start, "", after + 1)  # always the second
    elif source.word(body) in _LEAVING:
        yield Change((Edit(start, end, ""),), source.excerpt(start, end), "nothing")
    else:
        yield replace(start, "", body)


def _always(source: Source, question: int) -> Iterator[Change]:
    """`condition ? value : 0` becomes `value`."""
    first, colon = question, question
    while source.word(first - 1) not in ("=", "return", ",", ";"):
        first -= 1
    while source.word(colon) != ":":
        colon = source.closing.get(colon, colon) + 1
    end = colon
    while source.word(end) not in (";", ","):
        end = source.closing.get(end, end) + 1
    yield Change((Edit(first, question + 1, ""), Edit(colon, end, "")))


def _side(source: Source, at: int, step: int) -> int:
    """The outermost token of the condition before (-1) or after (1) a `&&` or `||`."""
    partner = source.closing if step > 0 else source.opening
    place = at + step
    while True:
        place = partner.get(place, place)
        following = source.word(place + step)
        if following in ("(", ")", "&&", "||", "?", "=", ";", ",", ":", "return"):
            return place
        place += step


def statement_dropped(source: Source) -> Iterator[Change]:
    """A statement that does something is missing: an assignment or a call."""
    for function in source.functions:
        for start, end in source.statements(function):
            if _acts(source, start, end):
                yield Change((Edit(start, end, ";"),), source.excerpt(start, end), "nothing")


def _acts(source: Source, start: int, end: int) -> bool:
    """Not a declaration, a branch, a loop, a jump or a barrier."""
    first, second = source.tokens[start], source.tokens[start + 1]
    if first.kind is not Kind.NAME or first.text in (_BARRIER, "if", "for", "while", *_LEAVING):
        return False
    return (
        source.word(end - 1) == ";" and second.kind is Kind.MARK and second.text not in ("*", "&")
    )
