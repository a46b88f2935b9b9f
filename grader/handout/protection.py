"""Files outside starter/ that are not as they were handed out: named, and never used in grading."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.finding import GraderFault
from grader.handout import manifest
from grader.report.words import visible

_SHOWN = 5


def shown(names: Sequence[str]) -> str:
    """A few of the names, and how many more there are, in one line whatever is in them."""
    named = ", ".join(" ".join(visible(name).split()) for name in names[:_SHOWN])
    return named + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


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
        f"Changed outside starter/: {shown(names)}: they are not used in grading. "
        "Restore them: make restore"
    )
