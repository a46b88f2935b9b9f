"""What must hold before files of a student's copy are overwritten or removed: nothing gets lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from grader.finding import GraderFault
from grader.git import git
from grader.handout import manifest
from grader.report.words import a_few


def must_be_clear(folder: Path, names: Sequence[str], verb: str) -> None:
    """Raises GraderFault where a name, or a folder on the way to it, is something else by now.

    A link could lead out of the copy, to files that nobody meant.
    """
    for name in names:
        path = folder / name
        parents = [folder / parent for parent in PurePosixPath(name).parents[:-1]]
        wrong = [one for one in parents if one.is_symlink() or (one.exists() and not one.is_dir())]
        if path.is_symlink() or path.is_dir():
            wrong.append(path)
        if wrong:
            raise GraderFault(
                f"{wrong[-1]} is in the way: a file of the hand-out belongs there, or a folder of "
                f"it. Next: move it elsewhere, then {verb} again"
            )


def students_own(folder: Path, listed: manifest.Manifest, names: Sequence[str]) -> tuple[str, ...]:
    """Those of `names` that are there, and not as `listed` says that they were handed out."""
    expected = {name: listed.files.get(name, "not handed out") for name in names}
    return manifest.compare(dataclasses.replace(listed, files=expected), folder).changed


def must_be_committed(folder: Path, names: Sequence[str]) -> None:
    """Raises GraderFault, naming them, for files of which git does not keep what they hold now."""
    lost = tuple(name for name in names if not _is_committed(folder, name))
    if lost:
        begin = "" if _says(folder, "rev-parse", "--git-dir") else "git init && "
        raise GraderFault(
            f"Not as handed out, and in no commit: {a_few(lost)}. An update would overwrite or "
            f"remove what you wrote there; nothing was changed yet. "
            f"Next: {begin}git add --all && git commit -m mine, then update again"
        )


def _is_committed(folder: Path, name: str) -> bool:
    # git counts both, as it may convert ends of lines; `git status` would trust files it is told
    # to assume unchanged.
    last = _says(folder, "rev-parse", "--verify", "--quiet", f"HEAD:./{name}")
    return last is not None and last == _says(folder, "hash-object", "--", name)


def _says(folder: Path, *arguments: str) -> bytes | None:
    """What git prints; None where it refuses, as outside of a repository, or is not there."""
    try:
        return git(*arguments, folder=folder)
    except GraderFault:
        return None
