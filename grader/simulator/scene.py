"""Names for a launch's addresses: operands, shared arrays, source lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from grader.device import Launch, Operand
from grader.finding import Location
from grader.mangling import base_name, demangle
from grader.simulator.assembly import DYNAMIC
from grader.simulator.debug import DebugInfo
from grader.simulator.failure import MARKED
from grader.simulator.program import Program, Variable
from grader.simulator.protocol import Block, RawFinding, Triple
from grader.source.tokens import tokens


@dataclass(frozen=True)
class Scene:
    """Where a launch took place: what is needed to name addresses and lines."""

    program: Program
    debug: DebugInfo
    file: str  # as messages name it
    text: str
    launch: Launch
    block: Block

    @property
    def compiled(self) -> str:
        """What the compiler read: the file, or what its preprocessor left of it."""
        marked = self.program.path.with_name(MARKED)
        if not marked.is_file():
            return self.text
        return marked.read_text(encoding="utf-8", errors="replace")


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


def device_variable_name(symbol: str) -> str:
    """`table` for a `__device__` variable of that name, whatever its namespace."""
    return base_name(demangle(symbol))


@cache
def constants(text: str) -> frozenset[str]:
    """The names of the `__constant__` variables that a file declares."""
    found: set[str] = set()
    declares, depth, before = False, 0, ""
    for token in tokens(text):
        if token.text == "__constant__":
            declares, depth = True, 0
        elif declares and depth == 0 and token.text in ("[", ",", "=", "{", ";"):
            found.add(before)
            declares = token.text != ";"
        depth += (token.text in ("{", "(")) - (token.text in ("}", ")"))
        before = token.text
    return frozenset(found)


def place(raw: RawFinding, scene: Scene) -> dict[str, Any]:
    return {"thread": thread(raw.thread, scene), "block": block(raw.block, scene)}


def thread(index: Triple, scene: Scene) -> list[int]:
    """A thread's x and y, and z where blocks have more than one layer."""
    return list(index if scene.block.threads[2] > 1 else index[:2])


def block(index: Triple, scene: Scene) -> list[int]:
    """A block's x and y, and z where the grid has more than one layer."""
    return list(index if scene.launch.grid_z > 1 else index[:2])


def at(raw: RawFinding, scene: Scene, role: str) -> tuple[Location, ...]:
    line = raw.line or (scene.debug.line(raw.pc) if raw.pc else 0)
    return (Location(scene.file, line, role),) if line else ()


def access(raw: RawFinding) -> str:
    return "write" if raw.write else "read"


def element(operand: Operand, offset_bytes: int) -> dict[str, Any]:
    """Index, row and column of a byte offset; row and column -1 before the matrix."""
    index = offset_bytes // operand.element_bytes
    row, col = divmod(index, operand.cols) if index >= 0 else (-1, -1)
    if not operand.rows:  # one dimension
        row, col = 0, index
    return {
        "operand": operand.name,
        "index": index,
        "row": row,
        "col": col,
        "rows": operand.rows,
        "cols": operand.cols,
    }


def element_indices(operand: Operand, offset_bytes: int) -> list[int]:
    """What stands in brackets after the operand's name."""
    spot = element(operand, offset_bytes)
    return [spot["row"], spot["col"]] if operand.rows else [spot["index"]]


def shared_element(scene: Scene, variable: Variable, offset: int) -> dict[str, Any]:
    """Name, index and dimensions of an element of a shared array; offset in bytes."""
    name = variable_name(variable.name)
    size = scene.block.dynamic_shared if variable.name == DYNAMIC else variable.size
    past = offset - size if offset >= size else offset
    array = scene.debug.array(name, variable.size)
    if array is None:
        element_bytes: int = 4
        dims: tuple[int, ...] = (max(size // 4, 1),)
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
