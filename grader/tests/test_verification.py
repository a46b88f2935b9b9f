"""A record is repeated, and comes out the same, or it is said what does not and why."""

from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader import cli, grading, record
from grader.checks.plan import Plan, folder_entries
from grader.exercise import PROJECT, load_all
from grader.formats.reading import parse
from grader.grading import Grading
from grader.tests.fake_device import (
    FakeDevice,
    a_plan,
    check,
    ragged,
    wrong_at,
)
from grader.tests.repositories import git
from grader.tree import tree_sha256
from grader.verification import command, conditions, origin
from grader.verification.comparison import Comparison
from grader.verification.comparison import compare as compare_records

EXERCISE = next(one for one in load_all(PROJECT) if one.name == "02_tiled")
SOLUTION = EXERCISE.folder / "solution.cu"
COMMIT = "c0ffee"


def composed(device: FakeDevice) -> dict[str, Any]:
    plan = a_plan()
    ledger = check(plan, device)
    ledger.device({"kind": "simulator", "name": "fake"})
    return as_read(record.compose(grading.score(plan, ledger), plan, ledger))


@functools.cache
def _graded(is_right: bool) -> dict[str, Any]:
    return composed(FakeDevice() if is_right else FakeDevice(wrong_at(ragged)))


def right() -> dict[str, Any]:
    """The record of a right kernel, to be changed."""
    return as_read(_graded(True))


def wrong() -> dict[str, Any]:
    """The record of one that is wrong at ragged shapes."""
    return as_read(_graded(False))


def as_read(data: Any) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(json.dumps(data))
    return read


def compare(then: dict[str, Any], now: dict[str, Any]) -> Comparison:
    return compare_records(parse(then), parse(now))


def one_check(data: dict[str, Any], name: str) -> dict[str, Any]:
    return next(one for one in data["exercises"][0]["checks"] if one["name"] == name)


def test_equal_gradings_compare_equal_whatever_time_they_took() -> None:
    then, now = (composed(FakeDevice(wrong_at(ragged))) for _ in range(2))
    for one in now["exercises"][0]["checks"]:
        one["seconds"] += 17.0
    now["created"] = "2001-01-01T00:00:00+00:00"
    found = compare(then, now)
    assert (found.checks, found.different, found.open) == (6, (), ())


@pytest.mark.parametrize("folder", ["students/k12/submission", "my files"])
def test_the_folder_of_the_files_is_no_difference(folder: str) -> None:
    then = wrong()
    told = one_check(then, "any_shape")
    told["locations"] = [{"file": "starter/02_tiled.cu", "line": 28, "role": "read"}]
    told["message"] = "As[0][3] is wrong (starter/02_tiled.cu:28)."
    now = json.loads(json.dumps(then).replace("starter/", f"{folder}/"))
    assert compare(then, now).different == ()


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"message": "another"}, 'message was "C['),
        ({"verdict": "race"}, 'verdict was "wrong_answer", is "race"'),
        ({"locations": [{"file": "f.cu", "line": 3, "role": "read"}]}, 'is "f.cu:3 read"'),
        ({"shape": [1, 2, 3]}, 'is "1x2x3"'),
        ({"also": ["race"]}, 'also was nothing, is "race"'),
        ({"hint": "another"}, 'is "another"'),
        ({"command": "make test"}, 'is "make test"'),
        ({"description": "It is right."}, 'is "It is right."'),
    ],
)
def test_what_differs_is_told(change: dict[str, Any], told: str) -> None:
    then, now = wrong(), wrong()
    one_check(now, "any_shape").update(change)
    different = compare(then, now).different
    assert any(one.startswith("02_tiled: any shape: ") and told in one for one in different)


def test_another_status_is_told() -> None:
    then, now = wrong(), wrong()
    one_check(now, "any_shape").update(status="skipped", reason="safe")
    now["exercises"][0]["status"] = "pass"
    different = compare(then, now).different
    assert '02_tiled: any shape: status was "fail", is "skipped"' in different


def timed(quarters: int | None, earned: int, status: str = "pass", reason: str = "") -> Any:
    data = right()
    fast = one_check(data, "fast")
    message = f"{1 + (quarters or 0) / 10} times the baseline"
    fast.update(status=status, reason=reason, earned=earned, message=message)
    exercise = data["exercises"][0]
    exercise["timing"] = {"quarters": quarters, "shapes": []}
    exercise["earned"] += earned
    data["score"]["earned"] += earned
    if status == "pass":
        data["score"]["not_graded"] -= fast["points"]
    return data


def test_a_speed_of_as_many_quarters_is_the_same_whatever_was_measured() -> None:
    then, now = timed(3, 4), timed(3, 4)
    one_check(now, "fast")["message"] = "1.29 times the baseline"
    assert compare(then, now).different == ()


def test_other_quarters_of_speed_are_told_in_words() -> None:
    (told,) = compare(timed(3, 4), timed(4, 5)).different
    assert "3 of 4 quarters then (1.3 times the baseline), 4 of 4 quarters now" in told
    assert "near a threshold" in told


def test_a_gpu_that_was_not_quiet_is_no_difference_and_no_agreement() -> None:
    found = compare(timed(3, 4), timed(None, 0, "not_graded", "inconclusive"))
    assert found.different == ()
    assert len(found.open) == 1


def test_an_error_of_the_grader_is_compared_with_nothing() -> None:
    then, now = right(), right()
    safe = one_check(now, "safe")
    lost = safe["earned"]
    now["exercises"][0]["status"] = "grader_error"
    safe.update(status="grader_error", earned=0, message="memory is full")
    now["exercises"][0]["earned"] -= lost
    now["score"]["earned"] -= lost
    now["score"]["not_graded"] += safe["points"]
    found = compare(then, now)
    assert found.different == ()
    assert found.open == (
        "02_tiled: safe: this grading has an error of the grader: memory is full",
    )


# The verb. The grading itself is played by a device that multiplies with numpy.


def fake_grading(device: FakeDevice) -> Callable[..., Grading]:
    def run(plan: Plan, *_: Any) -> Grading:
        ledger = check(Plan(plan.entries, plan.seed, 10), device)
        ledger.device({"kind": "simulator", "name": "fake", "compiler": "g++ 12.2.0"})
        return Grading(plan, grading.score(plan, ledger), ledger)

    return run


@pytest.fixture
def submission(tmp_path: Path) -> Path:
    folder = tmp_path / "my files"
    folder.mkdir()
    shutil.copy(SOLUTION, folder / "02_tiled.cu")
    return folder


@pytest.fixture
def result(tmp_path: Path, submission: Path) -> Path:
    plan = Plan(folder_entries((EXERCISE,), submission), seed=5)
    done = fake_grading(FakeDevice())(plan)
    path = tmp_path / "results.json"
    path.write_text(json.dumps(record.compose(done.score, plan, done.ledger)))
    return path


def verify(
    monkeypatch: pytest.MonkeyPatch, result: Path, folder: Path, device: FakeDevice | None = None
) -> int:
    monkeypatch.setattr(conditions, "commit_of", lambda *_: COMMIT)
    monkeypatch.setattr(command, "run_plan", fake_grading(device or FakeDevice()))
    return cli.main(["verify", str(result), str(folder), "--plain"])


def test_a_grading_that_comes_out_the_same_is_said_so(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
) -> None:
    moved = submission.rename(submission.with_name("elsewhere"))
    assert verify(monkeypatch, result, moved) == 0
    told = capsys.readouterr().out
    assert "The same: 6 checks, seed 5, 20 of 20 gradable points (5 not graded).\n" in told


def test_a_grading_that_comes_out_otherwise_is_status_1(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
) -> None:
    assert verify(monkeypatch, result, submission, FakeDevice(wrong_at(ragged))) == 1
    told = capsys.readouterr().out
    assert 'Different: 02_tiled: any shape: status was "pass", is "fail".' in told
    assert "Not the same" in told


def test_a_hand_out_with_the_files_in_starter_is_verified_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
) -> None:
    clone = submission.with_name("clone")
    clone.mkdir()
    submission.rename(clone / "starter")
    assert verify(monkeypatch, result, clone) == 0
    assert "The same: 6 checks" in capsys.readouterr().out


def test_another_compiler_is_noted(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
) -> None:
    data = json.loads(result.read_text())
    data["devices"][0]["compiler"] = "clang++ 14.0.6"
    result.write_text(json.dumps(data))
    assert verify(monkeypatch, result, submission) == 0
    assert "compiler was clang++ 14.0.6, is g++ 12.2.0" in capsys.readouterr().out


def another_grader(data: dict[str, Any], folder: Path) -> None:
    data["grader"]["tree_sha256"] = "0" * 64


def other_files(data: dict[str, Any], folder: Path) -> None:
    with (folder / "02_tiled.cu").open("a") as file:
        file.write("// mended\n")


def no_file(data: dict[str, Any], folder: Path) -> None:
    (folder / "02_tiled.cu").unlink()


def a_gpu(data: dict[str, Any], folder: Path) -> None:
    data["devices"].append({"kind": "gpu", "name": "NVIDIA of the future"})


def no_device(data: dict[str, Any], folder: Path) -> None:
    data["devices"] = []


def another_course(data: dict[str, Any], folder: Path) -> None:
    data["exercises"][0]["name"] = "07_sparse"


def no_exercise(data: dict[str, Any], folder: Path) -> None:
    data["exercises"] = []
    data["score"] = {"earned": 0, "points": 0, "not_graded": 0}


def one_check_less(data: dict[str, Any], folder: Path) -> None:
    data["exercises"][0]["checks"].pop(0)  # compiles, which is worth nothing


def another_order(data: dict[str, Any], folder: Path) -> None:
    data["exercises"][0]["checks"].reverse()


def timing_of_another_kind(data: dict[str, Any], folder: Path) -> None:
    data["exercises"][0]["timing"] = []


def another_status(data: dict[str, Any], folder: Path) -> None:
    data["exercises"][0]["status"] = "fail"


def too_many_quarters(data: dict[str, Any], folder: Path) -> None:
    data["exercises"][0]["timing"] = {"quarters": 5}


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (no_exercise, "about no exercise.*Next: give the results.json"),
        (one_check_less, "02_tiled: the record's checks are not compiles, .*Next: give the"),
        (another_status, "02_tiled: status 'fail', its checks say pass.*Next: "),
        (another_order, "02_tiled: the record's checks are not compiles, .*Next: give the"),
        (timing_of_another_kind, "timing is no object.*Next: "),
        (too_many_quarters, "02_tiled: timing.quarters is no count up to 4.*Next: "),
        (
            another_grader,
            "Another grader made the record.*000000000000.*Next: verify with the copy that graded: "
            "git worktree add ../c0ffee c0ffee",
        ),
        (other_files, "02_tiled.cu is not the file that was graded.*Next: give the folder"),
        (no_file, "of no readable file now.*Next: give the folder"),
        (a_gpu, "made on a NVIDIA of the future.*Next: verify on a machine with that GPU"),
        (no_device, "names no device.*Next: grade again"),
        (another_course, "07_sparse, which this course does not have.*Next: "),
    ],
)
def test_what_cannot_be_compared_is_status_2_and_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
    damage: Callable[[dict[str, Any], Path], None],
    told: str,
) -> None:
    data = json.loads(result.read_text())
    damage(data, submission)
    result.write_text(json.dumps(data))
    assert verify(monkeypatch, result, submission) == 2
    said = capsys.readouterr()
    assert re.search(told, (said.out + said.err).replace("\n", " "))


def test_the_commit_that_graded_is_found_by_the_fingerprint_of_its_files(tmp_path: Path) -> None:
    (tmp_path / "grader").mkdir()
    git(tmp_path, "init", "--quiet")
    told: dict[str, str] = {}
    for text in ("1", "2", "2", "3"):
        (tmp_path / "grader/score.py").write_text(text)
        (tmp_path / "README.md").write_text(f"{len(told)} {text}")
        git(tmp_path, "add", "--all")
        git(tmp_path, "commit", "--quiet", "--allow-empty", "--message", "work")
        told[tree_sha256(tmp_path)] = git(tmp_path, "log", "-1", "--format=%h").strip()
    now = datetime.now(UTC) + timedelta(hours=1)
    for fingerprint, commit in told.items():
        assert origin.commit_of(tmp_path, fingerprint, now.isoformat()) == commit
        assert origin.commit_of(tmp_path, fingerprint, "2001-01-01T00:00:00+00:00") == ""
    assert origin.commit_of(tmp_path, "0" * 64, now.isoformat()) == ""
    assert origin.commit_of(tmp_path / "grader/none", "0" * 64, now.isoformat()) == ""


def test_exercises_that_the_record_leaves_out_are_named(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
) -> None:
    assert verify(monkeypatch, result, submission) == 0
    told = capsys.readouterr().out
    assert "Note: the record is not about 01_naive, 03_padded, 04_tuned.\n" in told


@pytest.mark.parametrize("where", ["message", "compiler", "name"])
def test_no_text_of_a_record_reaches_the_terminal_as_a_command(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    result: Path,
    submission: Path,
    where: str,
) -> None:
    data = json.loads(result.read_text())
    text = "\x1b[31mboo\x1b]0;title\a"
    place = {"message": one_check(data, "safe"), "compiler": data["devices"][0]}
    place.get(where, data["exercises"][0])[where] = text
    result.write_text(json.dumps(data))
    verify(monkeypatch, result, submission)
    said = capsys.readouterr()
    assert "boo" in said.out + said.err
    assert not {"\x1b", "\a"} & set(said.out + said.err)


def test_a_file_that_is_no_record_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], submission: Path
) -> None:
    (tmp_path / "no.json").write_text("{")
    assert cli.main(["verify", str(tmp_path / "no.json"), str(submission)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)


def test_a_real_grading_on_the_simulator_repeats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "handed in"
    folder.mkdir()
    source = PROJECT / "grader/tests/submissions/01_naive/wrong_answer"
    shutil.copy(sorted(source.glob("*.cu"))[0], folder / "01_naive.cu")
    arguments = ["grade", str(folder), "--exercise", "naive", "--device", "simulator", "--plain"]
    assert cli.main([*arguments, "--output", str(tmp_path / "out")]) == 1
    moved = folder.rename(tmp_path / "kept")
    capsys.readouterr()
    assert cli.main(["verify", str(tmp_path / "out" / "results.json"), str(moved)]) == 0
    assert "The same: 6 checks" in capsys.readouterr().out
