"""A device that multiplies with numpy and misbehaves on request, and the things it is used with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from grader.checks.listener import Ledger
from grader.checks.plan import Entry, Plan
from grader.checks.session import run_checks, subjects_of
from grader.checks.subject import Surroundings
from grader.counters import Counters, LineCounter
from grader.course import Target
from grader.device import Build, Device, Launch, LaunchConfig, Probe, Run
from grader.exercise import CHECKS, Exercise
from grader.finding import Finding
from grader.problems.matmul import Layout, Shape, product
from grader.submission import Submission
from grader.verdict import Verdict

Behaviour = Callable[[Build, Launch, int], Run]
Counting = Callable[[Launch], Counters]

TARGET = Target("H200", "9.0", 227 * 1024)
CONFIG = LaunchConfig(8, 8, 8, 8, 8)
LARGE = Shape(512, 512, 512)
TEXT = '#include "launch.cuh"\nLAUNCH_CONFIG(.block_x = 8);\n'

OUTSIDE = Finding(
    Verdict.OUT_OF_BOUNDS,
    "guard_written",
    {"operand": "C", "before": False, "offset": 1, "index": 9, "size": 9, "count": 1},
)
SYNTAX = Finding(
    Verdict.COMPILE_ERROR, "compile_error", {"compiler": "g++", "message": "expected ;", "count": 1}
)


def healthy(launch: Launch) -> Counters:
    """Those of the tiled kernel of the course: each tile loaded once, all lanes side by side.

    Line 20 loads a tile of A, 21 one of B, 23 reads both from shared memory, 25 writes C.
    """
    m, n, k = (-(-size // 8) for size in shape_of(launch))
    tiles = m * n * k * 64  # words of all tiles of A that all blocks load; of B as many
    return Counters(
        lines=(
            _global_line(20, "load", "A", tiles),
            _shared_line(20, "store", "As", tiles // 32),
            _global_line(21, "load", "B", tiles),
            _shared_line(21, "store", "Bs", tiles // 32),
            _shared_line(23, "load", "As", tiles * 8 // 32),
            _shared_line(23, "load", "Bs", tiles * 8 // 32),
            _global_line(25, "store", "C", m * n * 64),
        ),
        barriers=m * n * k * 2,
    )


def _global_line(line: int, access: str, name: str, words: int) -> LineCounter:
    return LineCounter(
        line=line,
        access=access,
        space="global",
        name=name,
        bytes=4,
        requests=words // 32,
        words=words,
        sectors=words // 8,
        ideal_sectors=words // 8,
    )


def _shared_line(line: int, access: str, name: str, requests: int) -> LineCounter:
    return LineCounter(
        line=line,
        access=access,
        space="shared",
        name=name,
        bytes=4,
        requests=requests,
        words=requests * 32,
        wavefronts=requests,
        ideal_wavefronts=requests,
        merged_requests=requests,
        merged_wavefronts=requests,
        merged_ideal_wavefronts=requests,
    )


def changed(counters: Counters, line: int, name: str, **fields: Any) -> Counters:
    """The counters with other numbers for one array on one line."""
    lines = tuple(
        replace(one, **fields) if (one.line, one.name) == (line, name) else one
        for one in counters.lines
    )
    assert lines != counters.lines, "nothing was changed"
    return replace(counters, lines=lines)


class FakeDevice:
    """`behave` decides a run from the build, the launch and the number of launches before it;
    `counting` what it counts, None for a device that does not count."""

    def __init__(
        self,
        behave: Behaviour | None = None,
        kind: str = "simulator",
        counting: Counting | None = healthy,
    ) -> None:
        self.kind = kind
        self.counting = counting
        self.config = CONFIG
        self.launches: list[Shape] = []
        self.counted: list[Shape] = []  # those of `launches` with counters
        self.builds = 0
        self.refuse: tuple[Finding, ...] = ()
        self.probe: Callable[[Launch], tuple[Finding, ...]] = lambda launch: ()
        self._behave = behave or right

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "name": "fake"}

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        self.builds += 1
        empty = Build(exercise, submission, self.kind)
        if self.refuse:
            return replace(empty, findings=self.refuse)
        return replace(empty, artifact=Path("fake"), config=self.config)

    def launch(self, build: Build, launch: Launch) -> Run:
        self.launches.append(shape_of(launch))
        run = self._behave(build, launch, len(self.launches) - 1)
        if not launch.count:
            return run
        self.counted.append(shape_of(launch))
        return replace(run, counters=self.counting(launch) if self.counting else None)

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        return Probe(self.probe(launch))

    def close(self) -> None:
        pass


def shape_of(launch: Launch) -> Shape:
    return Shape(*launch.scalars)


def right(build: Build, launch: Launch, number: int) -> Run:
    """What a correct kernel leaves."""
    images = [operand.image.copy() for operand in launch.operands]
    launch.operands[2].values(images[2])[:] = product(build.exercise, launch).astype(np.float32)
    return Run(tuple(images))


def wrong_at(is_wrong: Callable[[Shape], bool]) -> Behaviour:
    """Off by one in every element for the shapes named, right otherwise."""

    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = right(build, launch, number)
        if is_wrong(shape_of(launch)):
            launch.operands[2].values(run.images[2])[:] += 1
        return run

    return behave


def seen_at(is_wrong: Callable[[Shape], bool], finding: Finding) -> Behaviour:
    """The right answer, and a finding of the device for the shapes named."""

    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = right(build, launch, number)
        return replace(run, findings=(finding,)) if is_wrong(shape_of(launch)) else run

    return behave


def never_ends(build: Build, launch: Launch, number: int) -> Run:
    facts = {"limit_s": launch.timeout_s, "thread": [0, 0], "block": [0, 0]}
    return Run((), (Finding(Verdict.TIMEOUT, "timeout", facts),))


def ragged(shape: Shape) -> bool:
    """Not made of whole tiles of CONFIG."""
    return any(size % 8 for size in shape)


def an_exercise(name: str = "02_tiled", **changes: Any) -> Exercise:
    points = dict(zip(CHECKS, (0, 3, 2, 3, 12, 5), strict=True))
    exercise = Exercise(
        name=name,
        title="Tiles in shared memory",
        kernel="matmul_tiled",
        b_layout=Layout.KXN,
        graded=True,
        points=points,
        limits={},
        hints={},
        folder=Path("exercises") / name,
    )
    return replace(exercise, **changes)


def an_entry(exercise: Exercise | None = None, state: str = "started") -> Entry:
    exercise = exercise or an_exercise()
    path = Path("starter") / f"{exercise.name}.cu"
    submission = Submission(f"starter/{path.name}", path, TEXT, "0" * 64)
    return Entry(exercise, path, state, None if state == "missing" else submission)


def a_plan(*entries: Entry, **changes: Any) -> Plan:
    return replace(Plan(entries or (an_entry(),), seed=1, examples=10), **changes)


def check(plan: Plan, *devices: Device, **around: Any) -> Ledger:
    """Run the checks of tests/ in this process; a GPU's large shapes are smaller here."""
    ledger = Ledger()
    around = {"whole_cases": lambda config: (LARGE,), **around}
    surroundings = Surroundings(TARGET, shrink_limit_s=5.0, **around)
    run_checks(subjects_of(plan, devices, surroundings), ledger)
    return ledger


def statuses(ledger: Ledger, device: str = "simulator") -> dict[str, str]:
    return {o.check: o.status.value for o in ledger.outcomes if o.device == device}


def verdicts(ledger: Ledger) -> dict[str, Sequence[str]]:
    return {o.check: [f.verdict.value for f in o.findings] for o in ledger.outcomes if o.findings}
