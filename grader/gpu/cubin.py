"""What the cubin says without a GPU: the launch configuration and the device variables."""

from __future__ import annotations

from pathlib import Path
from typing import IO

from elftools.common.exceptions import ELFError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section, SymbolTableSection

from grader.device import CONFIG_FORM, CONFIG_SYMBOL, LaunchConfig
from grader.finding import NOT_YOURS, GraderFault

# Where nvcc puts __device__ variables (zeroed, initialised) and __constant__ variables.
_VARIABLES = (".nv.global", ".nv.global.init", ".nv.constant3")


def read_config(cubin: Path) -> LaunchConfig | None:
    """The integers that LAUNCH_CONFIG stored; None when the submission has no LAUNCH_CONFIG.

    The symbol is local in a cubin of one file, so it is looked up by name, not by binding.
    """
    with cubin.open("rb") as stream:
        elf = _open(cubin, stream)
        for table in elf.iter_sections():
            if not isinstance(table, SymbolTableSection):
                continue
            for symbol in table.get_symbol_by_name(CONFIG_SYMBOL) or ():
                if symbol["st_size"] != CONFIG_FORM.size:
                    return None  # some other variable of the student's that has this name
                section = elf.get_section(symbol["st_shndx"])
                return LaunchConfig(*CONFIG_FORM.unpack(_bytes(section, symbol["st_value"])))
    return None


def variable_bytes(cubin: Path) -> int:
    """Bytes of global memory that the submission's own variables take, strings included."""
    config = CONFIG_FORM.size if read_config(cubin) is not None else 0
    with cubin.open("rb") as stream:
        elf = _open(cubin, stream)
        sections = (elf.get_section_by_name(name) for name in _VARIABLES)
        return sum(section["sh_size"] for section in sections if section is not None) - config


def _bytes(section: Section, offset: int) -> bytes:
    if section["sh_type"] == "SHT_NOBITS":  # all zero: takes no room in the file
        return bytes(CONFIG_FORM.size)
    data: bytes = section.data()
    return data[offset : offset + CONFIG_FORM.size]


def _open(path: Path, stream: IO[bytes]) -> ELFFile:
    try:
        return ELFFile(stream)
    except ELFError as error:
        raise GraderFault(
            f"{path} is not a cubin ({error}). {NOT_YOURS} "
            "Next: delete the folder .cache, then run it again"
        ) from None
