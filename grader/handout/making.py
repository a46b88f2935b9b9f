"""Makes the hand-out: a new repository with one commit, no history, no solutions."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from grader.exercise import load_all
from grader.finding import GraderFault
from grader.git import GitError, git
from grader.handout import contents, manifest
from grader.handout.leaks import leaks
from grader.handout.sheets import contradictions
from grader.machine_fault import unwritable
from grader.starters import plain_solution
from grader.tree import tree_sha256, version

# Nobody's name stands in the students' history, whatever the teacher's git is called.
_AUTHOR = ("-c", "user.name=course", "-c", "user.email=course@localhost")


def compose(root: Path) -> Mapping[str, bytes]:
    """Every file of the hand-out of the repository at `root`, the manifest among them.

    Raises GraderFault when a part of a solution is in it: nothing is handed out then.
    """
    _must_have_solutions(root)
    files = dict(contents.files(root))
    found = list(leaks(root, files))
    if found:
        places = ", ".join(f"{one.file}:{one.line} ({one.solution})" for one in found[:5])
        raise GraderFault(
            f"Parts of solutions would be handed out: {places}. Next: shorten what is shown there"
        )
    listed = manifest.of(files, version(root), tree_sha256(root))
    return files | {manifest.NAME: manifest.write(listed)}


def make(root: Path, output: Path) -> int:
    """Write the hand-out to the new folder `output` and commit it; returns the number of files.

    Raises GraderFault for what `compose` refuses, and for a sheet that promises other points.
    """
    with _whole(output):
        files = compose(root)
        if wrong := "; ".join(contradictions(root, files)):
            raise GraderFault(
                f"Sheets tell other points than exercise.toml gives: {wrong}. "
                "Next: mend the table and the sum there, commit, and make handout again"
            )
        for name, content in files.items():
            _write(output / name, content, executable=os.access(root / name, os.X_OK))
        title = f"{_course(root)} {version(root)}"
        for arguments in (("init", "--quiet", "--initial-branch=main"), ("add", "--all"),
                          (*_AUTHOR, "commit", "--quiet", "--message", title)):  # fmt: skip
            try:
                git(*arguments, folder=output)
            except GitError as fault:
                raise GraderFault(f"{output}: {fault}. Next: mend that, OUT=new folder") from None
    return len(files)


def release(root: Path, output: Path) -> tuple[str, ...]:
    """Write the solutions as they are read after the deadline; returns the names of the files."""
    names = []
    with _whole(output):
        _must_have_solutions(root)
        for exercise in load_all(root):
            text = (exercise.folder / "solution.cu").read_text("utf-8")
            _write(output / f"{exercise.name}.cu", plain_solution(text).encode(), executable=False)
            names.append(f"{exercise.name}.cu")
    return tuple(names)


def _must_have_solutions(root: Path) -> None:
    if (root / manifest.NAME).exists():
        raise GraderFault(
            f"{root} is a students' copy, without solutions. Next: do this in the teachers' one"
        )


@contextmanager
def _whole(output: Path) -> Iterator[None]:
    """A new folder that is filled in full or not at all, also where the disk is full."""
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise GraderFault(f"{output} is not empty. Next: name a new folder: OUT=dir")
    try:
        yield
    except BaseException:
        shutil.rmtree(output, ignore_errors=True)
        raise


def _course(root: Path) -> str:
    first = (root / "README.md").read_text("utf-8").partition("\n")[0]
    return first.lstrip("# ")


def _write(path: Path, content: bytes, executable: bool) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        if executable:
            path.chmod(0o755)
    except OSError as fault:
        raise unwritable(path, fault, "OUT=dir") from None
