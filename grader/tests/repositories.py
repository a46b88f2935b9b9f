"""Git repositories to hand out from."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from grader.exercise import PROJECT


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(folder: Path, message: str = "work") -> None:
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


def make_teachers(root: Path) -> Path:
    """A teachers' repository in `root`: the files of this one, in a commit of their own."""
    names = git(PROJECT, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    for name in names.split("\0"):
        if name and (PROJECT / name).is_file():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, root / name)
    git(root, "init", "--quiet")
    commit(root)
    return root
