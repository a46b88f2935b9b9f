"""roster.csv: who is graded, and where what they handed in lies."""

from __future__ import annotations

import csv
import hashlib
import io
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path, PurePosixPath

from grader.classroom.places import ADDRESS
from grader.classroom.policy import Deadline, parse_moment
from grader.finding import GraderFault
from grader.settings import did_you_mean

COLUMNS = ("student", "pseudonym", "group", "source", "extension", "received")
# Letters of any alphabet, digits, and what names and addresses hold; names also name folders.
_STUDENT = re.compile(r"[\w][\w .@+'’-]*")
_LONGEST = 100
# Of https://host/path, ssh://git@host/path and git@host:path the host and the path: servers of
# repositories know them all, in small letters and capitals, for the same one.
_REPOSITORY = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^@/]*@)?([^/:]*)[/:]*(.*)")
# What separates digits and cells depends on the country that Excel was made for.
_DAYS = re.compile(r"[0-9]+([.,][0-9]+)?")
_SEPARATORS = ",;\t"
_NEXT = "Next: write it like this:\nstudent,source\nada,ada.zip"
_NO_NAME = (
    "a name has letters, digits, blanks and .@+'’-_, a letter or digit first, and "
    f"{_LONGEST} characters at most"
)
_SHARED = "the {} is also that of line {} ({}): mend the wrong line, or give both the same group"


class RosterError(GraderFault):
    """The roster cannot be used at all; the text names file and line."""


@dataclass(frozen=True)
class Student:
    """One line of the roster. `problem` says why this line cannot be graded; else "".

    `extension` is as it was written: days (2, 0.5) or a time (2026-12-20T12:00:00+01:00).
    `received` is when the submission came in, as whoever collected it says; None where nobody does.
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
        if self.extension and not _DAYS.fullmatch(self.extension):
            return parse_moment(self.extension)
        try:
            return deadline.time + timedelta(days=float(self.extension.replace(",", ".") or 0))
        except OverflowError:  # later than any calendar: never
            return datetime.max.replace(tzinfo=UTC)

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
        raise RosterError(f"{path} cannot be read: {fault.strerror}. Next: ROSTER=file") from None
    except UnicodeDecodeError as fault:
        raise RosterError(
            f"{path}: byte {fault.start} is not UTF-8. Next: save the file as CSV UTF-8"
        ) from None
    before = int(text.lower().startswith("sep="))  # Excel's own first line
    text = text.split("\n", before)[-1]
    separator = max(_SEPARATORS, key=text.partition("\n")[0].count)
    rows = csv.DictReader(
        io.StringIO(text), skipinitialspace=True, delimiter=separator, strict=True
    )
    students, seen = [], dict[str, int]()
    try:
        rows.fieldnames = _columns(path, rows.fieldnames or [])
        for row in rows:
            if any(isinstance(value, str) and value.strip() for value in row.values()):
                within = sum(str(value).count("\n") for value in row.values())
                students.append(_student(row, before + rows.line_num - within, seen))
    except csv.Error as fault:
        raise RosterError(
            f"{path}, after line {before + rows.line_num}: {fault}. "
            "Next: look for a quote that is not closed"
        ) from None
    if not students:
        raise RosterError(f"{path} names nobody. {_NEXT}")
    return tuple(_apart(students))


def _columns(path: Path, found: Sequence[str]) -> list[str]:
    """The names of the columns; one without a name is left out by whoever reads a line."""
    names = [name.strip().lower() for name in found]
    if names.count("student") != 1:
        raise RosterError(
            f'{path}: the first line must name the columns, "student" once among them. {_NEXT}'
        )
    for name in filter(None, names):
        if name not in COLUMNS:
            raise RosterError(
                f'{path}: unknown column "{name}". {did_you_mean(name, COLUMNS)}'
                f"Next: rename or remove it; columns are {', '.join(COLUMNS)}"
            )
        if names.count(name) > 1:
            raise RosterError(f'{path}: the column "{name}" appears twice. Next: remove one')
    return names


def _student(row: dict[str | None, object], line: int, seen: dict[str, int]) -> Student:
    cells = {key: str(value or "").strip() for key, value in row.items() if key}
    name = as_written(cells["student"])
    problems = []
    if None in row:
        problems.append("more cells than the first line has: is a comma within quotes?")
    if not _is_name(name):
        problems.append(_NO_NAME)
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


def _apart(students: Sequence[Student]) -> Iterator[Student]:
    """Whoever shares a source or a pseudonym, but no group, has a problem: a copied line grades one
    submission for two. Which of them is wrong only the teacher knows, so none is graded."""
    sharing = defaultdict[tuple[str, str], list[Student]](list)
    for student in students:
        for mark in _marks(student):
            sharing[mark].append(student)
    for student in students:
        problems = [student.problem]
        for mark in _marks(student):
            strangers = (one for one in sharing[mark] if not _together(one, student))
            problems += [
                _SHARED.format(mark[0], one.line, one.name) for one in islice(strangers, 1)
            ]
        yield replace(student, problem="; ".join(filter(None, problems)))


def _marks(student: Student) -> tuple[tuple[str, str], ...]:
    """What is of one student alone; nothing where the line cannot be used anyway."""
    if student.problem:
        return ()
    source = as_written(student.source)
    address = _REPOSITORY.fullmatch(source.casefold()) if ADDRESS.match(source) else None
    place = str(PurePosixPath(*address.groups() if address else (source,)))  # "ada/" is "ada"
    place = place.removesuffix(".zip").removesuffix(".git")
    return (("source", place), ("pseudonym", as_written(student.pseudonym)))


def _together(first: Student, second: Student) -> bool:
    return first is second or (first.group != "" and first.group == second.group)


def _is_name(text: str) -> bool:
    """Letters have marks of their own in many alphabets, which `\\w` does not know."""
    plain = "".join(one for one in text if not unicodedata.category(one).startswith("M"))
    return len(text) <= _LONGEST and _STUDENT.fullmatch(plain) is not None


def _pseudonym(name: str) -> str:
    """The same for the same name, in every run of every machine."""
    return f"S-{hashlib.sha256(f'pseudonym of {name}'.encode()).hexdigest()[:6]}"
