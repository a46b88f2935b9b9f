"""`make bench`: what is measured, what is said, and when a target counts as reached."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from grader import cli, course
from grader.bench import command, oclgrind, simulator, table
from grader.bench.outcome import BenchOutcome, compose, goals
from grader.exercise import PROJECT, load_all
from grader.problems.matmul import Case, Shape, prepare
from grader.simulator.device import SimulatorDevice
from grader.toolchain import host_compiler

SPEEDS = oclgrind.Speeds(plain_per_s=500_000.0, checked_per_s=200_000.0)
SLOW = simulator.Speed("02_tiled", off_per_s=50e6, on_per_s=5e6, build_s=1.5)
SAME = simulator.Speed("tiled 16x16", off_per_s=120e6, on_per_s=11e6, build_s=0.25)
OUTCOME = BenchOutcome("g++ 12.2.0", "256x256x128", (SLOW, SAME), SPEEDS)
ALONE = replace(OUTCOME, oclgrind=None)


def shown(outcome: BenchOutcome, plain: bool) -> str:
    screen = Console(width=100, record=True, file=io.StringIO())
    table.print_outcome(outcome, screen, plain)
    return screen.export_text()


def test_targets_compare_the_two_simulators_on_the_same_kernel() -> None:
    on, off, _ = goals(OUTCOME)
    assert (on.value, on.reached) == ("55 times", True)
    assert (off.value, off.reached) == ("600 times", True)
    slower = replace(SAME, on_per_s=9.9e6, off_per_s=99e6)
    on, off, _ = goals(replace(OUTCOME, kernels=(SLOW, slower)))
    assert (on.reached, off.reached) == (False, False)


def test_the_slowest_build_decides_whether_builds_are_quick_enough() -> None:
    *_, build = goals(OUTCOME)
    assert (build.value, build.reached) == ("1.50 s", False)
    *_, build = goals(replace(OUTCOME, kernels=(SAME,)))
    assert build.reached


def test_without_oclgrind_nothing_is_claimed_and_the_packages_are_named() -> None:
    on, off, build = goals(ALONE)
    assert (on.reached, off.reached, build.reached) == (None, None, False)
    text = shown(ALONE, plain=True)
    assert text.count("not measured, target at least") == 2
    assert "oclgrind and python3-pyopencl" in text
    assert " x)" not in text


@pytest.mark.parametrize("plain", [True, False])
def test_every_kernel_is_shown_with_its_numbers(plain: bool) -> None:
    text = shown(OUTCOME, plain)
    for part in ("02_tiled", "50 (250 x)", "5 (25 x)", "1.50 s", "11 (55 x)", "0.2 (1.0 x)"):
        assert part in text
    assert "million multiply-adds/s" in text
    assert ": reached" in text
    assert ": not reached" in text
    assert "its observers on: --data-races --uninitialized; (2 x): twice as fast as that." in text
    assert "How fast a kernel of yours is: make bench EX=tiled" in text


def test_json_holds_every_number_and_target() -> None:
    data = json.loads(json.dumps(compose(OUTCOME)))
    assert data["kernels"][1] == {
        "name": "tiled 16x16",
        "observers_off_per_s": 120_000_000,
        "observers_on_per_s": 11_000_000,
        "build_s": 0.25,
    }
    assert data["oclgrind"] == {"plain_per_s": 500_000, "checked_per_s": 200_000}
    assert [target["reached"] for target in data["targets"]] == [True, True, False]
    assert compose(ALONE)["oclgrind"] is None


def test_a_tiny_run_measures_a_solution_and_the_compared_kernel() -> None:
    exercises = [exercise for exercise in load_all(PROJECT) if exercise.graded]
    subjects = (simulator.solutions(exercises)[1], simulator.comparison(exercises))
    shape = Shape(32, 32, 32)
    begun: list[str] = []
    outcome = command.measure(subjects, None, False, shape, repeats=1, step=begun.append)
    assert begun == ["02_tiled", "tiled 16x16", "Oclgrind"]
    assert [kernel.name for kernel in outcome.kernels] == ["02_tiled", "tiled 16x16"]
    assert outcome.shape == "32x32x32"
    for kernel in outcome.kernels:
        assert min(kernel.on_per_s, kernel.off_per_s) > 0
        assert kernel.build_s > 0


def test_a_copy_without_solutions_measures_the_compared_kernel_alone(tmp_path: Path) -> None:
    exercises = [exercise for exercise in load_all(PROJECT) if exercise.graded]
    assert simulator.solutions([replace(one, folder=tmp_path) for one in exercises]) == ()


def test_a_launch_takes_processor_time_that_grows_with_its_work() -> None:
    exercises = [exercise for exercise in load_all(PROJECT) if exercise.graded]
    subject = simulator.comparison(exercises)
    device = SimulatorDevice(
        course.load(PROJECT).target, host_compiler(), cache=PROJECT / ".cache" / "simulator"
    )
    try:
        build = device.build(subject.exercise, subject.file)
        assert build.config is not None, build.findings
        small, large = (
            device.launch(build, prepare(subject.exercise, build.config, Case(shape), 0x7FA00001))
            for shape in (Shape(16, 16, 16), Shape(128, 128, 128))
        )
    finally:
        device.close()
    assert 0 < small.seconds < large.seconds


def test_start_up_is_taken_off_and_checks_are_measured_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def takes_s(command: Sequence[str]) -> float:
        large = command[-1] == str(oclgrind.SIZE)
        return 0.25 + large * (4.0 if "--data-races" in command else 0.5)

    monkeypatch.setattr(oclgrind, "_cpu_s", takes_s)
    speeds = oclgrind.measure(oclgrind.Oclgrind("oclgrind", "python3"))
    work = oclgrind.SIZE**3 - oclgrind.START_UP_SIZE**3
    assert speeds == oclgrind.Speeds(work / 0.5, work / 4.0)


def test_an_oclgrind_that_fails_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "oclgrind"
    broken.write_text("#!/bin/sh\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert oclgrind.find() is None
    assert oclgrind.measure(oclgrind.Oclgrind(str(broken), "python3"), repeats=1) is None


def test_bench_does_not_take_an_unknown_exercise(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--exercise", "tield"]) == cli.ERROR
    assert "tiled" in capsys.readouterr().err
    assert cli.main(["bench", "--simulator", "--exercise", "tield"]) == cli.ERROR
    assert "tiled" in capsys.readouterr().err
