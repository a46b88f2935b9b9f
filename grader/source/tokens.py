"""The tokens of a CUDA C++ file, each with its line. Nothing is expanded.

Comments and white space are gone, line splices are undone, literals are whole, digraphs are
spelt out. Any text has tokens: nothing here raises, and the time is linear in the text's length.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from enum import Enum
from functools import lru_cache
from typing import NamedTuple


class Kind(Enum):
    """What a token is. HEADER is the `<name>` or `"name"` of an #include line."""

    NAME = "name"
    NUMBER = "number"
    STRING = "string"
    CHARACTER = "character"
    HEADER = "header"
    MARK = "mark"


class Token(NamedTuple):
    """One token. Those of one preprocessor line share a number `directive`; it is 0 in code."""

    kind: Kind
    text: str
    line: int
    directive: int = 0
    spaced: bool = False  # white space or a comment stands before it
    place: int = 0  # of its first character in the text


# A backslash at the end of a line joins it to the next; compilers forgive blanks behind it.
_SPLICE = re.compile(r"\\[ \t\r\f\v]*\n")

# Longest first. `>>` is two tokens, so that `Tile<Pair<int>>` closes twice; `<::` is `<` and `::`,
# so that `Tile<::Pair>` opens with an angle and no bracket.
_MARKS = (
    "%:%: <<<= <=> <<= ... ->* <<< << <= >= == != += -= *= /= %= &= |= ^= && || ## -> ++ -- :: .* "
    "<% %> <: :> %:"
).split()
_DIGRAPHS = {"<%": "{", "%>": "}", "<:": "[", ":>": "]", "%:": "#", "%:%:": "##"}

# A quote without its partner takes the rest of the line, as in g++; that also keeps this linear.
_LEXEME = re.compile(
    r"""(?P<blank> [ \t\r\f\v]+ | //[^\n]* | /\*(?s:.*?)(?:\*/|\Z) )
    | (?P<newline> \n )
    | (?P<raw> (?:u8|[uUL])? R"(?P<fence>[^ ()\\\t\v\f\n]{0,16})\( )
    | (?P<string> (?:u8|[uUL])? "(?:[^"\\\n]|\\.)*(?:"|\\?) )
    | (?P<character> (?:u8|[uUL])? '(?:[^'\\\n]|\\.)*(?:'|\\?) )
    | (?P<number> \.?[0-9](?:[eEpP][+-]|'\w|[\w.])* )
    | (?P<name> (?:[A-Za-z_$]|[^\x00-\x7f])(?:[\w$]|[^\x00-\x7f])* )
    | (?P<mark> <(?=::(?![:>])) | """
    + "|".join(map(re.escape, _MARKS))
    + r" | (?s:.) )",
    re.VERBOSE,
)
_HEADER = re.compile(r'<[^>\n]*>|"[^"\n]*"')
_INCLUDING = frozenset({"include", "include_next", "import", "embed"})
_WORDS = (Kind.NAME, Kind.NUMBER)


@lru_cache(maxsize=8)  # several stages ask for the same few texts
def tokens(text: str) -> tuple[Token, ...]:
    """All tokens of a file; a literal or comment without an end reaches to the file's end."""
    return tuple(_Lexer(text).run())


def scan_tokens(text: str) -> Iterator[Token]:
    """As `tokens`, one by one: for texts that are too long to keep."""
    return _Lexer(text).run()


def canonical(text: str) -> str:
    """The file without comments and layout: equal for two files that differ in nothing else.

    A blank stands only where two words would run together, a line break only around a preprocessor
    line. How marks are split into tokens does not show, so fingerprints outlive this module.
    """
    parts: list[str] = []
    last = Token(Kind.MARK, "", 0)
    for token in tokens(text):
        if token.directive != last.directive:
            parts.append("\n")
        elif token.kind in _WORDS and last.kind in _WORDS:
            parts.append(" ")
        parts.append(token.text)
        last = token
    return "".join(parts)


class _Lexer:
    """One pass over the text without its splices, with a map back to the original places."""

    def __init__(self, text: str) -> None:
        self._original = text
        self._cuts: list[int] = []  # where splices were, as places in the spliced text
        self._removed = [0]  # how many characters fell out before the first, second, ... cut
        pieces, start = [], 0
        for match in _SPLICE.finditer(text):
            pieces.append(text[start : match.start()])
            start = match.end()
            self._cuts.append(match.start() - self._removed[-1])
            self._removed.append(self._removed[-1] + len(match[0]))
        self._text = "".join([*pieces, text[start:]])
        self._newlines = [match.start() for match in re.finditer("\n", text)]

    def run(self) -> Iterator[Token]:
        position, count, spaced = 0, 0, True
        of_line: list[str] = []  # the first words of this line
        directive = 0
        while position < len(self._text):
            start = position
            name, position = self._lexeme(start, bool(directive) and of_line[1:] == ["include"])
            if name == "blank":
                spaced = True
            elif name == "newline":
                spaced, of_line, directive = True, [], 0
            else:
                word = self._text[start:position]
                word = _DIGRAPHS.get(word, word) if name == "mark" else word
                if not of_line and word == "#":
                    count += 1
                    directive = count
                if len(of_line) < 3:
                    of_line.append("include" if word in _INCLUDING else word)
                place = self._place(start)
                yield Token(Kind(name), word, self._line(place), directive, spaced, place)
                spaced = False

    def _lexeme(self, start: int, header: bool) -> tuple[str, int]:
        """What begins at `start`, and where it ends; `header`: the name after #include is due."""
        included = _HEADER.match(self._text, start) if header else None
        if included:
            return "header", included.end()
        match = _LEXEME.match(self._text, start)
        if match is None or match.lastgroup is None:  # cannot be: the last choice takes anything
            return "mark", start + 1
        if match.lastgroup == "raw":
            return "string", self._raw_end(match)
        return match.lastgroup, match.end()

    def _raw_end(self, opening: re.Match[str]) -> int:
        """Where a raw string ends. Inside it a backslash at the end of a line is just that."""
        fence = f'){opening["fence"]}"'
        found = self._original.find(fence, self._place(opening.end() - 1) + 1)
        if found < 0:
            return len(self._text)
        end = found + len(fence)
        # The last splice that lies wholly before `end` tells how much fell out up to there.
        passed = bisect_right(
            range(len(self._cuts)), end, key=lambda cut: self._cuts[cut] + self._removed[cut + 1]
        )
        return end - self._removed[passed]

    def _place(self, position: int) -> int:
        """The original place of a place in the spliced text."""
        return position + self._removed[bisect_right(self._cuts, position)]

    def _line(self, place: int) -> int:
        return bisect_right(self._newlines, place - 1) + 1
