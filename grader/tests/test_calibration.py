"""Calibrations: derived with margins, written so that they can be read, refused when in doubt."""

from __future__ import annotations

import argparse
import random
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from grader import cli
from grader.device import Build
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.kernel_table import KernelTableError
from grader.problems.matmul import Shape
from grader.tests import fake_stopwatch as noises
from grader.tests.fake_stopwatch import QUIET, FakeStopwatch, TimedDevice, calibrate
from grader.timing import command, kernels
from grader.timing.calibration import (
    FOLDER,
    Calibration,
    CalibrationError,
    Thresholds,
    find,
    load,
    slug,
)
from grader.timing.derivation import CLEAR, LEAST_GAP, Speedups, carry_over, derive
from grader.timing.evidence import ExerciseEvidence
from grader.timing.kernels import KernelRole
from grader.timing.rounds import Calibrator, NotQuiet
from grader.timing.sample import Contestant, Sample
from grader.timing.shapes import ShapeKind, shape_of
from grader.timing.table import evidence_lines

EXERCISES = tuple(one for one in load_all(PROJECT) if one.speed_sizes)
ABOUT = {
    "gpu": "Fake GPU",
    "measured": "2025-01-31",
    "driver": "580.65.06",
    "cuda": "13.0",
    "nvcc": "13.0",
    "pycuda": "2026.1",
}
# As measured on a large GPU; what is not named here is slow.
SPEEDUPS = {
    "solution, T=32": 1.67,
    "T=16": 1.5,
    "naive, 32x8 threads": 1.23,
    "solution, T=32 padded": 1.64,
    "stored transposed, not padded": 1.12,
    "double-buffered": 8.7,
    "solution": 9.2,
    "4x4 outputs, padded by 4": 5.3,
}


# Thresholds.


@pytest.mark.parametrize(
    ("speedup", "quarters"),
    [(0.5, 0), (1.299, 0), (1.3, 1), (1.39, 1), (1.41, 2), (1.51, 3), (1.599, 3), (1.6, 4), (9, 4)],
)
def test_points_come_in_quarters_from_the_minimum_to_full(speedup: float, quarters: int) -> None:
    assert Thresholds(1.3, 1.6).quarters(speedup) == quarters


def test_thresholds_that_fall_together_give_all_or_nothing() -> None:
    assert Thresholds(1.3, 1.3).quarters(1.29) == 0
    assert Thresholds(1.3, 1.3).quarters(1.3) == 4


@pytest.mark.parametrize("gap", [1.15, 1.2, 1.35, 2.0, 5.0])
def test_the_minimum_lies_in_the_gap_and_full_under_the_reference(gap: float) -> None:
    found = derive(1.1 * gap, 1.1)
    assert found is not None
    assert 1.1 * 1.04 < found.minimum < 1.1 * gap / 1.04
    assert found.minimum <= found.full <= 1.1 * gap * 0.93


@pytest.mark.parametrize("honest", [1.2, 1.35, 1.45, 1.55, 1.68, 1.69, 1.7])
def test_no_kernel_that_was_measured_stands_on_an_edge(honest: float) -> None:
    found = derive(1.83, 1.3, Speedups((1.83, honest, 1.3)))
    assert found is not None
    assert min(abs(honest / step - 1) for step in found.steps) >= CLEAR
    assert 0.85 * 1.83 < found.full < 0.921 * 1.83
    assert 1.3 * 1.05 < found.minimum < 1.55


def test_an_honest_kernel_that_is_hardly_faster_than_a_worse_one_still_earns_something() -> None:
    usual = derive(7.4, 4.0, Speedups((7.4, 4.6, 4.0)))
    found = derive(7.4, 4.0, Speedups((7.4, 4.6, 4.0), honest=(4.6,)))
    assert usual is not None
    assert found is not None
    assert 4.0 * 1.05 < found.minimum < 4.6 < usual.minimum


def test_honest_kernels_of_which_some_are_hopeless_do_not_lower_the_minimum() -> None:
    assert derive(7.4, 4.0, Speedups(honest=(3.0,))) == derive(7.4, 4.0)


def test_another_shape_asks_for_the_same_share_of_the_reference() -> None:
    square = Thresholds(1.4, 1.6)
    ragged = carry_over(square, 1.8, 0.9, Speedups((0.9,)))
    assert ragged.minimum == pytest.approx(0.7, rel=0.05)
    assert 0.85 * 0.9 < ragged.full < 0.921 * 0.9


def test_without_a_gap_there_is_no_threshold() -> None:
    assert derive(1.1 * (LEAST_GAP - 0.01), 1.1) is None


# The file.


def test_a_calibration_is_read_as_it_says(tmp_path: Path) -> None:
    path = calibrate(tmp_path, ragged="minimum = 1.2\nfull = 1.5")
    found = find("Fake GPU", tmp_path)
    assert found is not None
    assert (found.gpu, found.path, found.about["measured"]) == ("Fake GPU", path, "2025-01-31")
    own = found.exercises["02_tiled"]
    assert (own.size, own.moved) == (4096, False)
    assert own.thresholds == {
        ShapeKind.SQUARE: Thresholds(1.3, 1.6),
        ShapeKind.RAGGED: Thresholds(1.2, 1.5),
    }
    assert found.expected_s(Shape(4096, 4096, 4096)) == 0.026
    assert found.expected_s(Shape(2048, 4096, 4096)) == pytest.approx(0.013)


def test_another_gpu_has_no_calibration(tmp_path: Path) -> None:
    calibrate(tmp_path)
    assert find("Another GPU", tmp_path) is None
    assert find("Fake GPU", tmp_path / "nowhere") is None


def test_the_file_is_named_after_the_gpu() -> None:
    assert slug("NVIDIA H200") == "nvidia_h200"
    assert slug("NVIDIA H200 MIG 1g.18gb") == "nvidia_h200_mig_1g_18gb"
    assert slug("Tesla T4 / x (2)") == "tesla_t4_x_2"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"matmul-calibration/v1"', '"v0"', ["format", "v1"]),
        ('gpu = "Fake GPU"', "", ["gpu is missing"]),
        ("[baseline_seconds]", "[baseline]", ['unknown key "baseline"', "baseline_seconds"]),
        ("4096x4096x4096 = ", "4096x4096 = ", ["4096x4096 is no shape"]),
        ("size = 4096", "size = 0", ["exercise.02_tiled.size is 0"]),
        ('points = "fast"', 'points = "safe"', ["exercise.02_tiled.points", '"efficient"']),
        ('points = "fast"', 'points = "efficient"', ["02_tiled.points must be", "square"]),
        ("minimum = 1.3", "minimum = 0", ["02_tiled.square.minimum is 0", "at least 0.01"]),
        ("full = 1.6", "full = 1.2", ["02_tiled.square.full is 1.2", "at least 1.3"]),
        ("02_tiled.square]", "02_tiled.sqare]", ['"exercise.02_tiled.sqare"', "square"]),
        ("full = 1.6", "full = 1.6\n[kernel]\nname = 1", ["kernel must be tables, [[kernel]]"]),
        ("full = 1.6", "full = 1.6\n[[kernel]]\nnam = 1", ['"kernel[1].nam"', '"name"']),
    ],
)
def test_an_error_names_file_key_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    path = calibrate(tmp_path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(CalibrationError) as caught:
        load(path)
    for word in ["fake_gpu.toml", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda path: path.stem)
def test_each_shipped_calibration_can_be_read_and_knows_every_exercise(path: Path) -> None:
    found: Calibration = load(path)
    assert path.stem == slug(found.gpu)
    assert set(found.exercises) == {exercise.name for exercise in EXERCISES}
    for exercise in EXERCISES:
        own = found.exercises[exercise.name]
        assert own.size in exercise.speed_sizes
        assert found.baseline_s[shape_of(ShapeKind.SQUARE, own.size)] <= 0.1


# The kernels.


def test_every_kernel_of_the_table_can_be_read_and_each_exercise_has_one_reference() -> None:
    found = kernels.load(EXERCISES)
    for exercise in EXERCISES:
        own = [kernel for kernel in found if kernel.exercise is exercise]
        assert [kernel.role for kernel in own].count(KernelRole.REFERENCE) == 1
        assert sum(kernel.role is KernelRole.SLOWER for kernel in own) >= 3
        assert len({kernel.name for kernel in own}) == len(own)
        assert len({kernel.submission.sha256 for kernel in own}) == len(own)
        assert all(exercise.kernel in kernel.submission.text for kernel in own)


def test_an_edit_that_does_not_fit_names_its_kernel(tmp_path: Path) -> None:
    table = tmp_path / "kernels.toml"
    text = kernels.TABLE.read_text()
    table.write_text(text.replace('["TILE = 32", "TILE = 16"]', '["TILE = 99", "x"]', 1))
    with pytest.raises(KernelTableError, match=r"kernel\[T=16\]\.edits replaces 'TILE = 99'"):
        kernels.load(EXERCISES, table)


def test_a_students_copy_says_where_to_calibrate(tmp_path: Path) -> None:
    with pytest.raises(KernelTableError, match="teacher's copy"):
        kernels.load(EXERCISES, tmp_path / "kernels.toml")


# The command.


def speedups(changes: Mapping[str, float], noise: noises.Noise = noises.quiet) -> TimedDevice:
    """A GPU on which kernels of these names are so fast."""
    known = {**SPEEDUPS, **changes}
    texts = {one.submission.sha256: one.name for one in kernels.load(EXERCISES)}

    def make(build: Build, shape: Shape) -> FakeStopwatch:
        name = texts[build.submission.sha256]
        seconds = noises.BASELINE_S * shape.multiply_adds / 4096**3
        seed = len(device.opened) + 1
        return FakeStopwatch(
            shape, known.get(name, 0.9), noise, seconds, seed=seed, time=device.time
        )

    device = TimedDevice(make=make)
    return device


def calibrated(device: TimedDevice, *sizes: int) -> tuple[ExerciseEvidence, ...]:
    calibrator = Calibrator(device, key=1, rounds=5, pairs=4, tell=lambda line: None)
    found = kernels.load(EXERCISES)
    return command.calibrate(calibrator, EXERCISES, found, sizes or (2048, 4096))


def test_a_calibration_finds_the_gaps_and_is_read_back_as_it_was_derived(tmp_path: Path) -> None:
    found = calibrated(speedups({}))
    path = tmp_path / "new folder" / "fake_gpu.toml"
    command.write(path, ABOUT, found)
    read = load(path)
    assert [one.name for one in path.parent.iterdir()] == ["fake_gpu.toml"]
    tiled = read.exercises["02_tiled"]
    assert tiled.size == 4096
    assert tiled.thresholds == dict(found[0].thresholds)
    square = tiled.thresholds[ShapeKind.SQUARE]
    assert 1.23 * 1.05 < square.minimum < 1.5
    assert square.quarters(1.66) == 4
    assert square.quarters(1.24) == 0
    assert 1.12 < read.exercises["03_padded"].thresholds[ShapeKind.SQUARE].minimum < 1.49
    assert 5.3 < read.exercises["04_tuned"].thresholds[ShapeKind.RAGGED].minimum < 8
    assert read.baseline_s[Shape(4096, 4096, 4096)] == pytest.approx(0.026, rel=0.01)


def test_a_calibration_that_could_not_be_read_back_leaves_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "fake_gpu.toml"
    path.write_text("the one before")
    nameless = {name: value for name, value in ABOUT.items() if name != "gpu"}
    with pytest.raises(GraderFault):
        command.write(path, nameless, calibrated(speedups({})))
    assert path.read_text() == "the one before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_calibration_keeps_its_evidence_and_its_reasons(tmp_path: Path) -> None:
    command.write(tmp_path / "fake_gpu.toml", ABOUT, calibrated(speedups({})))
    text = (tmp_path / "fake_gpu.toml").read_text()
    assert "# square: next-worse 1.2" in text
    assert "(naive, 32x8 threads)," in text
    assert text.count("[[kernel]]") == 3 * len(kernels.load(EXERCISES))
    assert "`minimum` is" in text


def test_the_table_ranks_kernels_and_tells_margins() -> None:
    told = list(evidence_lines(calibrated(speedups({}))[0]))
    ranks = [line.split("  ")[1] for line in told[3:6]]
    assert ranks == ["solution, T=32", "T=16", "naive, 32x8 threads"]
    assert told[3].endswith("all points")
    assert told[5].endswith("nothing")
    assert any("above the next-worse" in line and "minimum" in line for line in told)


def test_an_honest_kernel_that_would_earn_nothing_is_pointed_out() -> None:
    told = "\n".join(evidence_lines(calibrated(speedups({"T=16": 1.25}))[0]))
    assert "nothing (honest, but too slow here)" in told


def test_an_exercise_without_a_gap_gives_its_points_for_efficient(tmp_path: Path) -> None:
    found = calibrated(speedups({"naive, 32x4 threads": 1.5}))
    command.write(tmp_path / "fake_gpu.toml", ABOUT, found)
    read = load(tmp_path / "fake_gpu.toml")
    assert read.exercises["02_tiled"].moved
    assert not read.exercises["04_tuned"].moved
    assert "points of fast count for efficient" in "\n".join(evidence_lines(found[0]))


def test_the_largest_size_in_time_is_graded() -> None:
    device = speedups({})
    found = calibrated(device, 1024, 2048, 4096, 8192)  # 8192 would take 0.2 s
    assert {evidence.size for evidence in found} == {4096}
    assert Shape(8192, 8192, 8192) not in [watch.shape for watch in device.opened]
    assert all(len(row.rounds) == 5 for evidence in found for row in evidence.rows)


def test_a_gpu_that_is_taken_away_is_not_calibrated() -> None:
    with pytest.raises(NotQuiet, match="not quiet: right before a launch it was away for 2 ms"):
        calibrated(speedups({}, noises.shared))


def test_one_gap_costs_a_round_taken_again() -> None:
    found = calibrated(speedups({}, noises.gaps_at(12)))
    assert found[0].thresholds


def unsteady(name: str, rounds: Collection[int]) -> TimedDevice:
    """A GPU on which a kernel is a tenth slower when loaded for the n-th time, for these n."""

    def uneven(sample: Sample, number: int, chance: random.Random) -> Sample:
        now = device.opened[-1]
        same = [one for one in device.opened if one.shape == now.shape]
        loaded = sum(one.speedup == now.speedup for one in same)
        slow = now.speedup == SPEEDUPS[name] and loaded in rounds
        if slow and sample.contestant is Contestant.STUDENT:
            return replace(sample, seconds=sample.seconds * 1.1)
        return sample

    device = speedups({}, uneven)
    return device


def test_a_round_that_stands_alone_is_taken_again() -> None:
    row = calibrated(unsteady("T=16", {2}))[0].at(Shape(4096, 4096, 4096))[1]
    assert row.kernel.name == "T=16"
    assert len(row.rounds) == 5
    assert row.spread < 0.03


def test_rounds_that_disagree_are_not_calibrated() -> None:
    with pytest.raises(NotQuiet, match=r"rounds of 02_tiled, naive, 32x8 threads, .* differ by"):
        calibrated(unsteady("naive, 32x8 threads", range(2, 99, 2)))


def test_a_kernel_of_another_make_may_be_unsteady() -> None:
    assert calibrated(unsteady("T=16", range(2, 99, 2)))[0].thresholds


def test_what_was_measured_is_told_before_it_is_refused() -> None:
    told: list[str] = []
    device = unsteady("naive, 32x8 threads", range(2, 99, 2))
    calibrator = Calibrator(device, key=1, rounds=5, pairs=4, tell=told.append)
    with pytest.raises(NotQuiet):
        command.calibrate(calibrator, EXERCISES, kernels.load(EXERCISES), (2048, 4096))
    assert any("naive, 32x8 threads" in line and "1.2" in line for line in told)


def test_a_kernel_of_the_table_that_is_wrong_is_named() -> None:
    noise = noises.wrong_after(5, wrong_rows=1, first_wrong_row=4)
    with pytest.raises(GraderFault, match=r"02_tiled, solution, T=32: .* row 4 of C is wrong"):
        calibrated(speedups({}, noise), 512)


def test_a_hot_gpu_is_not_calibrated() -> None:
    hot = replace(QUIET, throttle=("thermal slowdown",))
    device = TimedDevice(make=lambda build, shape: FakeStopwatch(shape, state=hot))
    with pytest.raises(NotQuiet, match="thermal slowdown"):
        calibrated(device, 512)


def test_without_a_gpu_the_command_says_what_is_missing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.gpu.hardware.available", lambda: "no GPU here.")
    assert cli.main(["calibrate"]) == cli.ERROR
    assert "The GPU cannot be used: no GPU here" in capsys.readouterr().err


def test_a_gpu_that_does_not_answer_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mute(TimedDevice):
        def __init__(self, *_: object, **__: object) -> None: ...

        def describe(self) -> dict[str, object]:
            raise GraderFault("The GPU does not answer.")

    monkeypatch.setattr("grader.gpu.device.GpuDevice", Mute)
    monkeypatch.setattr("grader.gpu.hardware.available", lambda: "")
    with pytest.raises(GraderFault, match="does not answer"):
        command.main(argparse.Namespace())


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(GraderFault, match="cannot be written"):
        command.write(tmp_path / "file" / "x.toml", ABOUT, ())


@pytest.mark.parametrize("words", [["--rounds", "4"], ["--sizes", "8"], ["--sizes", "a"]])
def test_too_few_rounds_or_sizes_are_refused(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main(["calibrate", *words])
    assert "argument --" in capsys.readouterr().err
