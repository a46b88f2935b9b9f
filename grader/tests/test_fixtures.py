"""Every fixture comes out as its folder and its head say: wrong ones are caught for the right
reason at the right line, unusual ones are accepted."""

from __future__ import annotations

import contextlib
import functools
import json
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader import source, toolchain
from grader.checks.devices import CACHE, compiler_check
from grader.checks.outcome import Status
from grader.device import Device
from grader.exercise import find
from grader.finding import KernelFault
from grader.gpu import nvcc
from grader.problems.matmul import whole_cases
from grader.submission import read
from grader.tests import simulated, timed
from grader.tests.diagnoses import complaints, diagnose, is_wrong
from grader.tests.fixture_runs import EXERCISES, on_simulator, outcomes, problems
from grader.tests.fixtures import ACCEPTED, PASTED_NAIVE, Fixture, load_all
from grader.verdict import Verdict

FIXTURES = load_all()
needs_nvcc = pytest.mark.skipif(toolchain.find_nvcc() is None, reason="needs nvcc")


def on_device(device: str) -> list[Fixture]:
    return [fixture for fixture in FIXTURES if fixture.on(device)]


@pytest.mark.parametrize("fixture", on_device("simulator"), ids=str)
def test_on_the_simulator(fixture: Fixture) -> None:
    """For the right reason, and with a first message that names cause, place and next step."""
    expected = fixture.on("simulator")
    assert expected is not None
    found = on_simulator(fixture)
    assert list(problems(fixture, expected, found)) == []
    if is_wrong(expected):
        assert list(complaints(diagnose(fixture, expected))) == []


@pytest.mark.long
@needs_nvcc
@pytest.mark.parametrize("fixture", on_device("simulator"), ids=str)
def test_on_the_simulator_beside_nvcc(fixture: Fixture) -> None:
    """Where nvcc decides what compiles."""
    expected = fixture.on("simulator")
    nvcc_check = compiler_check(simulated.TARGET)
    assert expected is not None
    assert nvcc_check is not None
    found = outcomes(fixture, simulated.device("g++"), nvcc=nvcc_check)
    assert list(problems(fixture, expected, found)) == []


def one_of_each_verdict() -> Iterator[object]:
    """The first fixture of each verdict; the others are left to `make check-all`."""
    seen: set[str] = set()
    for fixture in on_device("simulator"):
        yield pytest.param(fixture, marks=[pytest.mark.long] if fixture.verdict in seen else [])
        seen.add(fixture.verdict)


@pytest.mark.parametrize("fixture", list(one_of_each_verdict()), ids=str)
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


@pytest.fixture(scope="session")
def compiled(request: pytest.FixtureRequest) -> None:
    """Compile on all cores what the tests of this session launch one by one."""
    gpu()  # skips where there is none
    asked = [item for item in request.session.items if item.get_closest_marker("gpu")]
    given = [item.callspec.params for item in asked if hasattr(item, "callspec")]
    compile_all(one["fixture"] for one in given if "fixture" in one)


def compile_all(fixtures: Iterable[Fixture]) -> None:
    def compile_one(fixture: Fixture) -> None:
        with contextlib.suppress(KernelFault):  # the test says whether that was expected
            exercise = find(EXERCISES, fixture.exercise)
            submission = read(fixture.path, exercise, fixture.path.parent)
            if not source.inspect(submission):
                nvcc.compile_submission(submission, toolchain.nvcc(), simulated.TARGET.architecture)

    with ThreadPoolExecutor() as pool:
        list(pool.map(compile_one, fixtures))


@pytest.mark.gpu
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("fixture", on_device("gpu"), ids=str)
def test_on_the_gpu(fixture: Fixture, tmp_path: Path) -> None:
    """With `fast`, at a small size: honest kernels stay right there, the others are caught."""
    expected = fixture.on("gpu")
    assert expected is not None
    minimum = timed.MINIMUM if expected.verdict == Verdict.TOO_SLOW else timed.ANY_SPEED
    found = outcomes(fixture, gpu(), timed.small_scale(tmp_path, minimum))
    assert list(problems(fixture, expected, found)) == []


def where_large() -> list[Fixture]:
    """Kernels that only large matrices show to be wrong, and as many that are right."""
    large = [fixture for fixture in FIXTURES if fixture.name.endswith("_when_large")]
    wrong = [fixture for fixture in large if fixture.verdict == Verdict.WRONG_ANSWER]
    right = [fixture for fixture in on_device("gpu") if fixture.verdict == ACCEPTED]
    return wrong + right[:: len(right) // len(wrong)]


@pytest.mark.gpu
@pytest.mark.usefixtures("compiled")
@pytest.mark.parametrize("fixture", where_large(), ids=str)
def test_the_gpu_meets_large_matrices_before_it_times_any(fixture: Fixture) -> None:
    found = {o.check: o.status for o in outcomes(fixture, gpu(), large=whole_cases)}
    right = fixture.verdict == ACCEPTED
    assert found["any_shape"] is (Status.PASS if right else Status.FAIL)


def test_there_are_enough_fixtures_of_both_kinds() -> None:
    accepted = [fixture for fixture in FIXTURES if fixture.verdict == ACCEPTED]
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
