"""What counts of a student is exchanged in whole: gradings that no longer do are kept in
students/KEY/history/N/, with the reason of each."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path

from grader.classroom import folder as folders

# job.json first: without it nothing else of a grading counts.
_RESULTS = ("job.json", "results.json", "grading.log")
SNAPSHOT, SUBMISSION = "snapshot.json", "submission"
# What was looked at, until it counts: the files, and after them what is to be said of them.
PARTIAL, COMING = "submission.partial", "snapshot.coming.json"


def archive(place: Path, reason: str) -> Path:
    """Move the present grading to history/, so that its job runs again; returns where it is.

    What was handed in stays and is graded again, unless other files are taken.
    """
    target = _copied(place, reason)
    for name in _RESULTS:
        (place / name).unlink(missing_ok=True)
    return target


def put_back(place: Path, kept: Path, reason: str) -> None:
    """Let the grading in `kept` count again; what replaced it takes its place in history/."""
    attempt = _copied(place, reason)
    for name in _RESULTS:
        (place / name).unlink(missing_ok=True)
    shutil.rmtree(place / PARTIAL, ignore_errors=True)
    _copy(kept / SUBMISSION, place / PARTIAL)
    _copy(kept / SNAPSHOT, place / COMING)
    finish(place)
    for name in reversed(_RESULTS):
        _copy(kept / name, place / name)
    shutil.rmtree(kept)
    attempt.rename(kept)


def finish(place: Path) -> None:
    """Let COMING and PARTIAL count, together: also what a run that was killed had begun."""
    if not (place / COMING).exists():
        return
    if (place / PARTIAL).exists():
        shutil.rmtree(place / SUBMISSION, ignore_errors=True)
        (place / PARTIAL).rename(place / SUBMISSION)
    (place / COMING).replace(place / SNAPSHOT)


def _copied(place: Path, reason: str) -> Path:
    """A new folder of history/ with all of the present grading, there in full or not at all."""
    history = place / "history"
    history.mkdir(parents=True, exist_ok=True)
    partial = history / ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name in (*_RESULTS, SNAPSHOT, SUBMISSION):
        _copy(place / name, partial / name)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    folders.write_json(partial / "replaced.json", {"when": when, "reason": reason})
    numbers = (int(path.name) for path in history.iterdir() if path.name.isdecimal())
    return partial.rename(history / str(1 + max(numbers, default=0)))


def _copy(source: Path, target: Path) -> None:
    if source.exists():
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
