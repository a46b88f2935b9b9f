"""How a compiler ended, told by its exit status and by what it says of itself."""

from __future__ import annotations

import re
import signal
from typing import Literal

from grader.finding import NOT_YOURS, GraderFault

Cause = Literal["", "time", "size", "crash", "killed", "disk"]


# Causes that say nothing about the text that was compiled.
MACHINES = {
    "killed": ("was ended by the system", "free memory (free -h) or raise a limit (ulimit -a)"),
    "disk": ("could not write its output", "free some space on the disk (df -h .)"),
}

# Lines in which a compiler speaks of itself. The others may quote the text that was compiled.
_OWN = re.compile(
    r"(?:\S*/)?(?:gcc|g\+\+|cc1plus|clang|nvcc|cicc|cudafe|ptxas|as|sh)\S*( (?:error|fatal) *)?:"
    r"|virtual memory exhausted|terminate called|LLVM ERROR|PLEASE submit|Stack dump|Killed"
    r"|.*\b(?:internal compiler|catastrophic) error:",
    re.IGNORECASE,
)
# How compilers speak of a program of theirs that was ended: by a limit, or by its own fault.
_OUT_OF_TIME = re.compile(r"CPU time limit exceeded|\bsignal (?:SIGXCPU|24)\b")
_OUT_OF_SPACE = re.compile(
    r"File size limit exceeded|\bsignal (?:SIGXFSZ|25)\b|File too large|out of memory|bad_alloc"
    r"|memory exhausted|Cannot allocate memory|failed to reserve",
    re.IGNORECASE,
)
_CRASHED = re.compile(
    r"internal compiler error|Stack dump|PLEASE submit|Segmentation fault"
    r"|died due to signal"
)
# Nothing here ends a compiler this way: the system does, when its memory is full.
_KILLED = re.compile(r"\bKilled\b|\bsignal (?:SIGKILL|9)\b")


def machine_fault(compiler: str, cause: Cause) -> GraderFault:
    """One of MACHINES, in words."""
    what, step = MACHINES[cause]
    return GraderFault(f"{compiler} {what}. {NOT_YOURS} Next: {step}, then run it again")


def cause_of(status: int, output: str) -> Cause:
    """What ended it; the status is negative for a signal."""
    if status == 0:
        return ""
    own = "\n".join(line for line in output.splitlines() if _OWN.match(line))
    if status == -signal.SIGXCPU or _OUT_OF_TIME.search(own):
        return "time"
    if status == -signal.SIGXFSZ or _OUT_OF_SPACE.search(own):
        return "size"
    if status == -signal.SIGKILL or _KILLED.search(own):
        return "killed"
    return "crash" if status < 0 or _CRASHED.search(own) else ""
