"""A submission: the student's file of one exercise, read once, and what its text alone tells.

Findings of reading, all with verdict `rejected` and the file (line 1) as location:

- missing_file {}: there is no such file, or it went away, or a link leads to nothing
- not_a_file {type}: "folder", "pipe", "device" or "socket"
- symlink_outside {target}: a link that leads out of the submission's folder
- unreadable_file {reason}: "permission denied", "a link that leads to itself", "path too long"
- file_too_large {bytes, limit}
- empty_file {}: no bytes, or white space alone
- binary_file {encoding}: NUL bytes; `encoding` is "UTF-16" where the file starts like one, else ""
- invalid_utf8 {line, byte}: location has the line; `byte` is the first wrong one ("0xfc") outside
  of comments
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from grader.exercise import PROJECT, Exercise
from grader.finding import NOT_YOURS, Finding, GraderFault, KernelFault, Location
from grader.source.tokens import canonical, tokens
from grader.verdict import Verdict

# A long hand-written kernel has 20 kB. Every stage reads a text of this size within seconds.
LIMIT_BYTES = 250_000

# What a course keeps beside each exercise: one fingerprint a line for every starter ever shipped.
FINGERPRINTS = "starter_fingerprints.txt"

# What Python makes of a byte that is no UTF-8. In a comment it is read as editors for Windows write
# their letters, so that every compiler gets the same, valid text.
_NO_UTF8 = re.compile("[\udc80-\udcff]")
_WINDOWS_LETTERS = {
    0xDC00 + byte: bytes([byte]).decode("cp1252", errors="replace") for byte in range(0x80, 0x100)
}

Status = Literal["missing", "not_started", "started"]


@dataclass(frozen=True)
class Submission:
    """One `.cu` file. `name` is how messages name it (`starter/02_tiled.cu`).

    `text` has "\\n" line ends and no byte order mark; `sha256` is that of the file's bytes.
    """

    name: str
    path: Path
    text: str
    sha256: str

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """As compilers count them: nothing but "\\n" ends a line (to Python a form feed does)."""
        return tuple(self.text.removesuffix("\n").split("\n"))

    def with_text(self, text: str) -> Submission:
        """The same file as if this stood in it."""
        return replace(self, text=text, sha256=hashlib.sha256(text.encode()).hexdigest())

    def place_of(self, name: str) -> tuple[Location, ...]:
        """Where the code first names it, not a comment; () where it does not."""
        found = (token.line for token in tokens(self.text) if token.text == name)
        return tuple(Location(self.name, line, "error") for line in islice(found, 1))


class SubmissionProblem(KernelFault):
    """The student's file cannot be taken as a source file; `findings[0]` says why."""

    def __init__(self, finding: Finding) -> None:
        super().__init__((finding,))


def read(path: Path, exercise: Exercise, root: Path) -> Submission:
    """Read the file that answers `exercise`; `root` is the submission's folder.

    A link may lead to another file of that folder, not out of it. Raises SubmissionProblem for what
    the student can mend, GraderFault when the machine fails.
    """
    name = _name(path, root)
    try:
        data = _bytes(path, name, root)
    except OSError as fault:
        raise _unreadable(fault, name, exercise) from fault
    return _decoded(path, name, data)


def read_any(path: Path) -> Submission:
    """A file of any origin, named as it was given. Raises as `read`."""
    name = _printable(str(path))
    try:
        return _decoded(path, name, _bytes(path, name, Path("/")))
    except OSError as fault:
        raise GraderFault(f"{name} cannot be read: {fault.strerror or fault}.") from fault


def _decoded(path: Path, name: str, data: bytes) -> Submission:
    utf16 = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if utf16 or b"\0" in data:
        raise _problem(name, "binary_file", {"encoding": "UTF-16" if utf16 else ""})
    text = data.decode("utf-8-sig", errors="surrogateescape")
    if not text.strip():
        raise _problem(name, "empty_file", {})
    # A lone "\r" ends a line for one compiler and not for the other, and here for both.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if _NO_UTF8.search(text):
        text = _with_windows_letters(text, name)
    return Submission(name, path, text, hashlib.sha256(data).hexdigest())


def _with_windows_letters(text: str, name: str) -> str:
    for token in tokens(text):
        if wrong := _NO_UTF8.search(token.text):
            line = token.line + token.text.count("\n", 0, wrong.start())
            facts = {"line": line, "byte": f"0x{ord(wrong[0]) - 0xDC00:02x}"}
            raise _problem(name, "invalid_utf8", facts, line)
    return text.translate(_WINDOWS_LETTERS)


def status(path: Path, exercise: Exercise) -> Status:
    """Whether there is a file, and whether it is more than a starter that was ever shipped.

    The warm-up is complete from the start, so it never counts as "not_started". A file that cannot
    be read is "started": `read` says what is wrong with it.
    """
    if not os.path.lexists(path):
        return "missing"
    return "not_started" if exercise.graded and is_starter(path, exercise) else "started"


def is_starter(path: Path, exercise: Exercise) -> bool:
    """Whether the file can be read and is a starter that was ever shipped; True means no work."""
    try:
        text = read(path, exercise, path.parent).text
    except (KernelFault, GraderFault):
        return False
    return fingerprint(text) in shipped(exercise)


def is_shipped(content: bytes, exercise: Exercise) -> bool:
    """Whether these bytes are a starter that was ever shipped, readable as a submission or not."""
    return fingerprint(content.decode("utf-8", errors="replace")) in shipped(exercise)


def fingerprint(text: str) -> str:
    """SHA-256 (hex) of the text's tokens: comments and layout do not change it."""
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(canonical(plain).encode()).hexdigest()


def shipped(exercise: Exercise) -> frozenset[str]:
    """The fingerprints of an exercise; a line may go on after a blank, `#` starts a comment."""
    path = exercise.folder / FINGERPRINTS
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        return frozenset()
    except (OSError, UnicodeDecodeError) as fault:
        raise GraderFault(f"{path} cannot be read: {fault}. Restore it from the course.") from fault
    return frozenset(line.split()[0] for line in lines if line.strip() and line[0] != "#")


def _bytes(path: Path, name: str, root: Path) -> bytes:
    """The file's contents; opens it once, so that what is checked is what is read."""
    real = _resolved(path)
    if not real.is_relative_to(_resolved(root)):
        target = os.readlink(path) if path.is_symlink() else str(real)
        raise _problem(name, "symlink_outside", {"target": _printable(target)})
    # Without O_NONBLOCK a pipe would wait for its writer; a link put here meanwhile is refused.
    descriptor = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise _problem(name, "not_a_file", {"type": _type(found.st_mode)})
        with os.fdopen(descriptor, "rb", closefd=False) as file:
            data = file.read(LIMIT_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > LIMIT_BYTES:
        size = max(found.st_size, len(data))
        raise _problem(name, "file_too_large", {"bytes": size, "limit": LIMIT_BYTES})
    return data


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except RuntimeError as fault:  # what Python before 3.13 makes of a loop of links
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP)) from fault


def _type(mode: int) -> str:
    for test, word in (
        (stat.S_ISDIR, "folder"),
        (stat.S_ISFIFO, "pipe"),
        (stat.S_ISSOCK, "socket"),
    ):
        if test(mode):
            return word
    return "device"


# What a student (or a copy that went wrong) can bring about; all else is the machine's trouble.
_REASONS = {
    errno.EACCES: "permission denied",
    errno.EPERM: "permission denied",
    errno.ELOOP: "a link that leads to itself",
    errno.ENAMETOOLONG: "path too long",
}


def _unreadable(fault: OSError, name: str, exercise: Exercise) -> Exception:
    if fault.errno in (errno.ENOENT, errno.ENOTDIR):
        return _problem(name, "missing_file", {})
    if fault.errno == errno.ENXIO:  # opening a socket
        return _problem(name, "not_a_file", {"type": "socket"})
    if fault.errno in _REASONS:
        return _problem(name, "unreadable_file", {"reason": _REASONS[fault.errno]})
    return GraderFault(
        f"{name}: reading failed: {fault.strerror or fault}. {NOT_YOURS} "
        f"{exercise.name} was not graded."
    )


def _problem(name: str, kind: str, facts: Mapping[str, Any], line: int = 1) -> SubmissionProblem:
    return SubmissionProblem(Finding(Verdict.REJECTED, kind, facts, (Location(name, line),)))


def _name(path: Path, root: Path) -> str:
    """How messages name the file: from the project's root, else from the folder that holds it."""
    whole = Path(os.path.abspath(path))  # not resolved: the name that the student knows
    for base in (PROJECT, Path(os.path.abspath(root)).parent, whole.parent.parent):
        if whole.is_relative_to(base):
            return _printable(whole.relative_to(base).as_posix())
    return _printable(path.name)


def _printable(path: str) -> str:
    """A path that JSON and a terminal can take, whatever bytes the file system holds."""
    return os.fsencode(path).decode("utf-8", "replace")
