"""roster.csv: who is graded, and where what they handed in lies."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from grader.classroom.policy import Deadline, parse_moment
from grader.finding import GraderFault
from grader.settings import did_you_mean

COLUMNS = ("student", "pseudonym", "group", "source", "extension", "received")
# Letters of any alphabet, digits, and what names and addresses hold; names also name folders.
_STUDENT = re.compile(r"[\w][\w .@+'’-]*")
_LONGEST = 100
_DAYS = re.compile(r"[0-9]+(\.[0-9]+)?")
# Which of them separates cells depends on the country that Excel was made for.
_SEPARATORS = ",;\t"
_EXAMPLE = "student,source\nada,ada.zip"


class RosterError(GraderFault):
    """The roster cannot be used at all; the text names file and line."""


@dataclass(frozen=True)
class Student:
    """One line of the roster. `problem` says why this line cannot be graded; else "".

    `extension` is as it was written; `due` says what it means. `received` is when the submission
    came in, as whoever collected it says; None where nobody does.
    """

    name: str
    pseudonym: str
    group: str
    source: str
    line: int
    extension: str = ""
    received: datetime | None = None
    problem: str = ""

    def due(self, deadline: Deadline) -> datetime:
        """This student's deadline, with the one of today's course.toml: it may have been moved."""
        return _due(self.extension, deadline)

    @property
    def key(self) -> str:
        return key_of(self.name)


def key_of(name: str) -> str:
    """A student's name for files and jobs: unique, short, and harmless everywhere."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:24]
    return f"{plain or 'student'}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def as_written(name: str) -> str:
    """The name with its accents on their letters: macOS writes them apart."""
    return unicodedata.normalize("NFC", name.strip())


def read(path: Path) -> tuple[Student, ...]:
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
    if text.lower().startswith("sep="):  # Excel's own first line
        text = text.partition("\n")[2]
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    rows = csv.DictReader(
        io.StringIO(text), skipinitialspace=True, delimiter=separator, strict=True
    )
    students, seen = [], dict[str, int]()
    try:
        rows.fieldnames = _columns(path, rows.fieldnames or [])
        for row in rows:
            if any(isinstance(value, str) and value.strip() for value in row.values()):
                students.append(_student(row, rows.line_num, seen))
    except csv.Error as fault:
        raise RosterError(
            f"{path}, after line {rows.line_num}: {fault}. "
            "Next: look for a quote that is not closed"
        ) from None
    if not students:
        raise RosterError(f"{path} names nobody. A roster looks like this:\n{_EXAMPLE}")
    return tuple(students)


def _columns(path: Path, found: Sequence[str]) -> list[str]:
    """The names of the columns; one without a name is left out by whoever reads a line."""
    names = [name.strip().lower() for name in found]
    if names.count("student") != 1:
        raise RosterError(
            f'{path}: the first line must name the columns, "student" once among them:\n{_EXAMPLE}'
        )
    for name in filter(None, names):
        if name not in COLUMNS:
            raise RosterError(
                f'{path}: unknown column "{name}". {did_you_mean(name, COLUMNS)}'
                f"Columns: {', '.join(COLUMNS)}."
            )
        if names.count(name) > 1:
            raise RosterError(f'{path}: the column "{name}" appears twice.')
    return names


def _student(row: dict[str | None, object], line: int, seen: dict[str, int]) -> Student:
    cells = {key: str(value or "").strip() for key, value in row.items() if key}
    name = as_written(cells["student"])
    problems = []
    if None in row:
        problems.append("the line has more cells than the first line")
    if not _is_name(name):
        problems.append("the name is empty, too long, or holds characters that no file name has")
    folded = name.casefold()
    if folded in seen:
        problems.append(f"appears twice, first on line {seen[folded]}")
    seen.setdefault(folded, line)
    extension, received = cells.get("extension", ""), None
    try:
        if not _DAYS.fullmatch(extension) and extension:
            parse_moment(extension)
        received = parse_moment(cells["received"]) if cells.get("received") else None
    except ValueError as fault:
        problems.append(str(fault))
    return Student(
        name=name,
        pseudonym=cells.get("pseudonym") or _pseudonym(name),
        group=cells.get("group", ""),
        source=cells.get("source") or name,
        line=line,
        extension=extension,
        received=received,
        problem="; ".join(problems),
    )


def _is_name(text: str) -> bool:
    """Letters have marks of their own in many alphabets, which `\\w` does not know."""
    plain = "".join(one for one in text if not unicodedata.category(one).startswith("M"))
    return len(text) <= _LONGEST and _STUDENT.fullmatch(plain) is not None


def _due(extension: str, deadline: Deadline) -> datetime:
    """The deadline, or days later: 2, 0.5; or another one: 2026-12-20T12:00:00+01:00."""
    if extension and not _DAYS.fullmatch(extension):
        return parse_moment(extension)
    try:
        return deadline.time + timedelta(days=float(extension or 0))
    except OverflowError:  # later than any calendar: never
        return datetime.max.replace(tzinfo=UTC)


def _pseudonym(name: str) -> str:
    """The same for the same name, in every run of every machine."""
    return f"S-{hashlib.sha256(f'pseudonym of {name}'.encode()).hexdigest()[:6]}"
