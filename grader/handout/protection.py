"""Files outside starter/ that are not as they were handed out: named, and never used in grading."""

from __future__ import annotations

from pathlib import Path

from grader.finding import GraderFault
from grader.handout import manifest
from grader.report.words import a_few


def changed_outside(folder: Path) -> tuple[str, ...]:
    """What differs from the hand-out that `folder` is, or whose starter/ it is.

    Paths from the hand-out's root; () where there is no hand-out. The manifest is the student's
    own copy: one that was changed only hides that other files were, and none of them is used.
    """
    for root in (folder, folder.parent):
        path = root / manifest.NAME
        if path.is_file() and not path.is_symlink():
            try:
                return manifest.compare(manifest.read(root), root).names
            except GraderFault:
                return (manifest.NAME,)
    return ()


def note(names: tuple[str, ...]) -> str:
    """One line for whoever graded and for the student; "" where nothing was changed."""
    if not names:
        return ""
    return (
        f"Changed outside starter/: {a_few(names)}: they are not used in grading. "
        "Restore them: make restore"
    )
