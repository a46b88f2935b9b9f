"""The constants of a file that can be overridden, and the file with other values for them.

Values are replaced where they stand and on the same lines, so that every message about a variant
names the lines of the student's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields

from grader.device import LaunchConfig
from grader.source.tokens import Kind, tokens

# Everything but what ends a line, or joins it to the next.
_PRINTED = re.compile(r"[^\n\\]|\\(?!\s*?\n)")
_CODE = frozenset({Kind.NAME, Kind.NUMBER, Kind.MARK})
_DEFINE = re.compile(
    r"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>\S[^\n]*)", re.M
)
# `constexpr int TILE = 16, PAD = 1;` also with static, inline, const and other integer types.
_DECLARATION = re.compile(
    r"\b(?:(?:static|inline)\s+)*(?:constexpr|const)\s+(?:static\s+)?"
    r"(?:unsigned\s+int|unsigned|int|long|short|auto|size_t|std::size_t)\s+(?P<rest>[^;{}]*);"
)
_INITIALISED = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*=\s*(?P<value>.*\S)\s*\Z", re.S)
_NAME = re.compile(r"[A-Za-z_]\w*")
_INTEGER = re.compile(r"\(?\s*(0[xX][0-9a-fA-F']+|[1-9][\d']*|0)[uUlL]*\s*\)?")
_CONFIG = re.compile(r"\bLAUNCH_CONFIG\s*\(")
_POSITIONS = tuple(field.name for field in fields(LaunchConfig))


@dataclass(frozen=True)
class Constant:
    """`start` to `end` is where its value stands in the text."""

    name: str
    value: str
    start: int
    end: int

    @property
    def number(self) -> int | None:
        """The value if it is a plain integer."""
        plain = _INTEGER.fullmatch(self.value)
        return int(plain[1].replace("'", ""), 0) if plain else None


def blanked(text: str) -> str:
    """The text with blanks for comments and literals; every other character keeps its place."""
    code = list(_PRINTED.sub(" ", text))
    for token in tokens(text):
        end = token.place + len(token.text)
        if token.kind in _CODE and text[token.place : end] == token.text:
            code[token.place : end] = token.text
        elif token.kind is Kind.MARK:  # a digraph: `<%` for a brace
            code[token.place] = token.text[0]
    return "".join(code)


def constants(text: str) -> tuple[Constant, ...]:
    """The file-scope integer constants and the macros without parameters, in the file's order."""
    code = blanked(text)
    # A macro that goes on in the next line is more than a number.
    defines = (m for m in _DEFINE.finditer(code) if not m["value"].rstrip().endswith("\\"))
    found = [_defined(match) for match in defines]
    for match in _DECLARATION.finditer(code):
        if _depth(code[: match.start()]) == 0:
            found += _declared(match)
    return tuple(sorted(found, key=lambda constant: constant.start))


def override(text: str, values: Mapping[str, int]) -> str:
    """The text with these values; each name must be one of `constants(text)`."""
    known = [one for one in constants(text) if one.name in values]
    for constant in sorted(known, key=lambda one: one.start, reverse=True):
        lines = "\n" * text[constant.start : constant.end].count("\n")
        new = f"{values[constant.name]}{lines}"
        text = text[: constant.start] + new + text[constant.end :]
    return text


def tile_constants(text: str) -> tuple[Constant, ...]:
    """The plain integers that tile_m and tile_n of LAUNCH_CONFIG are computed from."""
    known = {one.name: one for one in constants(text)}
    fields = launch_config(text)
    leaves: dict[str, Constant] = {}
    for field in ("tile_m", "tile_n"):
        for leaf in _leaves(fields.get(field, ""), known, frozenset()):
            leaves.setdefault(leaf.name, leaf)
    return tuple(leaves.values())


def launch_config(text: str) -> dict[str, str]:
    """What stands in LAUNCH_CONFIG, by field; {} without one."""
    code = blanked(text)
    opening = _CONFIG.search(code)
    if opening is None:
        return {}
    fields = {}
    for position, (start, end) in enumerate(_pieces(code, opening.end())):
        name, equals, value = code[start:end].partition("=")
        if equals and name.strip().startswith("."):
            fields[name.strip()[1:].strip()] = value.strip()
        elif position < len(_POSITIONS):
            fields[_POSITIONS[position]] = code[start:end].strip()
    return fields


def _leaves(
    expression: str, known: Mapping[str, Constant], above: frozenset[str]
) -> Iterator[Constant]:
    for name in _NAME.findall(expression):
        constant = known.get(name)
        if constant is None or name in above:
            continue
        if constant.number is not None:
            yield constant
        else:
            yield from _leaves(constant.value, known, above | {name})


def _defined(match: re.Match[str]) -> Constant:
    value = match["value"].rstrip()
    start = match.start("value")
    return Constant(match["name"], value, start, start + len(value))


def _declared(match: re.Match[str]) -> Iterator[Constant]:
    code, offset = match["rest"], match.start("rest")
    for start, end in _pieces(code + ")", 0):
        if one := _INITIALISED.match(code[start:end]):
            first = offset + start + one.start("value")
            yield Constant(one["name"], one["value"], first, first + len(one["value"]))


def _pieces(code: str, start: int) -> Iterator[tuple[int, int]]:
    """Where the parts between commas begin and end, up to the parenthesis that closes them."""
    depth = 0
    for place in range(start, len(code)):
        char = code[place]
        if char in "([{":
            depth += 1
        elif char in ")]}" and depth:
            depth -= 1
        elif char in ",)" and not depth:
            yield start, place
            start = place + 1
            if char == ")":
                return


def _depth(code: str) -> int:
    """How many braces are open at its end."""
    return code.count("{") - code.count("}")
