"""results.json in the formats of other systems: equal totals, and nothing that breaks out."""

from __future__ import annotations

import base64
import copy
import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.finding import GraderFault
from grader.formats import (
    classroom50,
    classroom_reporter,
    command,
    escape,
    gradescope,
    junit,
    reading,
    step_summary,
    table,
    workflow_commands,
)

DATA = Path(__file__).with_name("data")
HOSTILE = (
    "=cmd|' /C calc'!A0",
    "a | b\n| --- |\n```\n# h <img src=x onerror=alert(1)> [x](http://e.x) @everyone",
    "]]> <!-- & \x1b[31m \x00 \ufffe \u202e",
    "%0A::error::forged\r\n::set-output name=x::y\n::stop-commands::t",
    "+1\t-2@SUM(A1)",
    "x,file=README.md:9",
)
RUNNER = {
    "CLASSROOM": "cs1",
    "ASSIGNMENT": "matmul",
    "SUBMISSION_TAG": "submit/2026-01-01T00-00-00Z-abc1234",
    "COMMIT_URL": "https://example.org/c",
    "RELEASE_URL": "https://example.org/r",
    "OWNER": "ada",
    "MODE": "individual",
}


def check(name: str, status: str = "pass", points: int = 0, **changed: Any) -> dict[str, Any]:
    return {
        "name": name, "description": f"Is {name}.", "status": status, "reason": "", "verdict": "",
        "also": [], "earned": points if status == "pass" else 0, "points": points, "message": "",
        "hint": "", "shape": None, "locations": [], "command": "", "seconds": 0.25, **changed,
    }  # fmt: skip


def record(text: str = "C[1][0] is 0.0, expected 3.0.", file: str = "starter/02_tiled.cu") -> Any:
    """A grading with every status; `text` and `file` are what a student controls."""
    place = [{"file": file, "line": 9, "role": text}]
    first = [
        check("compiles"),
        check("safe", "fail", 3, verdict="race", message=text, hint=text, locations=place,
              command="make test EX=tiled"),
        check("whole_tiles", points=5),
        check("any_shape", "skipped", 6, reason="whole_tiles"),
        check("efficient", "grader_error", 6, message=text),
        check("fast", "not_graded", 5, reason="no_gpu", message="needs a GPU"),
    ]  # fmt: skip
    second = [check("whole_tiles", points=5), check("fast", points=15, earned=11)]
    exercises = []
    for name, checks in (("02_tiled", first), ("04_tuned", second)):
        sums = {key: sum(one[key] for one in checks) for key in ("earned", "points")}
        status = "grader_error" if name == "02_tiled" else "pass"
        more = {"sha256": "0" * 64, "timing": {}}
        exercises.append({"name": name, "status": status, "checks": checks, **sums, **more})
    return {
        "schema": "matmul-results/v1",
        "grader": {"version": "1.2", "tree_sha256": "0" * 64},
        "seed": 7,
        "created": "2026-03-04T05:06:07+00:00",
        "devices": [{"kind": "simulator", "name": "simulator of H200"}],
        "score": {"earned": 21, "points": 45, "not_graded": 11},
        "exercises": exercises,
    }


def decided(data: dict[str, Any]) -> reading.Record:
    """The same grading without the grader's own fault, which some systems do not take."""
    changed = copy.deepcopy(data)
    first = changed["exercises"][0]
    first["status"] = "fail"
    first["checks"][4].update(status="not_graded", reason="feature")
    return reading.parse(changed)


def totals(one: reading.Record) -> dict[str, tuple[float, float]]:
    """(earned, possible) as a reader of each format adds them up."""
    scope = gradescope.compose(one)
    class50 = classroom50.compose(one, RUNNER)
    reporter = classroom_reporter.compose(one)
    tests = reporter["tests"]
    passed = sum(test["status"] == "pass" for test in tests)
    rows = list(csv.DictReader(io.StringIO(table.write(one))))[:-1]
    return {
        "gradescope": (scope["score"], sum(test["max_score"] for test in scope["tests"])),
        "gradescope tests": (
            sum(test["score"] for test in scope["tests"]),
            sum(test["max_score"] for test in scope["tests"]),
        ),
        "classroom50": (class50["score"], class50["max-score"]),
        "classroom50 tests": (
            sum(test["score"] for test in class50["tests"]),
            sum(test["max-score"] for test in class50["tests"]),
        ),
        "reporter's annotation": (sum(test["score"] for test in tests), reporter["max_score"]),
        "reporter's table": (
            passed / len(tests) * reporter["max_score"],
            reporter["max_score"],
        ),
        "csv": (sum(int(r["earned"]) for r in rows), sum(int(r["possible"]) for r in rows)),
    }


def test_every_format_adds_up_to_the_same_score() -> None:
    one = decided(record())
    assert {key: value for key, value in totals(one).items() if value != (21, 34)} == {}
    assert "21 of 34 gradable points (11 not graded)" in workflow_commands.write(one)
    assert step_summary.write(one).startswith("## 21 of 34 gradable points")


def test_gradescope_output_has_only_documented_keys() -> None:
    composed = gradescope.compose(reading.parse(record()))
    schema = json.loads((DATA / "gradescope.schema.json").read_text())
    jsonschema.validate(composed, schema)


def test_classroom50_result_satisfies_its_rules() -> None:
    composed = classroom50.compose(decided(record()), RUNNER)
    jsonschema.validate(composed, json.loads((DATA / "classroom50_result.schema.json").read_text()))
    assert composed["score"] <= composed["max-score"]
    assert all(test["score"] <= test["max-score"] for test in composed["tests"])


def test_classroom50_gets_nothing_from_a_grading_that_failed() -> None:
    with pytest.raises(GraderFault, match="Next: run the grading again"):
        classroom50.write(reading.parse(record()), RUNNER)


def test_classroom50_names_what_its_runner_did_not_set() -> None:
    with pytest.raises(GraderFault, match="ASSIGNMENT, COMMIT_URL"):
        classroom50.write(decided(record()), RUNNER | {"ASSIGNMENT": "", "COMMIT_URL": ""})


def test_the_reporter_reads_its_line_back() -> None:
    line = classroom_reporter.write(decided(record()))
    assert line.count("\n") == 1
    read = json.loads(base64.b64decode(line))
    assert (read["version"], read["status"]) == (1, "fail")
    assert {test["status"] for test in read["tests"]} == {"pass", "fail"}


def test_a_fault_of_the_grader_is_no_failure_of_the_student() -> None:
    one = reading.parse(record())
    assert classroom_reporter.compose(one)["status"] == "error"
    suite = ElementTree.fromstring(junit.write(one).split("\n", 1)[1])
    assert (suite.get("failures"), suite.get("errors"), suite.get("skipped")) == ("1", "1", "2")
    fault = next(t for t in gradescope.compose(one)["tests"] if t["name"] == "02_tiled: efficient")
    assert "status" not in fault
    assert fault["max_score"] == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_a_students_text_breaks_out_of_no_format(text: str) -> None:
    _assert_contained(text)


@given(st.text(max_size=60) | st.text("|`\n\r:%,=@<>&[]#'\"\\$~_*", max_size=30))
@settings(max_examples=150, deadline=None)
def test_no_text_breaks_out_of_a_format(text: str) -> None:
    _assert_contained(text)


def _assert_contained(text: str) -> None:
    """Every format read back has the parts that it has for a plain text."""
    plain = decided(record("plain", "plain.cu"))
    one = decided(record(text or "-", text or "-"))
    commands = workflow_commands.write(one).split("\n")
    assert [c.partition(" ")[0] for c in commands] == ["::error", "::notice", ""]
    head = commands[0].removeprefix("::error ").split("::")[0]
    assert [part.partition("=")[0] for part in head.split(",")] == ["file", "line", "title"]
    rows = list(csv.reader(io.StringIO(table.write(one))))
    assert {len(row) for row in rows} == {len(table.COLUMNS)}
    assert len(rows) == 1 + len(one.checks) + 1
    assert not any(cell[:1] in {"=", "+", "-", "@", "\t"} for row in rows for cell in row)
    tree = ElementTree.fromstring(junit.write(one).split("\n", 1)[1])
    shape = [element.tag for element in tree.iter()]
    assert shape == [element.tag for element in ElementTree.fromstring(
        junit.write(plain).split("\n", 1)[1]).iter()]  # fmt: skip
    _assert_summary_contained(step_summary.write(one), len(one.checks))


def _assert_summary_contained(summary: str, checks: int) -> None:
    """Outside of code blocks there are only the lines that the writer made."""
    outside, fence = [], ""
    for line in summary.split("\n"):
        if fence:
            fence = "" if line == fence else fence
        elif line.startswith("```"):
            fence = line.removesuffix("text")
        else:
            outside.append(line)
    assert not fence
    rows = [line for line in outside if line.startswith("|")]
    assert len(rows) == 2 + checks
    assert {row.count("|") for row in rows} == {5}
    assert not any(sign in line for line in outside for sign in ("<", "](", "@", "`"))


def test_the_summary_stays_below_githubs_limit() -> None:
    long = step_summary.write(decided(record("word " * 400_000)))
    assert len(long.encode()) <= step_summary.LIMIT_BYTES
    assert "results.json has it" in long
    _assert_summary_contained(long, 8)


def test_a_formula_stays_text() -> None:
    assert [escape.cell(text) for text in ("=1+1", "\t@x", "a=1", "")] == [
        "'=1+1",
        "'@x",
        "a=1",
        "",
    ]


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda d: d["score"].update(earned=22), "score.earned is 22, the checks add up to 21"),
        (lambda d: d["exercises"][0].update(points=26), "02_tiled: points is 26"),
        (lambda d: d["exercises"][0].update(status="pass"), "02_tiled: status 'pass', its checks "),
        (lambda d: d["exercises"][1].update(status="missing"), "'missing', its checks say pass"),
        (lambda d: d["exercises"][1].update(status="banana"), "'banana', its checks say pass"),
        (lambda d: d["exercises"][1]["checks"][1].update(earned=16), "fast: 16 points for 'pass'"),
        (lambda d: d["exercises"][0]["checks"][1].update(earned=1), "safe: 1 points for 'fail'"),
        (lambda d: d["exercises"][0]["checks"][0].update(status="passed"), "is no status"),
        (lambda d: d.update(schema="matmul-results/v9"), "this reads matmul-results/v1"),
        (lambda d: d.update(seed=True), "seed is no count"),
        (lambda d: d.update(devices={}), "devices is no list"),
        (lambda d: d["exercises"][0]["checks"][0].update(also="race"), "also is no list"),
        (lambda d: d["exercises"][0]["checks"][0].update(shape=["x"]), "shape is no list"),
        (lambda d: d.pop("created"), "created is missing"),
        (lambda d: d["exercises"].append(d["exercises"][0]), "an exercise appears twice"),
        (lambda d: d["exercises"][0]["checks"][0].update(seconds=1e300), "no time in seconds"),
    ],
)  # fmt: skip
def test_a_record_that_contradicts_itself_is_refused(change: Any, told: str) -> None:
    data = record()
    change(data)
    with pytest.raises(reading.RecordProblem, match=told):
        reading.parse(data)


def test_a_file_that_is_no_record_is_told_with_its_path(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    with pytest.raises(reading.RecordProblem, match=r"cannot be read: No such file"):
        reading.read(path)
    for raw in (b"", b"\xff", b"[" * 100_000, b"[]", b"{}", b'{"schema": 1e999}', b"9" * 5_000_000):
        path.write_bytes(raw)
        with pytest.raises(reading.RecordProblem, match=r"results\.json.*Next: "):
            reading.read(path)


@pytest.mark.parametrize(
    "command, told",
    [
        ("make test EX=tiled SHAPE=3x3x3", "make test EX=tiled SHAPE=3x3x3"),
        ("make test EX=tiled SUBMISSION='/tmp/a b/x' SEED=7", "make test EX=tiled SEED=7"),
        ("make test EX=tiled SUBMISSION='open", "make test EX=tiled SUBMISSION='open"),
    ],
)
def test_the_folder_of_the_grading_machine_is_not_in_a_students_command(
    command: str, told: str
) -> None:
    data = record()
    data["exercises"][0]["checks"][1]["command"] = command
    assert reading.parse(data).checks[1].command == told


def test_pages_that_show_no_place_name_it() -> None:
    one = reading.parse(record(text="read"))
    assert "At: starter/02_tiled.cu:9 (read)" in gradescope.write(one)
    assert "At: starter/02_tiled.cu:9 (read)" in step_summary.write(one)


def test_a_summary_says_where_nothing_was_handed_in() -> None:
    one = reading.parse(record())
    words = "Nothing was handed in yet: every file is missing or as it was handed out."
    for status, told in (("fail", False), ("missing", True), ("not_started", True)):
        first, second = (replace(exercise, status=status) for exercise in one.exercises)
        rest = replace(second, status="missing")
        assert (words in step_summary.write(replace(one, exercises=(first, rest)))) == told


def test_of_the_places_of_a_check_the_first_is_marked() -> None:
    data = record()
    places = data["exercises"][0]["checks"][1]["locations"]
    places.append({"file": "starter/02_tiled.cu", "line": 30, "role": "write"})
    (mark, _, _) = workflow_commands.write(reading.parse(data)).split("\n")
    assert mark.startswith("::error file=starter/02_tiled.cu,line=9,")


def test_a_file_is_replaced_in_one_step_and_a_pipe_is_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    output = tmp_path / "junit.xml"
    output.write_text("earlier")
    (tmp_path / "link").symlink_to(output)
    command._write(tmp_path / "link", "through a link")
    assert (output.read_text(), (tmp_path / "link").is_symlink()) == ("through a link", True)
    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(GraderFault, match="No space left"):
        command._write(output, "half")
    assert output.read_text() == "through a link"
    command._write(Path("/dev/null"), "text")


def test_a_summary_is_cut_within_its_table_where_that_alone_is_too_long() -> None:
    data = record()
    data["exercises"][0]["checks"][1]["verdict"] = "x" * 5000
    text = step_summary.write(reading.parse(data), 2000)
    assert len(text.encode()) <= 2000
    assert text.startswith("## 21 of 34 gradable points")
