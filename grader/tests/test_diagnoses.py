"""What is complained of in a first message. `test_fixtures.py` asks it of every wrong fixture."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.messages import Message
from grader.problems.matmul import Shape
from grader.tests.diagnoses import (
    Diagnosis,
    complaints,
    expected_wrong,
    given_away,
)
from grader.tests.fixture_runs import EXERCISES
from grader.verdict import Verdict

ASKED = expected_wrong()


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_no_hint_holds_code_of_the_solution(exercise: Exercise) -> None:
    for hint in exercise.hints.values():
        assert given_away(Message("", hint), exercise.name) == ""


GOOD = "C[0][0] is 1.0, expected 2.0 (M=1 N=2 K=3). Where does the loop end?"


def diagnosis(text: str = GOOD, hint: str = "", line: int = 7) -> Diagnosis:
    fixture, expected = next(pair for pair in ASKED if pair[0].exercise == "02_tiled")
    place = Location(f"starter/{fixture.path.name}", line)
    found = Finding(Verdict.RACE, "race", {}, (place,), Shape(1, 2, 3))
    wanted = replace(expected, verdict="race", kind="race", line=7)
    return Diagnosis(fixture, wanted, "safe", found, Message(text, hint))


def test_a_good_message_draws_no_complaint() -> None:
    assert list(complaints(diagnosis())) == []
    assert list(complaints(diagnosis(line=8))) == []


@pytest.mark.parametrize(
    "found, complaint",
    [
        (diagnosis(line=9), "points to lines"),
        (diagnosis("C is wrong (M=1 N=2 K=3)."), "without a next step"),
        (diagnosis("C[0][0] is wrong. Why?"), "does not name the shape"),
        (diagnosis(GOOD.replace("C[0]", "_Z12matmul_tiledPKfS0_Pf: C[0]")), "no student knows"),
        (diagnosis(GOOD.replace(". ", ".\n")), "too long"),
        (diagnosis(GOOD + " 1 2 3" * 9 + "?"), "too long"),
        (diagnosis(hint="Write sum += As[ty][k] * Bs[k][tx]; there."), "gives the solution away"),
        (replace(diagnosis(), message=None), "nothing is said"),
    ],
    ids=["line", "next step", "shape", "mangled", "lines", "matrix", "solution", "silence"],
)
def test_a_bad_message_draws_a_complaint(found: Diagnosis, complaint: str) -> None:
    assert any(complaint in text for text in complaints(found))
