"""Every fixture comes out as its folder and its head say: wrong ones are caught for the right
reason at the right line, unusual ones are accepted."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.checks.devices import CACHE, compiler_check
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome, Status
from grader.checks.plan import Plan, entry
from grader.checks.session import run_checks, subjects_of
from grader.checks.subject import Surroundings
from grader.device import Device
from grader.exercise import find, load_all
from grader.settings import PROJECT
from grader.tests import simulated
from grader.tests.fixtures import PASTED_NAIVE, Expectation, Fixture
from grader.tests.fixtures import load_all as load_fixtures
from grader.verdict import Verdict

EXERCISES = load_all(PROJECT)
FIXTURES = load_fixtures()
# Enough drawn shapes for every fault here; a grading draws a hundred.
EXAMPLES = 12


def on_device(device: str) -> list[Fixture]:
    return [fixture for fixture in FIXTURES if fixture.on(device)]


def outcomes(fixture: Fixture, device: Device) -> list[Outcome]:
    exercise = find(EXERCISES, fixture.exercise)
    plan = Plan((entry(exercise, fixture.path, fixture.path.parent),), seed=1, examples=EXAMPLES)
    around = Surroundings(simulated.TARGET, compiler_check(simulated.TARGET), shrink_limit_s=5.0)
    ledger = Ledger()
    run_checks(subjects_of(plan, (device,), around), ledger)
    return ledger.outcomes


def problems(fixture: Fixture, expected: Expectation, found: list[Outcome]) -> Iterator[str]:
    """What is not as the fixture says; nothing when all is."""
    failed = [outcome for outcome in found if outcome.status is Status.FAIL]
    for outcome in found:
        if outcome.status is Status.GRADER_ERROR:
            yield f"{outcome.check}: grader error: {outcome.detail}"
    if expected.verdict == "not_graded":
        reasons = {o.reason for o in found if o.status is Status.NOT_GRADED}
        if failed or expected.kind not in reasons:
            yield f"not graded for {reasons}, failed {[o.check for o in failed]}"
    elif expected.verdict == Verdict.ACCEPTED:
        allowed = set() if fixture.efficient else {"efficient"}
        if {outcome.check for outcome in failed} != allowed and not _uncounted(found, allowed):
            yield f"failed {[(o.check, o.findings[0].kind) for o in failed]}, not {allowed}"
        if not any(o.status is Status.PASS for o in found):
            yield "nothing passed"
    elif not failed:
        yield "nothing failed"
    else:
        yield from _differences(expected, failed[0])


def _uncounted(found: list[Outcome], allowed: set[str]) -> bool:
    """A GPU does not count: there, a wasteful kernel simply passes."""
    return bool(allowed) and found[0].device == "gpu" and _failed_checks(found) == set()


def _failed_checks(found: list[Outcome]) -> set[str]:
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


@pytest.mark.parametrize("fixture", on_device("simulator"), ids=str)
def test_on_the_simulator(fixture: Fixture) -> None:
    expected = fixture.on("simulator")
    assert expected is not None
    found = outcomes(fixture, simulated.device("g++"))
    assert list(problems(fixture, expected, found)) == []


def one_a_verdict() -> list[Fixture]:
    """The first fixture of each verdict; the others are left to `make check-all`."""
    return list({fixture.verdict: fixture for fixture in reversed(on_device("simulator"))}.values())


@pytest.mark.parametrize("fixture", one_a_verdict(), ids=str)
def test_clang_agrees_on_one_of_each_verdict(fixture: Fixture) -> None:
    expected = fixture.on("simulator")
    assert expected is not None
    found = outcomes(fixture, simulated.device("clang++"))
    assert list(problems(fixture, expected, found)) == []


@pytest.mark.long
@pytest.mark.parametrize("fixture", on_device("simulator"), ids=str)
def test_on_the_simulator_with_clang(fixture: Fixture) -> None:
    expected = fixture.on("simulator")
    assert expected is not None
    found = outcomes(fixture, simulated.device("clang++"))
    assert list(problems(fixture, expected, found)) == []


@functools.cache
def gpu() -> Device:
    from grader.gpu import hardware

    if missing := hardware.available():
        pytest.skip(f"needs a GPU: {missing}")
    from grader.gpu.device import GpuDevice

    return GpuDevice(simulated.TARGET, cache=CACHE / "gpu")


@pytest.mark.gpu
@pytest.mark.parametrize("fixture", on_device("gpu"), ids=str)
def test_on_the_gpu(fixture: Fixture) -> None:
    device = gpu()
    expected = fixture.on("gpu")
    assert expected is not None
    assert list(problems(fixture, expected, outcomes(fixture, device))) == []


def test_there_are_enough_fixtures_of_both_kinds() -> None:
    accepted = [fixture for fixture in FIXTURES if fixture.verdict == Verdict.ACCEPTED]
    assert len(accepted) >= 30
    assert len(FIXTURES) - len(accepted) >= 80


def test_the_naive_kernel_pasted_into_all_files_earns_exactly_what_it_deserves(
    tmp_path: Path,
) -> None:
    from grader.cli import main

    arguments = ["grade", str(PASTED_NAIVE), "--device", "simulator", "--seed", "1", "--plain"]
    assert main([*arguments, "--output", str(tmp_path)]) == 1
    record = json.loads((tmp_path / "results.json").read_text())
    checks = {one["name"]: one["checks"] for one in record["exercises"]}
    for name in ("02_tiled", "03_padded", "04_tuned"):
        failed = [check for check in checks[name] if check["status"] == "fail"]
        found = [(check["name"], check["verdict"]) for check in failed]
        assert found == [("efficient", "too_much_traffic")]
    # Everything of 01; of the others safe, whole tiles and any shape, and nothing more.
    earned = {one["name"]: one["earned"] for one in record["exercises"]}
    assert earned == {"01_naive": 20, "02_tiled": 8, "03_padded": 5, "04_tuned": 9}
    assert record["score"]["earned"] == 42
