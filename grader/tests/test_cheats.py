"""Cheats among the fixtures that smaller launches, or the text of a file, do not show; and honest
kernels that look a little like them."""

from __future__ import annotations

import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from grader.checks.outcome import Outcome
from grader.device import Build
from grader.exercise import find
from grader.finding import KernelFault
from grader.gpu import nvcc
from grader.submission import read
from grader.tests import simulated, timed
from grader.tests.fake_device import a_plan, an_entry, an_exercise, check
from grader.tests.fake_stopwatch import TimedDevice
from grader.tests.fixture_runs import EXERCISES
from grader.tests.fixtures import ACCEPTED, Expectation, Fixture, load_all
from grader.timing.sample import Contestant, Sample
from grader.timing.session import Pair, Session
from grader.verdict import Verdict

# What these use is not in the simulator: malloc, inline PTX, __dp4a; or it sees them reach outside.
ONLY_ON_A_GPU = {
    *("one_launch_for_many", "second_launch_within_a_second", "half_precision_when_large"),
    *("bytes_when_large", "clears_large_inputs"),
}
_VARIABLE = re.compile(r"^__(?:device|constant)__ [^()]*;", re.MULTILINE)


def on_gpu(fixture: Fixture) -> Expectation:
    expected = fixture.on("gpu")
    assert expected is not None
    return expected


def seen_when_timed() -> list[Fixture]:
    """Those that every check before `fast` lets pass on a GPU."""
    gpu = [fixture for fixture in load_all() if fixture.on("gpu")]
    timed_only = [f for f in gpu if on_gpu(f).kind.startswith(("timed_", "later_timed_"))]
    return [fixture for fixture in timed_only if fixture.name not in ONLY_ON_A_GPU]


def opened(fixture: Fixture) -> Session:
    """A session whose launches are made on the simulator: no GPU is needed for them."""
    device = simulated.device("g++")
    exercise = find(EXERCISES, fixture.exercise)
    build: Build = device.build(exercise, read(fixture.path, exercise, fixture.path.parent))
    return Session(timed.SimulatedStopwatch(device, build), seed=1)


def pairs(session: Session) -> list[Pair]:
    return [session.pair() for _ in range(timed.LAUNCHES)]


@pytest.mark.parametrize("fixture", seen_when_timed(), ids=str)
def test_launches_with_fresh_contents_show_what_smaller_ones_hide(fixture: Fixture) -> None:
    with pytest.raises(KernelFault) as caught:
        pairs(opened(fixture))
    first = caught.value.findings[0]
    assert (first.verdict, first.kind) == (on_gpu(fixture).verdict, on_gpu(fixture).kind)


def honest_with_variables() -> list[Fixture]:
    accepted = [f for f in load_all() if f.verdict == ACCEPTED and f.on("simulator")]
    return [fixture for fixture in accepted if _VARIABLE.search(fixture.path.read_text())]


@pytest.mark.parametrize("fixture", honest_with_variables(), ids=str)
def test_variables_in_device_memory_are_no_fault(fixture: Fixture) -> None:
    taken = pairs(opened(fixture))
    assert [pair.student.wrong_rows for pair in taken] == [0] * timed.LAUNCHES


def tensor_cores() -> list[Fixture]:
    return [f for f in load_all() if f.kind == "tensor_cores" and f.on("gpu")]


@pytest.mark.skipif(not nvcc.decides(simulated.TARGET.architecture), reason="needs nvcc")
@pytest.mark.parametrize("fixture", tensor_cores(), ids=str)
def test_nvcc_shows_tensor_cores_however_the_text_hides_them(fixture: Fixture) -> None:
    """By what the compiler made of it: the scanner of the text has no part in it."""
    exercise = find(EXERCISES, fixture.exercise)
    submission = read(fixture.path, exercise, fixture.path.parent)
    found = nvcc.check_compiles(exercise, submission, simulated.TARGET.architecture)
    assert [(f.verdict, f.kind) for f in found[:1]] == [(Verdict.REJECTED, "tensor_cores")]
    if not fixture.on("simulator"):  # else the text tells, and may name another line
        assert [place.line for place in found[0].locations] == [fixture.line]


def test_every_way_to_cheat_that_is_known_has_a_fixture() -> None:
    """So that a renamed folder or a changed kind does not empty the lists above."""
    assert len(seen_when_timed()) >= 12
    assert len(honest_with_variables()) >= 5
    assert len(tensor_cores()) >= 11


def fast(tmp_path: Path, device: TimedDevice, minimum: float) -> Outcome:
    """The check `fast` as fixtures get it on a GPU."""
    plan = a_plan(an_entry(an_exercise(speed_sizes=(4096,))), examples=1)
    ledger = check(plan, device, timer=timed.small_scale(tmp_path, minimum))
    return next(outcome for outcome in ledger.outcomes if outcome.check == "fast")


def delayed_every_other_time(sample: Sample, number: int, chance: random.Random) -> Sample:
    late = sample.contestant is Contestant.STUDENT and chance.random() < 0.5
    return replace(sample, seconds=sample.seconds + (1e-3 if late else 0.0))


def test_fixtures_are_timed_at_a_small_size_where_any_speed_will_do(tmp_path: Path) -> None:
    device = TimedDevice(speedup=0.5, name="NVIDIA Some GPU")
    assert fast(tmp_path, device, timed.ANY_SPEED).status == "pass"
    assert [watch.shape.n for watch in device.opened] == [timed.SIZE, timed.SIZE + 1]


def test_fixtures_about_speed_need_more_than_a_naive_kernel_has(tmp_path: Path) -> None:
    assert fast(tmp_path, TimedDevice(speedup=1.3), timed.MINIMUM).status == "pass"
    slow = fast(tmp_path, TimedDevice(speedup=1.0), timed.MINIMUM)
    assert [finding.kind for finding in slow.findings] == ["too_slow"]


def test_delays_at_random_are_too_slow_and_not_inconclusive(tmp_path: Path) -> None:
    device = TimedDevice(speedup=1.3, noise=delayed_every_other_time)
    late = fast(tmp_path, device, timed.MINIMUM)
    assert [finding.kind for finding in late.findings] == ["too_slow"]
