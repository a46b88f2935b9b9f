"""The report: what a reader learns, with colours and without."""

from __future__ import annotations

import functools
import io
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader import grading, settings
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome, Status
from grader.checks.plan import folder_entries
from grader.exercise import PROJECT
from grader.finding import Finding, Location, NotGraded
from grader.problems.matmul import Shape
from grader.report import line as lines
from grader.report.line import Line, console, paragraph, show
from grader.report.next_step import next_lines
from grader.report.progress import LiveProgress
from grader.report.summary import exercise_lines, total_lines
from grader.report.words import explanation, visible
from grader.score import Score, score_exercise
from grader.tests.fake_device import (
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    check,
    ragged,
    wrong_at,
)
from grader.verdict import Verdict

NAMES = ("01_naive", "02_tiled", "03_padded", "04_tuned")


def text(produced: Any) -> str:
    return "\n".join(one.text for one in produced)


@functools.cache
def right() -> Score:
    """That of a kernel without a fault."""
    return scored()


@functools.cache
def wrong() -> Score:
    """That of a kernel that is wrong everywhere."""
    return scored(FakeDevice(wrong_at(lambda shape: True)))


@functools.cache
def without_guards() -> Score:
    return scored(FakeDevice(wrong_at(ragged)))


def scored(device: FakeDevice | None = None, **changes: Any) -> Score:
    plan = a_plan(**changes)
    return grading.score(plan, check(plan, device or FakeDevice()))


def report(score: Score) -> str:
    return text(exercise_lines(score.exercises[0], with_points=True))


def four(*states: str) -> tuple[Score, Any]:
    """A score of four exercises: each "pass" or a state of its file."""
    entries = [
        an_entry(an_exercise(name), "started" if state == "pass" else state)
        for name, state in zip(NAMES, states, strict=True)
    ]
    plan = a_plan(*entries)
    return grading.score(plan, check(plan, FakeDevice())), plan


def test_every_check_has_a_row_with_its_status_in_words_and_its_points() -> None:
    told = report(right())
    assert "whole tiles pass            2/2" in told
    assert "efficient   pass           12/12" in told
    assert "fast        not graded      -/5     needs a GPU" in told
    assert "20 of 20 points (5 more are not graded)" in told


def test_a_failure_names_checks_verdict_shape_and_the_command_that_repeats_it() -> None:
    told = report(without_guards())
    assert "any shape: wrong_answer on the simulator" in told
    assert "Repeat: make test EX=tiled SHAPE=" in told


def test_one_cause_of_two_checks_is_told_once() -> None:
    told = report(scored(FakeDevice(wrong_at(lambda shape: True)), shape=Shape(8, 8, 8)))
    assert told.count("Repeat:") == 1


def test_a_skipped_check_says_what_it_needs() -> None:
    told = report(wrong())
    assert "needs whole tiles" in told


def test_a_check_with_all_its_points_needs_no_explanation() -> None:
    assert "counts" not in report(right())


def test_points_of_safe_that_do_not_count_are_explained() -> None:
    told = report(wrong())
    assert "0/3     counts once whole tiles passes" in told


def test_places_are_told_with_their_part() -> None:
    finding = Finding(
        Verdict.RACE,
        "not_deterministic",
        {"row": 0, "col": 0, "first": 1.0, "second": 2.0, "count": 1, "of": 9},
        (Location("starter/02_tiled.cu", 28, "write"), Location("starter/02_tiled.cu", 31, "read")),
        Shape(3, 3, 3),
        "simulator",
    )
    outcome = Outcome("02_tiled", "", "safe", "Safe.", Status.FAIL, findings=(finding,))
    told = text(exercise_lines(score_exercise(an_exercise(), "started", [outcome]), True))
    assert "At: starter/02_tiled.cu:28 (write), starter/02_tiled.cu:31 (read)" in told


def test_a_grader_error_is_told_once_and_is_not_called_a_failure() -> None:
    outcomes = [
        Outcome("02_tiled", "", name, "x.", Status.GRADER_ERROR, detail="g++ not found.")
        for name in ("compiles", "safe")
    ]
    told = text(exercise_lines(score_exercise(an_exercise(), "started", outcomes), True))
    assert told.count("Grader error: g++ not found.") == 1
    assert "fail" not in told


def test_an_untouched_file_is_one_line() -> None:
    told = report(scored(entries=(an_entry(state="not_started"),)))
    assert told.strip() == "02_tiled  Tiles in shared memory: not started"


def test_the_total_shows_both_numbers_and_why_points_are_missing() -> None:
    told = text(total_lines(right()))
    assert "20 of 20 points that can be graded here" in told
    assert "5 of 25 points are not graded: needs a GPU" in told


WAITING = ("not_started", "not_started", "not_started", "not_started")


@pytest.fixture
def starter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder starter/ of its own, with an untouched warm-up."""
    shutil.copy(PROJECT / "starter" / "00_warmup.cu", tmp_path)
    monkeypatch.setattr(settings, "STARTER", tmp_path)
    return tmp_path


def test_a_solved_warm_up_is_not_told_again(starter: Path) -> None:
    warm_up = starter / "00_warmup.cu"
    warm_up.write_text(warm_up.read_text("utf-8") + "// only a comment is no work\n", "utf-8")
    assert "starter/00_warmup.cu" in text(next_lines(*four(*WAITING)))
    shutil.copy(PROJECT / "exercises" / "00_warmup" / "solution.cu", warm_up)
    told = text(next_lines(*four(*WAITING)))
    assert "Read: exercises/01_naive/README.md" in told
    assert "Next: open starter/01_naive.cu, then: make test EX=naive" in told


def missing_naive(folder: Path) -> str:
    """The end of the report where 01_naive.cu is not in `folder`."""
    entry = an_entry(an_exercise("01_naive"), "missing")
    plan = a_plan(replace(entry, path=folder / entry.path.name))
    return text(next_lines(grading.score(plan, check(plan, FakeDevice())), plan)).strip()


def test_a_missing_starter_is_written_by_make_starter(starter: Path, tmp_path: Path) -> None:
    assert missing_naive(starter) == "starter/01_naive.cu is missing. Next: make starter"
    other = tmp_path / "other"
    told = f"{other}/01_naive.cu is missing. Next: put 01_naive.cu into {other}"
    assert missing_naive(other) == told


def test_a_starter_that_lies_on_another_disk_is_the_students_own(
    starter: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "link"
    link.symlink_to(starter)
    monkeypatch.setattr(settings, "STARTER", link)
    assert missing_naive(link) == "starter/01_naive.cu is missing. Next: make starter"


@pytest.mark.parametrize("name", ["01_Naive.cu", "01_naive.cu.txt"])
def test_a_file_whose_name_differs_in_a_way_that_hardly_shows_is_noticed(
    starter: Path, name: str
) -> None:
    (starter / name).write_text("__global__ void matmul_naive() { }\n")
    assert missing_naive(starter) == (
        f"starter/01_naive.cu is missing; {name}, which is called otherwise, is not looked at. "
        f"Next: mv starter/{name} starter/01_naive.cu"
    )


def test_an_emptied_starter_is_written_anew_and_one_elsewhere_is_opened(
    starter: Path, tmp_path: Path
) -> None:
    for folder, step in ((starter, "Next: make starter"), (tmp_path / "other", "Next: open ")):
        folder.mkdir(exist_ok=True)
        (folder / "01_naive.cu").write_text(" \n")
        plan = a_plan(*folder_entries((an_exercise("01_naive"),), folder))
        assert step in text(next_lines(grading.score(plan, check(plan, FakeDevice())), plan))


@pytest.mark.parametrize("graded", [False, True])
def test_a_passed_exercise_leads_to_the_next_one(graded: bool) -> None:
    told = text(next_lines(right(), a_plan(), graded))
    assert ("All public tests of this exercise passed" in told) is not graded
    assert told.endswith("Next: open starter/03_padded.cu, then: make test EX=padded")


@pytest.mark.parametrize("graded", [False, True])
def test_the_last_exercise_leads_to_all_of_them(graded: bool) -> None:
    plan = a_plan(an_entry(an_exercise("04_tuned")))
    score = grading.score(plan, check(plan, FakeDevice()))
    told = text(next_lines(score, plan, graded))
    assert told.endswith(f"Next: {'make grade' if graded else 'make test'}")


def test_a_grading_says_nothing_of_public_tests() -> None:
    told = text(next_lines(*four("pass", "pass", "pass", "pass"), graded=True))
    assert told.strip() == "Everything that can be graded here passed."


def test_an_interruption_is_no_error_of_the_grader_and_leads_to_a_new_try() -> None:
    plan = a_plan()
    score = grading.score(plan, Ledger(), interrupted=True)
    told = report(score)
    assert "02_tiled  Tiles in shared memory: interrupted" in told
    assert "  safe        interrupted     -/3" in told
    assert "rror" not in told + text(total_lines(score))
    assert text(next_lines(score, plan)).endswith("Next: make test EX=tiled")


def test_untouched_starters_lead_to_the_warm_up() -> None:
    told = text(next_lines(*four("not_started", "not_started", "not_started", "not_started")))
    assert "Next: open starter/00_warmup.cu, then: make test EX=warmup" in told


def test_after_a_passed_exercise_the_next_untouched_one_follows_with_its_handout() -> None:
    told = text(next_lines(*four("pass", "not_started", "not_started", "not_started")))
    assert "Read: exercises/02_tiled/README.md" in told
    assert "Next: open starter/02_tiled.cu, then: make test EX=tiled" in told


def test_a_failure_comes_before_an_untouched_file() -> None:
    plan = a_plan(an_entry(state="not_started"), an_entry(an_exercise("03_padded")))
    score = grading.score(plan, check(plan, FakeDevice(wrong_at(ragged))))
    told = text(next_lines(score, plan))
    assert "Next: open starter/03_padded.cu" in told
    assert told.endswith("make test EX=padded SEED=1")  # that of the plan


def test_a_failure_without_a_place_leads_to_the_file_that_was_checked() -> None:
    entry = an_entry()
    assert entry.submission is not None
    elsewhere = replace(entry.submission, name="group7/02_tiled.cu")
    plan = a_plan(replace(entry, submission=elsewhere))
    score = grading.score(plan, check(plan, FakeDevice(wrong_at(lambda shape: True))))
    assert "Next: open group7/02_tiled.cu, then: " in text(next_lines(score, plan))


def test_all_passed_is_never_told_as_final() -> None:
    told = text(next_lines(*four("pass", "pass", "pass", "pass")))
    assert "All public tests passed; the grade uses other shapes" in told
    assert "make grade" in told


def test_the_warm_up_leads_to_the_first_exercise() -> None:
    warmup = an_exercise("00_warmup", graded=False, points=dict.fromkeys(an_exercise().points, 0))
    plan = a_plan(an_entry(warmup))
    told = text(next_lines(grading.score(plan, check(plan, FakeDevice())), plan))
    assert "Next: open starter/01_naive.cu, then: make test EX=naive" in told


def test_control_characters_of_a_kernel_do_not_reach_the_terminal() -> None:
    assert "\x1b" not in visible("\x1b[2Jhello\x07\tworld\n")
    assert visible("a\tb\nc") == "a\tb\nc"


def test_long_texts_are_wrapped_and_their_lines_kept() -> None:
    told = list(paragraph("word " * 60 + "\nsecond", indent="  ", first="Hint: "))
    assert told[0].text.startswith("  Hint: word")
    assert told[-1].text == "  second"
    assert max(len(one.text) for one in told) <= 100


def test_a_command_is_not_broken_at_its_hyphens() -> None:
    command = "make test and --one-word-of-an-option"
    for before in range(40, 100):  # wherever the line ends
        told = paragraph(f"{'x' * before} {command}")
        assert " ".join(one.text for one in told).split() == ["x" * before, *command.split()]


@pytest.mark.parametrize(("cases", "words"), [(0, "safe"), (1, "1 shape"), (2, "2 shapes")])
def test_the_moving_line_counts_the_shapes_that_are_done(cases: int, words: str) -> None:
    drawn = io.StringIO()
    terminal = Console(file=drawn, force_terminal=True, color_system=None, width=80)
    with LiveProgress(terminal) as live:
        live.check("02_tiled", "simulator", "safe")
        for _ in range(cases):
            live.case("02_tiled", "simulator")
    last = drawn.getvalue().rpartition("02_tiled on the simulator: ")[2].split("  ")[0]
    assert last.split(" 0:")[0].rstrip() == ("safe" if not cases else f"safe, {words}")


def test_brackets_in_a_message_are_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    show(console(plain=True), [Line((("C[16][0] is [bold]x[/bold]", ""),))])
    assert capsys.readouterr().out == "C[16][0] is [bold]x[/bold]\n"


def test_plain_reports_hold_no_escape_sequences(capsys: pytest.CaptureFixture[str]) -> None:
    show(console(plain=True), exercise_lines(right().exercises[0], with_points=True))
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize("setting", ["1", "anything"])
def test_no_color_makes_reports_plain(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert not lines.is_plain(False)
    monkeypatch.setenv("NO_COLOR", setting)
    assert lines.is_plain(False)


@pytest.mark.parametrize("reason", NotGraded.REASONS)
def test_every_reason_has_words_and_a_detail_is_told(reason: str) -> None:
    outcome = Outcome("x", "", "fast", "Fast.", Status.NOT_GRADED, reason, "inline PTX")
    assert "inline PTX" in explanation(outcome)
    assert reason not in explanation(outcome)
    if reason != "feature":  # which one is always named
        assert len(explanation(replace(outcome, detail=""))) > 10


@pytest.mark.parametrize("reason", ["compiles", "whole_tiles", "missing", "not_started"])
def test_every_skip_has_words(reason: str) -> None:
    outcome = Outcome("x", "", "safe", "Safe.", Status.SKIPPED, reason)
    assert explanation(replace(outcome))
