"""What a fault of the machine means for a reader: a full disk, too little memory, a lost folder.

Everything that goes wrong outside the student's kernel passes here on its way to a report, so that
it is told as fact, place and next step.
"""

from __future__ import annotations

import errno
import os

from grader.finding import NOT_YOURS, GraderFault

_DISK = "free some space on that disk (make clean removes what the grader keeps), then run it again"
_MEMORY = "close other programs, or grade on a machine with more memory, then run it again"
_NEXT = {
    errno.ENOSPC: _DISK,
    errno.EDQUOT: "free some of your quota, then run it again",
    errno.EFBIG: "raise the limit of file size (ulimit -f unlimited), then run it again",
    errno.EROFS: "use a folder that can be written, then run it again",
    errno.EACCES: "let yourself write there (ls -ld tells who may), then run it again",
    errno.EPERM: "let yourself write there (ls -ld tells who may), then run it again",
    errno.ENOENT: "something removed it meanwhile: run it again",
    errno.ENOMEM: _MEMORY,
    errno.EAGAIN: "end some programs, there are too many (ulimit -u), then run it again",
    errno.EMFILE: "allow more open files (ulimit -n 1024), then run it again",
    errno.ENFILE: "close other programs: the system has too many open files",
    errno.EIO: "look at that disk: it reports errors",
}
OTHERWISE = "run it again; if it stays, report it with the grader's log"


def told(fault: BaseException, doing: str = "The grader failed") -> str:
    """`doing: what happened, where. This is not about your kernel. Next: ...`"""
    return f"{doing}: {_fact(fault)}. {NOT_YOURS} Next: {_next(fault)}"


def unwritable(path: object, fault: OSError, option: str) -> GraderFault:
    """For a file that the user wants written; `option` names another ("--svg FILE")."""
    return GraderFault(
        f"{path} cannot be written: {fault.strerror or fault}. Next: name another: {option}"
    )


def _fact(fault: BaseException) -> str:
    if isinstance(fault, MemoryError):
        return "memory is full"
    if isinstance(fault, OSError) and fault.strerror:
        place = os.fsdecode(fault.filename) if isinstance(fault.filename, str | bytes) else ""
        return f"{place}: {fault.strerror}" if place else fault.strerror
    return type(fault).__name__


def _next(fault: BaseException) -> str:
    if isinstance(fault, MemoryError):
        return _MEMORY
    number = fault.errno if isinstance(fault, OSError) else None
    return _NEXT.get(number or 0, OTHERWISE)
