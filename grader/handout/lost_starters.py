"""Starters that a student's copy has lost, written anew from its history: `make starter` there."""

from __future__ import annotations

from pathlib import Path

from grader.exercise import load_all
from grader.finding import GraderFault
from grader.git import versions
from grader.handout.contents import STARTER
from grader.submission import is_shipped


def write(root: Path) -> list[str]:
    """Write every starter that is missing or empty, as it was handed out; a line for each change.

    Any other file is left alone. Raises GraderFault, naming them, for those of which the history
    has no version that was handed out; the others are written before.
    """
    changes, lost = [], []
    for exercise in load_all(root):
        name = f"{STARTER}{exercise.name}.cu"
        if not is_blank(root / name):
            continue
        committed = list(versions(root, name))
        handed_out = next((one for one in committed if is_shipped(one, exercise)), None)
        if handed_out is None:
            lost.append(name)
            continue
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(handed_out)
        worked_on = committed[0].strip() and not is_shipped(committed[0], exercise)
        more = f". What you last committed is another: git checkout -- {name}" if worked_on else ""
        changes.append(f"{name}: written, as it was handed out{more}")
    if lost:
        raise GraderFault(
            f"Not in this repository's history: {', '.join(lost)}. "
            "Next: make update FROM=<the address of the hand-out>"
        )
    return changes


def is_blank(path: Path) -> bool:
    """Whether nothing is lost by writing the file: there is none, or no more than white space."""
    if path.is_symlink():
        return False
    try:
        return not path.exists() or (path.is_file() and not path.read_bytes().strip())
    except OSError:
        return False
