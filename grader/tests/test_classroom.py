"""A class: rosters, late days, what was handed in, one job a student, the grade book."""

from __future__ import annotations

import argparse
import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.classroom import command, folder, gradebook, job, page, policy, roster, similarity
from grader.classroom.policy import Deadline, lateness
from grader.classroom.snapshot import take
from grader.course import CourseError
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.handout import manifest
from grader.submission import LIMIT_BYTES
from grader.tests.test_formats import record

DUE = datetime(2026, 12, 18, 22, 59, tzinfo=UTC)
NAMES = ("01_naive.cu", "02_tiled.cu", "03_padded.cu", "04_tuned.cu")
POLICY = Deadline(DUE, timedelta(minutes=15), percent_per_day=10, late_days=2)


def read_roster(tmp_path: Path, text: str) -> tuple[roster.Student, ...]:
    path = tmp_path / "roster.csv"
    path.write_text(text)
    return roster.read(path, POLICY)


# Late days


@pytest.mark.parametrize(
    "late, days, charged, points",
    [
        (timedelta(), 0, 0, 75),
        (timedelta(minutes=15), 0, 0, 75),
        (timedelta(minutes=16), 1, 0, 75),
        (timedelta(days=2), 2, 0, 75),
        (timedelta(days=2, seconds=1), 3, 1, 68),
        (timedelta(days=7), 7, 5, 38),
        (timedelta(days=30), 30, 28, 0),
    ],
)
def test_late_days_cost_what_the_policy_says(
    late: timedelta, days: int, charged: int, points: int
) -> None:
    found = lateness(POLICY, DUE + late, None)
    assert (found.days, found.charged, found.apply(75)) == (days, charged, points)


def test_an_extension_moves_the_deadline_of_one_student() -> None:
    assert lateness(POLICY, DUE + timedelta(days=4), DUE + timedelta(days=4)).days == 0
    assert lateness(POLICY, DUE + timedelta(days=4), None).charged == 2


def test_without_a_deadline_or_a_known_time_nothing_is_late() -> None:
    assert lateness(None, DUE, None).factor == 1
    assert lateness(POLICY, None, None).factor == 1


def test_a_deduction_is_rounded_once_and_for_the_student() -> None:
    assert policy.Lateness(1, 1, Fraction(9, 10)).apply(5) == 5  # 4.5


@pytest.mark.parametrize(
    "text, told",
    [
        ('time = "2026-12-18T23:59:00"', "no time zone"),
        ('time = "soon"', "no time like"),
        ("", "deadline.time must be a time"),
        ('time = "2026-12-18T23:59:00Z"\ngrace = 5', 'unknown key "deadline.grace"'),
        ('time = "2026-12-18T23:59:00Z"\npercent_per_day = 101', "from 0 to 100"),
    ],
)
def test_a_wrong_deadline_is_told_with_its_key(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "course.toml").write_text(f'target_gpu = "H200"\n[deadline]\n{text}\n')
    with pytest.raises(CourseError, match=told):
        policy.load(tmp_path)


def test_a_deadline_is_read_and_may_be_absent(tmp_path: Path) -> None:
    path = tmp_path / "course.toml"
    path.write_text('target_gpu = "H200"\n[deadline]\ntime = 2026-12-18T23:59:00+01:00\n')
    assert policy.load(tmp_path) == Deadline(DUE)
    path.write_text('target_gpu = "H200"\n')
    assert policy.load(tmp_path) is None


# Rosters


def test_a_roster_names_everybody_also_who_appears_twice(tmp_path: Path) -> None:
    students = read_roster(
        tmp_path, "student,extension\nAda L.,\nbob,2\n\nBOB,\n../x,\ncy,tomorrow\n"
    )
    assert [student.name for student in students] == ["Ada L.", "bob", "BOB", "../x", "cy"]
    assert students[1].due == DUE + timedelta(days=2)
    assert "first on line 3" in students[2].problem
    assert "no file name" in students[3].problem
    assert "no time like" in students[4].problem
    assert not students[0].problem
    assert len({student.key for student in students}) == 5
    assert all(re.fullmatch(r"[a-z0-9-]+", student.key) for student in students)


def test_a_pseudonym_is_given_or_always_the_same(tmp_path: Path) -> None:
    text = "student,pseudonym\nada,Zebra\nbob,\n"
    first, second = read_roster(tmp_path, text), read_roster(tmp_path, text)
    assert first == second
    assert first[0].pseudonym == "Zebra"
    assert "bob" not in first[1].pseudonym


@pytest.mark.parametrize(
    "text, told",
    [
        ("", 'the columns, "student" among them'),
        ("name\nada\n", 'the columns, "student" among them'),
        ("student,gruop\nada,1\n", 'Did you mean "group"'),
        ("student\n", "names nobody"),
    ],
)
def test_a_file_that_is_no_roster_is_told(tmp_path: Path, text: str, told: str) -> None:
    with pytest.raises(roster.RosterError, match=told):
        read_roster(tmp_path, text)


# What was handed in


def archive(path: Path, members: dict[str, bytes | str]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name, content)


def test_files_come_from_a_folder_a_starter_folder_and_a_zip(tmp_path: Path) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/01_naive.cu").write_text("// ada")
    (tmp_path / "bob/starter").mkdir(parents=True)
    (tmp_path / "bob/starter/02_tiled.cu").write_text("// bob")
    (tmp_path / "bob/02_tiled.cu").write_text("// not this one")
    archive(tmp_path / "cy.zip", {"repo-main/02_tiled.cu": "// old", "__MACOSX/01_naive.cu": "x",
                                  "repo-main/starter/02_tiled.cu": "// cy"})  # fmt: skip
    for name, expected in (("ada", {"01_naive.cu": "// ada"}), ("bob", {"02_tiled.cu": "// bob"}),
                           ("cy", {"02_tiled.cu": "// cy"})):  # fmt: skip
        out = tmp_path / "out" / name
        assert take(name, tmp_path, NAMES, out).status == "ok"
        assert {path.name: path.read_text() for path in out.iterdir()} == expected


def test_what_cannot_be_taken_has_a_status_and_writes_nothing_elsewhere(tmp_path: Path) -> None:
    submissions = tmp_path / "in"
    submissions.mkdir()
    (submissions / "broken.zip").write_bytes(b"PK nonsense")
    (submissions / "empty").mkdir()
    archive(submissions / "bomb.zip", {"01_naive.cu": b" " * 50_000_000})
    archive(submissions / "many.zip", {f"{number}": "" for number in range(10_001)})
    archive(submissions / "out.zip", {"../../01_naive.cu": "x", "/02_tiled.cu": "x",
                                      "C:\\03_padded.cu": "x", "04_tuned.cu": "//"})  # fmt: skip
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret/01_naive.cu").write_text("another student's")
    (submissions / "link").symlink_to(tmp_path / "secret")
    (submissions / "linked").mkdir()
    (submissions / "linked/01_naive.cu").symlink_to(tmp_path / "secret/01_naive.cu")
    (submissions / "elsewhere").mkdir()
    (submissions / "elsewhere/starter").symlink_to(tmp_path / "secret")
    (submissions / "pipe").mkdir()
    os.mkfifo(submissions / "pipe/01_naive.cu")
    expected = {
        "nobody": "missing", "empty": "missing", "../secret": "missing", "link": "missing",
        ".": "missing", "broken": "broken_archive", "bomb": "too_large", "many": "archive_bomb",
        "linked": "unreadable", "elsewhere": "unreadable",
        "file:///nowhere/at/all.git": "unreachable",
    }  # fmt: skip
    found = {
        name: take(name, submissions, NAMES, tmp_path / "out" / str(rank)).status
        for rank, name in enumerate(expected)
    }
    assert found == expected
    outside = take("out", submissions, NAMES, tmp_path / "out/zip")
    assert (outside.status, outside.files) == ("ok", ("04_tuned.cu",))
    assert "3 paths lead out of the archive" in outside.detail
    assert take("pipe", submissions, NAMES, tmp_path / "out/pipe").files == ("01_naive.cu",)
    assert not list((tmp_path / "out" / "8").iterdir())


def test_changes_to_the_handout_are_noted_and_never_used(tmp_path: Path) -> None:
    ada = tmp_path / "ada"
    (ada / "starter").mkdir(parents=True)
    (ada / "starter/01_naive.cu").write_text("// work")
    handed_out = {"tests/test_checks.py": b"strict"}
    (ada / manifest.NAME).write_bytes(manifest.write(manifest.of(handed_out, "1", "0" * 64)))
    (ada / "tests").mkdir()
    (ada / "tests/test_checks.py").write_text("lenient")
    found = take("ada", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.files) == ("ok", ("01_naive.cu",))
    assert "tests/test_checks.py: they are not used in grading" in found.detail


def test_an_archive_that_lies_about_a_size_is_a_bomb(tmp_path: Path) -> None:
    path = tmp_path / "liar.zip"
    archive(path, {"01_naive.cu": b" " * (LIMIT_BYTES + 1000)})
    real, told = (LIMIT_BYTES + 1000).to_bytes(4, "little"), (900).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(real, told))
    assert take("liar", tmp_path, NAMES, tmp_path / "out").status in (
        "archive_bomb", "broken_archive",
    )  # fmt: skip
    assert sum(file.stat().st_size for file in (tmp_path / "out").iterdir()) <= LIMIT_BYTES


def git(path: Path, *arguments: str) -> None:
    author = ("-c", "user.name=t", "-c", "user.email=t@t")
    subprocess.run(["git", "-C", str(path), *author, *arguments], check=True, capture_output=True)


def test_a_repository_is_read_without_a_checkout(tmp_path: Path) -> None:
    origin = tmp_path / "origin"
    (origin / "starter").mkdir(parents=True)
    (origin / "starter/01_naive.cu").write_text("// committed")
    (origin / "starter/02_tiled.cu").symlink_to("/etc/hostname")
    (origin / "03_padded.cu").write_text("// beside starter/")
    (origin / "04_tuned.cu").write_text("//" * LIMIT_BYTES)
    (origin / ".gitattributes").write_text("*.cu filter=evil\n")
    git(origin, "init", "--quiet")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "x")
    (origin / "starter/01_naive.cu").write_text("// not committed")
    found = take(origin.as_uri(), tmp_path, NAMES, tmp_path / "out")
    assert found.files == ("01_naive.cu", "03_padded.cu", "04_tuned.cu")
    assert (tmp_path / "out/01_naive.cu").read_text() == "// committed"
    assert (tmp_path / "out/04_tuned.cu").stat().st_size == LIMIT_BYTES + 1


def test_a_repository_without_a_commit_is_a_submission_that_is_missing(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "empty")
    assert take((tmp_path / "empty").as_uri(), tmp_path, NAMES, tmp_path / "out").status == (
        "missing"
    )


# The grade book


def class_of(tmp_path: Path, text: str) -> folder.Class:
    one = folder.Class(tmp_path / "class", tmp_path, 7, "simulator", read_roster(tmp_path, text))
    folder.save(one)
    return one


def put(
    one: folder.Class, name: str, data: Any | None, status: str = "graded", detail: str = ""
) -> None:
    place = one.of(one.find(name))
    taken = "ok" if status == "graded" else status
    snapshot = {"status": taken, "detail": detail, "files": [], "taken": DUE.isoformat()}
    folder.write_json(place / "snapshot.json", snapshot)
    folder.write_json(place / "job.json", {"status": status})
    if data is not None:
        folder.write_json(place / "results.json", data)


def graded(device: str = "simulator") -> Any:
    data = record()
    data["exercises"][0]["status"] = "fail"
    data["devices"] = [{"kind": device, "name": device}]
    return data


def book(one: folder.Class) -> list[dict[str, str]]:
    rows = gradebook.rows(one, POLICY)
    gradebook.write(one.folder / "gradebook.csv", rows)
    with (one.folder / "gradebook.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_grade_book_has_a_line_for_every_line_of_the_roster(tmp_path: Path) -> None:
    late = (DUE + timedelta(days=4)).isoformat()
    one = class_of(
        tmp_path, f"student,received\nada,\nbob,{late}\ncy,\ndan,\nada,\neve,\n=1+1,\nfay,\n"
    )
    put(one, "ada", graded())
    put(one, "bob", graded("gpu"))
    put(one, "cy", None, "missing", "cy is not in submissions")
    put(one, "dan", None, "broken_archive", "File is not a zip file")
    put(one, "fay", record())  # a fault of the grader's own
    rows = {row["student"]: row for row in book(one) if row["status"] != "roster"}
    ada, bob = rows["ada"], rows["bob"]
    assert (ada["machine"], ada["earned"], ada["gradable"], ada["final"]) == (
        "simulator", "21", "34", "21",
    )  # fmt: skip
    assert ada["note"] == "time of submission unknown, taken as on time"
    assert (bob["machine"], bob["earned"], bob["days_late"], bob["days_charged"]) == (
        "gpu", "21", "4", "2",
    )  # fmt: skip
    assert bob["final"] == "17"
    assert (rows["cy"]["earned"], rows["cy"]["final"]) == ("0", "0")
    for name, status in (("dan", "broken_archive"), ("eve", "not_run"), ("fay", "grader_error")):
        assert (rows[name]["status"], rows[name]["earned"], rows[name]["final"]) == (status, "", "")
    problems = [row for row in book(one) if row["status"] == "roster"]
    assert [row["note"].partition(":")[0] for row in problems] == ["line 6", "line 8"]
    assert not any(value.startswith("=") for row in book(one) for value in row.values())


def test_the_guide_explains_every_column(tmp_path: Path) -> None:
    guide = (PROJECT / "grader/classroom/README.md").read_text("utf-8")
    one = class_of(tmp_path, "student\nada\n")
    put(one, "ada", None, "missing")
    columns = {*roster.COLUMNS, *book(one)[0]}
    assert {name for name in columns if f"`{name}`" not in guide} == set()


def test_a_forged_record_is_no_score(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\n")
    data = graded()
    data["score"]["earned"] = 100
    put(one, "ada", data)
    (row,) = book(one)
    assert (row["status"], row["final"]) == ("grader_error", "")
    assert "the checks add up to 21" in row["note"]


def test_the_page_names_nobody_and_warns_of_two_kinds_of_machines(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\n<script>\nbob\ncy\n")
    put(one, "ada", graded())
    put(one, "bob", graded("gpu"))
    put(one, "cy", None, "missing", "cy is not in submissions")
    path = one.folder / "summary.html"
    rows = gradebook.rows(one, POLICY)
    page.write(path, rows, "Class <b>", names=False)
    text = path.read_text()
    assert "different kinds of machines (gpu, simulator)" in text
    assert "<script>" not in text
    assert "<b>" not in text
    assert not re.search(r"\b(ada|bob|cy)\b", text)
    page.write(path, rows, "Class", names=True)
    assert "cy is not in submissions" in path.read_text()


def test_the_page_speaks_in_the_words_of_the_report(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\nbob\n")
    put(one, "ada", graded())
    rows = gradebook.rows(one, POLICY)
    page.write(one.folder / "summary.html", rows, "Class", names=False)
    text = (one.folder / "summary.html").read_text()
    assert "undecided" not in text
    for word in ("not graded", "not started", "missing"):
        assert f'<th class="number">{word}</th>' in text
    assert "2 students. graded: 1, not graded yet: 1." in text


def test_who_was_not_graded_is_told_by_name_and_reason(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student,received\nada,\nbob,yesterday\n")
    put(one, "ada", graded())
    ada, bob = gradebook.rows(one, POLICY)
    assert gradebook.totals((ada, bob)) == "graded: 1, the roster's line cannot be used: 1"
    assert gradebook.outcome(bob).startswith("the roster's line cannot be used (line 3: ")


def test_a_roster_is_refused_before_anything_is_started(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "roster.csv").write_text("name,email\nada,a@b\n")
    words = ["class", str(tmp_path / "roster.csv"), str(tmp_path), "--check"]
    words += ["--output", str(tmp_path / "class")]
    assert cli.main(words) == cli.ERROR
    assert "the first line must name the columns" in capsys.readouterr().err
    (tmp_path / "roster.csv").write_text("student\nada\n")
    assert cli.main(words) == cli.OK
    assert not (tmp_path / "class").exists()


# Similar submissions

TILED = (PROJECT / "exercises/02_tiled/solution.cu").read_text()


def unusual(text: str) -> str:
    """A kernel with a detour that nobody else takes."""
    detour = "".join(
        f"    float part{i} = row * {i} + col; if (part{i} > {i}) part{i} = part{i} * part{i};\n"
        "    while (part0 < 3) { part0 += 1; for (int q = 0; q < 4; ++q) part0 -= q % 3 ? 1 : 0;"
        " }\n"
        for i in range(8)
    )
    return text.replace("    float sum = 0.0f;", detour + "    float sum = 0.0f;")


def test_a_renamed_copy_is_a_lead_and_textbook_code_is_none(tmp_path: Path) -> None:
    everyone = [f"s{number}" for number in range(12)]
    one = class_of(
        tmp_path, "student,group\n" + "".join(f"{n},\n" for n in everyone) + "x,g\ny,g\n"
    )
    texts = dict.fromkeys(everyone, TILED)
    texts["s3"] = unusual(TILED)
    texts["s7"] = unusual(TILED).replace("part", "helper").replace("row", "r")
    texts["x"] = texts["y"] = unusual(TILED).replace("while", "if").replace("+ col", "- col * 3")
    for name, text in texts.items():
        place = one.of(one.find(name)) / "submission"
        place.mkdir(parents=True)
        (place / "02_tiled.cu").write_text(text)
    found = list(similarity.pairs(one))
    assert {(pair.first.name, pair.second.name) for pair in found} == {("s3", "s7")}
    assert found[0].share > 0.9
    similarity.write(tmp_path / "similarity.csv", found)
    assert "a lead, not a verdict" in (tmp_path / "similarity.csv").read_text()


# Jobs


def fake_grading(monkeypatch: pytest.MonkeyPatch, results: list[int]) -> None:
    """A grader that writes a record and ends with these exit statuses, one after the other."""

    class Grading:
        pid = 0

        def __init__(self, arguments: list[str], **_: Any) -> None:
            output = Path(arguments[arguments.index("--output") + 1])
            self.returncode = results.pop(0)
            if self.returncode < 2:
                folder.write_json(output / "results.json", graded())

        def wait(self, limit_s: float) -> int:
            return self.returncode

        def poll(self) -> int:
            return self.returncode

    monkeypatch.setattr(subprocess, "Popen", Grading)


def handed_in(tmp_path: Path) -> folder.Class:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada/01_naive.cu").write_text("// first")
    return class_of(tmp_path, "student\nada\n")


def run_job(one: folder.Class, attempt: int = 1) -> int:
    return job.main([str(one.folder), one.students[0].key, str(attempt)])


def test_a_fault_of_the_machine_is_tried_again_and_at_last_recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(tmp_path)
    fake_grading(monkeypatch, [2, 2, 2])
    assert [run_job(one, 1), run_job(one, 2)] == [1, 1]
    assert gradebook.rows(one, None)[0].status == "not_run"
    assert run_job(one, 3) == 0
    assert gradebook.rows(one, None)[0].status == "grader_error"


def test_a_finished_job_is_not_done_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = handed_in(tmp_path)
    fake_grading(monkeypatch, [0])
    assert [run_job(one), run_job(one)] == [0, 0]


def test_what_was_handed_in_is_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = handed_in(tmp_path)
    fake_grading(monkeypatch, [2, 0])
    run_job(one, 1)
    (tmp_path / "ada/01_naive.cu").write_text("// changed after the snapshot")
    run_job(one, 2)
    place = one.of(one.students[0])
    assert (place / "submission/01_naive.cu").read_text() == "// first"


def test_a_source_that_could_not_be_reached_is_tried_again_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, ada = tmp_path / "later", tmp_path / "ada"
    ada.mkdir()
    (ada / "01_naive.cu").write_text("// first")
    one = class_of(tmp_path, f"student,source\nada,\nbob,{origin.as_uri()}\n")

    def run() -> list[str]:
        """What `class` does with each student before and in Snakemake's jobs."""
        job.reopen(one)
        for student in one.students:
            assert job.main([str(one.folder), student.key, "1"]) == 0
        return [row.status for row in gradebook.rows(one, None)]

    def grading(_: folder.Class, place: Path) -> str:
        folder.write_json(place / "results.json", graded())
        return "graded"

    monkeypatch.setattr(job, "_run", grading)
    assert run() == run() == ["graded", "unreachable"]
    (origin / "starter").mkdir(parents=True)
    (origin / "starter/01_naive.cu").write_text("// came")
    git(origin, "init", "--quiet")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "x")
    (ada / "01_naive.cu").write_text("// changed after the snapshot")
    assert run() == run() == ["graded", "graded"]
    first, second = gradebook.rows(one, None)
    assert first.note == ""
    assert re.search("could not be fetched at 20.*column received overrides", second.note)
    for student, text in zip(one.students, ("// first", "// came"), strict=True):
        assert (one.of(student) / "submission/01_naive.cu").read_text() == text


def test_a_regrade_keeps_both_and_says_which_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = handed_in(tmp_path)
    fake_grading(monkeypatch, [0, 1])
    run_job(one)
    options = argparse.Namespace(
        verb="regrade", output=one.folder, student="ada", reason="appeal", fetch=False
    )
    assert command.main(options) == 0
    kept = one.of(one.students[0]) / "history/1"
    assert json.loads((kept / "replaced.json").read_text())["reason"] == "appeal"
    assert (kept / "results.json").is_file()
    assert "this one counts" in capsys.readouterr().out


def test_forgetting_leaves_nothing_of_a_student(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(tmp_path)
    fake_grading(monkeypatch, [0])
    run_job(one)
    (tmp_path / "roster.csv").unlink()
    command.main(argparse.Namespace(verb="forget", output=one.folder, student="ada"))
    left = [path for path in one.folder.rglob("*") if path.is_file()]
    told = "".join(f"{path}\n{path.read_text()}" for path in left).replace(str(tmp_path), "")
    assert not re.search(r"\bada\b", told)
    with pytest.raises(GraderFault, match='no student "ada"'):
        folder.load(one.folder).find("ada")


# The whole way, with Snakemake

WRONG = PROJECT / "grader/tests/submissions/01_naive/out_of_bounds/unguarded_store.cu"


def class_command(tmp_path: Path, output: str) -> list[str]:
    roster_file, submissions = tmp_path / "roster.csv", tmp_path / "in"
    return [sys.executable, "-m", "grader", "class", str(roster_file), str(submissions),
            "--device", "simulator", "--seed", "5", "--output", str(tmp_path / output)]  # fmt: skip


@pytest.mark.long
def test_a_class_that_was_killed_goes_on_to_the_same_grade_book(tmp_path: Path) -> None:
    pytest.importorskip("snakemake")
    names = [f"s{number}" for number in range(6)]
    for name in names[:5]:
        (tmp_path / "in" / name).mkdir(parents=True)
        source = WRONG if name == "s2" else PROJECT / "exercises/01_naive/solution.cu"
        shutil.copy(source, tmp_path / "in" / name / "01_naive.cu")
    (tmp_path / "roster.csv").write_text("student\n" + "\n".join(names) + "\n")
    for jobs_done in (1, 3):
        process = subprocess.Popen(
            class_command(tmp_path, "killed"), cwd=PROJECT, start_new_session=True,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        wait_for(lambda n=jobs_done: len(list(tmp_path.glob("killed/students/*/job.json"))) >= n)  # type: ignore[misc]
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for output in ("killed", "undisturbed"):
        subprocess.run(class_command(tmp_path, output), cwd=PROJECT, check=True)
    books = [(tmp_path / one / "gradebook.csv").read_text() for one in ("killed", "undisturbed")]
    assert books[0] == books[1]
    earned = [row["earned"] for row in csv.DictReader(books[0].splitlines())]
    assert earned == ["20", "20", earned[2], "20", "20", "0"]
    assert int(earned[2]) < 20


NAIVE = (PROJECT / "exercises/01_naive/solution.cu").read_text()
_LOOP = re.compile(r"    float sum = 0\.0f;\n.*?C\[row \* N \+ col\] = sum;\n", re.DOTALL)
# Right kernels, each with a loop that is in no book.
PAIRWISE = _LOOP.sub(
    """    float even = 0.0f, odd = 0.0f;
    int step = 0;
    while (step + 1 < K) {
        even += A[row * K + step] * B[step * N + col];
        odd += A[row * K + step + 1] * B[(step + 1) * N + col];
        step += 2;
    }
    if (step < K) even += A[row * K + step] * B[step * N + col];
    C[row * N + col] = even + odd;
""",
    NAIVE,
)
POINTERS = _LOOP.sub(
    """    const float *a = A + row * K, *b = B + col, *end = a + K;
    float value = 0.0f;
    for (; a != end; ++a, b += N) value = value + *a * *b;
    float *const target = &C[row * N + col];
    if (value != 0.0f) target[0] = value; else *target = 0.0f;
""",
    NAIVE,
)
COURSE = """target_gpu = "H200"
[deadline]
time = 2026-12-18T23:59:00+01:00
grace_minutes = 15
late_days = 2
percent_per_day = 10
"""


@pytest.mark.long
def test_a_small_class_from_its_roster_to_grade_book_page_and_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("snakemake")
    renamed = PAIRWISE.replace("even", "left").replace("odd", "right").replace("step", "at")
    texts = {"ada": PAIRWISE, "bob": renamed, "cy": POINTERS, "dan": POINTERS,
             "fay": WRONG.read_text()}  # fmt: skip
    for name, text in texts.items():
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "01_naive.cu").write_text(text)
    (tmp_path / "roster.csv").write_text(
        "student,group,received\n"
        "ada,red,2026-12-20T20:00:00+01:00\n"
        "bob,blue,2026-12-22T12:00:00+01:00\n"
        "cy,green,2026-12-19T00:13:00+01:00\n"
        "dan,green,2026-12-18T23:00:00+01:00\n"
        "fay,,\n"
        "gus,,\n"
    )
    (tmp_path / "course.toml").write_text(COURSE)
    load = policy.load
    monkeypatch.setattr(policy, "load", lambda _: load(tmp_path))
    assert cli.main(class_command(tmp_path, "class")[3:]) == cli.OK
    told = capsys.readouterr().out
    assert "6 students. graded: 5, nothing handed in: 1.\n" in told
    assert "  gus: nothing handed in" in told
    assert "Alike: 1 pairs in " in told

    with (tmp_path / "class/gradebook.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    columns = ("status", "machine", "earned", "days_late", "days_charged", "final")
    assert {name: tuple(row[column] for column in columns) for name, row in rows.items()} == {
        "ada": ("graded", "simulator", "20", "2", "0", "20"),
        "bob": ("graded", "simulator", "20", "4", "2", "16"),
        "cy": ("graded", "simulator", "20", "0", "0", "20"),
        "dan": ("graded", "simulator", "20", "0", "0", "20"),
        "fay": ("graded", "simulator", "8", "0", "0", "8"),
        "gus": ("missing", "", "0", "0", "0", "0"),
    }

    with (tmp_path / "class/similarity.csv").open(newline="") as file:
        leads = [(lead["student"], lead["other"], lead["share"]) for lead in csv.DictReader(file)]
    assert leads == [("ada", "bob", "1.00")]

    page_text = re.sub(r"<[^>]*>|\s+", " ", (tmp_path / "class/summary.html").read_text())
    page_text = " ".join(page_text.split())
    assert "6 students. graded: 5, nothing handed in: 1." in page_text
    assert "01_naive out of bounds 1" in page_text
    assert re.search(r"S-\w{6} 8 75 01_naive: out of bounds; 02_tiled: missing;", page_text)
    assert re.search(r"S-\w{6} 0 nothing handed in", page_text)
    assert not re.search(r"\b(ada|bob|cy|dan|fay|gus)\b", page_text)


def wait_for(done: Callable[[], bool]) -> None:
    for _ in range(1200):
        if done():
            return
        time.sleep(0.1)
    raise TimeoutError
