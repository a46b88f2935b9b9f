"""Takes the four files of a submission out of a folder, a zip or a git repository, as data.

Nothing else is read, nothing is executed, and no name inside an archive decides where a file is
written. A source that cannot be taken is a status with its reason, never the end of a run.
"""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.handout.protection import changed_outside, note
from grader.submission import LIMIT_BYTES

# A student's file has at most LIMIT_BYTES; one byte more shows that it is too large.
_READ_BYTES = LIMIT_BYTES + 1
# A clone without file contents has a few kilobytes; a whole course with its history, 20 MB.
_CLONE_LIMIT_BYTES = 200 << 20
_CLONE_LIMIT_S = 120
_MEMBERS_LIMIT = 10_000
_STARTER = "starter"


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
    with tempfile.TemporaryDirectory(prefix="clone-") as temporary:
        clone = ("clone", "--quiet", "--bare", "--depth", "1", "--filter=blob:none", "--", source)
        failed = _git([*clone, temporary])
        if failed:
            return Snapshot("unreachable", failed)
        taken = []
        for name in names:
            content = _show(temporary, f"HEAD:{_STARTER}/{name}") or _show(
                temporary, f"HEAD:{name}"
            )
            if content is not None:
                (output / name).write_bytes(content[:_READ_BYTES])
                taken.append(name)
    return _complete(taken, f"none of {', '.join(names)} is in the repository")


def _git(arguments: Sequence[str]) -> str:
    """Run git with its limits; why it failed, "" when it did not."""
    try:
        done = subprocess.run(
            ["git", *_SAFE, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_CLONE_LIMIT_S,
            env=_environment(),
            preexec_fn=_limit,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"took longer than {_CLONE_LIMIT_S} s"
    except FileNotFoundError:
        return "git is not installed on this machine"
    if done.returncode == 0:
        return ""
    said = done.stderr.decode(errors="replace").strip().splitlines()
    reasons = [line for line in said if line.startswith(("fatal:", "error:"))] or said
    return reasons[0] if reasons else f"git ended with status {done.returncode}"


def _show(repository: str, what: str) -> bytes | None:
    """A file of a commit; None where it is not in it or is no plain file."""
    kind = subprocess.run(
        ["git", *_SAFE, "-C", repository, "cat-file", "-s", what],
        capture_output=True, env=_environment(), timeout=_CLONE_LIMIT_S, check=False,
    )  # fmt: skip
    if kind.returncode != 0 or not kind.stdout.strip().isdigit():
        return None
    if int(kind.stdout) > LIMIT_BYTES:
        return b"\n" * _READ_BYTES  # the reader says that it is too large
    shown = subprocess.run(
        ["git", *_SAFE, "-C", repository, "cat-file", "blob", what],
        capture_output=True, env=_environment(), timeout=_CLONE_LIMIT_S, check=False,
    )  # fmt: skip
    return shown.stdout if shown.returncode == 0 else None


# No hooks, no filters, no helpers of this machine's own settings, no protocols that run programs.
_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.fsmonitor=false",
    "-c", "safe.directory=*",
)  # fmt: skip


def _environment() -> dict[str, str]:
    """What git needs, and the credentials a teacher gave it on purpose."""
    kept = ("PATH", "HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_TOKEN", "LANG")
    chosen = {name: os.environ[name] for name in kept if name in os.environ}
    return chosen | {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (_CLONE_LIMIT_BYTES, _CLONE_LIMIT_BYTES))


def _complete(taken: list[str], otherwise: str) -> Snapshot:
    return Snapshot("ok", "", tuple(taken)) if taken else Snapshot("missing", otherwise)
