"""The worker processes of a grading: a lost one costs one exercise and no student a point."""

from __future__ import annotations

import pickle
from collections import Counter
from typing import Any

import pytest

from grader import grading
from grader.checks.crew import Crew, Job
from grader.checks.listener import Ledger
from grader.checks.plan import Plan
from grader.exercise import CHECKS
from grader.finding import Finding
from grader.tests import fake_workers
from grader.tests.fake_device import TARGET, a_plan, an_entry, an_exercise
from grader.verdict import Verdict

NAMES = ("01_naive", "02_tiled", "03_padded")
PLAN = a_plan(*(an_entry(an_exercise(name)) for name in NAMES))


def run(
    job: Job, plan: Plan = PLAN, kinds: tuple[str, ...] = ("simulator",), **more: Any
) -> Ledger:
    ledger = Ledger()
    Crew(plan, kinds, TARGET, job, **more).run(ledger)
    return ledger


def statuses(ledger: Ledger) -> dict[str, list[str]]:
    return {name: [outcome.status.value for outcome in ledger.of(name)] for name in NAMES}


def test_every_check_of_every_exercise_comes_back_once_per_device() -> None:
    ledger = run(fake_workers.passes, kinds=("simulator", "gpu"))
    counted = Counter((o.exercise, o.device, o.check) for o in ledger.outcomes)
    assert set(counted.values()) == {1}
    assert len(counted) == len(NAMES) * 2 * len(CHECKS)


def test_a_process_that_dies_costs_what_it_had_not_answered_and_no_other_exercise() -> None:
    ledger = run(fake_workers.dies)
    passed = ["pass"] * len(CHECKS)
    assert statuses(ledger) == {
        "01_naive": passed[:2] + ["grader_error"] * 4,
        "02_tiled": passed,
        "03_padded": passed,
    }
    lost = ledger.of("01_naive")[-1]
    assert "exit status 3" in lost.detail
    assert "This is not about your kernel." in lost.detail
    assert "last words" in lost.log
    assert grading.score(PLAN, ledger).exercises[0].status == "grader_error"


def test_a_process_that_stops_answering_is_replaced() -> None:
    plan = a_plan(*(an_entry(an_exercise(name)) for name in NAMES[:1]))
    ledger = run(fake_workers.hangs, plan, silence_limit_s=2.0)
    assert {outcome.status.value for outcome in ledger.outcomes} == {"grader_error"}
    assert "stopped answering" in ledger.outcomes[0].detail


def test_checks_that_could_not_be_run_are_grader_errors() -> None:
    ledger = run(fake_workers.gives_up)
    assert {outcome.detail for outcome in ledger.outcomes} == {"pytest is missing."}
    assert len(ledger.outcomes) == len(NAMES) * len(CHECKS)


def test_an_interruption_ends_every_process(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Impatient(Ledger):
        def check(self, exercise: str, device: str, check: str) -> None:
            raise KeyboardInterrupt

    crew = Crew(PLAN, ("simulator",), TARGET, fake_workers.hangs)
    with pytest.raises(KeyboardInterrupt):
        crew.run(Impatient())
    ended = [member.process.exitcode for member in crew._members]
    assert ended
    assert None not in ended


def test_findings_travel_between_processes_with_their_facts() -> None:
    finding = Finding(Verdict.RACE, "race", an_exercise().points)
    assert pickle.loads(pickle.dumps(Finding(Verdict.RACE, "race"))) == Finding(
        Verdict.RACE, "race"
    )
    assert pickle.loads(pickle.dumps(finding)) == finding
