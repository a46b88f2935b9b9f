"""Takes the four files of a submission out of a folder, a zip or a git repository, as data.

Nothing else is read, nothing is executed, and no name inside an archive decides where a file is
written. A source that cannot be taken is a status with its reason, never the end of a run.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from grader.classroom import places, selection
from grader.classroom.places import ADDRESS, STARTER
from grader.classroom.selection import Taken
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.git import GitError, git
from grader.handout.protection import changed_outside
from grader.handout.protection import note as changes
from grader.report.words import a_few
from grader.submission import LIMIT_BYTES

# A student's file has at most LIMIT_BYTES; one byte more shows that it is too large.
_READ_BYTES = LIMIT_BYTES + 1
OK, MISSING, MISNAMED, UNREACHABLE = "ok", "missing", "misnamed", "unreachable"
_LFS = b"version https://git-lfs."
# What git and `make` keep in a student's folder: large, and nobody's work.
_OURS = (".git", ".venv", ".cache")


@dataclass(frozen=True)
class Snapshot:
    """What was taken. `status`: ok, missing (nothing is there), or why nothing could be taken of
    what is there: broken_archive, misnamed, unreachable, unreadable. `fetched`: from an address."""

    status: str
    detail: str
    files: tuple[str, ...] = ()
    fetched: bool = False


def wanted() -> tuple[str, ...]:
    """The names of the files that a submission is made of."""
    return tuple(f"{exercise.name}.cu" for exercise in load_all(PROJECT) if exercise.graded)


def take(
    source: str,
    submissions: Path,
    names: Sequence[str],
    output: Path,
    others: Sequence[str] = (),
    students: Sequence[str] = (),
) -> Snapshot:
    """Copy the files called `names` to the new folder `output`.

    `source` is a folder or a zip below `submissions`, or an address that git can clone; `others`
    are the sources of other students, and `students` the names of those whose source this is.
    """
    output.mkdir(parents=True, exist_ok=True)
    there = _inside(submissions, source)
    if not there and ADDRESS.match(source):
        return replace(_from_git(source, names, output), fetched=True)
    if not there:
        return _absent(submissions, source, others, students)
    path, *more = there
    # Also a clone: its .git may name any repository of this machine as its own.
    taken = (_from_folder if path.is_dir() else _from_zip)(path, names, output)
    told = [f"{other.name} is there, too, and was not taken" for other in more]
    return replace(taken, detail="; ".join(filter(None, (taken.detail, *told))))


def _inside(submissions: Path, source: str) -> list[Path]:
    """The folder and the zip of that name; not what lies elsewhere."""
    root = submissions.resolve()
    # macOS writes an accent apart from its letter, other systems do not.
    forms = dict.fromkeys((source, *(unicodedata.normalize(f, source) for f in ("NFC", "NFD"))))
    there = dict[Path, None]()
    for candidate in (submissions / f"{form}{end}" for form in forms for end in ("", ".zip")):
        try:
            found = candidate.resolve(strict=True)
        except (OSError, RuntimeError, ValueError):
            continue
        if found.is_relative_to(root) and found != root:
            there[found] = None
    return list(there)


def _absent(
    submissions: Path, source: str, others: Sequence[str], students: Sequence[str]
) -> Snapshot:
    """Nothing of that name; what is called like it or like the student, and not another's, is no
    reason for a score of 0 unseen."""
    like_it = _alike(submissions, source)
    found = like_it.union(*(_alike(submissions, name) for name in students))
    taken = {one for other in others if found for one in _inside(submissions, other)}
    alike = {path for path in found if Path(os.path.realpath(path)) not in taken}
    if not alike:
        return Snapshot(MISSING, f"{source} is not in {submissions}")
    whom = "it" if alike <= like_it else "it or the student"
    named = a_few(sorted(path.name for path in alike))
    return Snapshot(
        MISNAMED,
        f"{source} is no folder or zip in {submissions}; called like {whom}: {named}. "
        "Name the right one in the roster's column source, as a folder or zip",
    )


def _alike(submissions: Path, name: str) -> set[Path]:
    """What is called like it or, where its folder is not there either, like that one."""
    path = submissions / name
    with suppress(OSError, RuntimeError, ValueError):
        while not path.parent.is_dir():
            path = path.parent
        if path.parent.resolve().is_relative_to(submissions.resolve()):
            return {path.parent / one for one in places.like(path.name, os.listdir(path.parent))}
    return set()


def _from_folder(path: Path, names: Sequence[str], output: Path) -> Snapshot:
    if (path / STARTER).is_symlink():  # it may lead to somebody else's files
        return Snapshot("unreadable", f"{STARTER}/ is a link")

    def read(place: str) -> bytes:
        return _read_plain(path / place)

    try:
        found = _usual(path, names)
        taken = selection.choose(found, names, read)
        if not all(name in taken and taken[name].is_work for name in names):
            found = list(_walk(path))
            taken = selection.choose(found, names, read)
    except OSError as fault:
        reason = "is a link" if fault.errno == errno.ELOOP else fault.strerror
        return Snapshot("unreadable", f"{Path(fault.filename or path).name}: {reason}")
    others = selection.others(found, names, taken, read)
    return _written(taken, output, others, names, changes(changed_outside(path)))


def _usual(path: Path, names: Sequence[str]) -> list[str]:
    """The files in their places: where all are there and work, nobody looks deeper."""
    usual = [f"{folder}{name}" for name in names for folder in (f"{STARTER}/", "")]
    return [place for place in usual if _is_there(path / place)]


def _walk(path: Path) -> Iterator[str]:
    def refuse(fault: OSError) -> None:
        raise fault

    for folder, inner, files in os.walk(path, onerror=refuse):
        inner[:] = sorted(name for name in inner if name not in _OURS)
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
    try:
        with zipfile.ZipFile(path) as archive:
            members = {one.filename: one for one in archive.infolist()}
            found = [one.filename for one in archive.infolist() if not one.is_dir()]
            plain = [one for one in found if places.is_safe(one) and not _is_link(members[one])]

            def read(place: str) -> bytes:
                with archive.open(members[place]) as file:
                    return file.read(_READ_BYTES)

            taken = selection.choose(plain, names, read)
            others = selection.others(found, names, taken, read)
    except OSError as fault:
        return Snapshot("unreadable", fault.strerror or str(fault))
    except Exception as fault:  # every kind of compression has errors of its own
        return Snapshot("broken_archive", str(fault) or type(fault).__name__)
    outside = sum(not places.is_safe(one.filename) for one in archive.infolist())
    told = f"paths that lead out of the archive were ignored: {outside}" if outside else ""
    return _written(taken, output, others, names, told)


def _is_link(member: zipfile.ZipInfo) -> bool:
    return stat.S_ISLNK(member.external_attr >> 16)


def _from_git(source: str, names: Sequence[str], output: Path) -> Snapshot:
    """The files of the default branch, without checking anything out: no filter or hook runs."""
    clone = ("clone", "--quiet", "--bare", "--depth", "1", "--filter=blob:none", "--", source)
    with tempfile.TemporaryDirectory(prefix="clone-") as temporary:
        try:
            git(*clone, temporary, strange=True)
            found = _tree(Path(temporary))

            def read(place: str) -> bytes:
                return _content(Path(temporary), found[place])

            taken = selection.choose([place for place in found if found[place]], names, read)
            others = selection.others(list(found), names, taken, read)
        except GraderFault as fault:  # contents are fetched late: that, too, may fail
            return Snapshot(UNREACHABLE, str(fault))
    return _written(taken, output, others, names)


def _tree(repository: Path) -> dict[str, str]:
    """For each plain file the object that holds its content; "" for links and submodules."""
    commit = _commit(repository)
    if not commit:
        return {}
    listed = git("ls-tree", "-r", "-z", commit, folder=repository, strange=True)
    entries = filter(None, listed.decode(errors="replace").split("\0"))
    parted = (entry.partition("\t") for entry in entries)
    return {path: told.split()[2] * told.startswith("100") for told, _, path in parted}


def _commit(repository: Path) -> str:
    """That of the default branch; where it was never pushed, of the only one; "" of none."""
    try:
        git("rev-parse", "--quiet", "--verify", "HEAD^{commit}", folder=repository, strange=True)
        return "HEAD"
    except GitError:
        told = git("ls-remote", "--heads", "origin", folder=repository, strange=True)
    heads = [line.partition("\t")[2] for line in told.decode(errors="replace").splitlines()]
    if len(heads) > 1:
        short = a_few([head.removeprefix("refs/heads/") for head in heads])
        raise GraderFault(f"its default branch was never pushed; there are {short}")
    for head in heads:
        fetch = ("fetch", "--quiet", "--depth", "1", "--filter=blob:none", "origin", head)
        git(*fetch, folder=repository, strange=True)
        return "FETCH_HEAD"
    return ""


def _content(repository: Path, blob: str) -> bytes:
    if int(git("cat-file", "-s", blob, folder=repository, strange=True)) > LIMIT_BYTES:
        return b"\n" * _READ_BYTES  # the reader says that it is too large
    return git("cat-file", "blob", blob, folder=repository, strange=True)


def _written(
    taken: Mapping[str, Taken],
    output: Path,
    others: Sequence[str],
    names: Sequence[str],
    *notes: str,
) -> Snapshot:
    """Write what was taken. What is there, but not as it should be, is no score of 0 unseen."""
    for name, one in taken.items():
        if one.content.startswith(_LFS):
            return Snapshot("unreadable", f"{name} is a pointer of Git LFS, not the file")
    for name, one in taken.items():
        (output / name).write_bytes(one.content)
    told = [*notes, *(one.note for one in taken.values())]
    if others:
        told.append(f"there, but not taken: {a_few(others)}")
    is_work = any(one.is_work for one in taken.values())
    if not taken:
        told.insert(0, f"none of {', '.join(names)} is there")
    elif others and not is_work:
        told.insert(0, f"{', '.join(taken)}: empty or as handed out")
    status = OK if is_work or (taken and not others) else MISNAMED if others else MISSING
    return Snapshot(status, "; ".join(filter(None, told)), tuple(taken))
