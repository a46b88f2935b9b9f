"""The variants of a sweep: one file with other constants, and with its loops unrolled or not."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from grader import settings
from grader.finding import GraderFault
from grader.source.brackets import closing
from grader.source.tokens import Kind, Token, tokens
from grader.submission import Submission
from grader.sweep.constants import Constant, blanked, constants, override, tile_constants

AS_WRITTEN, ON, OFF = "as is", "on", "off"
# Half a minute on a GPU; more is a job for a night, not for a table.
MOST = 64
# What textbooks try; the tile of a larger one is halved and doubled instead.
_USUAL = (8, 16, 32)

_FUNCTION = re.compile(r"__device__[^;{}()]*?\b(\w+)\s*\(")
_PRAGMA = re.compile(r"#[ \t]*pragma[ \t]+unroll\b[^\n]*|_Pragma\s*\(\s*\"unroll[^\"]*\"\s*\)")


@dataclass(frozen=True)
class Variant:
    """`unrolling` is "on", "off" or "as is"; `original` is the file as it is."""

    values: Mapping[str, int]
    unrolling: str
    submission: Submission
    original: bool = False


def read_values(text: str, submission: Submission) -> dict[str, tuple[int, ...]]:
    """The values of `TILE=8,16,32 PAD=0,1`. Raises GraderFault for what the file does not have."""
    known = {one.name: one for one in constants(submission.text)}
    chosen: dict[str, tuple[int, ...]] = {}
    for part in text.replace(";", " ").split():
        name, _, listed = part.partition("=")
        try:
            numbers = tuple(dict.fromkeys(int(number, 0) for number in listed.split(",")))
        except ValueError:
            raise GraderFault(
                f'"{part}" is not of the form NAME=8,16,32. For example: SWEEP="TILE=8,16,32"'
            ) from None
        if name not in known:
            names = ", ".join(known) or "none"
            raise GraderFault(
                f"{submission.name} has no constant {name}. "
                f"{settings.did_you_mean(name, known)}Constants: {names}."
            )
        chosen[name] = numbers
    return chosen


def usual_values(submission: Submission) -> dict[str, tuple[int, ...]]:
    """Values for the constants that tile_m and tile_n are computed from. Raises GraderFault."""
    found = tile_constants(submission.text)
    if not found:
        raise GraderFault(
            f"{submission.name}: tile_m and tile_n are not computed from a constant of the file, "
            'such as "constexpr int TILE = 16;". Next: use one, or name another constant: '
            'SWEEP="NAME=8,16,32"'
        )
    return {one.name: _around(one) for one in found}


def _around(constant: Constant) -> tuple[int, ...]:
    number = constant.number or 1
    if number <= max(_USUAL):
        return tuple(sorted({*_USUAL, number}))
    return (number // 2, number, 2 * number)


def variants(
    submission: Submission, values: Mapping[str, Sequence[int]], unrolling: bool
) -> tuple[Variant, ...]:
    """The file as it is, then every combination; those with the same text once.

    Raises GraderFault where there are more than MOST.
    """
    kinds = (ON, OFF) if unrolling else (AS_WRITTEN,)
    count = math.prod(map(len, values.values())) * len(kinds)
    if count > MOST:
        raise GraderFault(
            f"{count} variants are more than the {MOST} that are tried. Next: name fewer values, "
            f'for example SWEEP="{next(iter(values))}=16,32"'
        )
    known = {one.name: one.number for one in constants(submission.text)}
    now = {name: known[name] for name in values}
    first = Variant(
        {name: number for name, number in now.items() if number is not None},
        AS_WRITTEN,
        submission,
        original=True,
    )
    distinct = {submission.text: first}
    for numbers in itertools.product(*values.values()):
        chosen = dict(zip(values, numbers, strict=True))
        # What stands there is left as it is: the same text is the same variant.
        changed = {name: number for name, number in chosen.items() if now[name] != number}
        for kind in kinds:
            text = unrolled(override(submission.text, changed), kind)
            distinct.setdefault(text, Variant(chosen, kind, submission.with_text(text)))
    return tuple(distinct.values())


def unrolled(text: str, kind: str) -> str:
    """ "on": every innermost loop has a `#pragma unroll`; "off": no loop is unrolled at all.

    Nothing moves to another line.
    """
    if kind == AS_WRITTEN:
        return text
    if kind == OFF:
        text = _PRAGMA.sub(lambda match: _nothing(match[0]), text)
    pieces, last = [], 0
    for start in _loops(text, kind):
        pieces += [text[last:start], f'_Pragma("unroll{" 1" if kind == OFF else ""}") ']
        last = start
    return "".join([*pieces, text[last:]])


def _nothing(pragma: str) -> str:
    return " " * len(pragma)


def _loops(text: str, kind: str) -> Iterator[int]:
    """Where the loops that get a pragma begin."""
    code, row = blanked(text), tokens(text)
    functions = "|".join(map(re.escape, _FUNCTION.findall(code)))
    # A loop around barriers, or around functions with loops of their own, is no inner one.
    outer = re.compile(
        rf"\bfor\b|__sync|\b(?:{functions})\s*\(" if functions else r"\bfor\b|__sync"
    )
    for number, (token, after) in enumerate(pairwise(row)):
        if (token.text, after.text) != ("for", "("):
            continue
        own = _has_pragma(code[: token.place])
        if kind == OFF or not (own or outer.search(_body(row, number))):
            yield token.place


def _has_pragma(before: str) -> bool:
    """Whether the last thing before a loop is a pragma of its own."""
    return bool(re.search(rf"(?:{_PRAGMA.pattern}|_Pragma\s*\([^)]*\))\s*\Z", before))


def _body(row: Sequence[Token], loop: int) -> str:
    """What the loop repeats whose `for` is there, without literals."""
    first = last = closing(row, loop + 1) + 1
    if first < len(row) and row[first].text == "{":
        last = closing(row, first)
    while last < len(row) and row[last].text not in (";", "}"):
        last += 1
    return " ".join(token.text for token in row[first:last] if token.kind is not Kind.STRING)
