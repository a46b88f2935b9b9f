"""Statistics, the stopping rule and the measurement, on stopwatches with known noise."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from grader.finding import GraderFault, KernelFault
from grader.problems.matmul import Shape
from grader.tests import fake_stopwatch as noises
from grader.tests.fake_device import CONFIG
from grader.tests.fake_stopwatch import BASELINE_S, QUIET, FakeStopwatch, measured
from grader.timing import quiet
from grader.timing.calibration import Thresholds
from grader.timing.measurement import PAUSES_S, cublas_seconds
from grader.timing.rule import StoppingRule
from grader.timing.sample import Contestant, Sample
from grader.timing.session import Pair, Session
from grader.timing.shapes import ShapeKind, largest, shape_of
from grader.timing.statistics import jitter, median_interval
from grader.verdict import Verdict

# Steps at 1.3, 1.43, 1.57 and 1.7: none is near what a FakeStopwatch tells.
THRESHOLDS = Thresholds(minimum=1.3, full=1.7)


def test_the_interval_covers_the_median_as_often_as_it_says() -> None:
    chance = random.Random(1)
    for count in (6, 10, 15, 30):
        covered = 0
        for _ in range(2000):
            # Skewed, as times are; the true median is ln 2.
            interval = median_interval([chance.expovariate(1.0) for _ in range(count)])
            covered += interval.low <= 0.6931 <= interval.high
        assert covered / 2000 >= 0.94


def test_ten_values_leave_out_one_at_each_end_and_three_none() -> None:
    values = [float(n) for n in range(1, 11)]
    ten, three = median_interval(values), median_interval([3.0, 1.0, 2.0])
    assert (ten.low, ten.median, ten.high, ten.count) == (2.0, 5.5, 9.0, 10)
    assert (three.low, three.median, three.high) == (1.0, 2.0, 3.0)


def test_one_outlier_moves_neither_the_interval_nor_the_jitter() -> None:
    calm = [1.0 + 0.001 * (n % 3) for n in range(10)]
    assert median_interval([*calm[:9], 50.0]).half_width < 0.005
    assert jitter([*calm, 50.0, *calm]) < 0.01


def test_jitter_is_blind_to_drift_and_sees_noise() -> None:
    assert jitter([1 + 0.25 * n / 50 for n in range(50)]) < 0.01
    assert jitter([1.0 + 0.3 * (n % 2) for n in range(50)]) > 0.2
    assert jitter([1.0]) == 0.0


def test_a_rule_ends_when_the_interval_is_narrow_but_never_before_ten_pairs() -> None:
    rule = StoppingRule()
    assert rule.ended([1.6] * 9, 1.0) == ""
    assert rule.ended([1.6] * 10, 1.0) == "narrow"
    assert rule.ended([1.5, 1.7] * 5, 1.0) == ""
    assert rule.ended([1.5, 1.7] * 5, rule.budget_s) == "budget"
    assert rule.ended([1.5] * 4, 4 * rule.budget_s) == "budget"


def test_a_rule_ends_early_only_for_kernels_far_from_every_threshold() -> None:
    rule = StoppingRule(thresholds=THRESHOLDS)
    assert rule.ended([0.6, 0.5], 0.1) == ""
    assert rule.ended([0.6, 0.5, 0.6], 0.1) == "clear"
    assert rule.ended([0.6, 0.5, 0.7], 0.1) == ""
    assert rule.ended([3.5, 3.6, 3.5], 0.1) == "clear"
    assert StoppingRule().ended([0.1, 0.1, 0.1], 0.1) == ""


def test_a_quiet_gpu_takes_few_pairs_and_is_right() -> None:
    found = measured(FakeStopwatch(), thresholds=THRESHOLDS)
    assert found.disturbance == ""
    assert found.ended == "narrow"
    assert 10 <= len(found.pairs) <= 14
    assert found.speedup.low <= 1.6 <= found.speedup.high
    assert found.speedup.half_width <= 0.005
    assert found.deciding == found.speedup.high
    assert found.student_s == pytest.approx(BASELINE_S / 1.6, rel=0.01)
    assert found.conditions == QUIET


def test_repeated_measurements_of_a_quiet_kernel_agree_within_one_per_cent() -> None:
    medians = [measured(FakeStopwatch(seed=seed)).speedup.median for seed in range(50)]
    assert max(medians) / min(medians) <= 1.01


def test_every_launch_has_a_number_of_its_own_and_the_order_within_pairs_varies() -> None:
    watch = FakeStopwatch()
    found = measured(watch)
    assert watch.draws == list(range(1, len(watch.draws) + 1))
    pairs = watch.order[-2 * len(found.pairs) :]
    firsts = Counter(pairs[::2])
    assert min(firsts[Contestant.STUDENT], firsts[Contestant.BASELINE]) >= 2
    again = FakeStopwatch()
    measured(again)
    assert again.order == watch.order


def test_first_launches_warm_up_and_count_for_nothing() -> None:
    def cold(sample: Sample, number: int, chance: random.Random) -> Sample:
        slow = replace(sample, seconds=sample.seconds * (2 - 0.1 * number))
        return slow if number < 10 else noises.quiet(sample, number, chance)

    found = measured(FakeStopwatch(noise=cold))
    assert found.disturbance == ""
    assert found.speedup.median == pytest.approx(1.6, rel=0.005)


def test_a_speed_at_a_step_between_two_quarters_is_measured_for_longer() -> None:
    rule = StoppingRule(thresholds=THRESHOLDS)
    near = [1.2995, 1.3005] * 5
    assert StoppingRule().ended(near, 1.0) == "narrow"
    assert rule.ended(near, 1.0) == ""
    assert rule.ended(near, rule.budget_s) == "budget"
    assert rule.ended([ratio - 0.002 for ratio in near], 1.0) == "narrow"
    assert rule.ended([ratio + 0.002 for ratio in near], 1.0) == "narrow"
    # From the step on a quarter more is earned: an interval that ends there holds both.
    assert rule.ended([1.2995, 1.3] * 5, 1.0) == ""
    assert rule.ended([1.3, 1.3005] * 5, 1.0) == "narrow"


@pytest.mark.parametrize("step", THRESHOLDS.steps)
@pytest.mark.parametrize("beside", [0.997, 1.003])
def test_a_speed_near_a_step_earns_the_same_whatever_the_noise(step: float, beside: float) -> None:
    speedup = step * beside
    for seed in range(20):
        found = measured(FakeStopwatch(speedup=speedup, seed=seed), thresholds=THRESHOLDS)
        assert THRESHOLDS.quarters(found.deciding) == THRESHOLDS.quarters(speedup)


def test_an_unsteady_kernel_beside_a_quiet_baseline_gets_the_slower_end() -> None:
    found = measured(FakeStopwatch(noise=noises.noisy_student), thresholds=THRESHOLDS)
    assert found.disturbance == ""
    assert found.tries == 1
    assert not found.steady
    assert found.ended == "budget"
    assert found.deciding == found.speedup.low < 1.6


def test_random_delays_are_no_way_to_be_inconclusive_beside_an_idle_process() -> None:
    state = replace(QUIET, other_processes=1)
    found = measured(FakeStopwatch(noise=noises.noisy_student, state=state), thresholds=THRESHOLDS)
    assert found.disturbance == ""


def test_a_noisy_baseline_is_tried_four_times_and_then_told() -> None:
    watch = FakeStopwatch(noise=noises.noisy_baseline)
    found = measured(watch, thresholds=THRESHOLDS)
    assert "launches of the baseline differ by" in found.disturbance
    assert found.tries == 4
    assert watch.time.slept == list(PAUSES_S)


def test_other_work_that_ends_costs_a_second_try_only() -> None:
    def at_first(sample: Sample, number: int, chance: random.Random) -> Sample:
        return (noises.shared if number < 12 else noises.quiet)(sample, number, chance)

    found = measured(FakeStopwatch(noise=at_first), thresholds=THRESHOLDS)
    assert (found.disturbance, found.tries) == ("", 2)
    assert found.speedup.median == pytest.approx(1.6, rel=0.005)


def test_a_gpu_in_time_slices_is_told_by_its_gaps_and_costs_little_time() -> None:
    watch = FakeStopwatch(noise=noises.shared)
    found = measured(watch, thresholds=THRESHOLDS)
    assert "something else uses the GPU" in found.disturbance
    assert "2 ms" in found.disturbance
    assert watch.time.now_s - sum(watch.time.slept) < 6.0


def test_one_gap_costs_its_pair_and_nothing_else() -> None:
    found = measured(FakeStopwatch(noise=noises.gaps_at(12)))
    assert (found.disturbance, found.set_aside, found.tries) == ("", 1, 1)
    assert found.speedup.half_width <= 0.005


def test_a_second_gap_costs_the_try() -> None:
    found = measured(FakeStopwatch(noise=noises.gaps_at(12, 16)))
    assert (found.disturbance, found.set_aside, found.tries) == ("", 0, 2)


def pairs(varies: float, half_width: float, gap_s: float = 0.0) -> list[Pair]:
    """Twenty, whose baseline and whose ratios take turns between two values."""
    taken = []
    for number in range(20):
        baseline_s = BASELINE_S * (1 + varies * (number % 2))
        student_s = baseline_s / (1.6 + 1.6 * half_width * (-1) ** (number // 2))
        student = Sample(Contestant.STUDENT, student_s, longest_gap_s=gap_s)
        taken.append(Pair(student, Sample(Contestant.BASELINE, baseline_s)))
    return taken


@pytest.mark.parametrize(("gap_s", "away"), [(0.19e-3, False), (0.21e-3, True)])
def test_a_fifth_of_a_millisecond_is_a_gap(gap_s: float, away: bool) -> None:
    assert quiet.is_away(pairs(0.0, 0.0, gap_s)[0]) is away


@pytest.mark.parametrize(("half_width", "told"), [(0.008, False), (0.02, True)])
def test_a_narrow_interval_decides_whatever_the_baseline_does(
    half_width: float, told: bool
) -> None:
    found = quiet.disturbance(pairs(0.05, half_width), [], "budget", QUIET, 0.0)
    assert bool(found) is told


@pytest.mark.parametrize(("others", "told"), [(0, False), (1, True)])
def test_beside_another_process_the_baseline_has_less_room(others: int, told: bool) -> None:
    seen = replace(QUIET, other_processes=others)
    found = quiet.disturbance(pairs(0.02, 0.02), [], "budget", seen, 0.0)
    assert bool(found) is told


@pytest.mark.parametrize("noise", [noises.drifting, noises.capped])
def test_clocks_that_drift_and_a_steady_power_cap_disturb_nothing(noise: noises.Noise) -> None:
    capped = replace(QUIET, throttle=("power cap",))
    found = measured(FakeStopwatch(noise=noise, state=capped), thresholds=THRESHOLDS)
    assert (found.disturbance, found.tries) == ("", 1)
    assert found.speedup.median == pytest.approx(1.6, rel=0.005)


def test_a_thermal_slowdown_with_a_wide_interval_is_told() -> None:
    hot = replace(QUIET, throttle=("thermal slowdown",))
    found = measured(FakeStopwatch(noise=noises.noisy_student, state=hot), thresholds=THRESHOLDS)
    assert found.disturbance == "times vary, with thermal slowdown"
    steady = measured(FakeStopwatch(state=hot), thresholds=THRESHOLDS)
    assert steady.disturbance == ""


def test_a_baseline_far_slower_than_calibrated_is_told_with_what_nvml_saw() -> None:
    busy = replace(QUIET, other_processes=2)
    found = measured(FakeStopwatch(baseline_s=2 * BASELINE_S, state=busy), thresholds=THRESHOLDS)
    assert "52" in found.disturbance
    assert "26 ms when calibrated, with 2 other processes on the GPU" in found.disturbance


def test_a_clear_case_is_not_believed_on_a_busy_gpu() -> None:
    found = measured(FakeStopwatch(speedup=0.2, noise=noises.shared), thresholds=THRESHOLDS)
    assert "something else" in found.disturbance


def test_a_kernel_too_slow_for_ten_launches_still_ends() -> None:
    watch = FakeStopwatch(speedup=0.004)
    found = measured(watch, thresholds=THRESHOLDS)
    assert (found.ended, len(found.pairs), found.disturbance) == ("clear", 1, "")
    assert measured(FakeStopwatch(speedup=0.2), thresholds=THRESHOLDS).ended == "clear"


def test_without_nvml_the_times_alone_decide() -> None:
    assert measured(FakeStopwatch(state=None)).disturbance == ""
    assert measured(FakeStopwatch(state=None, noise=noises.noisy_baseline)).disturbance


def fault_of(noise: noises.Noise, bound_s: float = 0.0, speedup: float = 1.6) -> KernelFault:
    with pytest.raises(KernelFault) as caught:
        take(30, Session(FakeStopwatch(noise=noise, speedup=speedup), 1, bound_s))
    return caught.value


def take(pairs: int, session: Session) -> None:
    for _ in range(pairs):
        session.pair()


@pytest.mark.parametrize(
    ("field", "verdict", "kind"),
    [
        ("wrong_rows", Verdict.WRONG_ANSWER, "timed_wrong"),
        ("inputs_changed", Verdict.INPUT_MODIFIED, "timed_inputs_changed"),
        ("guards_written", Verdict.OUT_OF_BOUNDS, "timed_guards_written"),
    ],
)
def test_a_fault_in_the_first_launch_is_what_it_is_and_later_it_is_a_replay(
    field: str, verdict: Verdict, kind: str
) -> None:
    (first,) = fault_of(noises.wrong_after(0, **{field: 7})).findings
    assert (first.verdict, first.kind, first.facts["launch"]) == (verdict, kind, 1)
    (later,) = fault_of(noises.wrong_after(12, **{field: 7})).findings
    assert (later.verdict, later.kind) == (Verdict.REPLAY, f"later_{kind}")
    assert (later.facts["launch"], later.facts["count"], later.device) == (13, 7, "gpu")
    assert later.shape == Shape(4096, 4096, 4096)


def test_a_result_kept_from_the_first_launch_is_a_replay_even_when_it_takes_no_time() -> None:
    def cached(sample: Sample, number: int, chance: random.Random) -> Sample:
        if sample.contestant is Contestant.STUDENT and number > 2:
            return replace(sample, seconds=3e-5, wrong_rows=4096, first_wrong_row=0)
        return sample

    (finding,) = fault_of(cached, bound_s=0.002).findings
    assert (finding.verdict, finding.kind) == (Verdict.REPLAY, "later_timed_wrong")


def test_a_launch_faster_than_the_roofline_is_flagged() -> None:
    (finding,) = fault_of(noises.quiet, bound_s=0.0021, speedup=26.0).findings
    assert (finding.verdict, finding.kind) == (Verdict.REPLAY, "impossible_speed")
    # The clocks' own error is no cheat.
    take(10, Session(FakeStopwatch(speedup=26.0), 1, 0.00101))


def test_a_baseline_that_comes_out_wrong_is_our_fault() -> None:
    def wrong(sample: Sample, number: int, chance: random.Random) -> Sample:
        return replace(sample, wrong_rows=int(sample.contestant is Contestant.BASELINE))

    with pytest.raises(GraderFault, match="This is not about your kernel"):
        measured(FakeStopwatch(noise=wrong))


def test_cublas_is_timed_where_it_is_there() -> None:
    assert cublas_seconds(Session(FakeStopwatch(cublas_s=0.0028), 1)) == pytest.approx(
        0.0028, rel=0.01
    )
    with pytest.raises(GraderFault):
        cublas_seconds(Session(FakeStopwatch(), 1))


def test_the_ragged_shape_has_three_sizes_and_no_multiple_of_four() -> None:
    ragged = shape_of(ShapeKind.RAGGED, 4096)
    assert ragged == Shape(4095, 4097, 4093)
    assert len(set(ragged)) == 3
    assert all(size % 4 for size in ragged)


def test_a_size_is_chosen_by_the_baselines_time_and_by_memory() -> None:
    sizes = (512, 1024, 2048, 4096)
    seconds = {512: 1e-4, 1024: 1e-3, 2048: 0.02, 4096: 0.16}
    assert largest(sizes, seconds, lambda size: True) == 2048
    assert largest(sizes, seconds, lambda size: size < 2048) == 1024
    assert largest(sizes, {}, lambda size: True) == 512


def test_whole_tiles_enclose_a_shape_that_the_tile_does_not_divide() -> None:
    config = replace(CONFIG, tile_m=24, tile_n=96, tile_k=8)
    assert Shape(4096, 4096, 4096).filled(config.tiles) == Shape(4104, 4128, 4096)
