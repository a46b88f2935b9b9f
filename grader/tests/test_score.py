"""Points: who gets which, rounded once, and what is undecided costs nothing."""

from __future__ import annotations

from typing import Any

import pytest

from grader.checks.merge import merge
from grader.checks.outcome import Outcome, Status
from grader.exercise import CHECKS
from grader.finding import Finding
from grader.score import ExerciseScore, Score, score_exercise
from grader.tests.fake_device import an_exercise
from grader.verdict import Verdict

EXERCISE = an_exercise()  # 3 safe, 2 whole tiles, 3 any shape, 12 efficient, 5 fast


def outcome(check: str, status: str, device: str = "", **more: Any) -> Outcome:
    return Outcome(EXERCISE.name, device, check, f"{check}.", Status(status), **more)


def scored(**statuses: str) -> ExerciseScore:
    given = dict.fromkeys(CHECKS, "pass") | statuses
    outcomes = [outcome(check, status) for check, status in given.items()]
    return score_exercise(EXERCISE, "started", outcomes)


def earned(score: ExerciseScore) -> dict[str, int]:
    return {check.outcome.check: check.earned for check in score.checks}


def test_everything_passed_earns_all_points() -> None:
    score = scored()
    assert (score.status, score.earned, score.points, score.not_graded) == ("pass", 25, 25, 0)


def test_a_failed_check_earns_nothing_and_fails_the_exercise() -> None:
    score = scored(safe="fail")
    assert (score.status, score.earned) == ("fail", 22)


def test_efficient_and_fast_count_half_without_any_shape_and_halves_round_up() -> None:
    assert earned(scored(any_shape="fail")) == {
        "compiles": 0,
        "safe": 3,
        "whole_tiles": 2,
        "any_shape": 0,
        "efficient": 6,
        "fast": 3,  # 2.5
    }
    assert earned(scored(any_shape="skipped")) == earned(scored(any_shape="fail"))


@pytest.mark.parametrize(
    ("quarters", "whole", "half"), [(1, 1, 1), (2, 3, 1), (3, 4, 2), (4, 5, 3)]
)
def test_fast_earns_quarters_and_is_rounded_once(quarters: int, whole: int, half: int) -> None:
    def fast(any_shape: str) -> int:
        given = dict.fromkeys(CHECKS, "pass") | {"any_shape": any_shape}
        outcomes = [
            outcome(check, status, quarters=quarters if check == "fast" else 4)
            for check, status in given.items()
        ]
        return earned(score_exercise(EXERCISE, "started", outcomes))["fast"]

    assert (fast("pass"), fast("fail")) == (whole, half)


def test_without_a_gap_in_speed_its_points_are_given_for_efficient() -> None:
    given = dict.fromkeys(CHECKS[:-1], "pass")
    outcomes = [outcome(check, status) for check, status in given.items()]
    outcomes.append(outcome("fast", "not_graded", reason="no_gap"))
    score = score_exercise(EXERCISE, "started", outcomes)
    assert (earned(score)["efficient"], earned(score)["fast"]) == (17, 0)
    assert (score.points, score.not_graded, score.status) == (25, 0, "pass")


def test_a_device_without_a_stopwatch_has_no_say_in_speed() -> None:
    lacking = outcome("fast", "not_graded", "simulator", reason="no_gpu")
    measured = outcome("fast", "not_graded", "gpu", reason="not_calibrated", timing={"shapes": []})
    (merged,) = merge([lacking, measured])
    assert (merged.reason, merged.timing) == ("not_calibrated", {"shapes": []})


def test_safe_earns_only_where_whole_tiles_passes() -> None:
    assert earned(scored(whole_tiles="fail", any_shape="skipped"))["safe"] == 0


@pytest.mark.parametrize("undecided", ["grader_error", "not_graded"])
def test_an_undecided_check_costs_no_point_here_or_elsewhere(undecided: str) -> None:
    score = scored(whole_tiles=undecided, any_shape=undecided)
    assert score.not_graded == 5
    assert score.earned == score.points - score.not_graded


def test_a_grader_error_is_the_status_whatever_else_failed() -> None:
    assert scored(safe="fail", any_shape="grader_error").status == "grader_error"


def test_nothing_decided_is_no_pass_and_compiling_alone_neither() -> None:
    assert scored(**dict.fromkeys(CHECKS, "not_graded")).status == "not_graded"
    assert scored(**dict.fromkeys(CHECKS[1:], "not_graded")).status == "not_graded"


@pytest.mark.parametrize("state", ["missing", "not_started"])
def test_a_missing_or_untouched_file_scores_zero_of_the_same_points(state: str) -> None:
    outcomes = [outcome(check, "skipped", reason=state) for check in CHECKS[:4]]
    outcomes += [outcome(check, "not_graded", reason="no_gpu") for check in CHECKS[4:]]
    score = score_exercise(EXERCISE, state, outcomes)
    assert (score.status, score.earned, score.points, score.not_graded) == (state, 0, 25, 17)


def test_a_check_that_never_ran_is_a_grader_error() -> None:
    score = score_exercise(EXERCISE, "started", [outcome("compiles", "pass")])
    assert score.status == "grader_error"
    assert score.not_graded == score.points


def test_both_numbers_of_the_grade_are_kept() -> None:
    score = Score((scored(), scored(efficient="not_graded", fast="not_graded")))
    assert (score.earned, score.points, score.not_graded, score.gradable) == (33, 50, 17, 33)


@pytest.mark.parametrize(
    ("simulator", "gpu", "together"),
    [
        ("pass", "fail", "fail"),
        ("fail", "pass", "fail"),
        ("pass", "not_graded", "pass"),
        ("not_graded", "pass", "pass"),
        ("pass", "grader_error", "pass"),
        ("pass", "skipped", "pass"),
        ("fail", "grader_error", "fail"),
        ("not_graded", "grader_error", "grader_error"),
        ("not_graded", "not_graded", "not_graded"),
        ("skipped", "not_graded", "not_graded"),
    ],
)
def test_devices_merge_to_the_worse_decision(simulator: str, gpu: str, together: str) -> None:
    (merged,) = merge([outcome("safe", simulator, "simulator"), outcome("safe", gpu, "gpu")])
    assert merged.status == together


@pytest.mark.parametrize("able", ["pass", "fail", "skipped", "grader_error"])
@pytest.mark.parametrize("unable", ["simulator", "gpu"])
def test_a_device_that_lacks_a_feature_has_no_say_beside_one_that_has_it(
    able: str, unable: str
) -> None:
    other = {"simulator": "gpu", "gpu": "simulator"}[unable]
    lacking = outcome("efficient", "not_graded", unable, reason="feature", detail="lacks it")
    (merged,) = merge([lacking, outcome("efficient", able, other)])
    assert merged.status == able


def test_a_check_is_skipped_when_the_one_it_needs_failed_on_another_device() -> None:
    merged = merge(
        [
            outcome("whole_tiles", "pass", "simulator"),
            outcome("any_shape", "pass", "simulator"),
            outcome("whole_tiles", "fail", "gpu"),
            outcome("any_shape", "skipped", "gpu", reason="whole_tiles"),
        ]
    )
    assert [one.status.value for one in merged] == ["fail", "skipped"]


def test_a_skipped_check_skips_what_needs_it() -> None:
    merged = merge(
        [
            outcome("compiles", "fail", "simulator"),
            outcome("whole_tiles", "skipped", "simulator", reason="compiles"),
            outcome("any_shape", "pass", "gpu"),
        ]
    )
    assert [one.status.value for one in merged] == ["fail", "skipped", "skipped"]


def test_the_cause_is_chosen_among_the_findings_of_all_devices() -> None:
    wrong = Finding(Verdict.WRONG_ANSWER, "scattered", device="simulator")
    outside = Finding(Verdict.OUT_OF_BOUNDS, "guard_written", device="gpu")
    (merged,) = merge(
        [
            outcome("any_shape", "fail", "simulator", findings=(wrong,)),
            outcome("any_shape", "fail", "gpu", findings=(outside,)),
        ]
    )
    assert merged.findings == (outside, wrong)
