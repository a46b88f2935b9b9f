"""Source lines and arrays from a program's debug information, read only when there is a finding."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.dwarf.compileunit import CompileUnit
from elftools.dwarf.descriptions import describe_form_class
from elftools.dwarf.die import DIE
from elftools.dwarf.dwarfinfo import DWARFInfo
from elftools.dwarf.ranges import BaseAddressEntry, RangeEntry
from elftools.elf.elffile import ELFFile

_CLASSES = ("DW_TAG_structure_type", "DW_TAG_class_type", "DW_TAG_union_type")


@dataclass(frozen=True)
class Array:
    """An array the student declared. `type` is spelt `float[16][17]`."""

    name: str
    element: str
    element_bytes: int
    dims: tuple[int, ...]

    @property
    def size(self) -> int:
        total = self.element_bytes
        for length in self.dims:
            total *= length
        return total

    @property
    def types(self) -> tuple[str, ...]:
        """The type of the array and of its rows, as the compilers' bound check names them."""
        return tuple(
            self.element + "".join(f"[{length}]" for length in self.dims[depth:])
            for depth in range(len(self.dims))
        )


@dataclass(frozen=True)
class _Inlined:
    """A call that the compiler inlined: its code's addresses and where the call stands."""

    low: int
    high: int
    file: str
    line: int
    column: int


class DebugInfo:
    """Lines and arrays of one source file, known to the compiler as `source`."""

    def __init__(self, program: Path, source: str) -> None:
        self._source = source
        self._rows: list[tuple[int, str, int, int]] = []
        self._inlined: list[_Inlined] = []
        self._arrays: dict[tuple[str, int], Array] = {}
        self._held: dict[str, frozenset[str]] = {}
        with program.open("rb") as stream:
            elf = ELFFile(stream)
            if elf.has_dwarf_info():
                self._read(elf.get_dwarf_info())
        # Of several rows for one address the last counts; the end of a sequence comes before them.
        self._rows.sort(key=lambda row: (row[0], row[1] != ""))
        self._addresses = [row[0] for row in self._rows]

    def line(self, pc: int) -> int:
        """The source line of the code that returns to `pc`; 0 when it is not in the source.

        Code of our headers counts for the line that calls it.
        """
        address = pc - 1
        file, line, _ = self._row(address)
        if file in ("", self._source):
            return line if file else 0
        calls = [c for c in self._inlined if c.low <= address < c.high and c.file == self._source]
        return min(calls, key=lambda call: call.high - call.low).line if calls else 0

    def lines(self) -> tuple[tuple[int, int], ...]:
        """Where each source line's code begins: (address, line), sorted; line 0 is not ours."""
        rows: list[tuple[int, int]] = []
        for address in sorted(set(self._addresses)):
            line = self.line(address + 1)
            if not rows or rows[-1][1] != line:
                rows.append((address, line))
        return tuple(rows)

    def file(self, pc: int) -> str:
        """The file of the code that returns to `pc`: the source, one of our headers, or ""."""
        return self._row(pc - 1)[0]

    def same_place(self, pc: int, other: int) -> bool:
        """Whether both are copies of one place: compilers duplicate code behind an `if`.

        A function that is inlined at two places is two, once both calls are known.
        """
        places = [(self.line(one), self._row(one - 1)) for one in (pc, other)]
        first, second = (self._calls_around(one - 1) for one in (pc, other))
        return places[0] == places[1] and (not first or not second or first == second)

    def _calls_around(self, address: int) -> list[tuple[str, int, int]]:
        """Where the inlined calls stand that code belongs to, the innermost first."""
        calls = [call for call in self._inlined if call.low <= address < call.high]
        calls.sort(key=lambda call: call.high - call.low)
        return [(call.file, call.line, call.column) for call in calls]

    def _row(self, address: int) -> tuple[str, int, int]:
        """File, line and column."""
        index = bisect.bisect_right(self._addresses, address) - 1
        # Line 0 is code that clang made from several lines: it counts for the line before.
        while index >= 0 and self._rows[index][1] and not self._rows[index][2]:
            index -= 1
        return self._rows[index][1:] if index >= 0 else ("", 0, 0)

    def array(self, name: str, size: int) -> Array | None:
        """The array of this name and size in bytes (templates may declare several)."""
        return self._arrays.get((name, size))

    def held(self) -> Mapping[str, frozenset[str]]:
        """The variables that are arrays or have arrays in them, shared and local, each with those
        arrays' types; none that only refers to one."""
        return self._held

    def _read(self, dwarf: DWARFInfo) -> None:
        for unit in dwarf.iter_CUs():
            files = file_names(dwarf, unit)
            if self._source not in files.values():
                continue
            self._read_lines(dwarf, unit, files)
            for die in unit.iter_DIEs():
                if die.tag == "DW_TAG_inlined_subroutine":
                    self._inlined.extend(_calls(dwarf, unit, die, files))
                elif die.tag in ("DW_TAG_variable", "DW_TAG_formal_parameter"):
                    self._read_variable(die)

    def _read_variable(self, die: DIE) -> None:
        origin = die
        if "DW_AT_abstract_origin" in die.attributes:
            origin = die.get_DIE_from_attribute("DW_AT_abstract_origin")
        if "DW_AT_type" not in origin.attributes or "DW_AT_name" not in origin.attributes:
            return
        name = origin.attributes["DW_AT_name"].value.decode()
        kind = _type(origin)
        if types := frozenset(_array_types(kind)):
            self._held[name] = types | self._held.get(name, frozenset())
        if array := _array(name, kind):
            self._arrays[array.name, array.size] = array

    def _read_lines(self, dwarf: DWARFInfo, unit: CompileUnit, files: dict[int, str]) -> None:
        program = dwarf.line_program_for_CU(unit)
        for entry in program.get_entries() if program else ():
            if (state := entry.state) is not None:
                file = "" if state.end_sequence else files.get(state.file, "")
                self._rows.append((state.address, file, state.line, state.column))


def file_names(dwarf: DWARFInfo, unit: CompileUnit) -> dict[int, str]:
    """The files of a compile unit by the numbers that its entries use."""
    program = dwarf.line_program_for_CU(unit)
    if program is None:
        return {}
    first = 0 if program.header["version"] >= 5 else 1
    entries = program.header["file_entry"]
    return {first + index: entry.name.decode() for index, entry in enumerate(entries)}


def _calls(
    dwarf: DWARFInfo, unit: CompileUnit, die: DIE, files: dict[int, str]
) -> Iterator[_Inlined]:
    if "DW_AT_call_line" not in die.attributes:
        return
    file = files.get(die.attributes["DW_AT_call_file"].value, "")
    line = die.attributes["DW_AT_call_line"].value
    column = die.attributes.get("DW_AT_call_column")
    for low, high in _ranges(dwarf, unit, die):
        yield _Inlined(low, high, file, line, column.value if column else 0)


def _ranges(dwarf: DWARFInfo, unit: CompileUnit, die: DIE) -> Iterator[tuple[int, int]]:
    attributes: Any = die.attributes
    if "DW_AT_low_pc" in attributes and "DW_AT_high_pc" in attributes:
        low, high = attributes["DW_AT_low_pc"].value, attributes["DW_AT_high_pc"]
        relative = describe_form_class(high.form) == "constant"
        yield low, low + high.value if relative else high.value
    elif "DW_AT_ranges" in attributes:
        lists = dwarf.range_lists()
        if lists is None:
            return
        top: Any = unit.get_top_DIE().attributes
        base = top["DW_AT_low_pc"].value if "DW_AT_low_pc" in top else 0
        for entry in lists.get_range_list_at_offset(attributes["DW_AT_ranges"].value, cu=unit):
            if isinstance(entry, BaseAddressEntry):
                base = entry.base_address
            elif isinstance(entry, RangeEntry):
                offset = 0 if entry.is_absolute else base
                yield entry.begin_offset + offset, entry.end_offset + offset


def _array_types(kind: DIE | None) -> Iterator[str]:
    """The types of the arrays, and of their rows, that an object of this type holds."""
    if kind is None:
        return
    if array := _array("", kind):
        yield from array.types
    if kind.tag == "DW_TAG_array_type":
        yield from _array_types(_type(kind))
    elif kind.tag in _CLASSES:
        for child in kind.iter_children():
            part = child.tag in ("DW_TAG_member", "DW_TAG_inheritance")
            if part and "DW_AT_external" not in child.attributes:  # static: no part of the object
                yield from _array_types(_type(child))


def _array(name: str, kind: DIE | None) -> Array | None:
    """A variable of this name and type as an array; None for anything else."""
    if kind is None or kind.tag != "DW_TAG_array_type":
        return None
    dims = tuple(
        _length(child) for child in kind.iter_children() if child.tag == "DW_TAG_subrange_type"
    )
    element = _type(kind)
    if element is None or "DW_AT_name" not in element.attributes or 0 in dims:
        return None
    return Array(
        name=name,
        element=element.attributes["DW_AT_name"].value.decode(),
        element_bytes=element.attributes["DW_AT_byte_size"].value,
        dims=dims,
    )


def _type(die: DIE) -> DIE | None:
    """The type of a variable, a member, or an array's elements, without qualifiers."""
    while "DW_AT_type" in die.attributes:
        die = die.get_DIE_from_attribute("DW_AT_type")
        if die.tag not in ("DW_TAG_const_type", "DW_TAG_volatile_type", "DW_TAG_typedef"):
            return die
    return None


def _length(die: DIE) -> int:
    attributes: Any = die.attributes
    if "DW_AT_count" in attributes:
        return int(attributes["DW_AT_count"].value)
    if "DW_AT_upper_bound" in attributes:
        bound = attributes["DW_AT_upper_bound"].value
        return int(bound) + 1 if isinstance(bound, int) else 0
    return 0
