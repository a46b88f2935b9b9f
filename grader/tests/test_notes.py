"""What is no fault and still told: in the record, and in the report of a kernel that passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.checks.merge import merge
from grader.checks.outcome import Outcome, Status
from grader.checks.probing import note_overflow
from grader.checks.trial import try_shape
from grader.device import Launch
from grader.finding import Finding
from grader.messages import say
from grader.problems.matmul import beyond_shapes, large_shapes
from grader.report.summary import exercise_lines
from grader.score import score_exercise
from grader.tests.fake_device import OUTSIDE, FakeDevice, a_plan, an_exercise, check
from grader.tests.simulated import (
    BODY_LINE,
    FINISH,
    PRELUDE,
    SHAPE,
    both_compilers,
    build,
    device,
)
from grader.verdict import Verdict

LINE_OF_C = BODY_LINE + 4  # FINISH begins with an empty line


def overflow_notes(family: str, text: str) -> list[Finding]:
    notes: list[Finding] = []
    note_overflow(device(family), build(family, text), notes.append)
    return notes


@both_compilers
def test_an_index_in_an_int_is_noted_where_it_ends_beyond_the_contract(family: str) -> None:
    notes = overflow_notes(family, PRELUDE + FINISH)
    lines = {place.line for note in notes for place in note.locations}
    assert {note.kind for note in notes} == {"overflow_beyond"}
    assert LINE_OF_C in lines
    assert "no fault" in say(notes[0])


@both_compilers
def test_an_index_of_64_bits_is_not_noted(family: str) -> None:
    wide = FINISH.replace("row * ", "(size_t)row * ").replace("k * N", "(size_t)k * N")
    assert overflow_notes(family, PRELUDE + wide) == []


def test_the_shapes_lie_on_both_sides_of_the_contracts_limit() -> None:
    config = build("g++", PRELUDE + FINISH).config
    assert config is not None
    for shapes, beyond in ((large_shapes(config), False), (beyond_shapes(config), True)):
        for m, n, k in shapes:
            assert (max(m * n, m * k, n * k) >= 2**31) is beyond
            assert -(-m // config.tile_m) <= 65_535


@both_compilers
def test_unset_shared_memory_that_changes_nothing_is_noted(family: str) -> None:
    body = (
        "    __shared__ float s[16];\n    float unused = s[tx];\n    if (unused == M) s[tx] = 1;\n"
    )
    notes: list[Finding] = []
    built = build(family, PRELUDE + body + FINISH)
    assert try_shape(device(family), built, SHAPE, 1, watch=True, note=notes.append) == ()
    assert {(note.kind, note.locations[0].line) for note in notes} == {
        ("unset_shared", BODY_LINE + 1)
    }
    assert "depends on it" not in say(notes[0])


def probed(launch: Launch) -> tuple[Finding, ...]:
    """An index that overflows beyond the contract's sizes only."""
    if max(operand.size for operand in launch.operands) < 2**31:
        return ()
    return (Finding(Verdict.INDEX_OVERFLOW, "index_overflow", {"expression": "46500 * 46500"}),)


def noted() -> tuple[Outcome, ...]:
    fake = FakeDevice()
    fake.probe = probed
    return merge(check(a_plan(), fake).outcomes)


def lines_with(outcomes: Sequence[Outcome]) -> list[str]:
    score = score_exercise(an_exercise(), "started", outcomes)
    assert score.status == "pass"
    return [line.text for line in exercise_lines(score, with_points=True)]


def test_a_note_costs_nothing_and_is_told_once_below_what_passed() -> None:
    facts = {"name": "s", "index": [3], "thread": [0, 0], "block": [0, 0], "output": ""}
    unset = Finding(Verdict.UNINITIALISED, "unset_shared", facts)
    outcomes = [replace(o, notes=(unset, unset)) for o in noted()]
    assert sum(line.startswith("  Note: ") for line in lines_with(outcomes)) == 1


def test_the_overflow_that_nearly_every_kernel_has_stands_in_the_record_alone() -> None:
    assert [note.kind for outcome in noted() for note in outcome.notes] == ["overflow_beyond"]
    assert not any("Note:" in line for line in lines_with(noted()))


def test_the_notes_of_a_kernel_that_fails_wait() -> None:
    outcomes = [
        replace(o, status=Status.FAIL, findings=(OUTSIDE,)) if o.check == "any_shape" else o
        for o in noted()
    ]
    score = score_exercise(an_exercise(), "started", outcomes)
    lines = [line.text for line in exercise_lines(score, with_points=True)]
    assert not any("Note:" in line for line in lines)
    assert [note.kind for check in score.checks for note in check.outcome.notes] == [
        "overflow_beyond"
    ]
