"""What the simulator needs to know of an object file or program: symbols and initial values."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection


@dataclass(frozen=True)
class Symbol:
    """`value` is an address in a program, an offset in its section in an object file.

    `kind` is "function", "object", "shared" (thread-local), "resolved" (a function that is chosen
    when the program starts) or "other". `external`: other files can see it.
    """

    name: str
    kind: str
    value: int
    size: int
    defined: bool
    section: int
    external: bool = True


_KINDS = {"STT_FUNC": "function", "STT_OBJECT": "object", "STT_TLS": "shared"}
_KINDS |= dict.fromkeys(("STT_GNU_IFUNC", "STT_LOOS"), "resolved")


def read_symbols(path: Path) -> tuple[Symbol, ...]:
    """All named symbols of the file."""
    found = path.stat()
    return _read_symbols(path, found.st_ino, found.st_mtime_ns, found.st_size)


@functools.lru_cache(maxsize=64)  # several questions are asked about each file
def _read_symbols(path: Path, *version: int) -> tuple[Symbol, ...]:
    """`version` tells files of one name apart."""
    with path.open("rb") as stream:
        return tuple(_symbols(ELFFile(stream)))


def _symbols(elf: ELFFile) -> Iterator[Symbol]:
    table = elf.get_section_by_name(".symtab")
    if not isinstance(table, SymbolTableSection):
        return
    for entry in table.iter_symbols():
        if not entry.name:
            continue
        section = entry["st_shndx"]
        yield Symbol(
            name=entry.name,
            kind=_KINDS.get(entry["st_info"]["type"], "other"),
            value=entry["st_value"],
            size=entry["st_size"],
            defined=section != "SHN_UNDEF",
            section=section if isinstance(section, int) else -1,
            external=entry["st_info"]["bind"] != "STB_LOCAL",
        )


def initial_bytes(path: Path, name: str) -> bytes | None:
    """The initial value of a variable in an object file; None if the file does not define it."""
    with path.open("rb") as stream:
        elf = ELFFile(stream)
        for symbol in _symbols(elf):
            if symbol.name == name and symbol.defined and symbol.section >= 0:
                section = elf.get_section(symbol.section)
                if section["sh_type"] == "SHT_NOBITS":
                    return bytes(symbol.size)
                data: bytes = section.data()
                return data[symbol.value : symbol.value + symbol.size]
    return None


def shared_block_bytes(path: Path) -> int:
    """The size of a program's thread-local block."""
    with path.open("rb") as stream:
        for segment in ELFFile(stream).iter_segments("PT_TLS"):
            return int(segment["p_memsz"])
    return 0
