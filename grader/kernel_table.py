"""Kernels that are files of the project with a few edits, and the tables that list them.

A table is a TOML file; each [[kernel]] has a `name`, a `file`, the `exercise` whose contract it
follows, and may have `edits`: pairs of a text, which is in the file exactly once, and its
replacement.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from grader import settings
from grader.exercise import PROJECT, Exercise
from grader.finding import GraderFault
from grader.submission import Submission, read

_KEYS = ("name", "exercise", "file", "edits")


class KernelTableError(GraderFault):
    """A table of kernels is wrong or not there; the text names the kernel and the key."""


def rows(table: Path, *keys: str) -> list[settings.Table]:
    """The kernels; each may also have these `keys`. Raises KernelTableError."""
    top = settings.read(table, KernelTableError)
    top.only(("kernel",))
    found = top.tables("kernel")
    for row in found:
        row.only((*_KEYS, *keys))
    return found


def submission(row: settings.Table, exercise: Exercise) -> Submission:
    """The row's kernel. Raises KernelTableError where an edit does not fit."""
    try:
        return edited(PROJECT / row.text("file"), exercise, row.entries.get("edits", ()))
    except ValueError as misfit:
        raise row.fault("edits", f"{misfit}.") from None


def edited(path: Path, exercise: Exercise, edits: Iterable[tuple[str, str]]) -> Submission:
    """The file with its edits. Raises ValueError where one does not fit."""
    whole = read(path, exercise, path.parent)
    text = whole.text
    for old, new in edits:
        if text.count(old) != 1:
            raise ValueError(f"replaces {old!r}, which is there {text.count(old)} times")
        text = text.replace(old, new)
    return whole.with_text(text)
