"""handout.json: what was handed out, as hashes, so that changes outside starter/ are seen."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from grader.finding import GraderFault
from grader.handout.contents import STARTER

NAME = "handout.json"
SCHEMA = "matmul-handout/v1"
# Of a file that is read here, the manifest among them: what is handed out has a few hundred kB.
_LARGEST_BYTES = 4 << 20
_NEXT = "Next: make update FROM=<the address of the hand-out>"


@dataclass(frozen=True)
class Manifest:
    """`files`: path from the root -> SHA-256, of everything outside starter/."""

    version: str
    tree_sha256: str
    files: Mapping[str, str]


@dataclass(frozen=True)
class Difference:
    """How a copy differs from what was handed out; paths from the root, sorted."""

    changed: tuple[str, ...]
    missing: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(sorted((*self.changed, *self.missing)))


def of(files: Mapping[str, bytes], version: str, tree_sha256: str) -> Manifest:
    """The manifest of a hand-out with these files."""
    hashes = {
        name: hashlib.sha256(content).hexdigest()
        for name, content in sorted(files.items())
        if not name.startswith(STARTER) and name != NAME
    }
    return Manifest(version, tree_sha256, hashes)


def write(manifest: Manifest) -> bytes:
    data = {
        "schema": SCHEMA,
        "version": manifest.version,
        "tree_sha256": manifest.tree_sha256,
        "files": dict(manifest.files),
    }
    return (json.dumps(data, indent=1) + "\n").encode()


def parse(content: bytes) -> Manifest | None:
    """The manifest that was written so; None for anything else."""
    try:
        data = json.loads(content)
        found = Manifest(
            str(data["version"]),
            str(data["tree_sha256"]),
            {str(name): str(digest) for name, digest in data["files"].items()},
        )
        return found if data["schema"] == SCHEMA and all(map(_is_inside, found.files)) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def read(folder: Path) -> Manifest:
    """The manifest of the copy in `folder`; raises GraderFault for none and for a broken one."""
    path = folder / NAME
    try:
        found = parse(_plain(path, folder))
    except OSError as fault:
        raise GraderFault(f"{path} cannot be read: {fault.strerror}. {_NEXT}") from None
    if found is None:
        raise GraderFault(f"{path} does not list what was handed out. {_NEXT}")
    return found


def compare(manifest: Manifest, folder: Path) -> Difference:
    """What of the copy in `folder` is not as it was handed out. Further files are no difference."""
    changed, missing = [], []
    for name, digest in manifest.files.items():
        path = folder / name
        try:
            content: bytes | None = _plain(path, folder)
        except (FileNotFoundError, NotADirectoryError):
            missing.append(name)
            continue
        except OSError:
            content = None  # there, but no file that can be read: not what was handed out
        if content is None or hashlib.sha256(content).hexdigest() != digest:
            changed.append(name)
    return Difference(tuple(sorted(changed)), tuple(sorted(missing)))


def _plain(path: Path, folder: Path) -> bytes:
    """A plain file of `folder`, at most _LARGEST_BYTES of it and a byte; OSError for all else.

    The folder may be a student's: a link could lead anywhere, a pipe would wait for its writer.
    """
    # Not resolve(), which takes a loop of links for an error of its own.
    if not Path(os.path.realpath(path.parent)).is_relative_to(os.path.realpath(folder)):
        raise PermissionError(None, "leads out of the folder")
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise PermissionError(None, "is no plain file")
        return file.read(_LARGEST_BYTES + 1)


def _is_inside(name: str) -> bool:
    """A path of a manifest leads to a file below the root and not into starter/."""
    path = PurePosixPath(name)
    parts = path.parts
    safe = bool(parts) and not path.is_absolute() and ".." not in parts and "\0" not in name
    return safe and parts[0] not in (".git", STARTER.rstrip("/"))
