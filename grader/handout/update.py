"""The student's side: take a newer grader, or undo changes to it. starter/ is never touched."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.finding import GraderFault
from grader.git import GitError, git, versions
from grader.handout import manifest
from grader.handout.contents import STARTER
from grader.handout.lost_starters import is_blank
from grader.handout.overwriting import must_be_clear, must_be_committed, students_own
from grader.report.words import a_few

_BESIDE = ".update-"  # .gitignore has it, too


@dataclass(frozen=True)
class Update:
    """What an update did; names are paths from the root.

    `overwritten`: those of written and removed that were not as handed out, and are in a commit.
    """

    version: str
    written: tuple[str, ...]
    removed: tuple[str, ...]
    overwritten: tuple[str, ...]
    new_starters: tuple[str, ...]


def update(folder: Path, source: str) -> Update:
    """Bring the copy in `folder` to the hand-out `source`, a folder or what git can clone.

    Files of the old hand-out that the new one lacks are removed; starters that are missing or empty
    are added. Raises GraderFault, with nothing changed, for a source that is no whole hand-out and
    for what a student wrote into these files and did not commit.
    """
    with _fetched(source) as newer:
        coming = manifest.read(newer)
        broken = manifest.compare(coming, newer).names
        if broken:
            raise GraderFault(
                f"{source} is not as it was handed out: {a_few(broken)} differ. Next: get it again"
            )
        try:
            present, _ = _manifest(folder)
        except GraderFault:
            present = manifest.Manifest("", "", {})  # so nothing is removed, and more must be kept
        written = manifest.compare(coming, folder).names
        removed = tuple(
            name for name in present.files if name not in coming.files and (folder / name).exists()
        )
        must_be_clear(folder, (*written, *removed, manifest.NAME), "update")
        overwritten = students_own(folder, present, (*written, *removed))
        must_be_committed(folder, overwritten)
        added = tuple(_missing_starters(newer, folder))
        _exchange(newer, folder, (*written, *added, manifest.NAME), removed)
    return Update(coming.version, written, removed, overwritten, added)


def restore(folder: Path) -> tuple[str, ...]:
    """Bring changed files outside starter/ back from the history; returns their names.

    Raises GraderFault, naming them, for files of which the history has no such version.
    """
    listed, found = _manifest(folder)
    lost = []
    for name in manifest.compare(listed, folder).names:
        content = _from_history(folder, name, listed.files[name])
        if content is None:
            lost.append(name)
        else:
            found[name] = content
    must_be_clear(folder, tuple(found), "restore")
    for name, content in found.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    if lost:
        raise GraderFault(
            f"Not in this repository's history: {a_few(lost)}. "
            "Next: make update FROM=<the address of the hand-out>"
        )
    return tuple(found)


def _manifest(folder: Path) -> tuple[manifest.Manifest, dict[str, bytes]]:
    """The copy's manifest and, where its file is lost or broken, the newest of the history."""
    try:
        return manifest.read(folder), {}
    except GraderFault:
        for content in versions(folder, manifest.NAME):
            if (found := manifest.parse(content)) is not None:
                return found, {manifest.NAME: content}
        raise


def _missing_starters(newer: Path, folder: Path) -> Iterator[str]:
    for path in sorted((newer / STARTER).glob("*.cu")):
        if is_blank(folder / STARTER / path.name):
            yield f"{STARTER}{path.name}"


def _exchange(newer: Path, folder: Path, names: Sequence[str], removed: Sequence[str]) -> None:
    """Bring `names` from `newer`, in this order; until the last is there, update again."""
    for left in folder.glob(f"{_BESIDE}*"):  # by an update that was killed
        shutil.rmtree(left, ignore_errors=True)
    # All of them first to this disk, which may be full: the copy is then as it was.
    with tempfile.TemporaryDirectory(prefix=_BESIDE, dir=folder) as temporary:
        ready = [Path(temporary, str(number)) for number in range(len(names))]
        for name, path in zip(names, ready, strict=True):
            shutil.copy(newer / name, path)
        for name in removed:
            (folder / name).unlink()
        for name, path in zip(names, ready, strict=True):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.move(path, folder / name)  # starter/ may be a link to another disk


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
