"""The kinds of faults in `submissions/kinds.toml`: each has a fixture in each exercise."""

from __future__ import annotations

import tomllib

import pytest

from grader.tests.fixtures import ACCEPTED, EXERCISES, SUBMISSIONS, load_all

KINDS = tomllib.loads((SUBMISSIONS / "kinds.toml").read_text("utf-8"))["kind"]
WRONG = {
    f"{fixture.exercise}/{fixture.verdict}/{fixture.name}": fixture
    for fixture in load_all()
    if fixture.verdict not in (ACCEPTED, "not_graded_feature")
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["what"])
def test_a_kind_has_a_fixture_in_each_exercise_or_a_reason_why_not(
    kind: dict[str, object],
) -> None:
    reasons = kind.get("not_in", {})
    assert isinstance(reasons, dict)
    assert set(kind) <= {"what", "not_in", *EXERCISES}
    for exercise in EXERCISES:
        assert bool(kind.get(exercise)) is not bool(reasons.get(exercise)), exercise


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind["what"])
def test_the_fixtures_of_a_kind_exist_and_are_wrong(kind: dict[str, list[str]]) -> None:
    for exercise in EXERCISES:
        for name in kind.get(exercise, ()):
            assert f"{exercise}/{name}" in WRONG


def test_the_simulator_knows_the_cause_of_each_of_them() -> None:
    """Its finding's kind is written down, so that another message than the right one shows."""
    open_ones = []
    for kind in KINDS:
        for exercise in EXERCISES:
            for name in kind.get(exercise, ()):
                expected = WRONG[f"{exercise}/{name}"].on("simulator")
                if expected is None or not expected.kind:
                    open_ones.append(f"{exercise}/{name}")
    assert open_ones == []
