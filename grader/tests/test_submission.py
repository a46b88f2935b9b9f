"""Reading a student's file: whatever lies there, the answer is a text or a finding."""

from __future__ import annotations

import errno
import hashlib
import os
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.exercise import PROJECT, Exercise, load_all
from grader.finding import GraderFault
from grader.messages import describe
from grader.submission import (
    FINGERPRINTS,
    LIMIT_BYTES,
    Submission,
    SubmissionProblem,
    fingerprint,
    read,
    status,
)
from grader.verdict import Verdict

EXERCISES = {exercise.name: exercise for exercise in load_all(PROJECT)}
NAIVE = EXERCISES["01_naive"]


def place(folder: Path, content: bytes) -> Path:
    path = folder / "01_naive.cu"
    path.write_bytes(content)
    return path


def problem(path: Path, root: Path | None = None) -> tuple[str, dict[str, Any]]:
    with pytest.raises(SubmissionProblem) as caught:
        read(path, NAIVE, root or path.parent)
    (finding,) = caught.value.findings
    assert finding.verdict is Verdict.REJECTED
    assert "01_naive.cu" in finding.locations[0].file
    assert describe(finding, NAIVE).text
    return finding.kind, dict(finding.facts)


def test_a_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = place(tmp_path, "// für\nint x;\n".encode())
    submission = read(path, NAIVE, tmp_path)
    assert submission == Submission(
        name=f"{tmp_path.name}/01_naive.cu",
        path=path,
        text="// für\nint x;\n",
        sha256="140376435f9afc5312d823f172447485537c631ff1017f692d43ac438d7fe930",
    )


def test_a_file_inside_the_project_is_named_from_its_root() -> None:
    path = PROJECT / "starter" / "01_naive.cu"
    assert read(path, NAIVE, PROJECT / "starter").name == "starter/01_naive.cu"


def test_crlf_line_ends_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    path = place(tmp_path, b"\xef\xbb\xbfint x;\r\nint y;\r\n")
    assert read(path, NAIVE, tmp_path).text == "int x;\nint y;\n"


@pytest.mark.parametrize(
    ("content", "kind", "facts"),
    [
        (b"", "empty_file", {}),
        (b" \r\n\t\n", "empty_file", {}),
        (b"\xef\xbb\xbf", "empty_file", {}),
        (b"\x7fELF\0\0\0", "binary_file", {"encoding": ""}),
        ("int x;".encode("utf-16"), "binary_file", {"encoding": "UTF-16"}),
        (b"// f\xfcr\nint f\xfcr;\n", "invalid_utf8", {"line": 2, "byte": "0xfc"}),
        (b'R"(a\n\xe4)"', "invalid_utf8", {"line": 2, "byte": "0xe4"}),
        (b"\xef\xbb\xbf\n\n\xff", "invalid_utf8", {"line": 3, "byte": "0xff"}),
        (b" " * LIMIT_BYTES + b"x", "file_too_large", {"bytes": 250_001, "limit": LIMIT_BYTES}),
        (b"x" * 5_000_000, "file_too_large", {"bytes": 5_000_000, "limit": LIMIT_BYTES}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_file_that_is_no_source_is_refused_by_name(
    tmp_path: Path, content: bytes, kind: str, facts: dict[str, Any]
) -> None:
    assert problem(place(tmp_path, content)) == (kind, facts)


def test_comments_may_hold_letters_of_windows(tmp_path: Path) -> None:
    content = b"int x; // f\xfcr \x96\n/* na\xefve \x81 */ int y; // gr\xc3\xbc\xc3\x9fe\n"
    taken = read(place(tmp_path, content), NAIVE, tmp_path)
    assert taken.text == "int x; // für \u2013\n/* naïve \ufffd */ int y; // grüße\n"
    assert taken.sha256 == hashlib.sha256(content).hexdigest()


def test_a_file_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    path = place(tmp_path, b"x" + b" " * (LIMIT_BYTES - 1))
    assert len(read(path, NAIVE, tmp_path).text) == LIMIT_BYTES


def test_the_line_of_a_wrong_byte_is_the_place(tmp_path: Path) -> None:
    with pytest.raises(SubmissionProblem) as caught:
        read(place(tmp_path, b"\n\n\n\xff"), NAIVE, tmp_path)
    assert caught.value.findings[0].locations[0].line == 4


def test_a_folder_in_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "01_naive.cu").mkdir()
    assert problem(tmp_path / "01_naive.cu") == ("not_a_file", {"type": "folder"})


def test_a_pipe_is_refused_without_waiting_for_its_writer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "01_naive.cu")
    assert problem(tmp_path / "01_naive.cu") == ("not_a_file", {"type": "pipe"})


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("01_naive.cu")
        assert problem(tmp_path / "01_naive.cu") == ("not_a_file", {"type": "socket"})


def test_a_link_out_of_the_folder_is_refused_unread(tmp_path: Path) -> None:
    folder = tmp_path / "submitted"
    folder.mkdir()
    secret = tmp_path / "solution.cu"
    secret.write_text("int secret;")
    path = folder / "01_naive.cu"
    for target in (str(secret), "../solution.cu", "/etc/passwd", "/proc/self/environ"):
        path.unlink(missing_ok=True)
        path.symlink_to(target)
        assert problem(path) == ("symlink_outside", {"target": target})


def test_a_link_to_a_folder_beside_one_of_the_same_beginning_leads_out(tmp_path: Path) -> None:
    for name in ("sub", "sub2"):
        (tmp_path / name).mkdir()
    place(tmp_path / "sub2", b"int x;")
    (tmp_path / "sub" / "01_naive.cu").symlink_to("../sub2/01_naive.cu")
    assert problem(tmp_path / "sub" / "01_naive.cu")[0] == "symlink_outside"


def test_a_link_inside_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text("int x;")
    (tmp_path / "01_naive.cu").symlink_to("mine.cu")
    assert read(tmp_path / "01_naive.cu", NAIVE, tmp_path).text == "int x;"


def test_a_folder_that_is_itself_a_link_may_be_graded(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    place(tmp_path / "real", b"int x;")
    (tmp_path / "alias").symlink_to("real")
    assert read(tmp_path / "alias" / "01_naive.cu", NAIVE, tmp_path / "alias").text == "int x;"


def test_links_that_lead_nowhere_or_round_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "01_naive.cu"
    path.symlink_to("gone.cu")
    assert problem(path) == ("missing_file", {})
    path.unlink()
    path.symlink_to("01_naive.cu")
    assert problem(path) == ("unreadable_file", {"reason": "a link that leads to itself"})


def test_a_file_that_went_away_is_a_missing_file(tmp_path: Path) -> None:
    assert problem(tmp_path / "01_naive.cu") == ("missing_file", {})


def failing_open(monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    def fail(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("grader.submission.os.open", fail)


def test_a_file_without_read_permission_is_the_students_to_mend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place(tmp_path, b"int x;")
    failing_open(monkeypatch, errno.EACCES)
    assert problem(path) == ("unreadable_file", {"reason": "permission denied"})


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENOMEM])
def test_a_machine_that_cannot_read_blames_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    path = place(tmp_path, b"int x;")
    failing_open(monkeypatch, number)
    with pytest.raises(GraderFault, match="This is not about your kernel"):
        read(path, NAIVE, tmp_path)


@given(content=st.binary(max_size=200))
@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_any_bytes_give_a_text_or_a_finding(tmp_path: Path, content: bytes) -> None:
    path = place(tmp_path, content)
    try:
        text = read(path, NAIVE, tmp_path).text
    except SubmissionProblem as refused:
        text = describe(refused.findings[0], NAIVE).text
    assert text.strip()
    assert status(path, NAIVE) == "started"


# Status and fingerprints.


def course(folder: Path, *shipped: str) -> Exercise:
    lines = ["# every starter ever shipped", "", *(f"{fingerprint(s)} 2024" for s in shipped)]
    (folder / FINGERPRINTS).write_text("\n".join(lines), encoding="utf-8")
    return replace(NAIVE, folder=folder)


def test_no_file_is_missing_and_a_folder_of_that_name_is_not(tmp_path: Path) -> None:
    assert status(tmp_path / "01_naive.cu", NAIVE) == "missing"
    (tmp_path / "01_naive.cu").mkdir()
    assert status(tmp_path / "01_naive.cu", NAIVE) == "started"


def test_any_starter_ever_shipped_is_not_started(tmp_path: Path) -> None:
    exercise = course(tmp_path, "int old;", "int fresh;")
    for text in (b"int old;", b"int fresh;\r\n", b"/* mine */ int\n  fresh ; // name: me"):
        assert status(place(tmp_path, text), exercise) == "not_started"
    assert status(place(tmp_path, b"int fresh2;"), exercise) == "started"


@pytest.mark.parametrize("name", [name for name, one in EXERCISES.items() if one.graded])
def test_each_shipped_starter_is_not_started(name: str) -> None:
    assert status(PROJECT / "starter" / f"{name}.cu", EXERCISES[name]) == "not_started"


def test_the_warm_up_counts_as_started_from_the_first_minute() -> None:
    path = PROJECT / "starter" / "00_warmup.cu"
    assert status(path, EXERCISES["00_warmup"]) == "started"


def test_a_damaged_list_of_fingerprints_is_the_courses_fault(tmp_path: Path) -> None:
    exercise = course(tmp_path)
    (tmp_path / FINGERPRINTS).write_bytes(b"\xff\xfe")
    with pytest.raises(GraderFault, match=FINGERPRINTS):
        status(place(tmp_path, b"int x;"), exercise)


SOURCE = """#include "launch.cuh"
#define TILE 16
__global__ void matmul_naive(const float *A) {
    int x = A[0] >> 2; // note
    const char *s = "a  //b";
}
"""


def test_comments_and_layout_do_not_change_a_fingerprint() -> None:
    same = SOURCE.replace("// note", "/* other\n words */").replace("\n    ", "\n\n\t")
    same = same.replace("void matmul", "void\\\n matmul").replace("\n", "\r\n")
    assert fingerprint("\ufeff" + same) == fingerprint(SOURCE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("A[0]", "A[1]"),
        ('"a  //b"', '"a //b"'),
        ("int x", "intx"),
        ("TILE 16\n", "TILE 16 "),
        ('"launch.cuh"', "<launch.cuh>"),
    ],
)
def test_any_other_change_changes_a_fingerprint(old: str, new: str) -> None:
    assert old in SOURCE
    assert fingerprint(SOURCE.replace(old, new)) != fingerprint(SOURCE)


def test_fingerprints_written_by_earlier_versions_still_hold() -> None:
    # Were this to change, every starter that students hold would no longer be known.
    assert fingerprint(SOURCE) == "efa5f98b17a473c307244db2ac29b94a5838d6d4a05337928107044499d22cea"


@pytest.mark.parametrize("break_", ["\f", "\v", "\x1c", "\x85", "\u2028", "\u2029"])
def test_only_a_newline_ends_a_line_and_comments_name_nothing_as_for_compilers(
    tmp_path: Path, break_: str
) -> None:
    path = place(tmp_path, f"// LAUNCH_CONFIG{break_}here\nLAUNCH_CONFIG\n".encode())
    submission = read(path, NAIVE, tmp_path)
    assert submission.lines == (f"// LAUNCH_CONFIG{break_}here", "LAUNCH_CONFIG")
    assert [one.line for one in submission.place_of("LAUNCH_CONFIG")] == [2]
    assert submission.place_of("LAUNCH_BOUNDS") == ()


def test_nobody_counts_the_lines_of_a_submission_otherwise() -> None:
    modules = [path for path in (PROJECT / "grader").rglob("*.py") if "tests" not in path.parts]
    counting = [path.name for path in modules if ".text.splitlines(" in path.read_text("utf-8")]
    assert counting == []
