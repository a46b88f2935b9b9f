"""Gradings of a student that do not count: students/KEY/history/N/, with the reason of each."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from grader.classroom import folder as folders

# job.json first: without it nothing else of a grading counts.
_FILES = ("job.json", "results.json", "grading.log", "snapshot.json")
_SUBMISSION = "submission"


def archive(place: Path, reason: str, anew: bool) -> Path:
    """Move the present grading to history/, so that its job runs again; returns where it is.

    What was handed in stays and is graded again; `anew`: it is taken anew, too.
    """
    target = _copied(place, reason)
    for name in _FILES if anew else _FILES[:-1]:
        (place / name).unlink(missing_ok=True)
    return target


def put_back(place: Path, kept: Path, reason: str) -> None:
    """Let the grading in `kept` count again; what replaced it takes its place in history/."""
    attempt = _copied(place, reason)
    for name in _FILES:
        (place / name).unlink(missing_ok=True)
    shutil.rmtree(place / _SUBMISSION, ignore_errors=True)
    for name in (_SUBMISSION, *reversed(_FILES)):
        _copy(kept / name, place / name)
    shutil.rmtree(kept)
    attempt.rename(kept)


def _copied(place: Path, reason: str) -> Path:
    """A new folder of history/ with all of the present grading, there in full or not at all."""
    history = place / "history"
    history.mkdir(parents=True, exist_ok=True)
    partial = history / ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name in (*_FILES, _SUBMISSION):
        _copy(place / name, partial / name)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    folders.write_json(partial / "replaced.json", {"when": when, "reason": reason})
    return partial.rename(history / str(len(list(history.iterdir()))))


def _copy(source: Path, target: Path) -> None:
    if source.exists():
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
