"""Turns what the machine saw (addresses, numbers) into findings (names, indices, lines)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from grader.device import Role
from grader.finding import Finding, Location
from grader.simulator import explain_index, explain_order
from grader.simulator.assembly import DYNAMIC
from grader.simulator.program import ANCHOR, Variable
from grader.simulator.protocol import Kind, RawFinding, Triple
from grader.simulator.scene import (
    Scene,
    access,
    at,
    element,
    element_indices,
    place,
    shared_element,
    thread,
    variable_name,
)
from grader.verdict import Verdict

_EXTERN = re.compile(r"\bextern\b")


def explain(raw: RawFinding, scene: Scene) -> Finding | None:
    """The finding in words-as-data; None where the machine's suspicion turns out to be harmless."""
    return _EXPLAINERS[raw.kind](raw, scene)


def _global_access(raw: RawFinding, scene: Scene) -> Finding:
    facts = {
        "access": access(raw),
        **element(scene.launch.operands[raw.where], raw.offset),
        **place(raw, scene),
        "count": raw.count,
        "bytes": raw.bytes,
    }
    if facts["access"] == "read" and _is_one_term_too_many(facts, scene):
        facts["k"] = scene.launch.operands[0].cols
    return Finding(Verdict.OUT_OF_BOUNDS, "global_access", facts, at(raw, scene, facts["access"]))


def _is_one_term_too_many(facts: Mapping[str, Any], scene: Scene) -> bool:
    """Whether a thread that computes one element of C reads what belongs to k == K for it, and no
    smaller k leads there by way of a wrong stride."""
    operands, (wide, high, _) = scene.launch.operands, scene.block.threads
    if [o.name for o in operands] != ["A", "B", "C"] or not all(o.rows for o in operands):
        return False
    a, b, c = operands
    if scene.launch.grid != (-(-c.cols // wide), -(-c.rows // high)):
        return False  # a tile of C is not as large as the block: whose element is whose?
    col = facts["block"][0] * wide + facts["thread"][0]
    row = facts["block"][1] * high + facts["thread"][1]
    if row >= c.rows or col >= c.cols:
        return False
    k, index = a.cols, facts["index"]
    kxn = (b.rows, b.cols) == (k, c.cols)
    last = {"A": row * k + k, "B": k * c.cols + col if kxn else col * k + k}
    return index == last.get(facts["operand"]) and not any(
        index in (line * stride + term, term * stride + line)  # an index with another stride
        for stride in (c.rows, c.cols, k)
        for line in (row, col)
        for term in range(k)
    )


def _nearest_array(scene: Scene, offset: int) -> Variable | None:
    """The shared array a stray offset of the shared block lies nearest to."""
    arrays = [v for v in scene.program.shared if v.name != ANCHOR]
    if not scene.block.dynamic_shared:
        arrays = [v for v in arrays if v.name != DYNAMIC]

    def distance(array: Variable) -> int:
        size = scene.block.dynamic_shared if array.name == DYNAMIC else array.size
        return array.offset - offset if offset < array.offset else offset - array.offset - size

    return min(arrays, key=distance, default=None)


def _is_dynamic(scene: Scene, offset: int) -> bool:
    """Whether this is the place of `extern __shared__` memory, of which the launch has none."""
    if scene.block.dynamic_shared or not _EXTERN.search(scene.text):
        return False
    return any(
        v.name == DYNAMIC and v.offset <= offset < v.offset + v.size for v in scene.program.shared
    )


def _shared_access(raw: RawFinding, scene: Scene) -> Finding:
    facts: dict[str, Any] = {"access": access(raw), "variable": "shared memory", "index": []}
    facts |= {"bytes_past": 0, "dims": [], "threads": _filled(scene.block.threads)}
    if _is_dynamic(scene, raw.offset):
        facts |= {"variable": variable_name(DYNAMIC), "dynamic_bytes": 0}
    elif nearest := _nearest_array(scene, raw.offset):
        facts |= shared_element(scene, nearest, raw.offset - nearest.offset)
        if nearest.name == DYNAMIC:
            facts["dynamic_bytes"] = scene.block.dynamic_shared
    places = at(raw, scene, facts["access"])
    if len(facts["dims"]) == 1 and places:
        facts["product"] = explain_index.is_product_of(facts["variable"], places[0].line, scene)
    return Finding(Verdict.OUT_OF_BOUNDS, "shared_access", facts | place(raw, scene), places)


def _filled(threads: Triple) -> list[int]:
    """The block's size, without a third dimension that is 1."""
    return list(threads if threads[2] > 1 else threads[:2])


def _wild_access(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"access": access(raw), **place(raw, scene)}
    return Finding(Verdict.OUT_OF_BOUNDS, "wild_access", facts, at(raw, scene, facts["access"]))


def _foreign_local(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"access": access(raw), **place(raw, scene), "other": thread(raw.other, scene)}
    return Finding(Verdict.OUT_OF_BOUNDS, "foreign_local", facts, at(raw, scene, facts["access"]))


def _print_format(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"name": raw.text, **place(raw, scene)}
    return Finding(Verdict.REJECTED, "print_format", facts, at(raw, scene, "error"))


def _misaligned(raw: RawFinding, scene: Scene) -> Finding:
    facts: dict[str, Any] = {
        "access": "copy" if raw.asynchronous else access(raw),
        "bytes": raw.bytes,
        "operand_or_variable": "",
        "index": [],
        **place(raw, scene),
    }
    if raw.text == "operand":
        operand = scene.launch.operands[raw.where]
        index = element_indices(operand, raw.offset)
        facts |= {"operand_or_variable": operand.name, "index": index}
    elif raw.text == "shared" and raw.where < len(scene.program.shared):
        found = shared_element(scene, scene.program.shared[raw.where], raw.offset)
        facts |= {"operand_or_variable": found["variable"], "index": found["index"]}
    return Finding(Verdict.MISALIGNED, "misaligned", facts, at(raw, scene, facts["access"]))


def _unaligned(raw: RawFinding, scene: Scene) -> Finding | None:
    """Only CUDA's vector types need the alignment of their size, not a student's own struct."""
    vector = scene.debug.file(raw.pc).endswith("vector_types.h")
    return _misaligned(raw, scene) if vector else None


def _input_written(raw: RawFinding, scene: Scene) -> Finding:
    operand = scene.launch.operands[raw.where]
    spot = element(operand, raw.offset)
    facts = {key: spot[key] for key in ("operand", "row", "col")}
    facts |= {"index": element_indices(operand, raw.offset), "count": raw.count}
    facts |= {"inputs": [o.name for o in scene.launch.operands if o.role is Role.INPUT]}
    facts |= place(raw, scene)
    return Finding(Verdict.INPUT_MODIFIED, "input_modified", facts, at(raw, scene, "write"))


def _index_overflow(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"expression": raw.text, **place(raw, scene)}
    return Finding(Verdict.INDEX_OVERFLOW, "index_overflow", facts, at(raw, scene, "index"))


def _assertion(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"expression": raw.text, **place(raw, scene)}
    return Finding(Verdict.CRASH, "assertion", facts, at(raw, scene, "assertion"))


def _crash(kind: str) -> Callable[[RawFinding, Scene], Finding]:
    def explain_crash(raw: RawFinding, scene: Scene) -> Finding:
        # A signal's address is that of the instruction itself, a call's the one after it.
        signal = raw.kind in (Kind.FATAL_SIGNAL, Kind.STACK_OVERFLOW)
        line = scene.debug.line(raw.pc + signal)
        if not line and raw.pc_other:
            line = scene.debug.line(raw.pc_other)
        facts: dict[str, Any] = place(raw, scene)
        if raw.kind == Kind.FATAL_SIGNAL:
            facts["name"] = raw.text
        places = (Location(scene.file, line, "error"),) if line else ()
        return Finding(Verdict.CRASH, kind, facts, places)

    return explain_crash


def _deadlock(raw: RawFinding, scene: Scene) -> Finding:
    """A lane that waits for ever for others of its warp: for those that its mask names."""
    (x, y, z), (wide, high, _) = raw.thread, scene.block.threads
    lane = (x + wide * (y + high * z)) % 32
    if not raw.offset >> lane & 1:
        facts = {"mask": raw.offset, "lane": lane, **place(raw, scene)}
        places = at(raw, scene, "waits")
        return Finding(Verdict.DIVERGENT_BARRIER, "lane_not_in_mask", facts, places)
    where = "barrier" if raw.where else "waits"
    facts = {"missing": raw.bytes, "other_at": where, **place(raw, scene)}
    facts |= {"other": thread(raw.other, scene)}
    places = _both_places(raw, scene, ("waits", where))
    return Finding(Verdict.DIVERGENT_BARRIER, "lanes_missed", facts, places)


def _unset_lane(raw: RawFinding, scene: Scene) -> Finding:
    """A shuffle from a lane that brings no value: `why` says what is the matter with that lane."""
    facts = {"lane": raw.offset, "why": raw.text, **place(raw, scene)}
    return Finding(Verdict.UNINITIALISED, "unset_lane", facts, at(raw, scene, "read"))


def _divergent(raw: RawFinding, scene: Scene) -> Finding | None:
    kind = "barrier_missed" if raw.where else "barrier_split"
    if kind == "barrier_split" and scene.debug.same_place(raw.pc, raw.pc_other):
        return None
    facts = {"missing": raw.offset, **place(raw, scene), "other": thread(raw.other, scene)}
    places = _both_places(raw, scene, ("barrier", "waits"))
    return Finding(Verdict.DIVERGENT_BARRIER, kind, facts, places)


def _both_places(raw: RawFinding, scene: Scene, roles: tuple[str, str]) -> tuple[Location, ...]:
    other = scene.debug.line(raw.pc_other) if raw.pc_other else 0
    return at(raw, scene, roles[0]) + ((Location(scene.file, other, roles[1]),) if other else ())


def _async_copy(raw: RawFinding, scene: Scene) -> Finding:
    facts = {"bytes": raw.offset, "zero_filled": raw.bytes, **place(raw, scene)}
    return Finding(Verdict.CRASH, "async_copy_size", facts, at(raw, scene, "copy"))


def _system_call(raw: RawFinding, scene: Scene) -> Finding:
    line = scene.debug.line(raw.pc) or scene.debug.line(raw.pc_other)
    facts = {"name": raw.text or f"number {raw.offset}", **place(raw, scene)}
    places = (Location(scene.file, line, "error"),) if line else ()
    return Finding(Verdict.REJECTED, "forbidden_system_call", facts, places)


def _process_lost(raw: RawFinding, scene: Scene) -> Finding:
    return Finding(Verdict.CRASH, "process_lost", {"name": raw.text})


def _forged_answer(raw: RawFinding, scene: Scene) -> Finding:
    return Finding(Verdict.REJECTED, "forged_answer", {})


_EXPLAINERS: Mapping[Kind, Callable[[RawFinding, Scene], Finding | None]] = {
    Kind.GLOBAL_ACCESS: _global_access,
    Kind.SHARED_ACCESS: _shared_access,
    Kind.ARRAY_INDEX: explain_index.explain,
    Kind.WILD_ACCESS: _wild_access,
    Kind.MISALIGNED_ACCESS: _misaligned,
    Kind.INPUT_WRITTEN: _input_written,
    Kind.ASSERTION: _assertion,
    Kind.TRAP: _crash("trap"),
    Kind.STACK_OVERFLOW: _crash("stack_overflow"),
    Kind.FATAL_SIGNAL: _crash("signal"),
    Kind.DEADLOCK: _deadlock,
    Kind.DIVERGENT_BARRIER: _divergent,
    Kind.UNSET_LANE: _unset_lane,
    Kind.ASYNC_COPY: _async_copy,
    Kind.UNALIGNED_ACCESS: _unaligned,
    Kind.INDEX_OVERFLOW: _index_overflow,
    Kind.SYSTEM_CALL: _system_call,
    Kind.FOREIGN_LOCAL: _foreign_local,
    Kind.PRINT_FORMAT: _print_format,
    Kind.PROCESS_LOST: _process_lost,
    Kind.FORGED_ANSWER: _forged_answer,
    **explain_order.EXPLAINERS,
}
