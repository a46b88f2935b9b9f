"""The command that a report gives meets the very failure again: same shape, same cause."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

import pytest

from grader.checks.devices import compiler_check
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome, Status
from grader.checks.plan import PRACTICE_EXAMPLES, Plan, entry
from grader.checks.session import run_checks, subjects_of
from grader.checks.subject import Surroundings
from grader.cli import _parser
from grader.counted_shapes import drawn_ragged
from grader.counters import Counters
from grader.device import Launch
from grader.exercise import find
from grader.finding import Finding
from grader.problems.matmul import Shape
from grader.report.words import repeat
from grader.tests import simulated
from grader.tests.fake_device import (
    CONFIG,
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    changed,
    check,
    healthy,
    shape_of,
)
from grader.tests.fixture_runs import EXERCISES, on_simulator
from grader.tests.fixtures import Fixture, load_all
from grader.verdict import Verdict

# Those whose first finding speaks of a shape, each with another cause.
KINDS = (
    "index_overflow", "out_of_bounds", "misaligned", "input_modified", "divergent_barrier", "race",
    "uninitialised", "crash", "output_limit", "wrong_answer", "reduced_precision",
    "not_deterministic", "uncoalesced", "too_much_traffic", "bank_conflicts",
)  # fmt: skip


def one_a_kind() -> list[Fixture]:
    fixtures = [one for one in load_all() if one.on("simulator")]
    return [next(one for one in fixtures if one.verdict == kind) for kind in KINDS]


def first_failure(outcomes: Sequence[Outcome]) -> Outcome:
    return next(outcome for outcome in outcomes if outcome.status is Status.FAIL)


def plan_of(command: str, fixture: Fixture) -> Plan:
    """What `make test` makes of the words of a command."""
    words = dict(word.split("=", 1) for word in shlex.split(command)[2:])
    arguments = ["test", "--exercise", words["EX"], "--seed", words["SEED"]]
    arguments += ["--shape", words["SHAPE"]] if "SHAPE" in words else []
    options = _parser().parse_args(arguments)
    shape = Shape.parse(options.shape) if options.shape else None
    exercise = find(EXERCISES, options.exercise)
    assert exercise.name == fixture.exercise
    entries = (entry(exercise, fixture.path, fixture.path.parent),)
    return Plan(entries, options.seed, PRACTICE_EXAMPLES, shape)


@pytest.mark.parametrize("fixture", one_a_kind(), ids=str)
def test_the_command_of_a_failure_meets_it_again(fixture: Fixture) -> None:
    first = first_failure(on_simulator(fixture))
    command = repeat(first.findings[0], find(EXERCISES, fixture.exercise), "SEED=1")
    ledger = Ledger()
    around = Surroundings(simulated.TARGET, compiler_check(simulated.TARGET), shrink_limit_s=5.0)
    subjects = subjects_of(plan_of(command, fixture), (simulated.device("g++"),), around)
    run_checks(subjects, ledger)
    again = first_failure(ledger.outcomes)
    assert again.check == first.check
    seen, before = again.findings[0], first.findings[0]
    assert (seen.verdict, seen.kind, seen.shape) == (before.verdict, before.kind, before.shape)
    assert seen.locations == before.locations
    if fixture.verdict != Verdict.NOT_DETERMINISTIC:  # its numbers depend on what ran before
        assert dict(seen.facts) == dict(before.facts)


def test_too_much_traffic_at_the_edge_only_is_met_again() -> None:
    """The counters of a ragged shape are judged when it is the one that was asked for."""
    edge = drawn_ragged(a_plan().seed, an_exercise(), CONFIG)

    def counting(launch: Launch) -> Counters:
        counters = healthy(launch)
        if shape_of(launch) != edge:
            return counters
        words = 2 * next(one.words for one in counters.lines if (one.line, one.name) == (20, "A"))
        return changed(counters, 20, "A", words=words)

    exercise = an_exercise(limits={"max_word_ratio": 1.0})
    plan = a_plan(an_entry(exercise))
    first = first_failure(check(plan, FakeDevice(counting=counting)).outcomes)
    assert (first.check, first.findings[0].shape) == ("efficient", edge)
    again = check(replace(plan, shape=edge), FakeDevice(counting=counting))
    assert first_failure(again.outcomes).findings == first.findings
    fine = check(replace(plan, shape=edge), FakeDevice())
    assert not any(outcome.status is Status.FAIL for outcome in fine.outcomes)


def test_what_only_the_gpu_saw_is_repeated_on_the_gpu() -> None:
    shape = Shape(33, 17, 65)
    finding = Finding(Verdict.WRONG_ANSWER, "wrong_answer", shape=shape, device="gpu")
    command = repeat(finding, an_exercise(), "SEED=7")
    assert command == "make test EX=tiled SHAPE=33x17x65 DEVICE=gpu SEED=7"
    on_both = replace(finding, device="simulator")
    assert repeat(on_both, an_exercise(), "SEED=7") == "make test EX=tiled SHAPE=33x17x65 SEED=7"


def test_what_all_shapes_took_together_is_repeated_with_all_shapes() -> None:
    finding = Finding(Verdict.TIMEOUT, "timeout_all", shape=Shape(33, 17, 65), device="simulator")
    assert repeat(finding, an_exercise(), "") == "make test EX=tiled"
