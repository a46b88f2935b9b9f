"""Runs a compiler on a text that nobody trusts: with limits, in a folder of its own, and without
this process's environment.

What it may write is small, what it may use is bounded, and it knows nothing that is not in the
folder or in the compiler's own installation. Limits of time count processor seconds, so that a
busy machine refuses nobody; the clock on the wall only ends what waits for ever.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import re
import resource
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Literal

from grader.finding import GraderFault
from grader.toolchain import NOT_YOURS

_MIB = 1024 * 1024

Cause = Literal["", "time", "size", "crash", "killed", "disk"]


# Causes that say nothing about the text that was compiled.
MACHINES = {
    "killed": ("was ended by the system", "free memory (free -h) or raise a limit (ulimit -a)"),
    "disk": ("could not write its output", "free some space on the disk (df -h .)"),
}


@dataclass(frozen=True)
class Limits:
    """For each process of a compiler; `wall_s` for all of them together."""

    cpu_s: int
    wall_s: float
    memory_bytes: int  # of address space
    file_bytes: int


# For our own sources, which need no limits: these only end a compiler that hangs.
OURS = Limits(cpu_s=600, wall_s=1200.0, memory_bytes=8192 * _MIB, file_bytes=1024 * _MIB)

# Fork bombs need code that runs, and compilers run none; it is there in case one does. The number
# counts all processes of the user, so it must be far above what an honest user has.
_MOST_PROCESSES = 16_384
# Errors are told first error first; what comes after this much is not looked at.
_OUTPUT_BYTES = 256 * 1024
_LOOK_S = 0.2  # how soon a compiler is ended that is to stop

# What a compiler is told of the environment: where its programs and libraries lie, and settings of
# the machine's owner. Everything else, secrets among it, stays here.
_KEPT = (
    "DYLD_LIBRARY_PATH",
    "DEVELOPER_DIR",
    "LD_LIBRARY_PATH",
    "NVCC_APPEND_FLAGS",
    "NVCC_CCBIN",
    "NVCC_PREPEND_FLAGS",
    "SDKROOT",
)

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
# How compilers, assemblers and linkers speak of a file that the system does not let them write.
# The text that is compiled can say this, too.
_UNWRITABLE = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|Input/output error"
    r"|error writing to |when writing output to "
)
# One name of a list of dependencies: a backslash keeps a blank from ending it.
_NAME = re.compile(r"(?:\\.|[^\s\\])+")


@dataclass(frozen=True)
class Completed:
    """What a compiler printed (stdout and stderr, cut) and its exit status, negative for a signal.

    `cause` is "" where it ended by itself, else what ended it: the limit of "time" or of "size"
    (memory, or what it wrote), a "crash" of its own, or the machine: "killed" (memory is full),
    "disk" (the system did not let it write).
    """

    status: int
    output: str
    cause: Cause


def run(
    command: Sequence[str], folder: Path, limits: Limits = OURS, stop: Event | None = None
) -> Completed:
    """Run `command` in `folder`, alone in its session; all of it has ended on return.

    Once `stop` is set it is ended. Raises OSError when it cannot be started. A full disk, or less
    memory than the limits allow, is the machine's doing, and not what the compiler makes of it.
    """
    done = _run(command, folder, limits, stop)
    if _says_unwritable(done) and _can_write(folder, limits.file_bytes):
        done = _run(command, folder, limits, stop)  # the disk was full for a moment
    if _says_unwritable(done) and not _can_write(folder, limits.file_bytes):
        return replace(done, cause="disk")
    return replace(done, cause="killed") if _cramped(done, limits) else done


def _run(command: Sequence[str], folder: Path, limits: Limits, stop: Event | None) -> Completed:
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            _limited(command, limits),
            cwd=folder,
            env=environment(os.environ, folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its children can be ended with it
        )
        try:
            in_time = _await(process, limits.wall_s, stop or Event())
        finally:
            _end(process)
        output.seek(0)
        text = output.read(_OUTPUT_BYTES).decode(errors="replace")
    status = process.returncode
    if status in (126, 127):  # the shell's word for a command that it cannot run
        number = errno.ENOENT if status == 127 else errno.EACCES
        raise OSError(number, os.strerror(number), command[0])
    return Completed(status, text, _cause(status, text) if in_time else "time")


def machine_fault(compiler: str, cause: Cause) -> GraderFault:
    """One of MACHINES, in words."""
    what, step = MACHINES[cause]
    return GraderFault(f"{compiler} {what}. {NOT_YOURS} Next: {step}, then run it again")


def is_sound(command: Sequence[str], folder: Path, source: str, limits: Limits) -> bool:
    """Whether a compiler that crashed at the file `source` can compile at all, in the same way."""
    with tempfile.TemporaryDirectory(dir=folder) as empty:
        (Path(empty) / source).write_text("", encoding="utf-8")
        return run(command, Path(empty), limits).status == 0


def environment(whole: Mapping[str, str], folder: Path) -> dict[str, str]:
    """What of an environment a compiler sees. Its messages are English, its temporary files lie in
    `folder`."""
    kept = {name: whole[name] for name in _KEPT if name in whole}
    places = [place for place in whole.get("PATH", os.defpath).split(os.pathsep) if place]
    absolute = os.pathsep.join(place for place in places if os.path.isabs(place))
    return {**kept, "PATH": absolute or os.defpath, "LC_ALL": "C", "TMPDIR": str(folder)}


def files_opened(listing: Path) -> Iterator[str]:
    """The files that a compiler's list of dependencies (`-MD`) names, without the target."""
    text = listing.read_text(encoding="utf-8", errors="surrogateescape").replace("\\\n", " ")
    for match in _NAME.finditer(text.partition(": ")[2]):
        yield re.sub(r"\\(.)", r"\1", match[0]).replace("$$", "$")


def _limited(command: Sequence[str], limits: Limits) -> list[str]:
    """The command under a shell that limits itself first.

    Limits set in this process between fork and exec would not be safe beside other threads. A
    system that lacks one of them (macOS has no limit of address space) goes without.
    """
    limited = {
        "-S -t": limits.cpu_s,  # the signal that says why; the second limit is for who ignores it
        "-H -t": limits.cpu_s + 5,
        "-v": limits.memory_bytes // 1024,
        "-f": limits.file_bytes // 512,
        "-c": 0,
        "-u": _MOST_PROCESSES,
    }
    settings = [f"ulimit {option} {value}" for option, value in limited.items()]
    settings[-1] += f" || ulimit -p {_MOST_PROCESSES}"  # what dash calls it
    return ["sh", "-c", f'{{ {"; ".join(settings)}; }} 2>/dev/null; exec "$0" "$@"', *command]


def _await(process: subprocess.Popen[bytes], limit_s: float, stop: Event) -> bool:
    """Wait for the end; whether it came within the limit."""
    end_s = time.monotonic() + limit_s
    while not stop.is_set():
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            return False
        try:
            process.wait(min(left_s, _LOOK_S))
            return True
        except subprocess.TimeoutExpired:
            continue
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what is left of the session; on Ctrl-C, too."""
    # Both mean that nothing is left; which one depends on the system.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _says_unwritable(done: Completed) -> bool:
    return done.status != 0 and bool(_UNWRITABLE.search(done.output))


def _can_write(folder: Path, size: int) -> bool:
    """Whether this process can write as much as a compiler may."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            for _ in range(-(-size // _MIB)):
                file.write(bytes(_MIB))
            file.flush()
    except OSError:
        return False
    return True


def _cramped(done: Completed, limits: Limits) -> bool:
    """Whether the machine gives less than a compiler that ran out of it may use: what limits this
    process (ulimit) limits the compiler, too."""
    if done.cause == "time":
        return not _allows(resource.RLIMIT_CPU, limits.cpu_s)
    if done.cause != "size":
        return False
    if not _allows(resource.RLIMIT_FSIZE, limits.file_bytes):
        return True
    if not _allows(resource.RLIMIT_AS, limits.memory_bytes):
        return True
    try:
        mmap.mmap(-1, limits.memory_bytes).close()  # reserves, where the system counts reservations
    except (OSError, MemoryError):
        return True
    return False


def _allows(what: int, amount: int) -> bool:
    hard = resource.getrlimit(what)[1]
    return hard == resource.RLIM_INFINITY or hard >= amount


def _cause(status: int, output: str) -> Cause:
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
