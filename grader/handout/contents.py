"""What the hand-out holds: the files under version control without those for teachers only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from grader import settings
from grader.finding import GraderFault
from grader.git import GitError, git
from grader.tree import for_teachers

# Where students work. Nothing that updates, restores or compares a copy touches it.
STARTER = f"{settings.STARTER.name}/"
# What of the README a student has no use for: whole sections, and what stands between two comments.
_TEACHERS_SECTIONS = ("For teachers", "For developers")
_TEACHERS_PART = re.compile(r"<!-- teachers -->.*?<!-- /teachers -->\n?", re.DOTALL)


def files(root: Path) -> Mapping[str, bytes]:
    """Name -> content of every file of the hand-out, made from the repository at `root`.

    Raises GraderFault where `root` is no git checkout or has files that are not committed: what
    students get must be what a commit says.
    """
    try:
        status = git("status", "--porcelain", folder=root).decode()
        names = git("ls-files", "-z", folder=root).decode().split("\0")
    except GitError as fault:
        raise GraderFault(
            f"{root} is no git checkout: {fault}. Next: clone the course's repository"
        ) from None
    changed = [line[3:] for line in status.splitlines()]
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise GraderFault(
            f"There are changes that are not committed: {', '.join(changed[:3])}{more}. "
            "Hand-outs and Gradescope's zip are made from a commit. "
            "Next: commit them, or put them aside (git stash -u; git stash pop brings them back)"
        )
    return selected(root, [name for name in names if name])


def selected(root: Path, names: list[str]) -> Mapping[str, bytes]:
    """Those of `names` that students get, in the form in which they get them."""
    found = {}
    for name in sorted(names):
        if not for_teachers(name):
            content = (root / name).read_bytes()
            found[name] = _students_readme(content) if name == "README.md" else content
    return found


def is_course(root: Path) -> bool:
    """Whether `root` is the course's repository: it has what no hand-out has."""
    return (root / "teachers.mk").exists()


def _students_readme(content: bytes) -> bytes:
    """The README without the sections for others; the licence line at its end stays."""
    parts = _TEACHERS_PART.sub("", content.decode("utf-8")).split("\n## ")
    kept = [part for part in parts if part.partition("\n")[0] not in _TEACHERS_SECTIONS]
    last = parts[-1].rstrip("\n").rpartition("\n\n")[2]
    text = "\n## ".join(kept).rstrip("\n") + "\n"
    return (text if last in kept[-1] else f"{text}\n{last}\n").encode()
