"""The proof of the speed grading, on a GPU that is told how fast each kernel is."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from grader.device import Build
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.proof.speed import __main__ as proof
from grader.proof.speed import gradings
from grader.proof.speed.claims import calibration_of, claims
from grader.proof.speed.dial import around_minimum, dialled, find_delay
from grader.proof.speed.repetition import Again, Repeated, answer_of, repeat, table
from grader.tests import fake_stopwatch as noises
from grader.tests.fake_stopwatch import FakeStopwatch, TimedDevice, untimed
from grader.tests.test_calibration import ABOUT, calibrated, speedups
from grader.timing import command, kernels
from grader.timing.kernels import KernelRole, timed_exercises

NVCC = shutil.which("nvcc")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the calibration of a GPU that is as fast as `test_calibration` says."""
    path = tmp_path_factory.mktemp("calibration")
    command.write(path / "fake_gpu.toml", ABOUT, calibrated(speedups({}), 4096))
    return path


def again_on(device: TimedDevice, folder: Path) -> Again:
    return lambda seed: untimed(folder)(device, seed)


def test_each_exercise_has_its_reference_and_the_next_worse_kernel(folder: Path) -> None:
    device = speedups({})
    found = claims(calibration_of(again_on(device, folder)(0)), timed_exercises())
    assert [(one.kernel.name, one.quarters) for one in found] == [
        ("solution, T=32", 4),
        ("naive, 32x8 threads", 0),
        ("solution, T=32 padded", 4),
        ("naive, 32x8 threads", 0),
        ("double-buffered", 4),
        ("4x4 outputs, padded by 4", 0),
    ]


def test_repetitions_on_a_quiet_gpu_all_agree(folder: Path) -> None:
    again = again_on(speedups({}), folder)
    found = claims(calibration_of(again(0)), timed_exercises())
    for one in found[:2]:
        row = repeat(again, one, 10)
        assert row.right
        assert row.answers == Counter({f"{one.quarters} quarters": 10})
        assert row.spread < 0.01


def test_an_answer_that_differs_once_is_told() -> None:
    row = Repeated("x", "4 quarters", Counter({"4 quarters": 49, "replay": 1}), (1.6,) * 49, 500)
    assert not row.right
    assert "49 x 4 quarters, 1 x replay  WRONG: expected 4 quarters" in list(table([row]))[1]


def test_beside_other_work_the_answer_is_inconclusive(folder: Path) -> None:
    again = again_on(speedups({}, noises.shared), folder)
    first = claims(calibration_of(again(0)), timed_exercises())[0]
    built = again(0).device.build(first.kernel.exercise, first.kernel.submission)
    assert answer_of(again(1), built)[0] == "inconclusive"


@pytest.mark.parametrize("target", [1.6, 1.23, 0.7, 0.1])
def test_a_delay_is_found_for_every_speed_in_few_steps(target: float) -> None:
    asked: list[int] = []

    def speedup_at(delay: int) -> float:
        asked.append(delay)
        hidden = max(0, delay - 3000)  # other blocks hide a short wait
        return 1 / (1 / 1.67 + hidden / 40_000)

    delay = find_delay(speedup_at, target)
    assert speedup_at(delay) == pytest.approx(target, rel=0.006)
    assert len(asked) <= 16


def test_no_wait_makes_a_kernel_faster() -> None:
    with pytest.raises(GraderFault, match="without a wait the speed-up is 1.000"):
        find_delay(lambda delay: 1.0, 1.2)


def test_ten_per_cent_under_the_minimum_fails_and_over_it_passes(folder: Path) -> None:
    def make(build: Build, shape: Shape) -> FakeStopwatch:
        found = re.search(r"#define DELAY (\d+)\n", build.submission.text)
        delay = int(found[1]) if found else 0
        speedup = 1 / (1 / 1.67 + delay / 40_000)
        return FakeStopwatch(shape, speedup, seed=len(device.opened) + 1, time=device.time)

    device = TimedDevice(make=make)
    again = again_on(device, folder)
    minimum = 1.365
    rows = around_minimum(again, reference("02_tiled"), 4096, minimum, times=5)
    assert [row.expected for row in rows] == ["fails", "passes"]
    assert all(row.right for row in rows)
    assert rows[0].speedups[0] == pytest.approx(0.9 * minimum, rel=0.01)


@pytest.mark.parametrize("exercise", [one.name for one in timed_exercises()])
def test_every_solution_can_be_slowed_down(exercise: str, tmp_path: Path) -> None:
    text = dialled(reference(exercise), 1234).submission.text
    assert text.startswith("#define DELAY 1234\n#line 1\n")
    assert text.count("wait_for_clocks();") == 1
    if NVCC is None:
        pytest.skip("nvcc is not here to compile it")
    (tmp_path / "k.cu").write_text(text)
    include = PROJECT / "grader" / "include"
    words = ("-std=c++17", "-arch=sm_90", f"-I{include}", "-cubin", "-o", "k.cubin", "k.cu")
    done = subprocess.run((NVCC, *words), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def reference(exercise: str) -> kernels.CalibrationKernel:
    known = kernels.load(timed_exercises())
    return next(
        one for one in known if one.exercise.name == exercise and one.role is KernelRole.REFERENCE
    )


def test_gradings_that_differ_or_take_too_long_are_told() -> None:
    def graded(seconds: float, fast: str) -> gradings.Graded:
        return gradings.Graded(seconds, (), {"02_tiled": f"fast pass {fast}/5"}, 1.0)

    same = [graded(20.0, "5"), graded(21.0, "5")]
    assert gradings.all_right(same)
    assert not gradings.all_right([graded(26.0, "5")])
    differing = [graded(20.0, "5"), graded(20.0, "4")]
    assert not gradings.all_right(differing)
    assert "WRONG: differs between 2 gradings" in "\n".join(gradings.table(differing))


def test_without_a_gpu_the_proof_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.gpu.hardware.available", lambda: "no GPU here.")
    assert proof.main([]) == 2
    assert "The GPU cannot be used: no GPU here" in capsys.readouterr().err
