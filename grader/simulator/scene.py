"""Names for a launch's addresses: operands, shared arrays, source lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from grader.counters import LineCounter
from grader.device import Launch, LaunchConfig, Operand
from grader.finding import Location
from grader.simulator.debug import DebugInfo
from grader.simulator.program import DYNAMIC, Program, Variable
from grader.simulator.protocol import RawFinding


@dataclass(frozen=True)
class Scene:
    """Where a launch took place: what is needed to name addresses and lines."""

    program: Program
    debug: DebugInfo
    file: str  # as messages name it
    text: str
    launch: Launch
    config: LaunchConfig


def variable_name(symbol: str) -> str:
    """`As` for the symbol of a static array inside a function (`_ZZ5helperILi16EEvvE2As`)."""
    if symbol == DYNAMIC:
        return "dynamic shared memory"
    plain = re.sub(r"\.\d+$", "", symbol)
    if not plain.startswith("_Z"):
        return plain
    # A mangled local name ends in E, its length and itself, perhaps with a discriminator (_0).
    for match in re.finditer(r"(?=E(\d+)([A-Za-z_]\w*)$)", plain):
        length = int(match[1])
        if re.fullmatch(r"|_\d+|__\d+_", match[2][length:]):
            return match[2][:length]
    return plain


def line_counter(row: tuple[int, ...], scene: Scene) -> LineCounter:
    """A CounterRow of machine/protocol.hpp with its array's name."""
    line, space, number, size, write, approximate, requests, words, *counts = row
    if space == 0:
        name = variable_name(scene.program.shared[number].name)
    elif space == 1:
        name = scene.launch.operands[number].name
    else:
        name = scene.program.device_variables[number].name
    return LineCounter(
        line,
        "store" if write else "load",
        "global" if space else "shared",
        name,
        size,
        requests,
        words,
        *counts,
        approximate=bool(approximate),
    )


def place(raw: RawFinding) -> dict[str, Any]:
    return {"thread": list(raw.thread), "block": list(raw.block)}


def at(raw: RawFinding, scene: Scene, role: str) -> tuple[Location, ...]:
    line = raw.line or (scene.debug.line(raw.pc) if raw.pc else 0)
    return (Location(scene.file, line, role),) if line else ()


def access(raw: RawFinding) -> str:
    return "write" if raw.write else "read"


def element(operand: Operand, offset_bytes: int) -> dict[str, Any]:
    """Index, row and column of a byte offset; row and column -1 before the matrix."""
    index = offset_bytes // 4
    row, col = divmod(index, operand.cols) if index >= 0 else (-1, -1)
    return {
        "operand": operand.name,
        "index": index,
        "row": row,
        "col": col,
        "rows": operand.rows,
        "cols": operand.cols,
    }


def shared_element(scene: Scene, variable: Variable, offset: int) -> dict[str, Any]:
    """Name, index and dimensions of an element of a shared array; offset in bytes."""
    name = variable_name(variable.name)
    size = scene.config.dynamic_shared if variable.name == DYNAMIC else variable.size
    past = offset - size if offset >= size else offset
    array = scene.debug.array(name, variable.size)
    if array is None:
        element_bytes: int = 4
        dims: tuple[int, ...] = (size // 4,)
    else:
        element_bytes, dims = array.element_bytes, array.dims
    return {
        "variable": name,
        "index": indices(offset // element_bytes, dims),
        "bytes_past": past,
        "dims": list(dims),
    }


def indices(flat: int, dims: tuple[int, ...]) -> list[int]:
    """The indices of a flat one; the first may lie outside its dimension, the others do not."""
    found: list[int] = []
    for length in reversed(dims[1:]):
        flat, rest = divmod(flat, length)
        found.insert(0, rest)
    return [flat, *found]
