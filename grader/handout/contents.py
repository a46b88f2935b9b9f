"""What the hand-out holds: the files under version control without those for teachers only."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path

from grader.finding import GraderFault
from grader.tree import TEACHERS_ONLY

# Where students work. Nothing that updates, restores or compares a copy touches it.
STARTER = "starter/"
# What of the README a student has no use for: whole sections, and what stands between two comments.
_TEACHERS_SECTIONS = ("For teachers", "For developers")
_TEACHERS_PART = re.compile(r"<!-- teachers -->.*?<!-- /teachers -->\n?", re.DOTALL)


def files(root: Path) -> Mapping[str, bytes]:
    """Name -> content of every file of the hand-out, made from the repository at `root`.

    Raises GraderFault where `root` is no git checkout or has files that are not committed: what
    students get must be what a commit says.
    """
    changed = [line[3:] for line in _git(root, "status", "--porcelain").splitlines()]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise GraderFault(
            f"There are changes that are not committed: {', '.join(changed[:3])}{more}. "
            "The hand-out is made from a commit. Next: commit or remove them"
        )
    names = _git(root, "ls-files", "-z").split("\0")
    return selected(root, [name for name in names if name])


def selected(root: Path, names: list[str]) -> Mapping[str, bytes]:
    """Those of `names` that students get, in the form in which they get them."""
    found = {}
    for name in sorted(names):
        if not for_teachers(name):
            content = (root / name).read_bytes()
            found[name] = _students_readme(content) if name == "README.md" else content
    return found


def for_teachers(name: str) -> bool:
    """Whether a file (its path from the root) stays in the teachers' repository."""
    return any(name.startswith(one) or fnmatch(name, one) for one in TEACHERS_ONLY)


def _students_readme(content: bytes) -> bytes:
    """The README without the sections for others; the licence line at its end stays."""
    parts = _TEACHERS_PART.sub("", content.decode("utf-8")).split("\n## ")
    kept = [part for part in parts if part.partition("\n")[0] not in _TEACHERS_SECTIONS]
    last = parts[-1].rstrip("\n").rpartition("\n\n")[2]
    text = "\n## ".join(kept).rstrip("\n") + "\n"
    return (text if last in kept[-1] else f"{text}\n{last}\n").encode()


def _git(root: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *arguments], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        raise GraderFault("git not found on PATH. Next: sudo apt install git") from None
    if done.returncode != 0:
        raise GraderFault(
            f"{root} is no git checkout: {done.stderr.strip().splitlines()[-1]}. "
            "Next: clone the course's repository"
        )
    return done.stdout
