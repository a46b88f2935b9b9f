"""git, called as a program: the one place that does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from grader.finding import GraderFault

# Of a stranger's repository: a clone without file contents has a few kilobytes, a whole course with
# its history 20 MB.
_FILE_LIMIT_BYTES = 200 << 20
# The shell counts in blocks of 512 bytes. Python's own way to set limits is unsafe beside threads.
_LIMITED = ("sh", "-c", f'ulimit -f {_FILE_LIMIT_BYTES // 512} && exec "$@"', "sh")
_LIMIT_S = 120

# No hooks, no filters, no helpers of this machine's own settings, no protocols that run programs.
_SAFE = (
    "-c", "core.hooksPath=/dev/null",
    "-c", "protocol.ext.allow=never",
    "-c", "core.fsmonitor=false",
    "-c", "safe.directory=*",
)  # fmt: skip
# What git needs, the way out of this network, and the credentials a teacher gave it on purpose.
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
_KEPT = (
    *("PATH", "HOME", "LANG", "SSH_AUTH_SOCK", "GIT_SSH_COMMAND", "GIT_ASKPASS", "GIT_TOKEN"),
    *("GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *(spelled for name in _PROXIES for spelled in (name, name.upper())),
)

# A hook, for one, is called with these: they lead to its repository, whatever folder is named.
_ELSEWHERE = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_SHALLOW_FILE"),
)


class GitError(GraderFault):
    """git did not do what it was told; the text is its reason, in one line."""


def git(*arguments: str, folder: Path | None = None, strange: bool = False) -> bytes:
    """What git prints, called in `folder`.

    `strange` is for what others made and sent: nothing of it or of this machine's settings runs,
    no question is asked, and time and sizes have limits. Raises GitError for what git refuses, and
    GraderFault where there is no git.
    """
    place = () if folder is None else ("-C", str(folder))
    command = [*_LIMITED, "git", *_SAFE] if strange else ["git"]
    if shutil.which("git") is None:
        raise GraderFault("git not found on PATH. Next: sudo apt install git")
    process = subprocess.Popen(
        [*command, *place, *arguments],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=_environment(strange), start_new_session=strange,
    )  # fmt: skip
    with process:
        try:
            said, complained = process.communicate(timeout=_LIMIT_S if strange else None)
        except BaseException as fault:  # also Ctrl-C: nothing is fetched any more
            (os.killpg if strange else os.kill)(process.pid, signal.SIGKILL)
            if isinstance(fault, subprocess.TimeoutExpired):
                raise GitError(f"took longer than {_LIMIT_S} s") from None
            raise
    if process.returncode != 0:
        raise GitError(_reason(complained, process.returncode))
    return said


def versions(folder: Path, name: str) -> Iterator[bytes]:
    """Every version of the file `name` in `folder` that was committed, the newest first."""
    with suppress(GitError):  # no repository
        for commit in git("log", "--format=%H", "--", name, folder=folder).decode().split():
            with suppress(GitError):  # the commit that removed the file
                # "./": `folder` may lie inside a larger repository.
                yield git("show", f"{commit}:./{name}", folder=folder)


def _reason(complained: bytes, status: int) -> str:
    said = complained.decode(errors="replace").strip().splitlines()
    reasons = [line for line in said if line.startswith(("fatal:", "error:"))] or said
    return reasons[0] if reasons else f"git ended with status {status}"


def _environment(strange: bool) -> dict[str, str]:
    if not strange:
        return {name: value for name, value in os.environ.items() if name not in _ELSEWHERE}
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return kept | {"GIT_TERMINAL_PROMPT": "0", "GIT_LFS_SKIP_SMUDGE": "1"}
