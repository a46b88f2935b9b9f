"""Copies of structs that g++ makes within a call, where it instruments none: a struct passed by
value straight from memory, or one that a function returns straight into memory.

What g++ is about to translate is read from its own listing; functions that are inlined take their
arguments by assignments, which are instrumented. For clang++, instrumentation.py adds what lacks.
"""

from __future__ import annotations

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
_NOTE = "unseen_copy"

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
            place = _PLACE.search(row)
            return int(place[1]) if place else 0
    return None


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


def note(folder: Path, line: int) -> None:
    """Leave word beside a program that such a copy remains in it."""
    (folder / _NOTE).write_text(str(line), encoding="utf-8")


def unseen_copy(folder: Path) -> str:
    """What such a program does that the machine cannot see; "" for nothing."""
    path = folder / _NOTE
    if not path.is_file():
        return ""
    line = int(path.read_text(encoding="utf-8"))
    where = f"in line {line} " if line else ""
    return (
        f"a call {where}that takes a struct by value straight from memory or returns one to it, "
        "which g++ hides from the simulator. Next: copy that struct to a local variable first"
    )
