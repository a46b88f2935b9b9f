"""Grades fixtures as a student's files are graded; each once in a session of tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from grader.checks.build import CompilerCheck
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome, Status
from grader.checks.plan import Plan, entry
from grader.checks.session import run_checks, subjects_of
from grader.checks.subject import Surroundings
from grader.device import Device, LaunchConfig
from grader.exercise import find, load_all
from grader.problems.matmul import Shape
from grader.settings import PROJECT
from grader.speed import Timer
from grader.tests import simulated
from grader.tests.fixtures import ACCEPTED, Expectation, Fixture
from grader.timing.device import TimingDevice

EXERCISES = load_all(PROJECT)
# Enough drawn shapes for every fault here; a grading draws a hundred.
EXAMPLES = 12

MakeTimer = Callable[[TimingDevice, int], Timer]
LargeShapes = Callable[[LaunchConfig], tuple[Shape, ...]]


def no_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """So that on a GPU timing alone meets large matrices."""
    return ()


def outcomes(
    fixture: Fixture,
    device: Device,
    timer: MakeTimer = Timer,
    nvcc: CompilerCheck | None = None,
    large: LargeShapes = no_shapes,
) -> list[Outcome]:
    """Of every check, in order, as `device` gives them; without `nvcc` as most students' machines
    do, where it does not decide what compiles. A GPU runs the `large` shapes whole."""
    exercise = find(EXERCISES, fixture.exercise)
    plan = Plan((entry(exercise, fixture.path, fixture.path.parent),), seed=1, examples=EXAMPLES)
    around = Surroundings(
        simulated.TARGET, nvcc, shrink_limit_s=5.0, timer=timer, whole_cases=large
    )
    ledger = Ledger()
    run_checks(subjects_of(plan, (device,), around), ledger)
    return ledger.outcomes


@cache
def on_simulator(fixture: Fixture) -> tuple[Outcome, ...]:
    """With g++; kept, because several tests look at what a fixture gives."""
    return tuple(outcomes(fixture, simulated.device("g++")))


def problems(fixture: Fixture, expected: Expectation, found: Sequence[Outcome]) -> Iterator[str]:
    """What is not as the fixture says; nothing when all is."""
    failed = [outcome for outcome in found if outcome.status is Status.FAIL]
    for outcome in found:
        if outcome.status is Status.GRADER_ERROR:
            yield f"{outcome.check}: grader error: {outcome.detail}"
    if expected.verdict == "not_graded":
        reasons = {o.reason for o in found if o.status is Status.NOT_GRADED}
        if failed or expected.kind not in reasons:
            yield f"not graded for {reasons}, failed {[o.check for o in failed]}"
    elif expected.verdict == ACCEPTED:
        allowed = set() if fixture.efficient else {"efficient"}
        if {outcome.check for outcome in failed} != allowed and not _uncounted(found, allowed):
            yield f"failed {[(o.check, o.findings[0].kind) for o in failed]}, not {allowed}"
        if not any(o.status is Status.PASS for o in found):
            yield "nothing passed"
    elif not failed:
        yield "nothing failed"
    else:
        yield from _differences(expected, failed[0])


def _uncounted(found: Sequence[Outcome], allowed: set[str]) -> bool:
    """A GPU does not count: there, a wasteful kernel simply passes."""
    return bool(allowed) and found[0].device == "gpu" and _failed_checks(found) == set()


def _failed_checks(found: Sequence[Outcome]) -> set[str]:
    return {outcome.check for outcome in found if outcome.status is Status.FAIL}


def _differences(expected: Expectation, failed: Outcome) -> Iterator[str]:
    first = failed.findings[0]
    lines = {place.line for place in first.locations}
    if first.verdict != expected.verdict:
        yield f"{failed.check}: verdict {first.verdict} ({first.kind}), not {expected.verdict}"
    elif expected.kind and first.kind != expected.kind:
        yield f"{failed.check}: kind {first.kind}, not {expected.kind}"
    elif expected.line and expected.line not in lines:
        yield f"{failed.check}: lines {sorted(lines)}, not {expected.line}"
