"""roster.csv: who is graded, and where what they handed in lies."""

from __future__ import annotations

import csv
import hashlib
import io
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from grader.classroom.policy import Deadline, parse_moment
from grader.finding import GraderFault
from grader.settings import did_you_mean

COLUMNS = ("student", "pseudonym", "group", "source", "extension", "received")
# Letters of any alphabet, digits, and what names and addresses hold; names also name folders.
_STUDENT = re.compile(r"[\w][\w .@+'-]{0,99}")
_EXAMPLE = "student,source\nada,ada.zip"


class RosterError(GraderFault):
    """The roster cannot be used at all; the text names file and line."""


@dataclass(frozen=True)
class Student:
    """One line of the roster. `problem` says why this line cannot be graded; else "".

    `due` is this student's own deadline. `received` is when the submission came in, as whoever
    collected it says; None where nobody does.
    """

    name: str
    pseudonym: str
    group: str
    source: str
    line: int
    due: datetime | None = None
    received: datetime | None = None
    problem: str = ""

    @property
    def key(self) -> str:
        """A name for files and jobs: unique, short, and harmless everywhere."""
        plain = re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")[:24]
        return f"{plain or 'student'}-{hashlib.sha256(self.name.encode()).hexdigest()[:8]}"


def read(path: Path, deadline: Deadline | None) -> tuple[Student, ...]:
    """The students in the order of the file; a wrong line is a student with a `problem`.

    Raises RosterError for a file that is no roster.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as fault:
        raise RosterError(f"{path} cannot be read: {fault.strerror}.") from None
    except UnicodeDecodeError as fault:
        raise RosterError(
            f"{path}: byte {fault.start} is not UTF-8. Save the file as CSV UTF-8."
        ) from None
    rows = csv.DictReader(io.StringIO(text), skipinitialspace=True)
    _check_columns(path, rows.fieldnames or [])
    students, seen = [], dict[str, int]()
    for row in rows:
        if any(isinstance(value, str) and value.strip() for value in row.values()):
            students.append(_student(row, rows.line_num, deadline, seen))
    if not students:
        raise RosterError(f"{path} names nobody. A roster looks like this:\n{_EXAMPLE}")
    return tuple(students)


def _check_columns(path: Path, found: object) -> None:
    names = [str(name).strip() for name in found] if isinstance(found, list | tuple) else []
    if "student" not in names:
        raise RosterError(
            f'{path}: the first line must name the columns, "student" among them:\n{_EXAMPLE}'
        )
    for name in names:
        if name not in COLUMNS:
            raise RosterError(
                f'{path}: unknown column "{name}". {did_you_mean(name, COLUMNS)}'
                f"Columns: {', '.join(COLUMNS)}."
            )


def _student(
    row: dict[str | None, object], line: int, deadline: Deadline | None, seen: dict[str, int]
) -> Student:
    cells = {str(key).strip(): str(value or "").strip() for key, value in row.items() if key}
    name = cells["student"]
    problems = []
    if None in row:
        problems.append("the line has more cells than the first line")
    if not _STUDENT.fullmatch(name):
        problems.append("the name is empty, too long, or holds characters that no file name has")
    folded = name.casefold()
    if folded in seen:
        problems.append(f"appears twice, first on line {seen[folded]}")
    seen.setdefault(folded, line)
    due, received = None, None
    try:
        due = _due(cells.get("extension", ""), deadline)
        received = parse_moment(cells["received"]) if cells.get("received") else None
    except ValueError as fault:
        problems.append(str(fault))
    return Student(
        name=name,
        pseudonym=cells.get("pseudonym") or _pseudonym(name),
        group=cells.get("group", ""),
        source=cells.get("source") or name,
        line=line,
        due=due,
        received=received,
        problem="; ".join(problems),
    )


def _due(extension: str, deadline: Deadline | None) -> datetime | None:
    """A new deadline, or days more than the others have: 2, 0.5, 2026-12-20T12:00:00+01:00."""
    if not extension:
        return None
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", extension):
        return deadline.time + timedelta(days=float(extension)) if deadline else None
    return parse_moment(extension)


def _pseudonym(name: str) -> str:
    """The same for the same name, in every run of every machine."""
    return f"S-{hashlib.sha256(f'pseudonym of {name}'.encode()).hexdigest()[:6]}"
