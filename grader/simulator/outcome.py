"""Turns a worker's answer into a run: findings with names and lines, counters of each line."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator

from grader.counters import Counters, LineCounter, Request
from grader.device import OUTPUT_LIMIT_BYTES, Launch, Run
from grader.finding import Finding, Location
from grader.simulator.explain import explain
from grader.simulator.protocol import Answer, CounterRow, Status
from grader.simulator.scene import (
    Scene,
    block,
    constants,
    device_variable_name,
    thread,
    variable_name,
)
from grader.verdict import Verdict

# A value from a shared word that nothing wrote, or from a lane that brings none, harms nobody when
# it is then thrown away, nor does storing a value again where another block had stored it.
SUSPICIONS = ("unset_shared", "unset_lane", "repeated_store")

_ACCESSES = ("load", "store", "atomic")
_COUNTS = (
    "requests",
    "words",
    "sectors",
    "ideal_sectors",
    "wavefronts",
    "ideal_wavefronts",
    "merged_requests",
    "merged_wavefronts",
    "merged_ideal_wavefronts",
)


def needs_scene(launch: Launch, answer: Answer) -> bool:
    """Whether there is anything to name: reading debug information takes longer than a launch."""
    return bool(answer.findings or launch.count or answer.head.status == Status.TIMED_OUT)


def read_run(answer: Answer, launch: Launch, scene: Scene | None) -> Run:
    """The run; `scene` may be None where nothing needs a name."""
    findings = [] if scene is None else list(_findings(answer, scene))
    if answer.head.output_cut:
        facts = {"limit_bytes": OUTPUT_LIMIT_BYTES}
        findings.append(Finding(Verdict.OUTPUT_LIMIT, "output_limit", facts))
    named = tuple(dataclasses.replace(f, device="simulator") for f in findings)
    return Run(
        answer.images,
        findings=tuple(f for f in named if f.kind not in SUSPICIONS),
        suspicions=tuple(f for f in named if f.kind in SUSPICIONS),
        output=answer.output,
        counters=_counters(answer, scene) if scene is not None and launch.count else None,
        seconds=answer.cpu_s,
    )


def _findings(answer: Answer, scene: Scene) -> Iterator[Finding]:
    for raw in answer.findings:
        finding = explain(raw, scene)
        if finding is not None:
            yield finding
    if answer.head.status == Status.TIMED_OUT:
        yield _timeout(answer, scene)


def _timeout(answer: Answer, scene: Scene) -> Finding:
    head = answer.head
    line = scene.debug.line(head.pc + 1) or scene.debug.line(head.last_pc)
    facts = {
        "limit_s": scene.launch.timeout_s,
        "thread": thread(head.thread, scene),
        "block": block(head.block, scene),
    }
    places = (Location(scene.file, line, "runs"),) if line else ()
    return Finding(Verdict.TIMEOUT, "timeout", facts, places)


def _counters(answer: Answer, scene: Scene) -> Counters:
    changed = {row.place for row in answer.counters if row.space == 2 and row.access}
    seen = [row for row in answer.counters if _is_memory(row, scene, changed)]
    rows = sorted(seen, key=lambda row: _order(row, scene))
    plain = [row for row in rows if _ACCESSES[row.access] != "atomic"]
    return Counters(
        lines=tuple(_line(row, scene) for row in plain),
        barriers=answer.head.barriers,
        uncounted=answer.head.uncounted,
        worst=tuple(_worst(row, scene) for row in plain),
        atomics=tuple(_line(row, scene) for row in rows if _ACCESSES[row.access] == "atomic"),
    )


def _is_memory(row: CounterRow, scene: Scene, changed: Collection[int]) -> bool:
    """Not constant memory, which has a cache of its own and which no kernel changes, and no guard
    of g++'s for an array."""
    if row.space == 0:
        return not scene.program.shared[row.place].name.startswith("_ZGV")
    return (
        row.space == 1 or row.place in changed or _variable(row, scene) not in constants(scene.text)
    )


def _order(row: CounterRow, scene: Scene) -> tuple[int, str, str, str]:
    return row.line, _space(row), _ACCESSES[row.access], _name(row, scene)


def _space(row: CounterRow) -> str:
    return "global" if row.space else "shared"


def _name(row: CounterRow, scene: Scene) -> str:
    if row.space == 0:
        return variable_name(scene.program.shared[row.place].name)
    if row.space == 1:
        return scene.launch.operands[row.place].name
    name = _variable(row, scene)
    return f"::{name}" if name in {operand.name for operand in scene.launch.operands} else name


def _variable(row: CounterRow, scene: Scene) -> str:
    return device_variable_name(scene.program.device_variables[row.place].name)


def _line(row: CounterRow, scene: Scene) -> LineCounter:
    return LineCounter(
        line=row.line,
        access=_ACCESSES[row.access],
        space=_space(row),
        name=_name(row, scene),
        bytes=row.bytes,
        approximate=row.approximate,
        **dict(zip(_COUNTS, row.counts, strict=True)),
    )


def _worst(row: CounterRow, scene: Scene) -> Request:
    cost, ideal, group, warp = row.worst
    lanes = enumerate(row.offsets)
    return Request(
        line=row.line,
        access=_ACCESSES[row.access],
        space=_space(row),
        name=_name(row, scene),
        bytes=row.bytes,
        cost=cost,
        ideal=ideal,
        group=group,
        warp=warp,
        block=tuple(block(row.block, scene)),
        offsets=tuple(offset if row.active >> lane & 1 else None for lane, offset in lanes),
    )
