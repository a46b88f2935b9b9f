"""The preprocessor lines of a file: which code they keep, and what its macros stand for.

Nothing is expanded and only the conditions `0` and `1` are decided: code under any other #if
counts as live, in each of its branches, because a header or a compiler may define the name.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from grader.source.brackets import closing
from grader.source.tokens import Kind, Token, tokens

# Longer pasted names are cut: only short ones are ever looked for.
_LONGEST_NAME = 64

_OPENING = ("if", "ifdef", "ifndef")
_TURNING = ("elif", "elifdef", "elifndef", "else")


class Line(NamedTuple):
    """One preprocessor line: its name ("" for a lone `#`) and the tokens after the name.

    Of conditions only those that leave a choice remain: `if`, `else` for every later branch,
    `endif`; `spelt` is the name that the file has (`ifdef`).
    """

    name: str
    line: int
    rest: tuple[Token, ...]
    spelt: str = ""


Item = Token | Line


@dataclass
class _Group:
    """An #if that is open: whether this branch is dead, one was certain, a choice was announced."""

    dead: bool
    certain: bool = False
    announced: bool = False


def live(text: str) -> Iterator[Item]:
    """The code tokens and preprocessor lines of a file, without what `#if 0` takes away."""
    groups: list[_Group] = []
    for item in items_of(tokens(text)):
        if isinstance(item, Line) and item.name in (*_OPENING, *_TURNING, "endif"):
            yield from _turn(item, groups)
        elif not groups or not groups[-1].dead:
            yield item


def live_tokens(text: str) -> list[Token]:
    """The code of `live` alone."""
    return [item for item in live(text) if isinstance(item, Token)]


def unconditional(items: Iterable[Item]) -> Iterator[Item]:
    """The preprocessor lines, and the tokens that are compiled whatever the conditions say."""
    open_groups = 0
    for item in items:
        if isinstance(item, Line):
            open_groups += (item.name == "if") - (item.name == "endif")
            yield item
        elif open_groups == 0:
            yield item


def items_of(all_tokens: Iterable[Token]) -> Iterator[Item]:
    """The tokens with those of each preprocessor line put together; no condition is looked at."""
    line: list[Token] = []
    for token in all_tokens:
        if line and token.directive != line[0].directive:
            yield _line(line)
            line = []
        if token.directive:
            line.append(token)
        else:
            yield token
    if line:
        yield _line(line)


def _line(line: list[Token]) -> Line:
    named = len(line) > 1 and line[1].kind is Kind.NAME
    name = line[1].text if named else ""
    return Line(name, line[0].line, tuple(line[2 if named else 1 :]), name)


def _turn(line: Line, groups: list[_Group]) -> Iterator[Line]:
    """Open, change or close a group; yields the line where it leaves a choice."""
    if line.name in _OPENING:
        buried = bool(groups) and groups[-1].dead
        groups.append(_Group(dead=True, certain=buried))
    elif not groups:
        return  # the compiler will complain
    group = groups[-1]
    if line.name == "endif":
        groups.pop()
        if group.announced:
            yield line
        return
    value = _value(line)
    group.dead = group.certain or value is False
    if group.dead:
        return
    if value is None or group.announced:
        yield line._replace(name="else" if group.announced else "if")
        group.announced = True
    group.certain = value is True


def _value(line: Line) -> bool | None:
    """True, False or unknown (None)."""
    if line.name == "else":
        return True
    words = [token.text for token in line.rest]
    return {"0": False, "1": True}.get(words[0]) if len(words) == 1 else None


class Macros:
    """The macros that a file defines, by name; two definitions of one name count as both."""

    def __init__(self, items: Iterable[Item]) -> None:
        self._bodies: dict[str, list[tuple[Token, ...]]] = {}
        self._with_arguments: set[str] = set()
        self._marks: set[tuple[str, str]] = set()  # name, and a mark in what it stands for
        for item in items:
            if isinstance(item, Line) and item.name == "define" and item.rest:
                name, *rest = item.rest
                if rest and rest[0].text == "(" and not rest[0].spaced:
                    self._with_arguments.add(name.text)
                    rest = rest[closing(rest, 0) + 1 :]
                self._bodies.setdefault(name.text, []).append(tuple(rest))
                self._marks |= {(name.text, word.text) for word in rest if word.kind is Kind.MARK}

    def __contains__(self, name: str) -> bool:
        return name in self._bodies

    def takes_arguments(self, name: str) -> bool:
        """Whether `name` is a macro that is used like a function."""
        return name in self._with_arguments

    def has_parentheses(self, name: str) -> bool:
        """Whether what `name` stands for may hold a parameter list."""
        return (name, "(") in self._marks

    def pastes(self, name: str) -> bool:
        """Whether what `name` stands for puts names together with ##."""
        return (name, "##") in self._marks

    def asserts(self, name: str) -> bool:
        """Whether `name` may stand for a question to the preprocessor, as in `#if #cpu(x86_64)`."""
        return (name, "#") in self._marks and name not in self._with_arguments

    def leading_to(self, sought: Callable[[str], bool]) -> dict[str, str]:
        """The names whose expansion may hold one that is sought, each with the alphabetically first
        of those; among them the sought names that macros are, or stand for."""
        users: dict[str, list[str]] = {}
        for name, bodies in self._bodies.items():
            for token in (token for body in bodies for token in body if token.kind is Kind.NAME):
                users.setdefault(token.text, []).append(name)
        first: dict[str, str] = {}
        for name in sorted(filter(sought, {*self._bodies, *users})):
            waiting = [name]
            while waiting:  # each name once: what was reached before has an earlier one
                reached = waiting.pop()
                if reached not in first:
                    first[reached] = name
                    waiting += users.get(reached, ())
        return first

    def bodies(self) -> Iterator[Token]:
        """The tokens of all bodies, in the order of the names' first definitions."""
        for alternatives in self._bodies.values():
            for body in alternatives:
                yield from body

    def reaching(self, words: Collection[str], *, outside_braces: bool = False) -> frozenset[str]:
        """`words` and the macros whose expansion contains one of them.

        With `outside_braces` only what stands outside all braces of a body counts: a macro that
        stands for a whole function does not bring the statements of its body to where it is used.
        Pasted names count where the parts are spelt out (`as ## m`), not through parameters.
        """
        users: dict[str, set[str]] = {}
        for name, alternatives in self._bodies.items():
            for body in alternatives:
                for word in _words(body, outside_braces):
                    users.setdefault(word, set()).add(name)
        found = set(words)
        waiting = list(words)
        while waiting:
            fresh = users.get(waiting.pop(), set()) - found
            found |= fresh
            waiting.extend(fresh)
        return frozenset(found)


def _words(body: tuple[Token, ...], outside_braces: bool) -> Iterator[str]:
    depth, pasted, pasting = 0, "", False
    for token in body:
        depth += (token.text == "{") - (token.text == "}")
        if token.text == "##":
            pasting = True
            continue
        pasted = (pasted + token.text)[:_LONGEST_NAME] if pasting else token.text
        pasting = False
        if token.kind in (Kind.NAME, Kind.NUMBER) and not (outside_braces and depth > 0):
            yield pasted
