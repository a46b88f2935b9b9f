"""results.json: its schema, its atomic writing, and what it never overwrites."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader import grading, record
from grader.checks.listener import Ledger
from grader.counted_shapes import drawn_aligned
from grader.device import Build, Launch, Run
from grader.exercise import PROJECT
from grader.finding import Finding, GraderFault
from grader.tests.fake_device import (
    CONFIG,
    OUTSIDE,
    SYNTAX,
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    check,
    ragged,
    wrong_at,
)
from grader.tree import tree_sha256
from grader.verdict import Verdict

SCHEMA = json.loads(record.SCHEMA_FILE.read_text(encoding="utf-8"))


def valid(composed: dict[str, Any]) -> dict[str, Any]:
    """The record as a reader gets it, held against the schema."""
    read: dict[str, Any] = json.loads(json.dumps(composed))
    jsonschema.Draft202012Validator(
        SCHEMA, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    ).validate(read)
    return read


def recorded(device: FakeDevice | None = None, **changes: Any) -> dict[str, Any]:
    plan = a_plan(**changes)
    ledger = check(plan, device or FakeDevice())
    ledger.device({"kind": "simulator", "name": "fake"})
    return valid(record.compose(grading.score(plan, ledger), plan, ledger))


def checks(composed: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in composed["exercises"][0]["checks"]}


def with_status(status: str) -> dict[str, Any]:
    return {"schema": record.SCHEMA, "exercises": [{"status": status}]}


def test_the_schema_is_itself_valid() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_a_pass_is_recorded_with_what_cannot_be_graded_here() -> None:
    composed = recorded()
    assert composed["score"] == {"earned": 20, "points": 25, "not_graded": 5}
    assert composed["exercises"][0]["status"] == "pass"
    assert checks(composed)["fast"]["reason"] == "no_gpu"
    assert composed["exercises"][0]["build"]["simulator"]["launch_config"]["tile_m"] == 8


def test_the_folder_that_was_graded_is_named() -> None:
    assert recorded()["submission"] == str(a_plan().entries[0].path.parent)


def test_what_is_no_fault_is_recorded_as_a_note() -> None:
    note = Finding(Verdict.INDEX_OVERFLOW, "overflow_beyond", {"expression": "46500 * 46500"})
    device = FakeDevice()
    device.probe = lambda launch: (
        (replace(note, kind="index_overflow"),) * (launch.scalars[0] * launch.scalars[1] >= 2**31)
    )
    composed = recorded(device)
    notes = checks(composed)["safe"]["notes"]
    assert [one["kind"] for one in notes] == ["overflow_beyond"]
    assert composed["exercises"][0]["status"] == "pass"


def test_a_failure_is_recorded_with_its_cause_shape_and_command() -> None:
    any_shape = checks(recorded(FakeDevice(wrong_at(ragged))))["any_shape"]
    assert any_shape["status"] == "fail"
    assert any_shape["verdict"] == "wrong_answer"
    m, n, k = any_shape["shape"]
    assert any_shape["command"] == f"make test EX=tiled SHAPE={m}x{n}x{k} SEED=1"
    assert any_shape["message"]


def test_further_verdicts_are_listed_beside_the_first() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = wrong_at(lambda shape: True)(build, launch, number)
        return replace(run, findings=(OUTSIDE,))

    whole_tiles = checks(recorded(FakeDevice(behave)))["whole_tiles"]
    assert (whole_tiles["verdict"], whole_tiles["also"]) == ("out_of_bounds", ["wrong_answer"])


def test_a_compile_error_is_recorded_without_a_shape() -> None:
    device = FakeDevice()
    device.refuse = (SYNTAX,)
    compiles = checks(recorded(device))["compiles"]
    assert (compiles["shape"], compiles["command"]) == (None, "make test EX=tiled SEED=1")


@pytest.mark.parametrize("state", ["missing", "not_started"])
def test_a_file_that_is_not_graded_is_recorded(state: str) -> None:
    plan = a_plan(an_entry(state=state))
    ledger = check(plan, FakeDevice())
    composed = valid(record.compose(grading.score(plan, ledger), plan, ledger))
    assert composed["exercises"][0]["status"] == state
    assert composed["score"]["earned"] == 0


def test_the_counters_of_a_launch_are_recorded_line_by_line() -> None:
    counters = recorded()["exercises"][0]["counters"]
    assert counters["shape"] == list(drawn_aligned(1, an_exercise(), CONFIG))
    assert counters["barriers"] > 0
    assert counters["bytes_moved"] == 32 * sum(line["sectors"] for line in counters["lines"])
    assert [(line["line"], line["name"]) for line in counters["lines"]] == [
        *[(20, "A"), (20, "As"), (21, "B"), (21, "Bs"), (23, "As"), (23, "Bs"), (25, "C")]
    ]
    assert counters["lines"][0]["words"] > 0


def test_the_counters_of_a_wasteful_kernel_are_recorded_beside_its_failure() -> None:
    entry = an_entry(an_exercise(limits={"min_tile_m": 99.0}))
    composed = recorded(entries=(entry,))
    assert checks(composed)["efficient"]["verdict"] == "too_much_traffic"
    assert checks(composed)["efficient"]["locations"]
    assert composed["exercises"][0]["counters"]["lines"]


def test_where_nothing_was_counted_there_are_no_lines() -> None:
    assert recorded(FakeDevice(counting=None))["exercises"][0]["counters"] == {"lines": []}


@pytest.mark.parametrize(
    "damage",
    [
        lambda counters: counters.pop("barriers"),
        lambda counters: counters.update(more=1),
        lambda counters: counters.update(barriers=-1),
        lambda counters: counters.update(shape=[64, 64]),
        lambda counters: counters.update(lines=[]),
        lambda counters: counters["lines"][0].pop("sectors"),
        lambda counters: counters["lines"][0].update(more=1),
        lambda counters: counters["lines"][0].update(access="write"),
        lambda counters: counters["lines"][0].update(requests=1.5),
    ],
)
def test_the_schema_takes_no_other_counters(damage: Callable[[dict[str, Any]], Any]) -> None:
    composed = recorded()
    damage(composed["exercises"][0]["counters"])
    with pytest.raises(jsonschema.ValidationError):
        valid(composed)


def test_what_was_known_before_an_interruption_is_recorded() -> None:
    plan = a_plan(an_entry(), an_entry(an_exercise("03_padded")))
    whole = check(plan, FakeDevice())
    ledger = Ledger(outcomes=whole.outcomes[:8])  # the second exercise was under way
    composed = valid(record.compose(grading.score(plan, ledger), plan, ledger))
    assert [one["status"] for one in composed["exercises"]] == ["pass", "grader_error"]
    assert composed["score"]["earned"] == 20 + 3


def test_equal_gradings_give_equal_records_apart_from_times() -> None:
    def without_times(composed: dict[str, Any]) -> dict[str, Any]:
        for one in checks(composed).values():
            del one["seconds"]
        del composed["created"]
        return composed

    first = without_times(recorded(FakeDevice(wrong_at(ragged))))
    assert first == without_times(recorded(FakeDevice(wrong_at(ragged))))


def test_a_good_record_replaces_an_earlier_one_and_its_error(tmp_path: Path) -> None:
    (tmp_path / record.ERROR_NAME).write_text("{}")
    record.save(tmp_path, with_status("fail"))
    path = record.save(tmp_path, with_status("pass"))
    assert json.loads(path.read_text())["exercises"][0]["status"] == "pass"
    assert os.listdir(tmp_path) == [record.NAME]


def test_a_grader_error_never_replaces_a_score(tmp_path: Path) -> None:
    kept = record.save(tmp_path, with_status("fail"))
    path = record.save(tmp_path, with_status("grader_error"))
    assert path.name == record.ERROR_NAME
    assert json.loads(kept.read_text())["exercises"][0]["status"] == "fail"


@pytest.mark.parametrize("earlier", [None, "half a fi", '{"exercises": 3}'])
def test_a_grader_error_is_the_record_where_there_is_no_score(
    tmp_path: Path, earlier: str | None
) -> None:
    if earlier is not None:
        (tmp_path / record.NAME).write_text(earlier)
    assert record.save(tmp_path, with_status("grader_error")).name == record.NAME


def test_a_failed_write_leaves_the_earlier_record_and_no_rubbish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = record.save(tmp_path, with_status("pass"))
    before = kept.read_text()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(GraderFault, match="No space left"):
        record.save(tmp_path, with_status("fail"))
    assert os.listdir(tmp_path) == [record.NAME]
    assert kept.read_text() == before


def test_an_output_folder_that_cannot_be_written_is_named_with_the_way_out(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(record.RecordError, match="file/results cannot be written.*--output"):
        record.check_writable(tmp_path / "file" / "results")


def test_the_log_holds_each_text_once_and_goes_away_when_there_is_none(tmp_path: Path) -> None:
    path = record.save_log(tmp_path, ["trace", "trace", ""])
    assert path is not None
    assert path.read_text() == "trace\n"
    assert record.save_log(tmp_path, []) is None
    assert not path.exists()


def test_the_fingerprint_covers_what_decides_a_score_and_nothing_else(tmp_path: Path) -> None:
    def write(name: str, text: str = "x") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return tree_sha256(tmp_path)

    first = write("grader/score.py")
    assert write("grader/__pycache__/score.pyc") == first
    assert write("grader/tests/test_score.py") == first
    assert write("starter/01_naive.cu") == first
    for stray in (".DS_Store", "score.py~", ".score.py.swp", "._score.py", "tags", ".x/score.py"):
        assert write(f"grader/{stray}") == first
    assert len({first, write("tests/test_checks.py"), write("exercises/1/exercise.toml")}) == 3
    assert write("grader/score.py", "y") != first
    assert write("grader/simulator/include/algorithm") != write("grader/score.py")


def test_a_deadline_that_is_moved_changes_no_fingerprint(tmp_path: Path) -> None:
    def write(text: str) -> str:
        (tmp_path / "course.toml").write_text(text)
        return tree_sha256(tmp_path)

    first = write('target_gpu = "H200"\n')
    deadline = "[deadline]\ntime = 2026-12-18T23:59:00Z\n"
    assert write(f'target_gpu = "H200"\n{deadline}') == first
    assert write(f'target_gpu = "A100"\n{deadline}') != first
    assert write("target_gpu = ") != first


def test_a_copy_below_a_hidden_folder_has_a_fingerprint_of_its_files(tmp_path: Path) -> None:
    hashes = set()
    for name in (".cache", "plain"):
        path = tmp_path / name / "grader" / "score.py"
        path.parent.mkdir(parents=True)
        path.write_text("x")
        hashes.add(tree_sha256(tmp_path / name))
    assert len(hashes) == 1


def test_the_fingerprint_of_this_copy_is_a_hash() -> None:
    assert len(bytes.fromhex(tree_sha256(PROJECT))) == 32
