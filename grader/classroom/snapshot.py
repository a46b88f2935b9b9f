"""Takes the four files of a submission out of a folder, a zip or a git repository, as data.

Nothing else is read, nothing is executed, and no name inside an archive decides where a file is
written. A source that cannot be taken is a status with its reason, never the end of a run.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.finding import GraderFault
from grader.git import GitError, git
from grader.handout.protection import changed_outside, note
from grader.submission import LIMIT_BYTES

# A student's file has at most LIMIT_BYTES; one byte more shows that it is too large.
_READ_BYTES = LIMIT_BYTES + 1
_MEMBERS_LIMIT = 10_000
_STARTER = "starter"
# The one status that another try may mend.
UNREACHABLE = "unreachable"


@dataclass(frozen=True)
class Snapshot:
    """What was taken. `status`: ok, missing, or why nothing could be taken, for the grade book:
    broken_archive, archive_bomb, too_large, unreachable, unreadable."""

    status: str
    detail: str
    files: tuple[str, ...] = ()


def take(source: str, submissions: Path, names: Sequence[str], output: Path) -> Snapshot:
    """Copy the files called `names` to the new folder `output`.

    `source` is a folder or a zip below `submissions`, or an address that git can clone.
    """
    output.mkdir(parents=True, exist_ok=True)
    if _is_address(source):
        return _from_git(source, names, output)
    path = _inside(submissions, source)
    if path is None:
        return Snapshot("missing", f"{source} is not in {submissions}")
    if path.is_dir():
        if (path / ".git").exists() and not (path / _STARTER).is_dir():
            return _from_git(str(path), names, output)
        return _from_folder(path, names, output)
    return _from_zip(path, names, output)


def _is_address(source: str) -> bool:
    return source.startswith(("https://", "http://", "ssh://", "git@", "file://"))


def _inside(submissions: Path, source: str) -> Path | None:
    """The folder or zip of that name; None where there is none or where it lies elsewhere."""
    root = submissions.resolve()
    for candidate in (submissions / source, submissions / f"{source}.zip"):
        try:
            found = candidate.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            continue
        if found.is_relative_to(root) and found != root:
            return found
    return None


def _from_folder(path: Path, names: Sequence[str], output: Path) -> Snapshot:
    base = path / _STARTER if (path / _STARTER).is_dir() else path
    if base.is_symlink():  # it may lead to somebody else's files
        return Snapshot("unreadable", f"{_STARTER}/ is a link")
    taken = []
    for name in names:
        try:
            content = _read_plain(base / name)
        except FileNotFoundError:
            continue
        except OSError as fault:
            return Snapshot("unreadable", f"{name}: {fault.strerror}")
        (output / name).write_bytes(content)
        taken.append(name)
    if not taken:
        return _complete(taken, f"none of {', '.join(names)} is in {path.name}")
    return Snapshot("ok", note(changed_outside(path)), tuple(taken))


def _read_plain(path: Path) -> bytes:
    """At most _READ_BYTES of a plain file; links, pipes and devices are not followed or opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_READ_BYTES)


def _from_zip(path: Path, names: Sequence[str], output: Path) -> Snapshot:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > _MEMBERS_LIMIT:
                return Snapshot("archive_bomb", f"{len(members)} entries, {_MEMBERS_LIMIT} allowed")
            chosen = _choose(members, names)
            for name, member in chosen.items():
                if member.file_size > LIMIT_BYTES:
                    told = f"{name} has {member.file_size} bytes, {LIMIT_BYTES} allowed"
                    return Snapshot("too_large", told)
                with archive.open(member) as file:
                    content = file.read(_READ_BYTES)
                if len(content) > LIMIT_BYTES:  # more than the archive's own list says
                    return Snapshot("archive_bomb", f"{name} unpacks to more than it says")
                (output / name).write_bytes(content)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError) as fault:
        return Snapshot("broken_archive", str(fault) or type(fault).__name__)
    except OSError as fault:
        return Snapshot("unreadable", fault.strerror or str(fault))
    outside = [member.filename for member in members if not _is_safe(member.filename)]
    snapshot = _complete(list(chosen), f"none of {', '.join(names)} is in {path.name}")
    if not outside:
        return snapshot
    note = f"{len(outside)} paths lead out of the archive and were ignored"
    return Snapshot(
        snapshot.status, "; ".join(filter(None, (snapshot.detail, note))), snapshot.files
    )


def _choose(members: Sequence[zipfile.ZipInfo], names: Sequence[str]) -> dict[str, zipfile.ZipInfo]:
    """For each name the member to take: in starter/ before elsewhere, then the least deep."""
    chosen: dict[str, zipfile.ZipInfo] = {}

    def rank(member: zipfile.ZipInfo) -> tuple[bool, int, str]:
        path = PurePosixPath(member.filename)
        return _STARTER not in path.parts, len(path.parts), member.filename

    for member in sorted(members, key=rank):
        name = PurePosixPath(member.filename).name
        junk = member.is_dir() or "__MACOSX" in member.filename
        if name in names and not junk and _is_safe(member.filename):
            chosen.setdefault(name, member)
    return {name: chosen[name] for name in names if name in chosen}


def _is_safe(name: str) -> bool:
    path = PurePosixPath(name.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in name


def _from_git(source: str, names: Sequence[str], output: Path) -> Snapshot:
    """The files of the default branch, without checking anything out: no filter or hook runs."""
    clone = ("clone", "--quiet", "--bare", "--depth", "1", "--filter=blob:none", "--", source)
    with tempfile.TemporaryDirectory(prefix="clone-") as temporary:
        try:
            git(*clone, temporary, strange=True)
            blobs = _blobs(Path(temporary), names)
            found = {name: _content(Path(temporary), blob) for name, blob in blobs.items()}
        except GraderFault as fault:  # contents are fetched late: that, too, may fail
            return Snapshot(UNREACHABLE, str(fault))
    for name, content in found.items():
        (output / name).write_bytes(content)
    return _complete(list(found), f"none of {', '.join(names)} is in the repository")


def _blobs(repository: Path, names: Sequence[str]) -> dict[str, str]:
    """For each name the object that holds its content: in starter/ before the top folder."""
    places = [f"{folder}{name}" for name in names for folder in (f"{_STARTER}/", "")]
    try:
        listed = git("ls-tree", "-z", "HEAD", "--", *places, folder=repository, strange=True)
    except GitError:
        return {}  # nothing was ever committed
    found = {}
    for entry in filter(None, listed.decode(errors="replace").split("\0")):
        attributes, _, path = entry.partition("\t")
        mode, _, blob = attributes.split()
        if mode.startswith("100"):  # a plain file, no link
            found[path] = blob
    chosen = {name: found.get(f"{_STARTER}/{name}", found.get(name)) for name in names}
    return {name: blob for name, blob in chosen.items() if blob is not None}


def _content(repository: Path, blob: str) -> bytes:
    if int(git("cat-file", "-s", blob, folder=repository, strange=True)) > LIMIT_BYTES:
        return b"\n" * _READ_BYTES  # the reader says that it is too large
    return git("cat-file", "blob", blob, folder=repository, strange=True)


def _complete(taken: list[str], otherwise: str) -> Snapshot:
    return Snapshot("ok", "", tuple(taken)) if taken else Snapshot("missing", otherwise)
