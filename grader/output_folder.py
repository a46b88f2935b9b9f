"""The folder that a grading writes to: held by one grading at a time, and never the reason why a
finished grading is lost."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader import record
from grader.record import RecordError


@dataclass(frozen=True)
class Kept:
    """Where the record and the log are; None where there is none. `problem` says why they are
    elsewhere, or nowhere."""

    record: Path | None
    log: Path | None
    problem: str = ""


@contextmanager
def reserved(folder: Path) -> Iterator[None]:
    """Refuse a folder that another grading is going to write to: raises RecordError.

    The lock is the system's, so it ends with its process, however that ends.
    """
    descriptor = None
    try:
        with suppress(OSError):  # a folder that cannot be opened, or a system without such locks
            descriptor = os.open(folder, os.O_RDONLY)
            _lock(descriptor, folder)
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def _lock(descriptor: int, folder: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise RecordError(
            f"Another grading is going to write its results to {folder}. "
            "Next: wait for it, or choose another folder: --output DIR"
        ) from None


def keep(folder: Path, composed: Mapping[str, Any], texts: Sequence[str]) -> Kept:
    """Write record and log to `folder`, or where that fails, to a new temporary folder."""
    try:
        return Kept(record.save(folder, composed), log(folder, texts))
    except RecordError as fault:
        problem = str(fault)
    try:
        other = Path(tempfile.mkdtemp(prefix="matmul-results-"))
        path = record.save(other, composed)
    except (OSError, RecordError):
        return Kept(None, None, f"{problem}. The record could not be written anywhere else either")
    return Kept(path, log(other, texts), problem)


def log(folder: Path, texts: Sequence[str]) -> Path | None:
    """Write the log; None where there is nothing to log, or no way: it must not cost the record."""
    try:
        return record.save_log(folder, texts)
    except RecordError:
        return None
