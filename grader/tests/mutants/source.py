"""A solution as tokens with just enough structure to change it, and the text after a change.

A changed text has no comments but keeps every line's number, so counters of the original and of a
mutant can be compared line by line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.source.tokens import Kind, Token, tokens

_PARTNERS = {"(": ")", "[": "]", "{": "}"}
# Words in front of a parenthesis that guard the statement behind it.
_HEADS = ("if", "for", "while")


@dataclass(frozen=True)
class Edit:
    """Put `words` in the place of the tokens from `start` up to `end` (not included)."""

    start: int
    end: int
    words: str


@dataclass(frozen=True)
class Function:
    """A function's body, from the first token to the one past the last, and its parameters."""

    start: int
    end: int
    parameters: frozenset[str]


@dataclass(frozen=True)
class Source:
    """A file's tokens; `closing` leads from an opening bracket to its partner."""

    exercise: str
    tokens: tuple[Token, ...]
    closing: Mapping[int, int]
    functions: tuple[Function, ...]

    @cached_property
    def opening(self) -> Mapping[int, int]:
        """From a closing bracket back to its partner."""
        return {end: start for start, end in self.closing.items()}

    def word(self, at: int) -> str:
        """The text of a token; "" outside the file."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def is_name(self, at: int) -> bool:
        return 0 <= at < len(self.tokens) and self.tokens[at].kind is Kind.NAME

    def bodies(self) -> Iterator[tuple[Function, int]]:
        """Every token of code inside a function."""
        for function in self.functions:
            for at in range(function.start, function.end):
                if not self.tokens[at].directive:
                    yield function, at

    def statement_end(self, start: int) -> int:
        """The token past the statement that begins at `start`."""
        if self.word(start) == "{":
            return self.closing[start] + 1
        if self.word(start) in _HEADS:
            end = self.statement_end(self.closing[start + 1] + 1)
            return self.statement_end(end + 1) if self.word(end) == "else" else end
        at = start
        while self.word(at) not in (";", "}", ""):
            at = self.closing.get(at, at) + 1
        return at + (self.word(at) == ";")

    def statements(self, function: Function) -> Iterator[tuple[int, int]]:
        """The statements of a function, inner ones after those that hold them."""
        blocks = [at for at in range(function.start - 1, function.end) if self.word(at) == "{"]
        for block in blocks:
            if block >= function.start and self.word(block - 1) in ("=", ","):
                continue  # an initialiser's braces hold values
            at = block + 1
            while at < self.closing[block]:
                if self.tokens[at].directive:  # `#pragma unroll` belongs to no statement
                    at += 1
                    continue
                end = self.statement_end(at)
                yield at, end
                yield from self._governed(at)
                at = end

    def _governed(self, at: int) -> Iterator[tuple[int, int]]:
        """The statement without braces behind the head of an `if` or a loop, and those in it."""
        if self.word(at) not in _HEADS:
            return
        for inner in self._behind(at):
            if self.word(inner) != "{":
                yield inner, self.statement_end(inner)
                yield from self._governed(inner)

    def _behind(self, head: int) -> Iterator[int]:
        """Where the statements of an `if` (and its `else`) or of a loop begin."""
        first = self.closing[head + 1] + 1
        yield first
        after = self.statement_end(first)
        if self.word(head) == "if" and self.word(after) == "else":
            yield after + 1

    def text(self, edits: Sequence[Edit] = ()) -> str:
        """The file after the edits, which must not overlap."""
        changed = {edit.start: edit for edit in edits}
        pieces: list[tuple[int, str]] = []
        at, before = 0, ""
        while at < len(self.tokens):
            token, edit = self.tokens[at], changed.get(at)
            if edit is not None:
                pieces.append((token.line, _joined(before, token.spaced, edit.words)))
                before = edit.words or before
            if edit is None or edit.end == edit.start:
                pieces.append((token.line, _joined(before, token.spaced, token.text)))
                before = token.text or before
                at += 1
            else:
                at = edit.end
        return _lines(pieces)

    def excerpt(self, start: int, end: int, edits: Sequence[Edit] = ()) -> str:
        """A few tokens on one line, before or after the edits."""
        part = Source(self.exercise, self.tokens[start:end], {}, ())
        moved = [Edit(edit.start - start, edit.end - start, edit.words) for edit in edits]
        return " ".join(part.text(moved).split())


def read(exercise: str, text: str) -> Source:
    """The structure of a file whose brackets match."""
    row = tokens(text)
    closing = _closing(row)
    return Source(exercise, row, closing, tuple(_functions(row, closing)))


def _closing(row: Sequence[Token]) -> dict[int, int]:
    closing: dict[int, int] = {}
    open_ones: list[int] = []
    for at, token in enumerate(row):
        if token.kind is not Kind.MARK:
            continue
        if token.text in _PARTNERS:
            open_ones.append(at)
        elif token.text in _PARTNERS.values():
            opened = open_ones.pop()
            if _PARTNERS[row[opened].text] != token.text:
                raise ValueError(f"line {token.line}: {token.text} closes {row[opened].text}")
            closing[opened] = at
    return closing


def _functions(row: Sequence[Token], closing: Mapping[int, int]) -> Iterator[Function]:
    opening = {end: start for start, end in closing.items()}
    at = 0
    while at < len(row):
        if row[at].text == "{":
            if row[at - 1].text == ")":
                first = opening[at - 1]
                ends = (n for n in range(first, at) if row[n].text in (",", ")"))
                names = frozenset(row[n - 1].text for n in ends)
                yield Function(at + 1, closing[at], names)
            at = closing[at]
        at += 1


def _joined(before: str, spaced: bool, words: str) -> str:
    """The words with a blank before them where there was one, or where two would run together."""
    runs = (before[-1:] + words[:1]).replace("_", "a").isalnum() and bool(before and words)
    return f" {words}" if words and (spaced or runs or before[-1:] == words[:1]) else words


def _lines(pieces: Sequence[tuple[int, str]]) -> str:
    lines = [""] * max((line for line, _ in pieces), default=0)
    for line, text in pieces:
        lines[line - 1] += text
    return "".join(f"{line}\n" for line in lines)
