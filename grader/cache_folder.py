"""Entries of the cache: made under another name, whole when they get their own, removed with time.

After a power cut a file can be there without what was written to it, so an entry lists its files'
sizes, and one that is not as listed is made again.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader import machine_fault
from grader.finding import GraderFault

_SIZES = "sizes.json"
_ENTRY = re.compile(r"(?:kernel|machine)-\w+|[0-9a-f]{40}")
_WORKING = re.compile(r"\.?new-\w+")  # what a killed grading leaves
_DAY_S = 24 * 3600.0
# Nobody edits one text for longer than that, and each edit leaves an entry.
_UNUSED_DAYS = 30


def is_whole(entry: Path) -> bool:
    """Whether the entry is there as it was made; one that is asked for stays in the cache."""
    try:
        told = json.loads((entry / _SIZES).read_text(encoding="utf-8"))
        if told != _sizes(entry):
            return False
    except (OSError, ValueError):
        return False
    with suppress(OSError):  # a cache that others filled
        os.utime(entry)
    return True


@contextmanager
def making(entry: Path) -> Iterator[Path]:
    """A new folder, which becomes `entry` when the block ends; nothing of it stays otherwise.

    Another process may be faster; what is there and not whole makes room.
    """
    with workplace(entry.parent) as made:
        yield made
        _seal(made)
        _install(made, entry)


@contextmanager
def workplace(cache: Path) -> Iterator[Path]:
    """A new folder inside `cache`, removed at the end. Raises GraderFault."""
    try:
        cache.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".new-", dir=cache))
    except OSError as fault:
        told = f"The cache folder {cache} cannot be written"
        raise GraderFault(machine_fault.told(fault, told)) from None
    tidy(cache)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@functools.cache  # once a process
def tidy(cache: Path) -> None:
    """Remove the working folders of processes that were killed, and entries that nobody uses."""
    now = cache.stat().st_mtime  # a file is made in it just now, and its clock is that of the rest
    for path in cache.iterdir():
        days = 1 if _WORKING.fullmatch(path.name) else _UNUSED_DAYS
        if days == 1 or _ENTRY.fullmatch(path.name):
            with suppress(OSError):  # another process tidies, too
                if now - path.stat().st_mtime > days * _DAY_S:
                    shutil.rmtree(path, ignore_errors=True)


def _sizes(entry: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in entry.iterdir() if path.name != _SIZES}


def _seal(made: Path) -> None:
    (made / _SIZES).write_text(json.dumps(_sizes(made)), encoding="utf-8")
    for path in made.iterdir():  # the name must not reach the disk before what it stands for
        with path.open("rb") as stream:
            os.fsync(stream.fileno())


def _install(made: Path, entry: Path) -> None:
    try:
        made.rename(entry)
    except OSError:
        if is_whole(entry):
            return
        shutil.rmtree(entry, ignore_errors=True)
        made.rename(entry)
