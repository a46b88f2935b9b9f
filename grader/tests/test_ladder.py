"""The ladder from the naive kernel to the tuned one: every rung is right, and the table says so."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from grader.bench.clock import ShapeTimes
from grader.bench.ladder import __main__ as ladder
from grader.bench.ladder import rungs
from grader.bench.ladder.rungs import RUNGS, Rung
from grader.bench.progress import silent
from grader.checks.trial import try_shape
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.submission import read
from grader.tests import simulated
from grader.tests.fake_stopwatch import FakeStopwatch, TimedDevice

EXERCISES = load_all(PROJECT)
# One step and three, whole rows of float4s and ragged ones, two blocks in each direction.
SHAPES = (Shape(33, 17, 5), Shape(132, 136, 24), Shape(129, 131, 37))
TIMED = ShapeTimes(Shape(4096, 4096, 4096), student_s=0.00275, baseline_s=0.02612, cublas_s=0.00268)


def name_of(rung: Rung) -> str:
    return rung.name


@pytest.mark.parametrize("rung", RUNGS, ids=name_of)
def test_every_rung_is_right_and_safe(rung: Rung) -> None:
    exercise, file = rungs.submission(rung, EXERCISES)
    device = simulated.device("g++")
    build = device.build(exercise, file)
    assert build.config is not None, build.findings
    for shape in SHAPES:
        assert try_shape(device, build, shape, seed=1, watch=True) == ()


def test_the_rungs_differ_and_end_at_the_solution() -> None:
    files = [rungs.submission(rung, EXERCISES)[1] for rung in RUNGS]
    assert len({file.sha256 for file in files}) == len(RUNGS)
    tuned = PROJECT / "exercises" / "04_tuned" / "solution.cu"
    assert files[-1].text == read(tuned, EXERCISES[-1], tuned.parent).text
    assert len({rung.change for rung in RUNGS}) == len(RUNGS)


def test_an_edit_that_does_not_fit_is_our_fault() -> None:
    with pytest.raises(GraderFault, match="which is there 0 times"):
        rungs.submission(replace(RUNGS[0], edits=(("no such text", ""),)), EXERCISES)


def test_a_row_gives_time_rate_and_both_ratios() -> None:
    cells = ladder.cells(ladder.Climb(RUNGS[-1], TIMED))
    assert cells[2:] == ("2.75", "50.0", "9.50 x", "97 %")


def test_a_missing_library_is_no_number() -> None:
    cells = ladder.cells(ladder.Climb(RUNGS[-1], replace(TIMED, cublas_s=0.0)))
    assert cells[-1] == "-"


def test_every_rung_is_measured_at_the_shape_asked_for() -> None:
    gpu = TimedDevice(make=lambda build, shape: FakeStopwatch(shape, cublas_s=0.0027))
    climbed = tuple(ladder.climb(gpu, EXERCISES, Shape(1024, 1024, 1024), silent))
    assert [one.rung for one in climbed] == list(RUNGS)
    assert {one.timed.shape for one in climbed} == {Shape(1024, 1024, 1024)}
    assert all(one.timed.cublas_s for one in climbed)


@pytest.mark.parametrize("plain", [True, False])
def test_the_table_names_every_rung(plain: bool) -> None:
    screen = Console(file=io.StringIO(), width=130)
    ladder.print_climb([ladder.Climb(rung, TIMED) for rung in RUNGS], screen, plain)
    told = screen.file.getvalue()  # type: ignore[attr-defined]
    assert all(rung.name in told for rung in RUNGS)
    assert told.count("50.0") == len(RUNGS)


def test_without_a_gpu_it_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("grader.gpu.hardware.available", lambda: "no NVIDIA GPU here")
    assert ladder.main(["--plain"]) == 2
    assert "no NVIDIA GPU here" in capsys.readouterr().err
