"""A class: rosters, late days, what was handed in, one job a student, the grade book."""

from __future__ import annotations

import argparse
import csv
import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import unicodedata
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from grader import cli
from grader import git as programs
from grader.classroom import (
    command,
    folder,
    gradebook,
    intake,
    job,
    page,
    policy,
    progress,
    roster,
    similarity,
)
from grader.classroom.policy import Deadline, lateness
from grader.classroom.snapshot import Snapshot, take
from grader.course import CourseError
from grader.driver import Driver
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.handout import manifest
from grader.record import identity
from grader.submission import LIMIT_BYTES
from grader.tests.test_formats import check, record

DUE = datetime(2026, 12, 18, 22, 59, tzinfo=UTC)
NAMES = ("01_naive.cu", "02_tiled.cu", "03_padded.cu", "04_tuned.cu")
POLICY = Deadline(DUE, timedelta(minutes=15), percent_per_day=10, late_days=2)


def read_roster(tmp_path: Path, text: str) -> tuple[roster.Student, ...]:
    path = tmp_path / "roster.csv"
    path.write_text(text)
    return roster.read(path)


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


def test_a_deadline_at_the_end_of_the_calendar_is_a_deadline() -> None:
    assert lateness(POLICY, DUE, datetime.max.replace(tzinfo=UTC)) == policy.ON_TIME


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
        (f'time = "2026-12-18T23:59:00Z"\ngrace_minutes = {10**15}', "longer than any calendar"),
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
    assert students[1].due(POLICY) == DUE + timedelta(days=2)
    assert "first on line 3" in students[2].problem
    assert "a letter or digit first" in students[3].problem
    assert "no time like" in students[4].problem
    assert not students[0].problem
    assert len({student.key for student in students}) == 5
    assert all(re.fullmatch(r"[a-z0-9-]+", student.key) for student in students)


@pytest.mark.parametrize("days", ["0.5", "0,5"])
def test_half_a_day_is_written_as_in_any_country(tmp_path: Path, days: str) -> None:
    (ada,) = read_roster(tmp_path, f"student;extension\nada;{days}\n")
    assert (ada.problem, ada.due(POLICY)) == ("", DUE + timedelta(hours=12))


@pytest.mark.parametrize("days", ["99999999", "9" * 400, "1" + "0" * 12])
def test_who_has_more_days_than_a_calendar_is_never_late(tmp_path: Path, days: str) -> None:
    (ada,) = read_roster(tmp_path, f"student,extension\nada,{days}\n")
    assert not ada.problem
    assert lateness(POLICY, DUE + timedelta(days=9999), ada.due(POLICY)) == policy.ON_TIME


def test_an_extension_goes_with_the_deadline_when_that_is_moved(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student,extension\nada,2\n")
    (ada,) = folder.load(one.folder).students
    later = replace(POLICY, time=DUE + timedelta(days=7))
    assert ada.due(later) == DUE + timedelta(days=9)


@pytest.mark.parametrize(
    "text",
    ["Student;Source\nada;x\n", "sep=;\nstudent;source\nada;x\n", "student\tsource\t\nada\tx\t\n"],
)
def test_a_roster_may_come_from_any_excel(tmp_path: Path, text: str) -> None:
    (ada,) = read_roster(tmp_path, text)
    assert (ada.name, ada.source, ada.problem) == ("ada", "x", "")


def test_a_line_that_cannot_be_used_is_told_with_its_number_in_the_file(tmp_path: Path) -> None:
    text = 'sep=,\nstudent,group\n"a:","of two\nlines"\n\nb:,\n"c:\n",\n'
    assert [student.line for student in read_roster(tmp_path, text)] == [3, 6, 7]


def test_a_name_is_the_same_with_its_accents_apart_and_marks_are_letters(tmp_path: Path) -> None:
    apart = unicodedata.normalize("NFD", "José")
    first, second, marked = read_roster(tmp_path, f"student\nJosé\n{apart}\nสมชาย ใจดี\n")
    assert (first.problem, marked.problem) == ("", "")
    assert "first on line 2" in second.problem
    for name in ("José", apart):
        submissions = tmp_path / name
        (submissions / name).mkdir(parents=True, exist_ok=True)
        (submissions / name / "01_naive.cu").write_text("//")
        for source in ("José", apart):
            out = submissions / f"out of {source}"
            assert take(source, submissions, NAMES, out).files == ("01_naive.cu",)


@pytest.mark.parametrize("jobs", ["0", "-1", "two"])
def test_how_many_at_once_is_a_number_from_1_on(
    jobs: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["class", "roster.csv", "in", "--jobs", jobs])
    assert ended.value.code == 2
    assert "a number from 1 on" in capsys.readouterr().err


def test_a_pseudonym_is_given_or_always_the_same(tmp_path: Path) -> None:
    text = "student,pseudonym\nada,Zebra\nbob,\n"
    first, second = read_roster(tmp_path, text), read_roster(tmp_path, text)
    assert first == second
    assert first[0].pseudonym == "Zebra"
    assert "bob" not in first[1].pseudonym


@pytest.mark.parametrize(
    "header, first, second, told",
    [
        ("source", "a.zip", "a.zip", "source"),
        ("source", "", "ada", "source"),  # what is called like the student
        ("source", "a/", "./a.zip", "source"),
        ("source", "https://x.org/a", "https://x.org/a.git", "source"),
        ("source", "https://x.org/Course/a", "git@x.org:course/a.git", "source"),
        ("source", "https://name:word@X.org/a/", "ssh://git@x.org/a", "source"),
        ("pseudonym", "Zebra", "Zebra", "pseudonym"),
        ("group,source", "g1,a", "g2,a", "source"),
    ],
)
def test_two_lines_with_one_source_or_pseudonym_are_both_refused_and_name_each_other(
    tmp_path: Path, header: str, first: str, second: str, told: str
) -> None:
    text = f"student,{header}\nada,{first}\nbob,{second}\ncy\n"
    ada, bob, cy = read_roster(tmp_path, text)
    assert f"the {told} is also that of line 3 (bob)" in ada.problem
    assert f"the {told} is also that of line 2 (ada)" in bob.problem
    assert not cy.problem


@pytest.mark.parametrize(
    "text",
    [
        "student,group,source\nada,g1,a\nbob,g1,a\n",
        "student,group,pseudonym\nada,g1,Zebra\nbob,g1,Zebra\n",
        "student,source\nada,https://x.org/ada/work\nbob,https://x.org/bob/work\n",
        "student,source\nada,x/work.zip\nbob,work.zip\n",
        "student,source\nada,https://x.org/work\nbob,https://y.org/work\n",
        "student,source\nada,x.org/Work\nbob,x.org/work\n",
    ],
)
def test_a_group_may_share_what_it_handed_in_and_like_names_are_no_sharing(
    tmp_path: Path, text: str
) -> None:
    assert not any(student.problem for student in read_roster(tmp_path, text))


def test_a_line_that_cannot_be_used_anyway_takes_nobody_else_with_it(tmp_path: Path) -> None:
    ada, again = read_roster(tmp_path, "student,source\nada,a\nada,a\n")
    assert (ada.problem, again.problem) == ("", "appears twice, first on line 2")


@pytest.mark.parametrize(
    "text, told",
    [
        ("", 'the columns, "student" once among them'),
        ("name\nada\n", 'the columns, "student" once among them'),
        ("student,student\nada,bob\n", 'the columns, "student" once among them'),
        ("student,gruop\nada,1\n", 'Did you mean "group"'),
        ("student\n", "names nobody"),
        ('student\n"ada\n' + "bob\n" * 40_000, "after line 1: .* Next: look for a quote"),
        ('student\nada\n"bob\ncy\n', "after line 2: .* Next: look for a quote"),
        ("student,source,source\nada,x,y\n", 'the column "source" appears twice'),
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
        "nobody": "missing", "empty": "missing", "../secret": "missing", "../secre": "missing",
        ".": "missing", "broken": "broken_archive", "link": "misnamed",
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
    assert outside.detail == (
        "paths that lead out of the archive were ignored: 3; there, but not taken: "
        "../../01_naive.cu, /02_tiled.cu, C:\\03_padded.cu"
    )
    assert take("pipe", submissions, NAMES, tmp_path / "out/pipe").files == ("01_naive.cu",)
    assert not list((tmp_path / "out" / "7").iterdir())


def lay(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


HONEST = [
    ({"project/starter/01_naive.cu": "work"}, ["01_naive.cu"]),
    ({"starter/README": "", "01_naive.cu": "work"}, ["01_naive.cu"]),
    ({"01_naive.cu": "work", "old/starter/01_naive.cu": "untouched"}, ["01_naive.cu"]),
    ({"01_naive.cu": "old", "starter/01_naive.cu": "work"}, ["01_naive.cu"]),
    ({"starter/01_naive.cu": "work", "more/02_tiled.cu": "work"}, ["01_naive.cu", "02_tiled.cu"]),
    ({"hw 12:30/01_naive.cu": "work"}, ["01_naive.cu"]),
    ({"__hw__/01_naive.cu": "work"}, ["01_naive.cu"]),
    ({"hw/new/01_naive.cu": "work", ".Trash/01_naive.cu": "old"}, ["01_naive.cu"]),
]


def taken_three_ways(tmp_path: Path, files: dict[str, str]) -> Iterator[tuple[str, Snapshot]]:
    """The same files taken from a folder, a zip and a repository."""
    for name in ("ada", "cy"):
        lay(tmp_path / name, files)
    archive(tmp_path / "bob.zip", dict(files))
    git(tmp_path / "cy", "init", "--quiet")
    git(tmp_path / "cy", "add", "--all")
    git(tmp_path / "cy", "commit", "--quiet", "--message", "x")
    for source in ("ada", "bob", (tmp_path / "cy").as_uri()):
        yield source[-3:], take(source, tmp_path, NAMES, tmp_path / f"out of {source[-3:]}")


@pytest.mark.parametrize(("files", "expected"), HONEST)
def test_files_are_found_in_the_same_places_however_they_are_packed(
    tmp_path: Path, files: dict[str, str], expected: list[str]
) -> None:
    for source, found in taken_three_ways(tmp_path, files):
        out = tmp_path / f"out of {source}"
        assert (found.status, list(found.files)) == ("ok", expected)
        assert {(out / name).read_text() for name in expected} == {"work"}
        assert not found.detail


STARTERS = {f"starter/{name}": (PROJECT / "starter" / name).read_text() for name in NAMES}
HANDED_OUT = STARTERS["starter/01_naive.cu"]


@pytest.mark.parametrize(
    ("files", "place"),
    [
        (STARTERS | {"01_naive.cu": "work"}, "01_naive.cu"),
        (STARTERS | {"mywork/01_naive.cu": "work"}, "mywork/01_naive.cu"),
        ({"01_naive.cu": "", "final/01_naive.cu": "work"}, "final/01_naive.cu"),
        ({"hw/starter/01_naive.cu": f"// mine\n{HANDED_OUT}", "hw/01_naive.cu": "work"},
         "hw/01_naive.cu"),
    ],
)  # fmt: skip
def test_a_file_without_work_gives_way_to_one_of_that_name_and_that_is_told(
    tmp_path: Path, files: dict[str, str], place: str
) -> None:
    first = next(name for name in files if name.endswith("01_naive.cu"))
    for source, found in taken_three_ways(tmp_path, files):
        assert (tmp_path / f"out of {source}" / "01_naive.cu").read_text() == "work"
        assert (found.status, found.detail) == (
            "ok", f"{first} is empty or as it was handed out: {place} was taken"
        )  # fmt: skip


@pytest.mark.parametrize("name", ["01_naive (1).cu", "01_naive-1.cu", "hw/naive.cu"])
def test_work_called_otherwise_beside_what_was_handed_out_is_no_score_of_0(
    tmp_path: Path, name: str
) -> None:
    """Where another exercise has a score, it is told."""
    for more in ({}, {"starter/02_tiled.cu": "work"}):
        files = {**STARTERS, name: "work", **more}
        for source, found in taken_three_ways(tmp_path / str(len(more)), files):
            assert found.status == ("ok" if more else "misnamed"), source
            assert found.detail.endswith(f"there, but not taken: {name}")


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"copy/01_naive.cu": HANDED_OUT, "01_naive (1).cu": HANDED_OUT, "01_naive.cu": ""},
        {"notes.txt": "", "starter/00_warmup.cu": "", ".venv/lib/naive.cu": "work"},
    ],
)
def test_what_was_handed_out_is_a_score_of_0_however_often_it_is_there(
    tmp_path: Path, more: dict[str, str]
) -> None:
    lay(tmp_path / "ada", {**STARTERS, **more})
    found = take("ada", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.detail, found.files) == ("ok", "", NAMES)


def test_a_file_that_is_too_large_is_work_wherever_it_comes_from(tmp_path: Path) -> None:
    files = {"01_naive.cu": "x" * (LIMIT_BYTES + 1), "naive.cu": "work"}
    for source, found in taken_three_ways(tmp_path, files):
        assert (found.status, found.files) == ("ok", ("01_naive.cu",)), source


def test_a_link_beside_what_was_handed_out_keeps_nobody_from_being_graded(tmp_path: Path) -> None:
    lay(tmp_path / "ada", {**STARTERS, "starter/02_tiled.cu": "work"})
    (tmp_path / "ada/01_naive.cu").symlink_to("starter/01_naive.cu")
    found = take("ada", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.detail) == ("ok", "there, but not taken: 01_naive.cu")


def test_a_folder_cannot_hand_in_the_repository_of_another(tmp_path: Path) -> None:
    lay(tmp_path / "ada", {"01_naive.cu": "work"})
    git(tmp_path / "ada", "init", "--quiet")
    git(tmp_path / "ada", "add", "--all")
    git(tmp_path / "ada", "commit", "--quiet", "--message", "x")
    lay(tmp_path / "bob", {".git": "gitdir: ../ada/.git"})
    (tmp_path / "cy").mkdir()
    (tmp_path / "cy/.git").symlink_to(tmp_path / "ada/.git")
    for name in ("bob", "cy"):
        assert take(name, tmp_path, NAMES, tmp_path / "out").status == "missing"
    assert take("ada", tmp_path, NAMES, tmp_path / "out").status == "ok"


def test_a_server_that_says_nothing_leaves_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "_LIMIT_S", 0.5)
    setting = f"alias.slow=!sleep 600 & echo $! > {tmp_path}/pid; wait"
    with pytest.raises(GraderFault, match="took longer than"):
        programs.git("-c", setting, "slow", folder=tmp_path, strange=True)
    pid = int((tmp_path / "pid").read_text())
    wait_for(lambda: state(pid) == "Z")


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_a_zip_of_windows_is_read_and_its_links_are_not(tmp_path: Path) -> None:
    archive(tmp_path / "ada.zip", {"hw\\starter\\01_naive.cu": "work", "C:\\02_tiled.cu": "out"})
    assert take("ada", tmp_path, NAMES, tmp_path / "out").files == ("01_naive.cu",)
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as made:
        link = zipfile.ZipInfo("01_naive.cu")
        link.external_attr = 0o120777 << 16
        made.writestr(link, "../elsewhere.cu")
    found = take("bob", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.files) == ("misnamed", ())


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("01_Naive.cu", True),
        ("01_naive.cu.txt", True),
        ("01_naive (1).cu", True),
        ("naive.CU", True),
        ("hw/3-padded.cu", True),
        ("naive.txt", False),
        ("ada.zip", False),
        (".Trash/01_naive.cu", True),
    ],
)
def test_what_is_called_or_packed_otherwise_is_named_and_no_score(
    tmp_path: Path, name: str, near: bool
) -> None:
    """Beside a file that is taken, what is `near` is named, too."""
    for more in ({}, {"02_tiled.cu": "work"}):
        for source, found in taken_three_ways(tmp_path / str(len(more)), {name: "work", **more}):
            told = found.detail.endswith(f"there, but not taken: {name}")
            assert found.detail.startswith("none of 01_naive.cu, ") == (not more)
            assert (found.status, found.files) == ("ok" if more else "misnamed", (*more,)), source
            assert told == (near or not more), source


def test_where_nothing_is_lacking_other_files_are_not_told(tmp_path: Path) -> None:
    files = {f"work/{name}": "work" for name in NAMES} | {"work/tiled.cu": "", "old.zip": ""}
    for source, found in taken_three_ways(tmp_path, files):
        assert (found.status, found.detail) == ("ok", ""), source


@pytest.mark.parametrize(
    "files",
    [
        {"README.md": "", ".gitignore": "", ".vscode/settings.json": ""},
        {"matmul/Makefile": "", "matmul/starter/00_warmup.cu": "", ".DS_Store": ""},
    ],
)
def test_what_was_handed_out_is_nothing_handed_in(tmp_path: Path, files: dict[str, str]) -> None:
    for source, found in taken_three_ways(tmp_path, files):
        assert found.status == "missing", source


def test_of_files_that_are_equally_good_one_is_taken_and_that_is_told(tmp_path: Path) -> None:
    files = {"v2/01_naive.cu": "new", "v1/01_naive.cu": "old", "hw/v0/01_naive.cu": "deeper"}
    for source, found in taken_three_ways(tmp_path, files):
        assert found.detail == "2 files 01_naive.cu are equally deep: v1/01_naive.cu was taken", (
            source
        )


def test_a_folder_and_a_zip_of_one_name_are_told(tmp_path: Path) -> None:
    lay(tmp_path / "ada", {"01_naive.cu": "folder"})
    archive(tmp_path / "ada.zip", {"01_naive.cu": "zip"})
    found = take("ada", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.detail) == ("ok", "ada.zip is there, too, and was not taken")
    assert take("ada.zip", tmp_path, NAMES, tmp_path / "out").detail == ""


@pytest.mark.parametrize("name", ["ada.ZIP", "Ada", "ada.tar.gz", "ADA.7z", "ada.cu"])
def test_what_is_only_called_like_the_student_is_named_and_no_score(
    tmp_path: Path, name: str
) -> None:
    lay(tmp_path / "in", {name: "", "ad.zip": "", "adam.zip": "", "bob.ada.zip": ""})
    for source in ("ada", "ada.zip", "ada/"):
        found = take(source, tmp_path / "in", NAMES, tmp_path / "out")
        assert (found.status, found.files) == ("misnamed", ())
        assert f"called like it: {name}. Name the" in found.detail
    assert take("eve", tmp_path / "in", NAMES, tmp_path / "out").status == "missing"
    below = take("ada/work.zip", tmp_path / "in", NAMES, tmp_path / "out")
    assert below.status == "misnamed"
    assert take("../in/ada", tmp_path / "in/deeper", NAMES, tmp_path / "out").status == "missing"


def test_what_another_line_names_is_not_taken_for_a_misspelt_name(tmp_path: Path) -> None:
    lay(tmp_path, {"ada.smith/01_naive.cu": "work", "kim.lee.zip": "", "kim.rar": ""})
    one = class_of(tmp_path, "student,source\nada,\nada.smith,\nkim,kim/\nkim.lee,kim.lee.zip\n")
    found = {student.name: intake.look(one, student) for student in one.students}
    statuses = {name: taken.status for name, taken in found.items()}
    assert statuses == {
        "ada": "missing", "ada.smith": "ok", "kim": "misnamed", "kim.lee": "broken_archive"
    }  # fmt: skip
    assert "called like it: kim.rar. Name" in found["kim"].detail


def test_a_misspelt_source_is_no_score_where_something_is_called_like_the_student(
    tmp_path: Path,
) -> None:
    lay(tmp_path, {"Ada.zip": "", "bob/01_naive.cu": "work", "team/x.txt": "", "eve/x.cu": ""})
    (tmp_path / "gus").symlink_to("gus")
    sources = "ada,,adda\nbob,,bbo\ncy,,bob\ndan,1,even\neve,1,even\nfay,,team/fay\ngus,,gsu\n"
    one = class_of(tmp_path, f"student,group,source\n{sources}")
    found = {student.name: intake.look(one, student) for student in one.students}
    assert {name: taken.status for name, taken in found.items()} == {
        "ada": "misnamed", "bob": "missing", "cy": "ok", "dan": "misnamed", "eve": "misnamed",
        "fay": "missing", "gus": "misnamed",
    }  # fmt: skip
    told = "adda is no folder or zip in .*; called like it or the student: Ada.zip. Name the right"
    assert re.match(told, found["ada"].detail)


def test_a_pointer_of_git_lfs_is_no_submission(tmp_path: Path) -> None:
    lay(tmp_path / "ada", {"01_naive.cu": "version https://git-lfs.github.com/spec/v1\noid x\n"})
    found = take("ada", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.detail) == (
        "unreadable", "01_naive.cu is a pointer of Git LFS, not the file"
    )  # fmt: skip


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_an_archive_that_is_damaged_anywhere_has_a_status(tmp_path: Path, kind: int) -> None:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", kind) as whole:
        whole.writestr("01_naive.cu", bytes(range(256)))
    for place in range(0, len(made.getvalue()), 3):
        damaged = bytearray(made.getvalue())
        damaged[place] ^= 0xFF
        (tmp_path / "ada.zip").write_bytes(damaged)
        status = take("ada", tmp_path, NAMES, tmp_path / "out").status
        assert status == "ok" or status in gradebook.STATUS


@pytest.mark.parametrize(
    "source", ["git://[::1]:1/x.git", "HTTPS://[::1]:1/x", "ftp://[::1]:1/x", "nobody@[::1]:x.git"]
)
def test_an_address_of_any_kind_is_unreachable_and_never_missing(
    tmp_path: Path, source: str
) -> None:
    found = take(source, tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.fetched) == ("unreachable", True)


def test_git_knows_the_way_out_of_a_network_with_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "no_proxy", "GIT_SSL_CAINFO"):
        monkeypatch.setenv(name, f"value of {name}")
        setting = f"alias.shown=!echo ${name}"
        printed = programs.git("-c", setting, "shown", strange=True)
        assert printed.decode().strip() == f"value of {name}"


def test_git_works_in_the_folder_that_is_named_also_when_called_by_a_hook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("outer", "inner"):
        git(tmp_path, "init", "--quiet", name)
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "outer/.git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "outer/.git/index"))
    for strange in (False, True):
        found = programs.git("rev-parse", "--absolute-git-dir", folder=tmp_path / "inner",
                             strange=strange)  # fmt: skip
        assert Path(found.decode().strip()) == (tmp_path / "inner/.git").resolve()


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


def test_of_an_archive_no_more_is_unpacked_than_a_file_may_have(tmp_path: Path) -> None:
    members: dict[str, bytes | str] = {f"{number}": "" for number in range(10_001)}
    members |= {"01_naive.cu": b" " * 50_000_000, "02_tiled.cu": "//"}
    archive(tmp_path / "ada.zip", members)
    found = take("ada", tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.files) == ("ok", ("01_naive.cu", "02_tiled.cu"))
    assert (tmp_path / "out/01_naive.cu").stat().st_size == LIMIT_BYTES + 1  # told by the reader
    path = tmp_path / "liar.zip"
    archive(path, {"01_naive.cu": b" " * (LIMIT_BYTES + 1000)})
    real, told = (LIMIT_BYTES + 1000).to_bytes(4, "little"), (900).to_bytes(4, "little")
    path.write_bytes(path.read_bytes().replace(real, told))
    take("liar", tmp_path, NAMES, tmp_path / "lies")
    assert sum(file.stat().st_size for file in (tmp_path / "lies").iterdir()) <= LIMIT_BYTES + 1


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


@pytest.mark.parametrize(
    ("pushed", "status"),
    [((), "missing"), (("main",), "ok"), (("main", "work"), "unreachable")],
)
def test_where_the_default_branch_was_never_pushed_the_only_other_one_counts(
    tmp_path: Path, pushed: tuple[str, ...], status: str
) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "--initial-branch", "master", "server.git")
    lay(tmp_path / "ada", {"starter/01_naive.cu": "work"})
    git(tmp_path / "ada", "init", "--quiet")
    git(tmp_path / "ada", "add", "--all")
    git(tmp_path / "ada", "commit", "--quiet", "--message", "x")
    for branch in pushed:
        git(tmp_path / "ada", "push", str(tmp_path / "server.git"), f"HEAD:refs/heads/{branch}")
    found = take((tmp_path / "server.git").as_uri(), tmp_path, NAMES, tmp_path / "out")
    assert (found.status, found.files) == (status, ("01_naive.cu",) * (status == "ok"))
    assert ("never pushed; there are main, work" in found.detail) == (len(pushed) > 1)


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
    snapshot = {"status": taken, "detail": detail, "taken": DUE.isoformat(), "received": None}
    folder.write_json(place / "snapshot.json", snapshot)
    if data is not None:
        folder.write_json(place / "results.json", data)
    folder.write_json(place / "job.json", {"status": status})


def graded(device: str = "simulator", tree: str = "") -> Any:
    data = record()
    data["grader"]["tree_sha256"] = tree or data["grader"]["tree_sha256"]
    data["exercises"][0]["status"] = "fail"
    data["exercises"][0]["checks"][4].update(status="not_graded", reason="inconclusive")
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


def test_what_a_kernel_keeps_from_being_graded_is_told(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student,received\nada,2026-01-01T00:00:00Z\n")
    data = graded()
    (speed,) = (c for c in data["exercises"][0]["checks"] if c["reason"] == "no_gpu")
    put(one, "ada", data)
    assert book(one)[0]["note"] == ""
    speed["reason"] = "feature"
    put(one, "ada", data)
    assert book(one)[0]["note"] == "not graded here, for what the kernels use: 02_tiled"
    page.write(one.folder / "summary.html", gradebook.rows(one, POLICY), "Class")
    assert "not graded, for what the kernel uses" in (one.folder / "summary.html").read_text()


@pytest.mark.parametrize("fetched", [True, False])
def test_who_is_late_only_by_when_we_fetched_is_told(tmp_path: Path, fetched: bool) -> None:
    one = class_of(tmp_path, "student\nada\n")
    put(one, "ada", graded())
    path = one.of(one.students[0]) / "snapshot.json"
    late = {"received": (DUE + timedelta(days=3)).isoformat(), "fetched": fetched}
    folder.write_json(path, json.loads(path.read_text()) | late)
    (row,) = gradebook.rows(one, POLICY)
    assert (row.late.charged, row.fetched_late) == (1, fetched)
    assert ("when it was pushed is not known" in row.note) == fetched
    folder.write_json(path.with_name("job.json"), {"status": "unreachable"})
    assert not gradebook.rows(one, POLICY)[0].fetched_late  # nothing was


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
    page.write(path, rows, "Class <b>")
    text = path.read_text()
    assert "different kinds of machines (gpu, simulator)" in text
    assert "<script>" not in text
    assert "<b>" not in text
    assert not re.search(r"\b(ada|bob|cy)\b", text)


def test_two_graders_in_one_class_are_told_in_book_and_page_and_on_stderr(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\nbob\n")
    put(one, "ada", graded(tree="a" * 64))
    put(one, "bob", graded(tree="b" * 64))
    assert command._gather(one) == cli.OK
    assert [row["grader"] for row in book(one)] == ["a" * 12, "b" * 12]
    both = f"different versions of the grader ({'a' * 12}, {'b' * 12})"
    assert both in capsys.readouterr().err
    assert both in (one.folder / "summary.html").read_text()


def test_a_class_that_an_older_grader_graded_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\n")
    ours = identity()["tree_sha256"]
    for tree, told in ((ours, False), ("a" * 64, True)):
        put(one, "ada", graded(tree=tree))
        command._gather(one)
        words = f"All were graded by grader {'a' * 12}, this copy is {ours[:12]}: they keep"
        assert (words in capsys.readouterr().err) == told


def test_what_an_exercise_does_not_ask_for_is_no_bar_of_the_page(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\n")
    data = graded()
    data["exercises"][1]["checks"] += [check("compiles"), check("efficient")]  # without points
    put(one, "ada", data)
    bars = page._bars([row for row in gradebook.rows(one, None) if row.record])
    assert [bar.check for bar in bars if bar.exercise == "04_tuned"] == [
        *("compiles", "whole_tiles", "fast"),
    ]


def test_why_snakemake_began_nobody_s_grading_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\n")
    log = one.folder / "snakemake.log"
    log.write_text("Traceback (most recent call last):\nImportError: No module named pandas\n\n")
    assert command._gather(one, 1) == cli.ERROR
    said = capsys.readouterr().err
    assert "said last: ImportError: No module named pandas. Next: mend that" in said
    assert str(log) in said
    place = one.of(one.students[0])
    place.mkdir(parents=True)
    (place / "grading.log").write_text("begun\n")
    assert command._gather(one, 1) == cli.ERROR
    assert "ImportError" not in capsys.readouterr().err


@pytest.mark.parametrize(("ended", "status"), [(0, cli.OK), (1, cli.ERROR)])
def test_a_class_ends_well_where_snakemake_did_and_everybody_has_a_score(
    tmp_path: Path, ended: int, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\nbob\n")
    put(one, "ada", graded())
    assert command._gather(one, ended) == cli.ERROR  # bob waits
    put(one, "bob", None, "missing")
    capsys.readouterr()
    assert command._gather(one, ended) == status
    assert ("Not everybody could be graded" in capsys.readouterr().err) == bool(ended)


def test_snakemake_is_told_the_folder_and_who_is_to_be_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = class_of(tmp_path, "student\nada\nev:il\n")
    called: list[list[str]] = []

    def run(words: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        called.append(words)
        return subprocess.CompletedProcess(words, 0)

    monkeypatch.setattr(subprocess, "run", run)
    assert command._snakemake(one, 3, None) == 0
    (words,) = called
    assert words[words.index("--directory") + 1] == str(one.folder)
    assert (one.folder / "keys.txt").read_text().split() == [one.students[0].key]


@pytest.mark.long
def test_a_class_may_lie_in_a_folder_of_any_name(tmp_path: Path) -> None:
    """Snakemake reads what is set on its command line as YAML, where ` #` begins a comment."""
    pytest.importorskip("snakemake")
    named = class_of(tmp_path, "student\nada\n")
    one = replace(named, folder=named.folder.rename(tmp_path / "Sheet #2: {tiles}"))
    put(one, "ada", graded())  # so that no job is left to run
    assert command._snakemake(one, 3, None) == 0


@pytest.mark.long
def test_why_snakemake_failed_is_in_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("snakemake")
    one = class_of(tmp_path, "student\nada\n")
    (tmp_path / "Snakefile").write_text('raise ValueError("told")\n')
    monkeypatch.setattr(command, "_SNAKEFILE", tmp_path / "Snakefile")
    assert command._snakemake(one, 3, None) != 0
    assert "told" in (one.folder / "snakemake.log").read_text()


def test_a_grading_has_the_gpu_that_was_chosen_for_it_and_a_session_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of its own, so that all it started can be ended."""
    one = handed_in(tmp_path)
    given: dict[str, Any] = {}
    fake_grading(monkeypatch, [0], given)
    monkeypatch.setenv("SLURM_JOB_ID", "7")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    run_job(one)
    assert given["env"]["CUDA_VISIBLE_DEVICES"] == ""
    assert given["start_new_session"]


def test_why_a_grading_never_began_stands_in_the_grade_book(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(tmp_path)
    lines = iter(["earlier", "The GPU cannot be used: no driver."])

    def run(_: folder.Class, place: Path, lock: int) -> str:
        with (place / "grading.log").open("a") as log:
            log.write(f"Grading ...\n{next(lines, '')}\n\n")
        return "grader_error"

    monkeypatch.setattr(job, "_run", run)
    assert [run_job(one, attempt) for attempt in (1, 3)] == [1, 0]
    assert gradebook.rows(one, None)[0].note == "The GPU cannot be used: no driver."
    (one.of(one.students[0]) / "job.json").unlink()
    monkeypatch.setattr(job, "_run", lambda *_: "grader_error")
    run_job(one, 3)
    assert "results.json cannot be read" in gradebook.rows(one, None)[0].note


def test_the_page_speaks_in_the_words_of_the_report(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\nbob\n")
    put(one, "ada", graded())
    rows = gradebook.rows(one, POLICY)
    page.write(one.folder / "summary.html", rows, "Class")
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


def test_who_is_looked_for_and_cannot_be_graded_is_told_why(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student,received\nada,yesterday\n")
    with pytest.raises(GraderFault, match=r"ada cannot be graded: line 2 .*yesterday.* Next: "):
        one.find("ada")
    with pytest.raises(GraderFault, match='has no student "bob". Next: '):
        one.find("bob")


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


@pytest.mark.parametrize("verb", ["class", "collect"])
def test_a_class_is_not_written_between_what_was_handed_in(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path, {"roster.csv": "student\nada\n", "in/ada/01_naive.cu": "work"})
    words = [verb, str(tmp_path / "roster.csv"), str(tmp_path / "in")]
    assert cli.main([*words, "--output", f"{tmp_path}/in/../in"]) == cli.ERROR
    assert "between what was handed in. Next: OUTPUT=new folder" in capsys.readouterr().err
    assert [path.name for path in (tmp_path / "in").iterdir()] == ["ada"]


def options_of(tmp_path: Path, **changed: Any) -> argparse.Namespace:
    given = {"submissions": tmp_path, "output": tmp_path / "class", "seed": None, "device": None,
             "roster": tmp_path / "roster.csv"}  # fmt: skip
    return argparse.Namespace(**{**given, **changed})


def taken_class(tmp_path: Path) -> folder.Class:
    """ada and bob were taken from tmp_path/old."""
    lay(tmp_path / "old", {"ada/01_naive.cu": "of ada", "bob/01_naive.cu": "of bob"})
    one = replace(class_of(tmp_path, "student\nada\nbob\n"), submissions=tmp_path / "old")
    folder.save(one)
    intake.take_all(one)
    return one


@pytest.mark.parametrize("files", [{}, {"ada/01_naive.cu": "of another ada"}])
@pytest.mark.parametrize("names", ["ada", "cy"])
def test_another_class_is_not_graded_for_what_was_taken_for_this_one(
    tmp_path: Path, files: dict[str, str], names: str
) -> None:
    one = taken_class(tmp_path)
    before = (one.folder / folder.CLASS).read_text()
    (tmp_path / "new").mkdir()
    lay(tmp_path / "new", {**files, "bob/01_naive.cu": "of another bob"})
    (tmp_path / "roster.csv").write_text(f"student\n{names}\n")
    told = f"holds the class of {tmp_path / 'old'}: .* for ada, bob is not the same in .*OUTPUT=n"
    with pytest.raises(GraderFault, match=told):
        command.compose(options_of(tmp_path, submissions=tmp_path / "new"))
    assert (one.folder / folder.CLASS).read_text() == before


def test_a_class_goes_on_where_its_submissions_were_copied_or_moved_to(tmp_path: Path) -> None:
    taken_class(tmp_path)
    (tmp_path / "old").rename(tmp_path / "new")
    moved = command.compose(options_of(tmp_path, submissions=tmp_path / "new"))
    folder.save(moved)
    lay(tmp_path / "new", {"ada/01_naive.cu": "changed later: taken once"})
    assert command.compose(options_of(tmp_path, submissions=tmp_path / "new")) == moved


@pytest.mark.parametrize("files", [{"ada/01_naive.cu": "handed in again"}, {}])
def test_one_who_handed_in_again_or_left_keeps_no_class_from_moving(
    tmp_path: Path, files: dict[str, str]
) -> None:
    one = taken_class(tmp_path)
    (tmp_path / "old").rename(tmp_path / "new")
    shutil.rmtree(tmp_path / "new/ada")
    lay(tmp_path / "new", files)
    moved = command.compose(options_of(tmp_path, submissions=tmp_path / "new"))
    assert moved.submissions == tmp_path / "new"
    told = {"ada": intake.OTHER if files else intake.GONE, "bob": intake.SAME}
    found = intake.compared(one.folder, moved.submissions)
    assert {student.name: found[student.key] for student in one.students} == told


def test_what_was_collected_is_graded_where_there_are_no_submissions(tmp_path: Path) -> None:
    taken_class(tmp_path)
    (tmp_path / "empty").mkdir()
    assert command.compose(options_of(tmp_path, submissions=tmp_path / "empty"))


def class_main(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **changed: Any) -> int:
    """`make class` with jobs that grade nothing."""

    def jobs(one: folder.Class, *_: Any) -> int:
        return max(job.main([str(one.folder), student.key, "1"]) for student in one.graded)

    monkeypatch.setattr(job, "_run", grading)
    monkeypatch.setattr(command, "_snakemake", jobs)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: True)
    given = {"verb": "class", "jobs": None, "profile": None, "check": False}
    return command.main(options_of(tmp_path, **{**given, **changed}))


def test_other_files_where_a_class_was_graded_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path / "in", {"ada/01_naive.cu": "sheet 1", "bob/01_naive.cu": "sheet 1"})
    (tmp_path / "roster.csv").write_text("student\nada\nbob\n")
    for text, told in (("sheet 1", False), ("sheet 1", False), ("sheet 2", True)):
        lay(tmp_path / "in", {"ada/01_naive.cu": text})
        assert class_main(tmp_path, monkeypatch, submissions=tmp_path / "in") == cli.OK
        printed = capsys.readouterr().err
        assert ("other files now than were graded of ada. Next: make regrade" in printed) == told


def test_a_wrong_deadline_or_a_folder_that_cannot_be_written_is_told_before_anybody_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "roster.csv").write_text("student\nada\n")
    (tmp_path / "file").touch()
    with pytest.raises(GraderFault, match="file/class cannot be written"):
        class_main(tmp_path, monkeypatch, check=True, output=tmp_path / "file/class")
    (tmp_path / "course.toml").write_text('target_gpu = "H200"\n[dedline]\ntime = 1\n')
    monkeypatch.setattr(command, "PROJECT", tmp_path)
    for only_look in (True, False):
        with pytest.raises(CourseError, match='Did you mean "deadline"'):
            class_main(tmp_path, monkeypatch, check=only_look)


def test_a_gpu_that_is_not_there_is_told_before_anybody_is_graded_but_not_of_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "roster.csv").write_text("student\nada\n")
    monkeypatch.setattr(command, "find_driver", lambda: Driver(problem="no driver"))
    with pytest.raises(GraderFault, match="The GPU cannot be used: no driver. Next: call it where"):
        class_main(tmp_path, monkeypatch, device="gpu", check=True)
    (tmp_path / "config.yaml").touch()
    more = {"device": "gpu", "profile": tmp_path, "check": True}
    assert class_main(tmp_path, monkeypatch, **more) == cli.OK


def test_what_was_fetched_is_of_this_class_wherever_it_is_graded(tmp_path: Path) -> None:
    lay(tmp_path / "origin", {"01_naive.cu": "work"})
    git(tmp_path / "origin", "init", "--quiet")
    git(tmp_path / "origin", "add", "--all")
    git(tmp_path / "origin", "commit", "--quiet", "--message", "x")
    address = (tmp_path / "origin").as_uri()
    one = class_of(tmp_path, f"student,source\nada,{address}\n")
    assert intake.take_all(one) == {"ok": 1}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert command.compose(options_of(tmp_path, submissions=elsewhere)).submissions == elsewhere


def test_what_nobody_in_the_roster_handed_in_is_told_where_something_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(tmp_path, {"in/ada.zip": "", "in/Bob L.zip": "", "in/.hidden": "", "in/team/cy.zip": ""})
    lay(tmp_path, {"in/lea.zip": ""})
    roster_text = "student,source,received\nada,\nbob,\ncy,team/cy\ndot,.\nlea,,yesterday\n"
    students = read_roster(tmp_path, roster_text)
    one = folder.Class(tmp_path / "in/class", tmp_path / "in", 7, "simulator", students)
    told = f"In {tmp_path / 'in'} and named by no line of the roster: Bob L.zip\n"
    for status, times in (("missing", 1), ("misnamed", 0)):
        put(one, "bob", None, status)
        command._gather(one)
        assert capsys.readouterr().out.count(told) == times
    addresses = read_roster(tmp_path, "student,source\nada,https://x.org/ada\n")
    assert intake.unclaimed(replace(one, students=addresses)) == []
    assert intake.unclaimed(replace(one, submissions=tmp_path / "gone")) == []


def test_more_gradings_of_others_than_students_are_told_as_another_class(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\nbob\n")
    for name in ("ada", "bob"):
        put(one, name, graded())
    command._gather(class_of(tmp_path, "student\ncy\n"))
    printed = capsys.readouterr()
    assert "holds gradings of 2 who are not in the roster. Next: if it is an" in printed.err
    assert "make forget" not in printed.out


@pytest.mark.parametrize("kept_in", ["", "history/1"])
@pytest.mark.parametrize("changed", [{"seed": 8}, {"device": "gpu"}])
def test_seed_and_device_may_change_until_somebody_was_graded(
    tmp_path: Path, changed: dict[str, Any], kept_in: str
) -> None:
    one = class_of(tmp_path, "student\nada\n")
    chosen = command.compose(options_of(tmp_path, **changed))
    assert changed.items() <= vars(chosen).items()
    place = one.of(one.students[0])
    folder.write_json(place / "job.json", {"status": "grader_error", "why": "no GPU here"})
    assert command.compose(options_of(tmp_path, **changed)) == chosen
    folder.write_json(place / kept_in / "results.json", {})
    with pytest.raises(GraderFault, match="begun with seed 7 and device simulator.*OUTPUT=new"):
        command.compose(options_of(tmp_path, **changed))
    for given in ({}, {"seed": 7, "device": "simulator"}):
        kept = command.compose(options_of(tmp_path, **given))
        assert (kept.seed, kept.device) == (7, "simulator")


def test_a_damaged_class_is_told_and_not_begun_anew(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\n")
    (one.folder / folder.CLASS).write_text("{")
    with pytest.raises(GraderFault, match="is damaged"):
        command.compose(options_of(tmp_path))


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


def fake_grading(
    monkeypatch: pytest.MonkeyPatch, results: list[int], given: dict[str, Any] | None = None
) -> None:
    """A grader that writes a record and ends with these exit statuses, one after the other.

    `given` is filled with how it was started.
    """

    class Grading:
        pid = 0

        def __init__(self, arguments: list[str], **more: Any) -> None:
            (given if given is not None else {}).update(more)
            output = Path(arguments[arguments.index("--output") + 1])
            self.returncode = results.pop(0)
            if self.returncode < 2:
                folder.write_json(output / "results.json", graded())

        def wait(self, limit_s: float) -> int:
            return self.returncode

        def poll(self) -> int:
            return self.returncode

    monkeypatch.setattr(subprocess, "Popen", Grading)


def handed_in(tmp_path: Path, *more: str) -> folder.Class:
    for name in ("ada", *more):
        (tmp_path / name).mkdir()
        (tmp_path / name / "01_naive.cu").write_text("// first")
    return class_of(tmp_path, "\n".join(("student", "ada", *more, "")))


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


def test_a_class_grades_again_whoever_the_grader_failed_for_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(tmp_path, "bob")
    ada, bob = one.students
    fake_grading(monkeypatch, [2, 0])
    assert [job.main([str(one.folder), student.key, "3"]) for student in (ada, bob)] == [0, 0]
    before = (one.of(bob) / "job.json").read_text()
    job.reopen(one)
    fake_grading(monkeypatch, [0])
    assert [job.main([str(one.folder), student.key, "1"]) for student in (ada, bob)] == [0, 0]
    assert [row.status for row in gradebook.rows(one, None)] == ["graded", "graded"]
    assert (one.of(bob) / "job.json").read_text() == before
    (one.of(bob) / "results.json").write_text("{")
    job.reopen(one)
    assert [row.status for row in gradebook.rows(one, None)] == ["graded", "not_run"]


def test_a_grading_whose_job_was_killed_keeps_its_student_until_it_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(tmp_path)
    orphans = []

    class Orphan(subprocess.Popen[bytes]):
        def __init__(self, _: list[str], **more: Any) -> None:
            super().__init__(["sleep", "600"], **more)
            orphans.append(self)

        def wait(self, timeout: float | None = None) -> int:
            raise SystemExit  # the job is gone ...

        def poll(self) -> int:
            return 0  # ... without a word to its child

    monkeypatch.setattr(subprocess, "Popen", Orphan)
    with pytest.raises(SystemExit):
        run_job(one)
    monkeypatch.undo()
    path = one.of(one.students[0]) / ".lock"
    try:
        with folder.locked(path, wait=False) as mine:
            assert mine is None
    finally:
        os.kill(orphans[0].pid, signal.SIGKILL)
        subprocess.Popen.wait(orphans[0])
    with folder.locked(path, wait=False) as mine:
        assert mine is not None


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


def grading(_: folder.Class, place: Path, lock: int) -> str:
    folder.write_json(place / "results.json", graded())
    return "graded"


def run_class(one: folder.Class) -> list[str]:
    """What `class` does before and in Snakemake's jobs."""
    folder.save(one)
    intake.take_all(one)
    job.reopen(one)
    for student in one.graded:
        assert job.main([str(one.folder), student.key, "1"]) == 0
    return [row.status for row in gradebook.rows(one, None)]


def test_what_was_missing_or_broken_is_looked_at_again_and_counts_from_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    (tmp_path / "bob.zip").write_bytes(b"PK nonsense")
    one = class_of(tmp_path, "student\nada\nbob\n")
    assert run_class(one) == ["missing", "broken_archive"]
    (tmp_path / "bob.zip").unlink()
    assert run_class(one) == ["missing", "broken_archive"]  # it was there
    archive(tmp_path / "bob.zip", {"01_naive.cu": "// mended"})
    archive(tmp_path / "ada.zip", {"01_naive.cu": "// late"})
    assert run_class(one) == ["graded", "graded"]
    for row in gradebook.rows(one, None):
        assert row.received is not None
        assert "so what came later counts from when it was taken; the roster's column" in row.note
    one = class_of(tmp_path, f"student,received\nada,{DUE.isoformat()}\nbob,\n")
    ada, bob = gradebook.rows(one, None)
    assert (ada.received, ada.note) == (DUE, "")
    assert bob.note


def test_whoever_was_looked_for_in_another_folder_is_not_late_for_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    one = handed_in(tmp_path)
    wrong = tmp_path / "wrong"
    wrong.mkdir()
    assert run_class(replace(one, submissions=wrong)) == ["missing"]
    assert run_class(one) == ["graded"]
    (row,) = gradebook.rows(one, None)
    assert (row.received, row.note) == (None, "")


def test_what_was_packed_otherwise_is_graded_and_not_late_once_the_roster_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    archive(tmp_path / "ada.ZIP", {"01_naive.cu": "work"})
    one = class_of(tmp_path, "student\nada\n")
    assert run_class(one) == run_class(one) == ["misnamed"]
    assert gradebook.rows(one, None)[0].final is None
    one = class_of(tmp_path, "student,source\nada,ada.ZIP\n")
    assert run_class(one) == ["graded"]
    assert gradebook.rows(one, None)[0].received is None


def test_another_source_in_the_roster_is_graded_and_the_old_grading_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    one = handed_in(tmp_path)
    (tmp_path / "other").mkdir()
    (tmp_path / "other/01_naive.cu").write_text("// the right one")
    assert run_class(one) == run_class(one) == ["graded"]
    place = one.of(one.students[0])
    assert not (place / "history").exists()
    changed = class_of(tmp_path, "student,source\nada,other\n")
    assert run_class(changed) == run_class(changed) == ["graded"]
    assert (place / "submission/01_naive.cu").read_text() == "// the right one"
    assert (place / "history/1/submission/01_naive.cu").read_text() == "// first"
    told = json.loads((place / "history/1/replaced.json").read_text())
    assert told["reason"] == "the roster's source changed from ada"
    assert [path.name for path in (place / "history").iterdir()] == ["1"]


def came_in(one: folder.Class) -> list[bool]:
    """Of each student whether a time counts: without one they are on time."""
    return [row.received is not None for row in gradebook.rows(one, None)]


def test_another_source_is_on_time_where_it_was_there_at_first_and_else_counts_from_when_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    names = ("ada", "bob", "cy", "dan")
    lay(tmp_path, {f"{name}/01_naive.cu": name for name in names[:2]})
    archive(tmp_path / "Upload 12.zip", {"01_naive.cu": "of cy, and called otherwise"})
    one = class_of(tmp_path, "\n".join(("student", *names, "")))
    assert run_class(one) == ["graded", "graded", "missing", "missing"]
    monkeypatch.setattr(intake, "datetime", an_hour_later())
    archive(tmp_path / "late.zip", {"01_naive.cu": "made later"})
    archive(tmp_path / "late too.zip", {"01_naive.cu": "made later, too"})
    archive(tmp_path / "bob 2.zip", {"01_naive.cu": "bob"})  # what was graded already
    sources = "ada,late.zip\nbob,bob 2\ncy,Upload 12\ndan,late too.zip\n"
    one = class_of(tmp_path, f"student,source\n{sources}")
    assert run_class(one) == ["graded"] * 4
    assert came_in(one) == [True, False, False, True]
    assert run_class(one) == ["graded"] * 4
    assert came_in(one) == [True, False, False, True]


def an_hour_later() -> Any:
    """A clock for what is taken from now on."""
    then = datetime.now(UTC) + timedelta(hours=1)
    return SimpleNamespace(now=lambda _: then)


def test_the_same_commit_at_another_spelling_of_its_address_came_in_when_it_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    lay(tmp_path / "origin.git", {"01_naive.cu": "work"})
    git(tmp_path / "origin.git", "init", "--quiet")
    git(tmp_path / "origin.git", "add", "--all")
    git(tmp_path / "origin.git", "commit", "--quiet", "--message", "x")
    address = (tmp_path / "origin").as_uri()
    one = class_of(tmp_path, f"student,source\nada,{address}.git\n")
    run_class(one)
    (before,) = gradebook.rows(one, None)
    monkeypatch.setattr(intake, "datetime", an_hour_later())
    one = class_of(tmp_path, f"student,source\nada,{address}\n")
    run_class(one)
    (after,) = gradebook.rows(one, None)
    assert (after.received, after.note) == (before.received, before.note)


@pytest.mark.parametrize("after", range(5))
def test_files_and_what_is_said_of_them_change_together_whenever_a_run_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    """At each step in which the second taking exchanges something."""
    one = handed_in(tmp_path)
    monkeypatch.setattr(job, "_run", grading)
    assert run_class(one) == ["graded"]
    (tmp_path / "ada/01_naive.cu").write_text("// second")
    steps = [after]

    def until_killed(real: Callable[..., Any]) -> Callable[..., Any]:
        def step(*given: Any, **more: Any) -> Any:
            steps[0] -= 1
            if steps[0] < 0:
                raise KeyboardInterrupt
            return real(*given, **more)

        return step

    (ada,) = one.students
    lay(one.of(ada), {"submission.partial/01_naive.cu": "// second"})
    taken = Snapshot("ok", "", ("01_naive.cu",))
    with monkeypatch.context() as patched:
        patched.setattr(folder, "write_json", until_killed(folder.write_json))
        patched.setattr(shutil, "rmtree", until_killed(shutil.rmtree))
        patched.setattr(Path, "rename", until_killed(Path.rename))
        patched.setattr(Path, "replace", until_killed(Path.replace))
        with pytest.raises(KeyboardInterrupt):
            intake.settle(one, ada, taken, datetime.now(UTC))
    assert run_class(one) == ["graded"]
    (row,) = gradebook.rows(one, None)
    text = (one.of(ada) / "submission/01_naive.cu").read_text()
    assert (text, "other files" in row.note) in (("// first", False), ("// second", True))


def test_a_grading_of_history_that_is_gone_keeps_nobody_from_being_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(tmp_path)
    monkeypatch.setattr(job, "_run", grading)
    run_class(one)
    history = one.of(one.students[0]) / "history"
    for number in (1, 2):
        assert regrade(one) == cli.OK
        assert (history / str(number)).is_dir()
    shutil.rmtree(history / "1")
    assert regrade(one) == cli.OK
    assert sorted(path.name for path in history.iterdir()) == ["2", "3"]


def test_two_teachers_of_one_group_may_share_a_folder(tmp_path: Path) -> None:
    before = os.umask(0o002)
    try:
        with folder.locked(tmp_path / ".lock", wait=False):
            assert (tmp_path / ".lock").stat().st_mode & 0o777 == 0o664
    finally:
        os.umask(before)


def test_a_fault_of_ours_while_one_is_taken_is_a_status_with_its_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take(source: str, *_: Any) -> Snapshot:
        raise RuntimeError("of a kind nobody thought of")

    one = handed_in(tmp_path)
    monkeypatch.setattr(intake, "take", take)
    assert run_class(one) == ["unreadable"]
    assert "RuntimeError: of a kind nobody" in gradebook.rows(one, None)[0].note


def test_a_source_that_could_not_be_reached_is_tried_again_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    origin, ada = tmp_path / "later", tmp_path / "ada"
    ada.mkdir()
    (ada / "01_naive.cu").write_text("// first")
    one = class_of(tmp_path, f"student,source\nada,\nbob,{origin.as_uri()}\n")

    def run() -> list[str]:
        return run_class(one)

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
    assert re.search("cannot be fetched at 20.*column received overrides", second.note)
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
    assert re.search(r"^ada: \d+ points, graded.*; this one counts", capsys.readouterr().out, re.M)


def regrade(one: folder.Class, fetch: bool = False) -> int:
    return command.main(argparse.Namespace(
        verb="regrade", output=one.folder, student="ada", reason="appeal", fetch=fetch
    ))  # fmt: skip


def test_a_regrade_of_who_handed_in_nothing_ends_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\n")
    assert run_class(one) == ["missing"]
    assert regrade(one) == cli.OK
    told = "ada: 0 points, nothing handed in (ada is not in "
    assert told in capsys.readouterr().out


def test_a_regrade_without_a_score_replaces_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = handed_in(tmp_path)
    place = one.of(one.students[0])
    fake_grading(monkeypatch, [0, 2, 2, 2])
    run_job(one)
    names = ("results.json", "job.json", "snapshot.json", "submission/01_naive.cu")
    before = [(place / name).read_text() for name in names]
    assert regrade(one) == cli.ERROR
    assert [(place / name).read_text() for name in names] == before
    assert gradebook.rows(one, None)[0].status == "graded"
    assert json.loads((place / "history/1/job.json").read_text())["status"] == "grader_error"
    assert "the earlier one still counts" in capsys.readouterr().out
    shutil.rmtree(tmp_path / "ada")
    with pytest.raises(
        GraderFault, match=r"ada was not taken anew: nothing handed in \(ada is not"
    ):
        regrade(one, fetch=True)
    assert [(place / name).read_text() for name in names] == before
    assert len(list((place / "history").iterdir())) == 1


def test_a_regrade_that_takes_anew_moves_the_time_only_of_other_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    origin = tmp_path / "origin"
    origin.mkdir()
    (origin / "01_naive.cu").write_text("// first")
    git(origin, "init", "--quiet")
    git(origin, "add", "--all")
    git(origin, "commit", "--quiet", "--message", "x")
    one = class_of(tmp_path, f"student,source\nada,{origin.as_uri()}\n")
    folder.save(one)
    (ada,) = one.students
    intake.take_once(one, ada, DUE)
    assert regrade(one, fetch=True) == 0
    assert gradebook.rows(one, None)[0].received == DUE
    (origin / "01_naive.cu").write_text("// second")
    git(origin, "commit", "--quiet", "--all", "--message", "y")
    assert regrade(one, fetch=True) == 0
    received = gradebook.rows(one, None)[0].received
    assert received is not None
    assert received != DUE
    assert (one.of(ada) / "submission/01_naive.cu").read_text() == "// second"


def test_other_files_of_a_folder_count_from_when_they_were_taken_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "_run", grading)
    one = handed_in(tmp_path)
    assert run_class(one) == ["graded"]
    assert regrade(one, fetch=True) == 0
    (row,) = gradebook.rows(one, None)
    assert (row.received, row.note) == (None, "")
    (tmp_path / "ada/01_naive.cu").write_text("// late work")
    assert regrade(one, fetch=True) == 0
    (row,) = gradebook.rows(one, None)
    assert row.received is not None
    told = "^other files were taken at 20.*, so what .*the roster's column received overrides"
    assert re.search(told, row.note)
    assert regrade(one, fetch=True) == 0  # the same files
    assert re.search(told, gradebook.rows(one, None)[0].note)


def test_everybody_is_taken_at_one_time_before_anybody_is_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins = []

    def take_once(_: folder.Class, student: roster.Student, begin: datetime) -> str:
        begins.append(begin)
        return f"of {student.name}"

    monkeypatch.setattr(intake, "take_once", take_once)
    one = class_of(tmp_path, "student\n" + "".join(f"s{number}\n" for number in range(20)))
    assert intake.take_all(one) == {f"of s{number}": 1 for number in range(20)}
    assert (len(begins), len(set(begins))) == (20, 1)


def test_whoever_is_done_is_told_while_the_others_are_graded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "_LOOK_S", 0.01)
    one = class_of(tmp_path, "student\nada\nbob\ncy\ndan\n")
    put(one, "ada", graded())
    told = ""

    def is_told() -> bool:
        nonlocal told
        told += capsys.readouterr().out
        return told.endswith("\n1 of 3: bob: graded\n")

    with progress.told(one):
        put(one, "bob", graded())
        wait_for(is_told)
        put(one, "cy", None, "missing", "cy is not in submissions")
    assert told.startswith(f"3 of 4 students to be graded. Logs: {one.folder}/snakemake.log, ")
    assert capsys.readouterr().out == "2 of 3: cy: nothing handed in (cy is not in submissions)\n"


def test_where_everybody_is_graded_nothing_is_told_of_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = class_of(tmp_path, "student\nada\nev:il\n")
    put(one, "ada", graded())
    with progress.told(one):
        pass
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("verb", ["forget", "regrade"])
def test_nobody_is_forgotten_or_regraded_while_the_class_is_graded(
    tmp_path: Path, verb: str
) -> None:
    one = class_of(tmp_path, "student\nada\n")
    options = argparse.Namespace(verb=verb, output=one.folder, student="ada", reason="", fetch=0)
    with (
        folder.locked(one.folder / ".lock", wait=True),
        pytest.raises(GraderFault, match="graded by another process"),
    ):
        command.main(options)
    with pytest.raises(GraderFault, match="holds no class"):
        command.main(argparse.Namespace(**{**vars(options), "output": tmp_path / "none"}))
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("word", ["ada", "ADA's key"])
def test_who_left_the_roster_is_told_and_can_be_forgotten(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], word: str
) -> None:
    left = class_of(tmp_path, "student\nada\n")
    put(left, "ada", graded())
    one = class_of(tmp_path, "student\nbob\n")
    key = left.students[0].key
    command._gather(one)
    assert f"students/{key} is of nobody in the roster. Next: make forget STUDENT={key}" in (
        capsys.readouterr().out
    )
    word = key if word != "ada" else word
    command.main(argparse.Namespace(verb="forget", output=one.folder, student=word))
    assert not left.of(left.students[0]).exists()
    with pytest.raises(GraderFault, match="has nothing about"):
        command.main(argparse.Namespace(verb="forget", output=one.folder, student=word))


def test_a_line_that_cannot_be_used_can_be_forgotten(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nev:il\nbob\n")
    (tmp_path / "roster.csv").unlink()
    command.main(argparse.Namespace(verb="forget", output=one.folder, student="ev:il"))
    assert [student.name for student in folder.load(one.folder).students] == ["bob"]
    assert not any("ev:il" in path.read_text() for path in one.folder.glob("*.*"))


def test_whoever_shared_a_source_with_who_is_forgotten_does_not_name_them(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student,source\nbob,\nzoe9,bob\n")
    (tmp_path / "roster.csv").unlink()
    assert "line 3 (zoe9):" in one.students[0].problem
    command.main(argparse.Namespace(verb="forget", output=one.folder, student="zoe9"))
    assert "line 3:" in folder.load(one.folder).students[0].problem
    assert not any("zoe9" in path.read_text() for path in one.folder.glob("*.*"))


def test_an_output_that_cannot_be_a_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = "file/class cannot be written: Not a directory. Next: name another: OUTPUT=dir"
    with pytest.raises(GraderFault, match=told), command.alone(tmp_path / "file/class"):
        pass


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


def test_forgetting_leaves_what_is_of_another_whose_name_begins_like_theirs(tmp_path: Path) -> None:
    one = class_of(tmp_path, "student\nada\nada.smith\n")
    seen = {name: DUE.isoformat() for name in ("ada.zip", "ada.smith", "ada.old")}
    folder.write_json(one.folder / "submissions.json", seen)
    command.main(argparse.Namespace(verb="forget", output=one.folder, student="ada"))
    assert list(folder.read_json(one.folder / "submissions.json") or {}) == ["ada.smith"]


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
    assert "\n6 of 6 students to be graded. Logs: " in told
    assert "\n6 of 6: " in told
    assert "6 students. graded: 5, nothing handed in: 1.\n" in told
    assert "  gus: nothing handed in" in told
    assert "Pairs that are alike: 1, in " in told

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
