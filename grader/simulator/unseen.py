"""Arrays that are indexed as if they were others, and copies of structs within a call: g++
instruments neither. Such a copy is made of a struct passed by value straight from memory, or of
one that a function returns straight into memory.

What g++ is about to translate is read from its own listing; functions that are inlined take their
arguments by assignments, which are instrumented. For clang++, instrumentation.py adds what lacks.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from pathlib import Path

LISTING = "kernel.calls"
# The last form before instructions. Unique numbers tell a local variable from an array of its name.
LIST = f"-fdump-tree-optimized-lineno-uid={LISTING}"
INLINE = (
    "-finline-functions",
    "-finline-small-functions",
    *(
        f"--param={limit}=10000"
        for limit in ("early-inlining-insns", "max-inline-insns-auto", "large-function-growth")
    ),
)
_NOTE = "unseen.json"

_PLACE = re.compile(r"\[[^\[\]]*:(\d+):\d+(?: discrim \d+)?\] ")
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
_LOCAL = re.compile(r"  (?!static |extern )(?=\w)[^=]*D\.(\d+)(?:\[\d*\])*;")
_PARAMETER = re.compile(r"D\.(\d+)[,)]")
_VARIABLE = re.compile(  # the variable that an operand is, or is a part of
    r"(?:MEM(?: <[^()]*>)? ?\[\((?:[^()]|\([^()]*\))*\)&)?[\w$.]*?D\.(\d+)(?!\w)"
)
# Registers, numbers, addresses and texts; what a function returns, which its caller is asked for.
_HARMLESS = re.compile(
    r"[\w$.]*_\d+(?:\(D\))?|[-\d{&\"].*|[+-]?(?:Inf|Nan).*|<retval>.*|\*_\d+\(D\)"
)
# As in `MEM[(float[1024] *)&own][_7]`, or with a text for `&own`.
# Parts and views of an element, of which -fsanitize=object-size sees nothing either.
_PART = re.compile(r"\b(?:REAL|IMAG)PART_EXPR\b|\bVIEW_CONVERT_EXPR\b")
_OTHER_BOUNDS = re.compile(r"\bMEM\b[^;]*[&\"][^;]*\][\w$.\[\]]*\[[\w$.]*_\d+(?:\(D\))?\]")


def first_line(listing: str) -> int | None:
    """The line of the first copy that nobody sees; 0 where g++ knows none, None without any."""
    known: set[str] = set()
    for row in listing.splitlines():
        if row.startswith(";; Function"):
            known = set()
        elif not row.startswith(" "):
            known.update(_PARAMETER.findall(row))
        elif local := _LOCAL.fullmatch(row):
            known.add(local[1])
        elif any(_is_memory(operand, known) for operand in _operands(row)):
            return _line(row)
    return None


def first_part(listing: str) -> int | None:
    """The same for the first part of an array's element, or view of it as something else, where
    the array is not as long as it is looked at."""
    return next((_line(row) for row in listing.splitlines() if _is_blind(row)), None)


def _line(row: str) -> int:
    place = _PLACE.search(row)
    return int(place[1]) if place else 0


def has_other_bounds(listing: str) -> bool:
    """Whether a variable is indexed as an array of another type, whose bounds are not its own: g++
    instruments no access to what only one thread can have, or nobody can change."""
    return any(_has_other_bounds(row) for row in listing.splitlines())


def _has_other_bounds(row: str) -> bool:
    return "MEM" in row and bool(_OTHER_BOUNDS.search(_TEXT.sub('""', _PLACE.sub("", row))))


def _is_blind(row: str) -> bool:
    return _PART.search(row) is not None and _has_other_bounds(row)


def _is_memory(operand: str, known: Collection[str]) -> bool:
    if not operand or _HARMLESS.fullmatch(operand):
        return False
    variable = _VARIABLE.match(operand)
    return variable is None or variable[1] not in known


def _operands(row: str) -> Iterator[str]:
    """What a call is given, and where its result goes; nothing for any other statement."""
    statement = _TEXT.sub('""', _PLACE.sub("", row)).strip()
    statement = re.sub(r";(?: \[[^\]]*\])*$", "", statement)
    if not statement.endswith(")") or statement.startswith(("#", "if ", "switch ")):
        return
    depth, end = 0, len(statement) - 1
    for at in range(end, -1, -1):
        depth += (statement[at] in ")]}") - (statement[at] in "([{")
        if depth == 1 and statement[at : at + 2] == ", ":
            yield statement[at + 2 : end]
            end = at
        if depth == 0:
            if statement[at - 1 : at] == " ":
                yield statement[at + 1 : end]
                yield statement[:at].partition(" = ")[0] if " = " in statement[:at] else ""
            return


def note(folder: Path, copy: int | None, part: int | None) -> None:
    """Leave word beside a program of the lines where such a thing remains in it."""
    lines = {"copy": copy, "part": part}
    known = {what: line for what, line in lines.items() if line is not None}
    if known:
        (folder / _NOTE).write_text(json.dumps(known), encoding="utf-8")


def unseen_access(folder: Path) -> str:
    """What such a program does that the machine cannot see; "" for nothing."""
    path = folder / _NOTE
    if not path.is_file():
        return ""
    what, line = next(iter(json.loads(path.read_text(encoding="utf-8")).items()))
    return _WORDS[what].format(where=f"in line {line} " if line else "")


_WORDS = {
    "copy": "a call {where}that takes a struct by value straight from memory or returns one to it, "
    "which g++ hides from the simulator. Next: copy that struct to a local variable first",
    "part": "an array {where}as if it were a longer one, and only a part of its element, which g++ "
    "hides from the simulator. Next: index the array by its own name",
}
