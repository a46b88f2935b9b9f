"""The check `fast`: from the stopwatch to points, the record and the report."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader import grading, record
from grader.checks.devices import BrokenDevice
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome
from grader.device import Build, LaunchConfig
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.report.summary import exercise_lines, total_lines
from grader.score import Score
from grader.tests import fake_stopwatch as noises
from grader.tests.fake_device import (
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    check,
    ragged,
    wrong_at,
)
from grader.tests.fake_stopwatch import SQUARE, FakeStopwatch, TimedDevice, calibrate, untimed

RAGGED = Shape(4095, 4097, 4093)
BOTH = "minimum = 1.2\nfull = 1.5"
EXERCISE = an_exercise(speed_sizes=(512, 1024, 2048, 4096))


class Graded:
    """A grading on a fake simulator and a fake GPU, with a calibration in `folder` or none."""

    def __init__(self, folder: Path, gpu: FakeDevice, **plan: Any) -> None:
        self.plan = a_plan(an_entry(EXERCISE), **{"examples": 1, **plan})
        self.ledger: Ledger = check(self.plan, FakeDevice(), gpu, timer=untimed(folder))
        self.ledger.device({"kind": "gpu", "name": "Fake GPU"})
        self.score: Score = grading.score(self.plan, self.ledger)

    @property
    def fast(self) -> Outcome:
        return next(c.outcome for c in self.score.exercises[0].checks if c.outcome.check == "fast")

    @property
    def earned(self) -> dict[str, tuple[int, int]]:
        checks = self.score.exercises[0].checks
        return {check.outcome.check: (check.earned, check.points) for check in checks}

    @property
    def report(self) -> str:
        lines = [*exercise_lines(self.score.exercises[0], with_points=True)]
        return "\n".join(line.text for line in (*lines, *total_lines(self.score)))

    @property
    def whole_record(self) -> dict[str, Any]:
        composed = record.compose(self.score, self.plan, self.ledger)
        read: dict[str, Any] = json.loads(json.dumps(composed))
        schema = json.loads(record.SCHEMA_FILE.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(read)
        return read

    @property
    def record(self) -> dict[str, Any]:
        timing: dict[str, Any] = self.whole_record["exercises"][0]["timing"]
        return timing


def test_a_fast_kernel_gets_all_points_and_its_speed_is_told(tmp_path: Path) -> None:
    calibrate(tmp_path, ragged=BOTH)
    gpu = TimedDevice(speedup=1.65)
    graded = Graded(tmp_path, gpu)
    assert graded.fast.status == "pass"
    assert graded.earned["fast"] == (5, 5)
    assert [watch.shape for watch in gpu.opened] == [SQUARE, RAGGED]
    assert all(watch.closed for watch in gpu.opened)
    assert "fast        pass            5/5     1.65 times the baseline (1.6" in graded.report
    assert "): all 5 points" in graded.report
    assert "4096x4096x4096: 15.8 ms, 8,7" in graded.report
    assert "25 of 25 points" in graded.report


def test_the_record_holds_ratios_conditions_and_the_calibration(tmp_path: Path) -> None:
    path = calibrate(tmp_path, ragged=BOTH)
    timing = Graded(tmp_path, TimedDevice(speedup=1.45)).record
    assert timing["quarters"] == 2
    assert timing["calibration"]["file"] == str(path)
    assert timing["calibration"]["measured"] == "2025-01-31"
    square, edge = timing["shapes"]
    assert (square["kind"], square["shape"]) == ("square", [4096, 4096, 4096])
    assert square["low"] <= square["speedup"] <= square["high"] == square["deciding"]
    assert (square["quarters"], edge["quarters"]) == (2, 3)
    assert (square["minimum"], square["full"]) == (1.3, 1.6)
    assert square["conditions"]["sm_clock_mhz"] == 1980
    assert square["percent_of_cublas"] is None
    assert square["percent_of_roofline"] == pytest.approx(100 * 2.051 / (26 / 1.45), rel=0.01)
    assert square["gflops"] == pytest.approx(2 * 4096**3 / (0.026 / 1.45) * 1e-9, rel=0.01)


def test_the_record_of_the_gpu_names_its_calibration(tmp_path: Path) -> None:
    without = Graded(tmp_path, TimedDevice()).whole_record["devices"]
    path = calibrate(tmp_path)
    used = Graded(tmp_path, TimedDevice()).whole_record["devices"]
    assert (without[-1]["calibration"], used[-1]["calibration"]) == ("", str(path))


@pytest.mark.parametrize(
    ("speedup", "points"), [(1.2, 0), (1.31, 1), (1.42, 3), (1.53, 4), (1.65, 5)]
)
def test_points_come_in_quarters_and_are_rounded_once(
    tmp_path: Path, speedup: float, points: int
) -> None:
    calibrate(tmp_path)
    assert Graded(tmp_path, TimedDevice(speedup)).earned["fast"] == (points, 5)


def test_a_slow_kernel_is_told_how_slow_and_is_not_timed_at_a_second_shape(tmp_path: Path) -> None:
    calibrate(tmp_path, ragged=BOTH)
    gpu = TimedDevice(speedup=1.1)
    graded = Graded(tmp_path, gpu)
    assert graded.fast.status == "fail"
    assert [finding.verdict.value for finding in graded.fast.findings] == ["too_slow"]
    assert [watch.shape for watch in gpu.opened] == [SQUARE]
    told = " ".join(graded.report.split())
    assert "1.10 times as fast (1." in told
    assert "as the grader's own naive kernel (M=4096 N=4096 K=4096)" in told
    assert "points begin at 1.30 times, and 1.60 times earns all of them" in told
    assert "fast: too_slow on the gpu" in told
    assert graded.record["shapes"][0]["quarters"] == 0


def test_the_worse_of_the_two_shapes_counts(tmp_path: Path) -> None:
    calibrate(tmp_path, ragged=BOTH)

    def make(build: Build, shape: Shape) -> FakeStopwatch:
        return FakeStopwatch(shape, 1.7 if shape == SQUARE else 1.1)

    graded = Graded(tmp_path, TimedDevice(make=make))
    assert graded.fast.status == "fail"
    assert graded.fast.findings[0].shape == RAGGED


def test_without_any_shape_the_square_alone_is_timed_and_half_is_given(tmp_path: Path) -> None:
    calibrate(tmp_path, ragged=BOTH)
    gpu = TimedDevice(speedup=1.42, behave=wrong_at(ragged))
    gpu.config = LaunchConfig(8, 8, 24, 8, 8)
    graded = Graded(tmp_path, gpu)
    assert [watch.shape for watch in gpu.opened] == [Shape(4104, 4096, 4096)]
    assert graded.earned["fast"] == (1, 5)  # half of two quarters of 5
    assert "2 quarters of 5 points, half until any shape passes" in graded.report


def test_without_a_calibration_the_speed_is_shown_and_not_graded(tmp_path: Path) -> None:
    gpu = TimedDevice(speedup=1.65)
    graded = Graded(tmp_path, gpu)
    assert (graded.fast.status, graded.fast.reason) == ("not_graded", "not_calibrated")
    assert graded.score.not_graded == 5
    assert "1.65 times the baseline" in graded.report
    assert "no calibration for Fake GPU. Next: make calibrate" in graded.report
    assert "5 of 25 points are not graded: no calibration for this GPU" in graded.report
    assert gpu.opened[0].shape == Shape(512, 512, 512)  # how large may it be?
    assert [watch.shape for watch in gpu.opened[1:]] == [SQUARE, RAGGED]
    assert graded.record["calibration"] is None
    assert graded.record["quarters"] is None


def test_on_a_slow_gpu_without_calibration_a_smaller_size_is_timed(tmp_path: Path) -> None:
    def make(build: Build, shape: Shape) -> FakeStopwatch:
        return FakeStopwatch(shape, baseline_s=1.0 * shape.multiply_adds / 4096**3)

    gpu = TimedDevice(make=make)
    Graded(tmp_path, gpu)
    assert Shape(1024, 1024, 1024) in [watch.shape for watch in gpu.opened]
    assert SQUARE not in [watch.shape for watch in gpu.opened]


def test_on_a_busy_gpu_nothing_is_decided_and_the_reason_is_told(tmp_path: Path) -> None:
    calibrate(tmp_path)
    graded = Graded(tmp_path, TimedDevice(speedup=1.1, noise=noises.shared))
    assert (graded.fast.status, graded.fast.reason) == ("not_graded", "inconclusive")
    assert graded.score.exercises[0].status == "pass"
    assert "something else uses the GPU" in graded.report
    assert "Next: try again on an idle GPU" in graded.report
    assert graded.record["shapes"][0]["tries"] == 4
    assert graded.record["quarters"] is None


def test_without_a_gap_the_points_move_to_efficient(tmp_path: Path) -> None:
    calibrate(tmp_path, points="efficient")
    graded = Graded(tmp_path, TimedDevice(speedup=1.1))
    assert graded.fast.reason == "no_gap"
    assert graded.earned["efficient"] == (17, 17)
    assert graded.earned["fast"] == (0, 0)
    assert (graded.score.earned, graded.score.points, graded.score.not_graded) == (25, 25, 0)
    assert graded.record["shapes"][0]["speedup"] == pytest.approx(1.1, rel=0.01)


def test_a_cheat_seen_while_timing_fails_fast_alone(tmp_path: Path) -> None:
    calibrate(tmp_path)
    noise = noises.wrong_after(3, wrong_rows=4096, first_wrong_row=0)
    graded = Graded(tmp_path, TimedDevice(speedup=3.0, noise=noise))
    assert [finding.verdict.value for finding in graded.fast.findings] == ["replay"]
    assert graded.earned["fast"] == (0, 5)
    assert graded.earned["any_shape"] == (3, 3)
    told = " ".join(graded.report.split())
    assert "in timed launch 4 (M=4096 N=4096 K=4096) 4096 rows of C" in told
    assert "Repeat: make test EX=tiled" in told
    assert "SHAPE=4096x" not in told


def test_without_a_gpu_fast_needs_one() -> None:
    plan = a_plan(an_entry(EXERCISE))
    score = grading.score(plan, check(plan, FakeDevice()))
    told = "\n".join(line.text for line in total_lines(score))
    assert "5 of 25 points are not graded: needs a GPU" in told


def test_a_gpu_that_could_not_be_opened_is_our_fault() -> None:
    broken = BrokenDevice("gpu", GraderFault("The GPU worker did not start."))
    plan = a_plan(an_entry(EXERCISE), examples=1)
    score = grading.score(plan, check(plan, FakeDevice(), broken))
    fast = next(c.outcome for c in score.exercises[0].checks if c.outcome.check == "fast")
    assert (fast.status, fast.detail) == ("grader_error", "The GPU worker did not start.")
    assert score.not_graded == 5


def test_a_kernel_that_is_wrong_on_the_gpu_is_not_timed(tmp_path: Path) -> None:
    calibrate(tmp_path)
    gpu = TimedDevice(behave=wrong_at(lambda shape: True))
    graded = Graded(tmp_path, gpu)
    assert (graded.fast.status, graded.fast.reason) == ("skipped", "whole_tiles")
    assert gpu.opened == []


def test_an_exercise_that_asks_for_no_speed_is_not_timed(tmp_path: Path) -> None:
    points = {**EXERCISE.points, "fast": 0}
    plan = a_plan(an_entry(replace(EXERCISE, speed_sizes=(), points=points)))
    gpu = TimedDevice()
    ledger = check(plan, FakeDevice(), gpu, timer=untimed(tmp_path))
    score = grading.score(plan, ledger)
    assert gpu.opened == []
    assert score.not_graded == 0
    assert "fast" not in "\n".join(
        line.text for line in exercise_lines(score.exercises[0], with_points=True)
    )


def test_one_shape_alone_is_not_timed(tmp_path: Path) -> None:
    calibrate(tmp_path)
    gpu = TimedDevice()
    graded = Graded(tmp_path, gpu, shape=Shape(64, 64, 64))
    assert gpu.opened == []
    assert graded.fast.status == "skipped"
    assert "leave SHAPE out" in graded.report


def test_what_does_not_fit_into_memory_is_inconclusive(tmp_path: Path) -> None:
    calibrate(tmp_path)
    gpu = TimedDevice()
    gpu.room = False
    graded = Graded(tmp_path, gpu)
    assert graded.fast.reason == "inconclusive"
    assert "4096x4096x4096 does not fit into the GPU's free memory" in graded.report


def test_two_gradings_with_one_seed_take_the_same_launches(tmp_path: Path) -> None:
    calibrate(tmp_path)
    first, again, other = TimedDevice(), TimedDevice(), TimedDevice()
    Graded(tmp_path, first, seed=5)
    Graded(tmp_path, again, seed=5)
    Graded(tmp_path, other, seed=6)
    assert first.keys == again.keys
    assert first.keys != other.keys
    assert [w.order for w in first.opened] == [w.order for w in again.opened]


def test_a_broken_calibration_is_our_fault_and_costs_nothing(tmp_path: Path) -> None:
    calibrate(tmp_path, ragged="minimum = 2\nfull = 1")
    graded = Graded(tmp_path, TimedDevice())
    assert graded.fast.status == "grader_error"
    assert "ragged.full is 1; it must be at least 2" in graded.fast.detail
    assert graded.score.not_graded == 5
