"""A fingerprint of the grader's own files, so that a score says what gave it."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
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

# What decides a score. Files for teachers only are left out: the students' copy has none, and both
# copies must show the same fingerprint.
_FOLDERS = ("grader", "tests")
_PATTERNS = ("course.toml", "exercises/*/exercise.toml", "exercises/calibration/*.toml")
_NOISE = ("__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis")


def version(root: Path) -> str:
    """The version in pyproject.toml, "unknown" in a copy without it."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])
    except (OSError, ValueError, KeyError):
        return "unknown"


def tree_sha256(root: Path) -> str:
    """Of every file that decides a score: names and contents, independent of time and place."""
    digest = hashlib.sha256()
    for name in sorted(_names(root)):
        contents = hashlib.sha256((root / name).read_bytes()).hexdigest()
        digest.update(f"{name}\0{contents}\n".encode())
    return digest.hexdigest()


def _names(root: Path) -> Iterator[str]:
    for folder in _FOLDERS:
        for path in (root / folder).rglob("*"):
            name = path.relative_to(root).as_posix()
            noise = any(part in _NOISE for part in path.parts) or name.startswith(TEACHERS_ONLY)
            if path.is_file() and not noise:
                yield name
    for pattern in _PATTERNS:
        yield from (path.relative_to(root).as_posix() for path in root.glob(pattern))
