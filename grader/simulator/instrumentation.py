"""Calls before the accesses that clang++'s own instrumentation passes over.

Its ThreadSanitizer takes loads and stores of 1, 2, 4, 8 and 16 bytes only (no bit-field of 48 bits,
no `long double`, no wider vector), no variable with certain names, nothing that an index leads to
from an array of a thread's own or a constant one, and no struct that a call takes by value straight
from memory. In LLVM's intermediate form, each access that it took follows its call; the others get
the call here that g++ makes for such sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from grader.simulator import indices

_NAME = r'[%@](?:"[^"]*"|[\w.$-]+)'
_TYPE = r'(?:<[^<>]*>|\{[^{}]*\}|%"[^"]*"|[%\w.]+)(?: \([^()]*\))?\**'
# `float* %8` until LLVM 14, `ptr %8` from 15 on; a constant expression in place of a name.
_POINTER = rf"(?:ptr|{_TYPE}\*) (?:{_NAME}|\w.*)"

_ACCESS = re.compile(
    rf"  (?:{_NAME} = load|(?P<store>store)) (?:atomic |volatile )*(?P<type>{_TYPE})(?: .*)?,"
    rf" (?P<pointer>{_POINTER}), align \d+"
)
_WITHIN = r'(?:"[^"]*"|[^()"])*'
for _ in range(3):  # brackets within brackets, as deep as expressions go
    _WITHIN = rf'(?:"[^"]*"|[^()"]|\({_WITHIN}\))*'
_BY_VALUE = re.compile(
    rf" byval\((?P<type>{_WITHIN})\) (?:[^,]*? )?"
    rf"(?P<value>{_NAME}|(?:getelementptr|bitcast|inttoptr)[\w ]* \({_WITHIN}\))(?=[,)])"
)
_TAKEN = re.compile(rf"call void @__tsan_(?!atomic)\w+\(.*?(?P<name>{_NAME})")
_MADE = re.compile(rf"  (?P<name>{_NAME}) = (?P<how>.*)")
_BASE = re.compile(rf"(?:\*|\bptr) ({_NAME})")
_INDEX = re.compile(rf", i\d+ ({_NAME})")
_PLACE = re.compile(r", !dbg !\d+")
_MARK = re.compile(r", !tbaa !(\d+)")
_INTEGER = re.compile(r"i(\d+)")

_CONSTANT = re.compile(
    rf"^({_NAME}) = (?!.*\b(?:external|thread_local)\b)[\w() ]*\bconstant ", re.MULTILINE
)
# The sanitizer's own constructor: every file has this row.
_TYPED = re.compile(r"^@llvm\.global_ctors = .*i8\*", re.MULTILINE)


class _Access(NamedTuple):
    write: bool
    kind: str  # type of what is read or written
    pointer: str  # type and value


class _File:
    """What the rows of its functions refer to."""

    def __init__(self, code: str) -> None:
        self._typed = _TYPED.search(code) is not None
        self.constants = frozenset(_CONSTANT.findall(code))
        # What marks a load of the pointer to a table of virtual functions, which is constant.
        kinds = set(re.findall(r'^!(\d+) = !\{!"vtable pointer"', code, re.MULTILINE))
        marks = re.findall(r"^!(\d+) = !\{!(\d+), ", code, re.MULTILINE)
        self.tables = frozenset(mark for mark, kind in marks if kind in kinds)

    def pointer_to(self, kind: str) -> str:
        return f"{kind}*" if self._typed else "ptr"

    def call(self, access: _Access, number: int, place: str) -> tuple[str, str]:
        """The rows that tell of an access; `number` is no other's."""
        to, byte, name = self.pointer_to(access.kind), self.pointer_to("i8"), f"%access.{number}"
        size = f"ptrtoint ({to} getelementptr ({access.kind}, {to} null, i32 1) to i64)"
        if bits := _INTEGER.fullmatch(access.kind):  # not what is left free after it
            size = str((int(bits[1]) + 7) // 8)
        function = f"__tsan_{'write' if access.write else 'read'}_range"
        return (
            f"  {name} = bitcast {access.pointer} to {byte}",
            f"  call void @{function}({byte} {name}, i64 {size}){place}",
        )

    def declarations(self) -> list[str]:
        byte = self.pointer_to("i8")
        return [f"declare void @__tsan_{what}_range({byte}, i64)" for what in ("read", "write")]


class _Function:
    """One function, read row by row."""

    def __init__(self, file: _File, rows: Iterable[str]) -> None:
        self._file = file
        made = (_MADE.match(row) for row in rows)
        # How each value comes about.
        self._made: dict[str, str] = {one["name"]: one["how"] for one in made if one}
        self._taken = ""  # what the next access is of, where it is instrumented

    def overlooked(self, row: str) -> Iterator[_Access]:
        """Accesses of this row that lack their call."""
        if call := _TAKEN.search(row):
            self._taken = f"{row} {self._made.get(call['name'], '')}"
        elif access := _ACCESS.match(row):
            if not self._is_taken(access["pointer"]) and not self._is_harmless(access["pointer"]):
                yield _Access(access["store"] is not None, access["type"], access["pointer"])
            self._taken = ""
        elif " byval(" in row:
            for copy in _BY_VALUE.finditer(row):
                pointer = f"{self._file.pointer_to(copy['type'])} {copy['value']}"
                if not self._is_harmless(pointer):
                    yield _Access(False, copy["type"], pointer)

    def _is_taken(self, pointer: str) -> bool:
        base = _BASE.search(pointer)  # of an expression only that: it may be written differently
        return base is not None and base[1] in re.findall(_NAME, self._taken)

    def _is_harmless(self, pointer: str) -> bool:
        """Whether it lies in a variable of the function's own, or in a constant one: where an index
        leads is not known."""
        indexed = False
        while base := _BASE.search(pointer):
            if base[1] in self._file.constants:
                return True
            pointer = self._made.get(base[1], "")
            if not pointer.startswith(("getelementptr", "bitcast")):
                mark = _MARK.search(pointer)
                return pointer.startswith("alloca") or bool(mark and mark[1] in self._file.tables)
            found = _INDEX.findall(pointer)
            # The type of a variable as which another one is looked at may be of any size.
            if (indexed and pointer.startswith("bitcast")) or not all(map(self._is_near, found)):
                return False
            indexed = indexed or bool(found)
        return False

    def _is_near(self, index: str) -> bool:
        """Whether an index counts a loop, or is worked out from such ones and small numbers, as are
        those of registers: none of these leads to another variable."""
        return indices.is_near(index, self._made)


def _body(rows: Sequence[str], start: int) -> Iterator[str]:
    """The rows of the function that begins at `start`."""
    return takewhile(lambda row: row != "}", (rows[n] for n in range(start, len(rows))))


def complete(code: str) -> str:
    """The intermediate form of a file, with a call before each access that had none."""
    file = _File(code)
    rows: list[str] = []
    all_rows = code.split("\n")
    function = _Function(file, ())
    for number, row in enumerate(all_rows):
        if row.startswith("define "):
            function = _Function(file, _body(all_rows, number))
        elif row.startswith("  "):
            place = _PLACE.search(row)
            for access in function.overlooked(row):
                rows += file.call(access, len(rows), place[0] if place else "")
        rows.append(row)
    return "\n".join([*rows, *file.declarations(), ""])
