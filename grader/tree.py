"""A fingerprint of the grader's own files, so that a score says what gave it."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path

# Folders (ending in /) and patterns of files that only the teachers' repository has: they hold
# solutions, or the kernels that the grader itself is tested with.
TEACHERS_ONLY = (
    "exercises/*/solution.cu",
    "exercises/calibration/kernels/",
    "grader/bench/ladder/",
    "grader/bench/tiled.cl",
    "grader/bench/tiled.cu",
    "grader/proof/",
    "grader/tests/",
    "grader/classroom/Containerfile",
    "grader/classroom/profiles/",
    "grader/README.md",
    "grader/classroom/README.md",
    ".ci/",
    ".github/workflows/check.yml",
    ".github/workflows/class.yml",
    ".github/workflows/grade.yml",
    "CONTRIBUTING.md",
    "teachers.mk",
)

# Hex digits that tell two fingerprints apart.
SHORT = 12

# What decides a score. Files for teachers only are left out: the students' copy has none, and both
# copies must show the same fingerprint.
_FOLDERS = ("grader", "tests")
_PATTERNS = ("course.toml", "exercises/*/exercise.toml", "exercises/calibration/*.toml")
# Not what editors and systems leave beside it (`.DS_Store`, `score.py~`).
_KINDS = (".py", ".cpp", ".hpp", ".h", ".cuh", ".cu", ".S", ".toml", ".json", ".jinja")


def version(root: Path) -> str:
    """The version in pyproject.toml, "unknown" in a copy without it."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"


def tree_sha256(root: Path) -> str:
    """Of every file that decides a score: names and contents, independent of time and place."""
    return _hash((name, root / name) for name in sorted(_names(root)))


def digest(*folders: Path) -> str:
    """Of the code that lies in these folders, without that in folders in them."""
    paths = (path for folder in folders for path in sorted(folder.iterdir()) if _is_code(path))
    return _hash((path.name, path) for path in paths)


def for_teachers(name: str) -> bool:
    """Whether a file (its path from the root) stays in the teachers' repository."""
    return any(name.startswith(one) or fnmatch(name, one) for one in TEACHERS_ONLY)


def _hash(files: Iterable[tuple[str, Path]]) -> str:
    total = hashlib.sha256()
    for name, path in files:
        total.update(f"{name}\0{hashlib.sha256(_deciding(path)).hexdigest()}\n".encode())
    return total.hexdigest()


def _deciding(path: Path) -> bytes:
    """What a file holds. A deadline decides no record: it may be moved, and records stay valid."""
    raw = path.read_bytes()
    if path.name != "course.toml":
        return raw
    try:
        entries = tomllib.loads(raw.decode("utf-8"))
    except ValueError:
        return raw
    return repr(sorted((key, entries[key]) for key in entries if key != "deadline")).encode()


def _is_code(path: Path) -> bool:
    if path.name.startswith(".") or not path.is_file():
        return False
    # C++'s own headers (`include/algorithm`) have no ending.
    return path.suffix in _KINDS or (not path.suffix and path.parent.name == "include")


def _names(root: Path) -> Iterator[str]:
    for folder in _FOLDERS:
        for path in (root / folder).rglob("*"):
            name = path.relative_to(root)
            hidden = any(part.startswith(".") for part in name.parts)
            if _is_code(path) and not hidden and not for_teachers(name.as_posix()):
                yield name.as_posix()
    for pattern in _PATTERNS:
        yield from (path.relative_to(root).as_posix() for path in root.glob(pattern))
