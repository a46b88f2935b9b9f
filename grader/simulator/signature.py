"""The functions of a program with their parameters' types, from its debug information."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elftools.dwarf.die import DIE
from elftools.dwarf.enums import ENUM_DW_ATE
from elftools.elf.elffile import ELFFile

from grader.simulator import elf
from grader.simulator.debug import file_names

_SPELT = {value: name for name, value in ENUM_DW_ATE.items() if isinstance(value, int)}
_LETTER = {
    "DW_ATE_boolean": "u",
    "DW_ATE_signed": "i",
    "DW_ATE_signed_char": "i",
    "DW_ATE_unsigned": "u",
    "DW_ATE_unsigned_char": "u",
    "DW_ATE_float": "f",
}
_QUALIFIERS = {
    "DW_TAG_const_type": "const ",
    "DW_TAG_volatile_type": "volatile ",
    "DW_TAG_restrict_type": "",
    "DW_TAG_typedef": "",
}
# float4 is made of f32.
_VECTOR = re.compile(r"(?P<element>u?(?:char|short|int)|float|double|u?longlong)[1-4]")
_VECTOR_KIND = {
    "char": "i8", "uchar": "u8", "short": "i16", "ushort": "u16", "int": "i32", "uint": "u32",
    "float": "f32", "double": "f64", "longlong": "i64", "ulonglong": "u64",
}  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """`kind` is that of the number, or of what a pointer points to: "f32", "u8", ...; "" for
    other types. `constant`: a pointer through which nothing is written."""

    name: str
    type: str  # "const float *", "int"
    kind: str
    pointer: bool = False
    constant: bool = False


@dataclass(frozen=True)
class Signature:
    """`name` is as in the source, with template arguments: "block_sums<256>"."""

    name: str
    symbol: str
    line: int
    parameters: tuple[Parameter, ...]

    def __str__(self) -> str:
        listed = (f"{p.type} {p.name}".replace("* ", "*").strip() for p in self.parameters)
        return f"{self.name}({', '.join(listed)})"


def read_signatures(program: Path, source: str) -> tuple[Signature, ...]:
    """The functions of a linked program that the file `source` defines, in the order of lines.

    Names are found by address: compilers leave out the symbols of internal functions.
    """
    symbols = {s.value: s.name for s in elf.read_symbols(program) if s.kind == "function"}
    found: dict[str, Signature] = {}
    with program.open("rb") as stream:
        dwarf = ELFFile(stream).get_dwarf_info()
        for unit in dwarf.iter_CUs():
            files = file_names(dwarf, unit)
            for die in unit.iter_DIEs():
                if die.tag == "DW_TAG_subprogram" and "DW_AT_low_pc" in die.attributes:
                    symbol = symbols.get(die.attributes["DW_AT_low_pc"].value)
                    if symbol and _source(die, files) == source:
                        found[symbol] = _signature(die, symbol)
    return tuple(sorted(found.values(), key=lambda signature: (signature.line, signature.name)))


def _signature(die: DIE, symbol: str) -> Signature:
    line = _attribute(die, "DW_AT_decl_line")
    parameters = (c for c in die.iter_children() if c.tag == "DW_TAG_formal_parameter")
    return Signature(
        name=_text(_attribute(die, "DW_AT_name")),
        symbol=symbol,
        line=line.value if line is not None else 0,
        parameters=tuple(map(_parameter, parameters)),
    )


def _source(die: DIE, files: dict[int, str]) -> str:
    attribute = _attribute(die, "DW_AT_decl_file")
    return files.get(attribute.value, "") if attribute is not None else ""


# What a definition leaves out stands where it was declared, or in the pattern of its copies.
_ORIGINS = ("DW_AT_abstract_origin", "DW_AT_specification")


def _attribute(die: DIE, name: str) -> Any:
    if name in die.attributes:
        return die.attributes[name]
    for origin in _ORIGINS:
        if origin in die.attributes:
            return _attribute(die.get_DIE_from_attribute(origin), name)
    return None


def _text(attribute: Any) -> str:
    return attribute.value.decode() if attribute is not None else ""


def _type_of(die: DIE) -> DIE | None:
    if "DW_AT_type" in die.attributes:
        return die.get_DIE_from_attribute("DW_AT_type")
    for origin in _ORIGINS:
        if origin in die.attributes:
            return _type_of(die.get_DIE_from_attribute(origin))
    return None


def _parameter(die: DIE) -> Parameter:
    name = _text(_attribute(die, "DW_AT_name"))
    spelt = _type_of(die)
    kind = _plain(spelt)
    if kind is None or kind.tag not in ("DW_TAG_pointer_type", "DW_TAG_base_type"):
        return Parameter(name, _spelling(spelt), "")
    if kind.tag == "DW_TAG_base_type":
        return Parameter(name, _spelling(kind), _number_kind(kind))
    target = _type_of(kind)
    return Parameter(
        name, _spelling(kind), _number_kind(_plain(target)), True, _is_constant(target)
    )


def _plain(die: DIE | None) -> DIE | None:
    """The type without qualifiers and other names for it; None is void."""
    while die is not None and die.tag in _QUALIFIERS:
        die = _type_of(die)
    return die


def _is_constant(die: DIE | None) -> bool:
    while die is not None and die.tag in _QUALIFIERS:
        if die.tag == "DW_TAG_const_type":
            return True
        die = _type_of(die)
    return False


def _number_kind(die: DIE | None) -> str:
    if die is None:
        return ""
    name = _text(_attribute(die, "DW_AT_name"))
    if die.tag == "DW_TAG_structure_type" and (match := _VECTOR.fullmatch(name)):
        return _VECTOR_KIND[match["element"]]
    if die.tag != "DW_TAG_base_type":
        return ""
    letter = _LETTER.get(_SPELT.get(die.attributes["DW_AT_encoding"].value, ""), "")
    return f"{letter}{8 * die.attributes['DW_AT_byte_size'].value}" if letter else ""


def _spelling(die: DIE | None) -> str:
    """The type as a programmer writes it, near enough to recognise it."""
    if die is None:
        return "void"
    if die.tag == "DW_TAG_pointer_type":
        target = _spelling(_type_of(die))
        return target + ("*" if target.endswith("*") else " *")
    if die.tag == "DW_TAG_reference_type":
        return _spelling(_type_of(die)) + " &"
    name = _text(_attribute(die, "DW_AT_name"))
    if name or die.tag not in _QUALIFIERS:
        return name or "unnamed type"
    return _QUALIFIERS[die.tag] + _spelling(_type_of(die))
