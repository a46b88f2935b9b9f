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
from grader.course import Target
from grader.device import Build, Device, Launch, LaunchConfig, Run
from grader.exercise import CHECKS, Exercise
from grader.finding import Finding
from grader.problems.matmul import Layout, Shape, product
from grader.submission import Submission
from grader.verdict import Verdict

Behaviour = Callable[[Build, Launch, int], Run]

TARGET = Target("H200", "9.0", 227 * 1024)
CONFIG = LaunchConfig(8, 8, 8, 8, 8)
TEXT = '#include "launch.cuh"\nLAUNCH_CONFIG(.block_x = 8);\n'

OUTSIDE = Finding(
    Verdict.OUT_OF_BOUNDS,
    "guard_written",
    {"operand": "C", "before": False, "offset": 1, "index": 9, "size": 9, "count": 1},
)
SYNTAX = Finding(
    Verdict.COMPILE_ERROR, "compile_error", {"compiler": "g++", "message": "expected ;", "count": 1}
)


class FakeDevice:
    """`behave` decides a run from the build, the launch and the number of launches before it."""

    def __init__(self, behave: Behaviour | None = None, kind: str = "simulator") -> None:
        self.kind = kind
        self.launches: list[Shape] = []
        self.builds = 0
        self.refuse: tuple[Finding, ...] = ()
        self._behave = behave or right

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "name": "fake"}

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        self.builds += 1
        empty = Build(exercise, submission, self.kind)
        if self.refuse:
            return replace(empty, findings=self.refuse)
        return replace(empty, artifact=Path("fake"), config=CONFIG)

    def launch(self, build: Build, launch: Launch) -> Run:
        self.launches.append(shape_of(launch))
        return self._behave(build, launch, len(self.launches) - 1)

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
    """Run the checks of tests/ in this process."""
    ledger = Ledger()
    surroundings = Surroundings(TARGET, shrink_limit_s=5.0, **around)
    run_checks(subjects_of(plan, devices, surroundings), ledger)
    return ledger


def statuses(ledger: Ledger, device: str = "simulator") -> dict[str, str]:
    return {o.check: o.status.value for o in ledger.outcomes if o.device == device}


def verdicts(ledger: Ledger) -> dict[str, Sequence[str]]:
    return {o.check: [f.verdict.value for f in o.findings] for o in ledger.outcomes if o.findings}
