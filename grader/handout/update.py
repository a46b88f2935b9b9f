"""The student's side: take a newer grader, or undo changes to it. starter/ is never touched."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.finding import GraderFault
from grader.git import GitError, git, versions
from grader.handout import manifest
from grader.handout.contents import STARTER


@dataclass(frozen=True)
class Update:
    """What an update did; names are paths from the root."""

    version: str
    written: tuple[str, ...]
    removed: tuple[str, ...]
    new_starters: tuple[str, ...]


def update(folder: Path, source: str) -> Update:
    """Bring the copy in `folder` to the hand-out `source`, a folder or what git can clone.

    Files of the old hand-out that the new one lacks are removed; starters of exercises that are new
    are added. Raises GraderFault, with nothing changed, for a source that is no whole hand-out.
    """
    with _fetched(source) as newer:
        coming = manifest.read(newer)
        broken = manifest.compare(coming, newer).names
        if broken:
            raise GraderFault(
                f"{source} is not as it was handed out: {', '.join(broken[:3])} differ. "
                "Next: get it again"
            )
        present = manifest.read(folder)
        written = manifest.compare(coming, folder).names
        removed = tuple(
            name for name in present.files if name not in coming.files and (folder / name).exists()
        )
        for name in written:
            _copy(newer / name, folder / name)
        for name in removed:
            (folder / name).unlink()
        added = tuple(_missing_starters(newer, folder))
        for name in added:
            _copy(newer / name, folder / name)
        _copy(newer / manifest.NAME, folder / manifest.NAME)  # last: until here, update again
    return Update(coming.version, written, removed, added)


def restore(folder: Path) -> tuple[str, ...]:
    """Bring changed files outside starter/ back from the history; returns their names.

    Raises GraderFault, naming them, for files of which the history has no such version.
    """
    listed = manifest.read(folder)
    differing = manifest.compare(listed, folder).names
    found = {name: _from_history(folder, name, listed.files[name]) for name in differing}
    lost = [name for name, content in found.items() if content is None]
    for name, content in found.items():
        if content is not None:
            path = folder / name
            if path.is_symlink() or path.is_dir():
                raise GraderFault(
                    f"{path} is no file any more. Next: remove it, then restore again"
                )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    if lost:
        raise GraderFault(
            f"Not in this repository's history: {', '.join(lost[:5])}. "
            "Next: make update FROM=<the address of the hand-out>"
        )
    return differing


def _missing_starters(newer: Path, folder: Path) -> Iterator[str]:
    for path in sorted((newer / STARTER).glob("*.cu")):
        if not (folder / STARTER / path.name).exists():
            yield f"{STARTER}{path.name}"


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_symlink():
        target.unlink()  # writing through it would change a file elsewhere
    shutil.copy(source, target)


def _from_history(folder: Path, name: str, digest: str) -> bytes | None:
    """The newest version of the file with this hash; None where git knows none."""
    committed = versions(folder, name)
    return next((one for one in committed if hashlib.sha256(one).hexdigest() == digest), None)


@contextmanager
def _fetched(source: str) -> Iterator[Path]:
    """The hand-out as a folder: as it is, or cloned."""
    if Path(source).is_dir():
        yield Path(source)
        return
    if source.startswith("-"):
        raise GraderFault(f"{source} is no address. Next: FROM=folder or git address")
    with tempfile.TemporaryDirectory(prefix="handout-") as temporary:
        try:
            git("clone", "--quiet", "--depth", "1", "--", source, temporary)
        except GitError as fault:
            raise GraderFault(
                f"{source} could not be fetched: {fault}. Next: check the address"
            ) from None
        yield Path(temporary)
