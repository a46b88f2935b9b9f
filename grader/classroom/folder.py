"""The folder of a class: one folder a student, and what all gradings of it share.

class.json                  roster, seed and device, as the first run found them
students/KEY/snapshot.json  what was handed in: status, files, time
students/KEY/submission/    the .cu files
students/KEY/results.json   the grading, as `make grade` writes it
students/KEY/grading.log    what it printed
students/KEY/job.json       how the job ended; written last
students/KEY/history/N/     an earlier grading that no longer counts, and why
submissions.json            what lies in SUBMISSIONS, and when each was seen first
gradebook.csv summary.html similarity.csv
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from grader import atomic
from grader.classroom.roster import Student, as_written
from grader.finding import GraderFault
from grader.machine_fault import unwritable

CLASS = "class.json"
SCHEMA = "matmul-class/v1"


@dataclass(frozen=True)
class Class:
    """What every job of a class needs to know; paths are absolute."""

    folder: Path
    submissions: Path
    seed: int
    device: str
    students: tuple[Student, ...]

    def find(self, word: str) -> Student:
        """The student of that name or key; raises GraderFault where that one cannot be graded."""
        found = [one for one in self.students if as_written(word) in (one.name, one.key)]
        for student in found:
            if not student.problem:
                return student
        fact = f'{self.folder / CLASS} has no student "{word}"'
        if found:
            fact = (
                f"{word} cannot be graded: line {found[0].line} of the roster: {found[0].problem}"
            )
        raise GraderFault(f"{fact}. Next: look into roster.csv, then make class")

    @property
    def graded(self) -> tuple[Student, ...]:
        """Those whose line of the roster can be used."""
        return tuple(student for student in self.students if not student.problem)

    @property
    def begun(self) -> bool:
        """Whether something was graded: from then on seed and device are those of all."""
        gradings = ("students/*/results.json", "students/*/history/*/results.json")
        return any(any(self.folder.glob(one)) for one in gradings)

    @property
    def strangers(self) -> tuple[str, ...]:
        """The keys of those who have a folder, but no line in the roster any more."""
        known = {student.key for student in self.students}
        found = (path.name for path in self.folder.glob("students/*") if path.is_dir())
        return tuple(sorted(key for key in found if key not in known))

    def of(self, student: Student) -> Path:
        return self.folder / "students" / student.key


def save(one: Class) -> None:
    """Write class.json; raises GraderFault where the folder cannot be written."""
    data = {
        "schema": SCHEMA,
        "submissions": str(one.submissions),
        "seed": one.seed,
        "device": one.device,
        "students": [_plain(student) for student in one.students],
    }
    make(one.folder)
    try:
        atomic.write_text(one.folder / CLASS, json.dumps(data, indent=1) + "\n")
    except OSError as fault:
        raise unwritable(one.folder, fault, "OUTPUT=dir") from None


def make(folder: Path) -> None:
    """Let there be this folder; raises GraderFault where there cannot be one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as fault:
        raise unwritable(folder, fault, "OUTPUT=dir") from None


def check_writable(folder: Path) -> None:
    """Raises GraderFault where the folder could not be made or filled; leaves nothing there."""
    whole = folder.absolute()
    try:
        with TemporaryFile(dir=next(one for one in (whole, *whole.parents) if one.exists())):
            pass
    except OSError as fault:
        raise unwritable(folder, fault, "OUTPUT=dir") from None


def load(folder: Path) -> Class:
    """The class in `folder`; raises GraderFault where there is none."""
    try:
        data = json.loads((folder / CLASS).read_text(encoding="utf-8"))
        if data["schema"] != SCHEMA:
            raise ValueError(data["schema"])
        students = tuple(_student(one) for one in data["students"])
        return Class(
            folder.resolve(), Path(data["submissions"]), data["seed"], data["device"], students
        )
    except OSError as fault:
        raise GraderFault(
            f"{folder} holds no class: {fault.strerror}. Next: make class ROSTER=roster.csv "
            "SUBMISSIONS=dir"
        ) from None
    except (ValueError, KeyError, TypeError) as fault:
        raise GraderFault(
            f"{folder / CLASS} is damaged ({fault}). "
            "Next: bring it back, or begin anew: OUTPUT=new folder"
        ) from None


def read_json(path: Path) -> Mapping[str, Any] | None:
    """An object that a job wrote; None where it is not there or not whole."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    atomic.write_text(path, json.dumps(data, indent=1) + "\n")


@contextmanager
def locked(path: Path, wait: bool) -> Iterator[int | None]:
    """Hold a lock that the system releases however the process ends; None when it is taken.

    A child that is given the descriptor holds it, too, until both have ended.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)  # the mask decides
    try:
        yield descriptor if _lock(descriptor, path, wait) else None
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path, wait: bool) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except OSError as fault:  # some clusters mount their file systems without locks
        raise GraderFault(
            f"{path} cannot be locked ({fault.strerror}). "
            "Next: OUTPUT=dir on a file system with file locks that all nodes see"
        ) from None
    return True


def _plain(student: Student) -> dict[str, Any]:
    data = asdict(student)
    return data | {"received": student.received.isoformat() if student.received else None}


def _student(data: dict[str, Any]) -> Student:
    text = data["received"]
    return Student(**{**data, "received": datetime.fromisoformat(text) if text else None})
