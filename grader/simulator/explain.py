"""Turns what the machine saw (addresses, numbers) into findings (names, indices, lines)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from grader.device import Launch, LaunchConfig, Operand
from grader.finding import Finding, Location
from grader.simulator.debug import DebugInfo
from grader.simulator.program import ANCHOR, DYNAMIC, Program, Variable
from grader.simulator.protocol import Kind, RawFinding
from grader.verdict import Verdict


@dataclass(frozen=True)
class Scene:
    """Where a launch took place: what is needed to name addresses and lines."""

    program: Program
    debug: DebugInfo
    file: str  # as messages name it
    text: str
    launch: Launch
    config: LaunchConfig


def explain(raw: RawFinding, scene: Scene) -> Finding | None:
    """The finding in words-as-data; None where the machine's suspicion turns out to be harmless."""
    return _EXPLAINERS[raw.kind](raw, scene)


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


def _place(raw: RawFinding) -> dict[str, Any]:
    return {"thread": list(raw.thread), "block": list(raw.block)}


def _at(raw: RawFinding, scene: Scene, role: str) -> tuple[Location, ...]:
    line = raw.line or (scene.debug.line(raw.pc) if raw.pc else 0)
    return (Location(scene.file, line, role),) if line else ()


def _access(raw: RawFinding) -> str:
    return "write" if raw.write else "read"


def _element(operand: Operand, offset_bytes: int) -> dict[str, Any]:
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


def _global_access(raw: RawFinding, scene: Scene) -> Finding:
    facts = {
        "access": _access(raw),
        **_element(scene.launch.operands[raw.where], raw.offset),
        **_place(raw),
        "count": raw.count,
    }
    return Finding(Verdict.OUT_OF_BOUNDS, "global_access", facts, _at(raw, scene, facts["access"]))


def _nearest_array(scene: Scene, offset: int) -> Variable | None:
    """The shared array a stray offset of the shared block lies nearest to."""
    arrays = [v for v in scene.program.shared if v.name != ANCHOR]
    if not scene.config.dynamic_shared:
        arrays = [v for v in arrays if v.name != DYNAMIC]

    def distance(array: Variable) -> int:
        size = scene.config.dynamic_shared if array.name == DYNAMIC else array.size
        return array.offset - offset if offset < array.offset else offset - array.offset - size

    return min(arrays, key=distance, default=None)


def _shared_access(raw: RawFinding, scene: Scene) -> Finding:
    facts: dict[str, Any] = {"access": _access(raw), "variable": "shared memory", "index": []}
    facts |= {"bytes_past": 0, "dims": []}
    if nearest := _nearest_array(scene, raw.offset):
        facts |= _shared_element(scene, nearest, raw.offset - nearest.offset)
    return Finding(
        Verdict.OUT_OF_BOUNDS,
        "shared_access",
        facts | _place(raw),
        _at(raw, scene, facts["access"]),
    )


def _shared_element(scene: Scene, variable: Variable, offset: int) -> dict[str, Any]:
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
        "index": _indices(offset // element_bytes, dims),
        "bytes_past": past,
        "dims": list(dims),
    }


def _indices(flat: int, dims: tuple[int, ...]) -> list[int]:
    """The indices of a flat one; the first may lie outside its dimension, the others do not."""
    indices: list[int] = []
    for length in reversed(dims[1:]):
        flat, rest = divmod(flat, length)
        indices.insert(0, rest)
    return [flat, *indices]


def _array_index(raw: RawFinding, scene: Scene) -> Finding | None:
    """A bound check that fired. Shared arrays are judged by address: indexing a row beyond its end
    is harmless while it stays inside the array, and the gap behind the array catches the rest."""
    kind = raw.text.strip("'").replace(" [", "[")
    shared = {variable_name(v.name) for v in scene.program.shared}
    lines = scene.text.splitlines()
    source = lines[raw.line - 1] if 0 < raw.line <= len(lines) else ""
    words = set(re.findall(r"[A-Za-z_]\w*", source))
    of_type = [array for array in scene.debug.arrays() if kind in array.types]
    here = [array for array in of_type if array.name in words] or of_type
    local = [array for array in here if array.name not in shared]
    if here and not local:
        return None
    facts = {
        "index": raw.offset,
        "type": kind.replace("[", " [", 1),
        "variable": local[0].name if local else "",
        "length": _length(kind),
        **_place(raw),
    }
    return Finding(Verdict.OUT_OF_BOUNDS, "register_array", facts, _at(raw, scene, "index"))


def _length(kind: str) -> int:
    match = re.search(r"\[(\d+)\]", kind)
    return int(match[1]) if match else 0


def _wild_access(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"access": _access(raw), **_place(raw)}
    return Finding(Verdict.OUT_OF_BOUNDS, "wild_access", facts, _at(raw, scene, facts["access"]))


def _misaligned(raw: RawFinding, scene: Scene) -> Finding:
    facts: dict[str, Any] = {
        "access": _access(raw),
        "bytes": raw.bytes,
        "operand_or_variable": "",
        "index": [],
        **_place(raw),
    }
    if raw.text == "operand":
        operand = scene.launch.operands[raw.where]
        element = _element(operand, raw.offset)
        facts |= {"operand_or_variable": operand.name, "index": [element["row"], element["col"]]}
    elif raw.text == "shared" and raw.where < len(scene.program.shared):
        found = _shared_element(scene, scene.program.shared[raw.where], raw.offset)
        facts |= {"operand_or_variable": found["variable"], "index": found["index"]}
    return Finding(Verdict.MISALIGNED, "misaligned", facts, _at(raw, scene, facts["access"]))


def _unaligned(raw: RawFinding, scene: Scene) -> Finding | None:
    """Only CUDA's vector types need the alignment of their size, not a student's own struct."""
    vector = scene.debug.file(raw.pc).endswith("vector_types.h")
    return _misaligned(raw, scene) if vector else None


def _input_written(raw: RawFinding, scene: Scene) -> Finding:
    element = _element(scene.launch.operands[raw.where], raw.offset)
    facts = {key: element[key] for key in ("operand", "row", "col")}
    facts |= {"count": raw.count, **_place(raw)}
    return Finding(Verdict.INPUT_MODIFIED, "input_modified", facts, _at(raw, scene, "write"))


def _assertion(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"expression": raw.text, **_place(raw)}
    return Finding(Verdict.CRASH, "assertion", facts, _at(raw, scene, "assertion"))


def _crash(kind: str) -> Callable[[RawFinding, Scene], Finding]:
    def explain_crash(raw: RawFinding, scene: Scene) -> Finding:
        # A signal's address is that of the instruction itself, a call's the one after it.
        signal = raw.kind in (Kind.FATAL_SIGNAL, Kind.STACK_OVERFLOW)
        line = scene.debug.line(raw.pc + signal)
        facts: dict[str, Any] = _place(raw)
        if raw.kind == Kind.FATAL_SIGNAL:
            facts["name"] = raw.text
        places = (Location(scene.file, line, "error"),) if line else ()
        return Finding(Verdict.CRASH, kind, facts, places)

    return explain_crash


def _deadlock(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"waiting": raw.offset, "missing": raw.bytes, **_place(raw), "other": list(raw.other)}
    return Finding(Verdict.DIVERGENT_BARRIER, "barrier_deadlock", facts, _both_places(raw, scene))


def _divergent(raw: RawFinding, scene: Scene) -> Finding:
    kind = "barrier_missed" if raw.where else "barrier_split"
    facts = {"missing": raw.offset, **_place(raw), "other": list(raw.other)}
    return Finding(Verdict.DIVERGENT_BARRIER, kind, facts, _both_places(raw, scene))


def _both_places(raw: RawFinding, scene: Scene) -> tuple[Location, ...]:
    other = scene.debug.line(raw.pc_other) if raw.pc_other else 0
    return _at(raw, scene, "barrier") + ((Location(scene.file, other, "waits"),) if other else ())


def _async_copy(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"bytes": raw.offset, "zero_filled": raw.bytes, **_place(raw)}
    return Finding(Verdict.CRASH, "async_copy_size", facts, _at(raw, scene, "copy"))


_EXPLAINERS: Mapping[Kind, Callable[[RawFinding, Scene], Finding | None]] = {
    Kind.GLOBAL_ACCESS: _global_access,
    Kind.SHARED_ACCESS: _shared_access,
    Kind.ARRAY_INDEX: _array_index,
    Kind.WILD_ACCESS: _wild_access,
    Kind.MISALIGNED_ACCESS: _misaligned,
    Kind.INPUT_WRITTEN: _input_written,
    Kind.ASSERTION: _assertion,
    Kind.TRAP: _crash("trap"),
    Kind.STACK_OVERFLOW: _crash("stack_overflow"),
    Kind.FATAL_SIGNAL: _crash("signal"),
    Kind.DEADLOCK: _deadlock,
    Kind.DIVERGENT_BARRIER: _divergent,
    Kind.ASYNC_COPY: _async_copy,
    Kind.UNALIGNED_ACCESS: _unaligned,
}
