"""Files that are written in full or not at all, and that nobody reads who may not."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.atomic import write_text


@pytest.fixture(params=[0o022, 0o077])
def mask(request: pytest.FixtureRequest) -> Iterator[int]:
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_for_whom_the_mask_lets(tmp_path: Path, mask: int) -> None:
    path = tmp_path / "gradebook.csv"
    write_text(path, "x")
    assert mode(path) == 0o666 & ~mask
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("mask")
@pytest.mark.parametrize("kept", [0o600, 0o640, 0o644])
def test_a_file_that_is_replaced_stays_for_whom_it_was(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "gradebook.csv"
    path.write_text("old")
    path.chmod(kept)
    write_text(path, "new")
    assert (path.read_text(), mode(path)) == ("new", kept)


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "gradebook.csv"
    path.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "\udc00")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
