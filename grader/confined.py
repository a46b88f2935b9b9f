"""Runs a compiler on a text that nobody trusts: with limits, in a folder of its own, and without
this process's environment.

What it may write is small, what it may use is bounded, and where the system allows it (`fence`) it
sees nothing that is not in the folder or in the compiler's own installation. Limits of time count
processor seconds, so that a busy machine refuses nobody; the clock on the wall only ends what waits
for ever.
"""

from __future__ import annotations

import contextlib
import errno
import mmap
import os
import re
import resource
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from grader import fence
from grader.compiler_end import MACHINES, Cause, cause_of, machine_fault

__all__ = [
    "MACHINES",
    "Completed",
    "Limits",
    "environment",
    "files_opened",
    "is_sound",
    "machine_fault",
    "run",
]

_MIB = 1024 * 1024


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
    command: Sequence[str],
    folder: Path,
    limits: Limits = OURS,
    stop: Event | None = None,
    untrusted: str = "",
) -> Completed:
    """Run `command` in `folder`, alone in its session; all of it has ended on return.

    Once `stop` is set it is ended. `untrusted` names the file of the folder that nobody trusts;
    where there is one, the command runs behind a fence if it can. Raises OSError when it cannot be
    started. A full disk, or less memory than the limits allow, is the machine's doing, and not what
    the compiler makes of it.
    """
    walls = fence.around(command, folder) if untrusted else []
    if walls:
        done = _fenced(command, folder, limits, stop or Event(), untrusted, walls)
        if done is not None:
            return done
    return _settled(command, folder, limits, stop or Event(), [])


def _fenced(
    command: Sequence[str],
    folder: Path,
    limits: Limits,
    stop: Event,
    untrusted: str,
    walls: Sequence[str],
) -> Completed | None:
    """None where the fence fails, or where the compiler cannot work behind it: what it then says of
    the text means nothing."""
    try:
        done = _settled(command, folder, limits, stop, walls)
    except _NotBegun as failure:
        if not stop.is_set():
            fence.give_up(walls, str(failure))
        return None
    except OSError:  # the compiler is not seen from there
        fence.note(walls, command, False)
        return None
    if done.status == 0 or stop.is_set() or fence.known_to_suit(walls, command):
        return done
    suits = is_sound(command, folder, untrusted, limits, fenced=True) or not is_sound(
        command, folder, untrusted, limits
    )
    fence.note(walls, command, suits)
    return done if suits else None


def _settled(
    command: Sequence[str], folder: Path, limits: Limits, stop: Event, walls: Sequence[str]
) -> Completed:
    """Run it, and again where the disk was full for a moment; tell apart what the machine did."""
    done = _run(command, folder, limits, stop, walls)
    if _says_unwritable(done) and _can_write(folder, limits.file_bytes):
        done = _run(command, folder, limits, stop, walls)
    if _says_unwritable(done) and not _can_write(folder, limits.file_bytes):
        return replace(done, cause="disk")
    return replace(done, cause="killed") if _cramped(done, limits) else done


class _NotBegun(Exception):
    """The fence ended, or time did, before the compiler began."""


def _run(
    command: Sequence[str], folder: Path, limits: Limits, stop: Event, walls: Sequence[str]
) -> Completed:
    begun = secrets.token_hex() if walls else ""  # drawn, so that no text can print it
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [*walls, *_limited(command, limits, begun)],
            cwd=folder,
            env=environment(os.environ, folder.resolve()),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # so that its children can be ended with it
        )
        try:
            in_time = _await(process, limits.wall_s, stop)
        finally:
            _end(process)
        output.seek(0)
        text = output.read(_OUTPUT_BYTES).decode(errors="replace")
    status = process.returncode
    if walls:
        before, mark, text = text.partition(f"{begun}\n")
        if not mark:
            raise _NotBegun(before.strip().partition("\n")[0] or "it does not start compilers")
        status = _of_child(status)
    if status in (126, 127):  # the shell's word for a command that it cannot run
        number = errno.ENOENT if status == 127 else errno.EACCES
        raise OSError(number, os.strerror(number), command[0])
    return Completed(status, text, cause_of(status, text) if in_time else "time")


def _of_child(status: int) -> int:
    """A child's exit status as bwrap, like a shell, passes it on: 128 and the signal's number."""
    number = status - 128
    return -number if number in signal.valid_signals() else status


def is_sound(
    command: Sequence[str], folder: Path, source: str, limits: Limits, *, fenced: bool = False
) -> bool:
    """Whether a compiler that failed at the file `source` can compile at all, in the same way."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        empty = Path(name)
        (empty / source).write_text("", encoding="utf-8")
        walls = fence.around(command, empty) if fenced else []
        try:
            return _settled(command, empty, limits, Event(), walls).status == 0
        except (OSError, _NotBegun):
            return False


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


def _limited(command: Sequence[str], limits: Limits, begun: str) -> list[str]:
    """The command under a shell that prints `begun`, if there is any, and limits itself.

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
    said = f"echo {begun}; " if begun else ""
    script = f'{said}{{ {"; ".join(settings)}; }} 2>/dev/null; exec "$0" "$@"'
    return ["/bin/sh", "-c", script, *command]


def _await(process: subprocess.Popen[bytes], limit_s: float, stop: Event) -> bool:
    """Wait for the end; whether it came within the limit."""
    end_s = time.monotonic() + limit_s
    while not stop.is_set():
        left_s = end_s - time.monotonic()
        if left_s <= 0:
            return False
        _sleep(process, min(left_s, _LOOK_S))
        if process.poll() is not None:
            return True
    return True


def _sleep(process: subprocess.Popen[bytes], limit_s: float) -> None:
    """Until its end, at most so long. Where the system can tell of the end, without the naps of
    Popen.wait, which last up to 50 ms."""
    try:
        descriptor = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(limit_s)
        return
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    try:
        poll.poll(limit_s * 1000)
    finally:
        os.close(descriptor)


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
