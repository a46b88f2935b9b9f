"""Changed files outside starter/ are named, and looking at a stranger's folder does no harm."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from grader.classroom import taking
from grader.finding import GraderFault
from grader.handout import manifest, protection
from grader.handout.protection import changed_outside, note

FILES = {"Makefile": b"all:\n", "tests/test_checks.py": b"# checks\n"}


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A small hand-out."""
    root = tmp_path / "ada"
    listed = manifest.of(FILES, "1", "0" * 64)
    for name, content in {**FILES, manifest.NAME: manifest.write(listed)}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    (root / "starter").mkdir()
    (root / "starter" / "01_naive.cu").write_text("// mine\n")
    return root


def test_a_copy_as_it_was_handed_out_has_nothing_to_tell(copy: Path) -> None:
    (copy / "notes.txt").write_text("my own file\n")
    assert changed_outside(copy) == changed_outside(copy / "starter") == ()
    assert note(()) == ""


def test_a_folder_that_is_no_hand_out_has_nothing_to_tell(tmp_path: Path) -> None:
    assert changed_outside(tmp_path) == ()


@pytest.mark.parametrize("place", [".", "starter"])
def test_changed_and_removed_files_are_named_from_both_folders(copy: Path, place: str) -> None:
    (copy / "Makefile").unlink()
    (copy / "tests" / "test_checks.py").write_text("def test_all(): pass\n")
    assert changed_outside(copy / place) == ("Makefile", "tests/test_checks.py")


def test_the_note_names_a_few_and_the_command_that_restores_all() -> None:
    assert note(tuple(f"f{i}" for i in range(7))) == (
        "Changed outside starter/: f0, f1, f2, f3, f4 and 2 more: they are not used in grading. "
        "Restore them: make restore"
    )


def test_names_that_a_student_chose_stay_on_one_line() -> None:
    assert "\n" not in note(("a\n::error::forged", "b\x1b[31m"))
    assert "\x1b" not in note(("b\x1b[31m",))


@pytest.mark.parametrize("text", ["", "[]", '{"schema": "matmul-handout/v1"}', "[" * 100_000])
def test_a_manifest_that_was_tampered_with_is_itself_named(copy: Path, text: str) -> None:
    (copy / manifest.NAME).write_text(text)
    assert changed_outside(copy) == (manifest.NAME,)


def test_links_pipes_and_devices_are_changes_and_are_not_read(copy: Path) -> None:
    (copy / "Makefile").unlink()
    os.mkfifo(copy / "Makefile")  # reading it would wait for ever
    (copy / "tests" / "test_checks.py").unlink()
    (copy / "tests").rmdir()
    (copy / "tests").symlink_to("/dev")
    listed = manifest.Manifest(
        "1", "0" * 64, {**manifest.read(copy).files, "tests/zero": "0" * 64, "loop/x": "0" * 64}
    )
    (copy / manifest.NAME).write_bytes(manifest.write(listed))
    (copy / "loop").symlink_to("loop")
    assert changed_outside(copy) == ("Makefile", "loop/x", "tests/test_checks.py", "tests/zero")


def test_a_huge_file_is_a_change_and_not_read_whole(copy: Path) -> None:
    with (copy / "Makefile").open("wb") as file:
        file.truncate(1 << 40)
    assert changed_outside(copy) == ("Makefile",)


def take(source: Path, output: Path) -> int:
    return taking.main(argparse.Namespace(source=str(source), output=output))


def test_taking_a_submission_takes_its_files_and_the_note(copy: Path, tmp_path: Path) -> None:
    (copy / "Makefile").write_text("all: cheat\n")
    assert take(copy, tmp_path / "taken") == 0
    assert [path.name for path in (tmp_path / "taken" / "starter").iterdir()] == ["01_naive.cu"]
    assert taking.read_note(tmp_path / "taken") == protection.note(("Makefile",))


def test_a_link_is_taken_for_what_it_leads_to_and_a_wrong_name_is_told(
    copy: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(copy)
    assert take(tmp_path / "link", tmp_path / "taken") == 0
    assert (tmp_path / "taken" / "starter" / "01_naive.cu").is_file()
    with pytest.raises(GraderFault, match="is not there. Next: name a folder or a zip"):
        take(tmp_path / "lnik", tmp_path / "nothing")


def test_a_folder_that_was_filled_before_is_not_filled_again(copy: Path, tmp_path: Path) -> None:
    assert take(copy, tmp_path / "taken") == 0
    with pytest.raises(GraderFault, match="filled before. Next: name a new folder"):
        take(copy, tmp_path / "taken")


def test_taking_nothing_is_no_error_but_what_cannot_be_read_is(copy: Path, tmp_path: Path) -> None:
    (copy / "starter" / "01_naive.cu").unlink()
    assert take(copy, tmp_path / "nothing") == 0
    (copy / "starter" / "01_naive.cu").symlink_to("/etc/hostname")
    with pytest.raises(GraderFault, match=r"cannot be read \(01_naive\.cu: is a link\)\. Next: "):
        take(copy, tmp_path / "linked")
