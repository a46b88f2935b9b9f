"""git, called as a program: the one place that does."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

from grader.finding import GraderFault

# Of a stranger's repository: a clone without file contents has a few kilobytes, a whole course with
# its history 20 MB.
_FILE_LIMIT_BYTES = 200 << 20
_LIMIT_S = 120

# No hooks, no filters, no helpers of this machine's own settings, no protocols that run programs.
_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.fsmonitor=false",
    "-c", "safe.directory=*",
)  # fmt: skip
# What git needs, and the credentials a teacher gave it on purpose.
_KEPT = ("PATH", "HOME", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_TOKEN", "LANG")


class GitError(GraderFault):
    """git did not do what it was told; the text is its reason, in one line."""


def git(*arguments: str, folder: Path | None = None, strange: bool = False) -> bytes:
    """What git prints, called in `folder`.

    `strange` is for what others made and sent: nothing of it or of this machine's settings runs,
    no question is asked, and time and sizes have limits. Raises GitError for what git refuses, and
    GraderFault where there is no git.
    """
    place = () if folder is None else ("-C", str(folder))
    try:
        done = subprocess.run(
            ["git", *(_SAFE if strange else ()), *place, *arguments],
            stdin=subprocess.DEVNULL, capture_output=True, check=False,
            env=_environment() if strange else None,
            timeout=_LIMIT_S if strange else None,
            preexec_fn=_limit_files if strange else None,
        )  # fmt: skip
    except FileNotFoundError:
        raise GraderFault("git not found on PATH. Next: sudo apt install git") from None
    except subprocess.TimeoutExpired:
        raise GitError(f"took longer than {_LIMIT_S} s") from None
    if done.returncode != 0:
        raise GitError(_reason(done))
    return done.stdout


def _reason(done: subprocess.CompletedProcess[bytes]) -> str:
    said = done.stderr.decode(errors="replace").strip().splitlines()
    reasons = [line for line in said if line.startswith(("fatal:", "error:"))] or said
    return reasons[0] if reasons else f"git ended with status {done.returncode}"


def _environment() -> dict[str, str]:
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}


def _limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_LIMIT_BYTES, _FILE_LIMIT_BYTES))
