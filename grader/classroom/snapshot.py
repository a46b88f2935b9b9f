"""Takes the four files of a submission out of a folder, a zip or a git repository, as data.

Nothing else is read, nothing is executed, and no name inside an archive decides where a file is
written. A source that cannot be taken is a status with its reason, never the end of a run.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
import unicodedata
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.git import GitError, git
from grader.handout.protection import changed_outside
from grader.handout.protection import note as changes
from grader.report.words import visible
from grader.submission import LIMIT_BYTES

# A student's file has at most LIMIT_BYTES; one byte more shows that it is too large.
_READ_BYTES = LIMIT_BYTES + 1
_STARTER = "starter"
OK, MISSING, MISNAMED, UNREACHABLE = "ok", "missing", "misnamed", "unreachable"
# As git tells an address from a path: a scheme or a host stands before the first slash.
_ADDRESS = re.compile(r"[^/\\]+:")
_DRIVE = re.compile(r"[A-Za-z]:")
_CUDA = re.compile(r"\.cu(\.txt)?$", re.IGNORECASE)
_LFS = b"version https://git-lfs."
_SHOWN = 5


@dataclass(frozen=True)
class Snapshot:
    """What was taken. `status`: ok, missing, or why nothing could be taken, for the grade book:
    broken_archive, misnamed, unreachable, unreadable. `fetched`: from an address."""

    status: str
    detail: str
    files: tuple[str, ...] = ()
    fetched: bool = False


def wanted() -> tuple[str, ...]:
    """The names of the files that a submission is made of."""
    return tuple(f"{exercise.name}.cu" for exercise in load_all(PROJECT) if exercise.graded)


def take(source: str, submissions: Path, names: Sequence[str], output: Path) -> Snapshot:
    """Copy the files called `names` to the new folder `output`.

    `source` is a folder or a zip below `submissions`, or an address that git can clone.
    """
    output.mkdir(parents=True, exist_ok=True)
    path = _inside(submissions, source)
    if path is None and _ADDRESS.match(source):
        return replace(_from_git(source, names, output), fetched=True)
    if path is None:
        return Snapshot(MISSING, f"{source} is not in {submissions}")
    if path.is_dir():
        # Also a clone: its .git may name any repository of this machine as its own.
        return _from_folder(path, names, output)
    return _from_zip(path, names, output)


def _inside(submissions: Path, source: str) -> Path | None:
    """The folder or zip of that name; None where there is none or where it lies elsewhere."""
    root = submissions.resolve()
    # macOS writes an accent apart from its letter, other systems do not.
    forms = dict.fromkeys((source, *(unicodedata.normalize(f, source) for f in ("NFC", "NFD"))))
    for candidate in (submissions / f"{form}{end}" for form in forms for end in ("", ".zip")):
        try:
            found = candidate.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            continue
        if found.is_relative_to(root) and found != root:
            return found
    return None


def _from_folder(path: Path, names: Sequence[str], output: Path) -> Snapshot:
    if (path / _STARTER).is_symlink():  # it may lead to somebody else's files
        return Snapshot("unreadable", f"{_STARTER}/ is a link")
    try:
        found = _listed(path, names)
        chosen = _choose(found, names)
        contents = {name: _read_plain(path / place) for name, place in chosen.items()}
    except OSError as fault:
        reason = "is a link" if fault.errno == errno.ELOOP else fault.strerror
        return Snapshot("unreadable", f"{Path(fault.filename or path).name}: {reason}")
    return _written(contents, output, found, names, changes(changed_outside(path)))


def _listed(path: Path, names: Sequence[str]) -> list[str]:
    """The files in the folder; those that lie deeper only where one of ours is not in its place."""
    places = [f"{folder}{name}" for name in names for folder in (f"{_STARTER}/", "")]
    found = [place for place in places if _is_there(path / place)]
    if {PurePosixPath(place).name for place in found} == set(names):
        return found
    return list(_walk(path))


def _walk(path: Path) -> Iterator[str]:
    def refuse(fault: OSError) -> None:
        raise fault

    for folder, inner, files in os.walk(path, onerror=refuse):
        inner[:] = sorted(name for name in inner if not name.startswith((".", "__")))
        yield from (Path(folder, name).relative_to(path).as_posix() for name in sorted(files))


def _is_there(path: Path) -> bool:
    try:
        return not stat.S_ISDIR(path.lstat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _read_plain(path: Path) -> bytes:
    """At most _READ_BYTES of a plain file; links, pipes and devices are not followed or opened."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_READ_BYTES)


def _from_zip(path: Path, names: Sequence[str], output: Path) -> Snapshot:
    contents = {}
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            plain = {one.filename: one for one in members if not one.is_dir() and not _is_link(one)}
            for name, place in _choose([*filter(_is_safe, plain)], names).items():
                with archive.open(plain[place]) as file:
                    contents[name] = file.read(_READ_BYTES)
    except OSError as fault:
        return Snapshot("unreadable", fault.strerror or str(fault))
    except Exception as fault:  # every kind of compression has errors of its own
        return Snapshot("broken_archive", str(fault) or type(fault).__name__)
    outside = sum(not _is_safe(member.filename) for member in members)
    told = f"paths that lead out of the archive were ignored: {outside}" if outside else ""
    return _written(contents, output, list(plain), names, told)


def _is_link(member: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(member.external_attr >> 16)


def _choose(found: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """For each name the file to take: the least deep, then in starter/ before beside it."""
    chosen: dict[str, str] = {}

    def rank(place: str) -> tuple[int, bool, str]:
        folders = _parts(place)[:-1]
        return sum(one != _STARTER for one in folders), _STARTER not in folders, place

    for place in sorted(found, key=rank):
        name = _parts(place)[-1]
        if name in names and "__MACOSX" not in _parts(place):
            chosen.setdefault(name, place)
    return {name: chosen[name] for name in names if name in chosen}


def _parts(place: str) -> tuple[str, ...]:
    """Of a path as Unix or Windows writes it; (".",) of none."""
    return PurePosixPath(place.replace("\\", "/")).parts or (".",)


def _is_safe(name: str) -> bool:
    parts = _parts(name)
    return not parts[0].startswith("/") and ".." not in parts and not _DRIVE.match(name)


def _from_git(source: str, names: Sequence[str], output: Path) -> Snapshot:
    """The files of the default branch, without checking anything out: no filter or hook runs."""
    clone = ("clone", "--quiet", "--bare", "--depth", "1", "--filter=blob:none", "--", source)
    with tempfile.TemporaryDirectory(prefix="clone-") as temporary:
        try:
            git(*clone, temporary, strange=True)
            blobs = _blobs(Path(temporary))
            chosen = _choose(list(blobs), names)
            contents = {
                name: _content(Path(temporary), blobs[place]) for name, place in chosen.items()
            }
        except GraderFault as fault:  # contents are fetched late: that, too, may fail
            return Snapshot(UNREACHABLE, str(fault))
    return _written(contents, output, list(blobs), names)


def _blobs(repository: Path) -> dict[str, str]:
    """For each plain file, no link, the object that holds its content."""
    try:
        listed = git("ls-tree", "-r", "-z", "HEAD", folder=repository, strange=True)
    except GitError:
        return {}  # nothing was ever committed
    entries = filter(None, listed.decode(errors="replace").split("\0"))
    parted = (entry.partition("\t") for entry in entries)
    return {path: told.split()[2] for told, _, path in parted if told.startswith("100")}


def _content(repository: Path, blob: str) -> bytes:
    if int(git("cat-file", "-s", blob, folder=repository, strange=True)) > LIMIT_BYTES:
        return b"\n" * _READ_BYTES  # the reader says that it is too large
    return git("cat-file", "blob", blob, folder=repository, strange=True)


def _written(
    contents: Mapping[str, bytes],
    output: Path,
    found: Sequence[str],
    names: Sequence[str],
    note: str = "",
) -> Snapshot:
    """Write what was taken. What is called otherwise is no reason for a score of 0 unseen."""
    for name, content in contents.items():
        if content.startswith(_LFS):
            return Snapshot("unreadable", f"{name} is a pointer of Git LFS, not the file")
    for name, content in contents.items():
        (output / name).write_bytes(content)
    told = [note]
    if alike := _alike({_parts(place)[-1] for place in found}, names, contents):
        told.append(f"called otherwise, so not taken: {visible(', '.join(alike[:_SHOWN]))}")
    if not contents:
        told.insert(0, f"none of {', '.join(names)} is there")
    status = OK if contents else MISNAMED if alike else MISSING
    return Snapshot(status, "; ".join(filter(None, told)), tuple(contents))


def _alike(found: set[str], names: Sequence[str], taken: Collection[str]) -> list[str]:
    """What may be meant for a file that is not there; any CUDA file where none of ours is."""
    stems = tuple(Path(name).stem for name in names if name not in taken)
    others = sorted(name for name in found - set(names) if not name.startswith("."))
    return [
        name
        for name in others
        if name.lower().startswith(stems) or (not taken and _CUDA.search(name))
    ]
