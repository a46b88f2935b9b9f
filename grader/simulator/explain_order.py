"""Findings of the observer of order: data races, and reads of memory that nothing has written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.finding import Finding, Location
from grader.simulator.protocol import MAX_OPERANDS, Kind, RawFinding
from grader.simulator.scene import (
    Scene,
    access,
    at,
    block,
    device_variable_name,
    element_indices,
    place,
    shared_element,
    thread,
)
from grader.verdict import Verdict


def _is_guard(raw: RawFinding, scene: Scene) -> bool:
    """Whether it is about a byte of g++'s own, by which it knows that an array was set up."""
    return scene.program.shared[raw.where].name.startswith("_ZGV")


def _shared_name(raw: RawFinding, scene: Scene) -> dict[str, Any]:
    found = shared_element(scene, scene.program.shared[raw.where], raw.offset)
    scalar = found["dims"] == [1]
    index = [] if scalar else found["index"]
    return {"name": found["variable"], "index": index, "dims": found["dims"]}


def _global_name(raw: RawFinding, scene: Scene) -> dict[str, Any]:
    """An element of a matrix, or of a device variable (these come after the operands)."""
    if raw.where >= MAX_OPERANDS:
        variable = scene.program.device_variables[raw.where - MAX_OPERANDS]
        index = [] if variable.size <= 4 else [raw.offset // 4]
        return {"name": device_variable_name(variable.name), "index": index}
    operand = scene.launch.operands[raw.where]
    return {"name": operand.name, "index": element_indices(operand, raw.offset)}


def _race(raw: RawFinding, scene: Scene) -> Finding | None:
    shared = raw.kind == Kind.SHARED_RACE
    if shared and _is_guard(raw, scene):
        return None
    facts = {
        **(_shared_name(raw, scene) if shared else _global_name(raw, scene)),
        **place(raw, scene),
        **_parties(raw, scene),
        "other_block": block(raw.other_block, scene),
        "same_warp": raw.same_warp,
        "met": raw.met,
        "asynchronous": raw.asynchronous,
        "overwriting": raw.overwriting,
        "space": "shared" if shared else "global",
    }
    line = scene.debug.line(raw.pc_other)
    places = at(raw, scene, access(raw))
    if line:
        places = (Location(scene.file, line, "write" if raw.other_writes else "read"), *places)
    if _is_first(raw):
        places = places[::-1]  # as the sentence names them
    return Finding(Verdict.RACE, _kind(raw, facts, places), facts, places)


def _parties(raw: RawFinding, scene: Scene) -> dict[str, Any]:
    """Both threads and what they did; the `other` one comes first in the program."""
    found = thread(raw.other, scene), "write" if raw.other_writes else "read"
    own = thread(raw.thread, scene), access(raw)
    first, second = (own, found) if _is_first(raw) else (found, own)
    return {
        "other": first[0],
        "other_access": first[1],
        "thread": second[0],
        "access": second[1],
    }


def _is_first(raw: RawFinding) -> bool:
    """Whether what the machine met last is what the program's order puts first."""
    one_reads = raw.write != raw.other_writes
    if not one_reads or raw.asynchronous or raw.block != raw.other_block:
        return False
    return raw.write != raw.overwriting


def _kind(raw: RawFinding, facts: Mapping[str, Any], places: Sequence[Location]) -> str:
    if raw.kind == Kind.REPEATED_STORE:
        return "repeated_store"
    if raw.text == "uncommitted":
        return "copy_uncommitted"
    if raw.asynchronous:
        return "race"
    if raw.write and raw.other_writes:
        return "two_writers"
    if raw.block != raw.other_block:
        return "race_of_blocks"
    one_line = len(places) == 2 and places[0].line == places[1].line
    is_number = not facts["index"]  # an element of a matrix has one
    return "one_word_for_all" if is_number and one_line else "race"


def _unset(raw: RawFinding, scene: Scene) -> Finding | None:
    shared = raw.kind == Kind.UNSET_SHARED
    if shared and _is_guard(raw, scene):
        return None
    name = _shared_name(raw, scene) if shared else _global_name(raw, scene)
    kind = "unset_shared" if shared else "unset_output"
    return Finding(
        Verdict.UNINITIALISED, kind, {**name, **place(raw, scene)}, at(raw, scene, "read")
    )


EXPLAINERS: Mapping[Kind, Callable[[RawFinding, Scene], Finding | None]] = {
    Kind.SHARED_RACE: _race,
    Kind.GLOBAL_RACE: _race,
    Kind.REPEATED_STORE: _race,
    Kind.UNSET_SHARED: _unset,
    Kind.UNSET_OUTPUT: _unset,
}
