"""gradebook.csv: one line a student of the roster, whatever came of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from grader import atomic
from grader.classroom import folder as folders
from grader.classroom.folder import Class
from grader.classroom.policy import ON_TIME, Deadline, Lateness, lateness
from grader.classroom.roster import Student
from grader.formats import reading
from grader.formats.escape import csv_table
from grader.report.words import visible
from grader.tree import SHORT

_HEAD = ("student", "pseudonym", "group", "status", "machine", "grader", "earned", "gradable",
         "points")  # fmt: skip
_TAIL = ("days_late", "days_charged", "final", "received", "note")

# What a status means for whoever reads the grade book.
STATUS = {
    "graded": "graded",
    "missing": "nothing handed in",
    "misnamed": "called or packed otherwise",
    "broken_archive": "archive cannot be read",
    "unreachable": "repository cannot be fetched",
    "unreadable": "a file cannot be read",
    "roster": "the roster's line cannot be used",
    "grader_error": "the grader failed: grade again",
    "not_run": "not graded yet",
}


@dataclass(frozen=True)
class Row:
    """One student. `record` is None where nothing was graded; `final` is None where no score is."""

    student: Student
    status: str
    note: str = ""
    received: datetime | None = None
    late: Lateness = ON_TIME
    record: reading.Record | None = None
    fetched_late: bool = False  # and nobody knows when it was pushed

    @property
    def machine(self) -> str:
        """Which kind of machine graded: two kinds never stand in one column unseen."""
        if self.record is None:
            return ""
        return "gpu" if "gpu" in self.record.devices else "simulator"

    @property
    def opted_out(self) -> tuple[str, ...]:
        """Exercises that this machine could not grade in full because of what the kernel uses."""
        exercises = self.record.exercises if self.record else ()
        return tuple(one.name for one in exercises if any(map(_by_choice, one.checks)))

    @property
    def earned(self) -> int | None:
        if self.record is not None:
            return self.record.earned
        # Nothing usable came in: that is a score. What we could not take or grade is none.
        return 0 if self.status == "missing" else None

    @property
    def grader(self) -> str:
        """Which grader graded: the begin of its fingerprint."""
        return self.record.tree_sha256[:SHORT] if self.record else ""

    @property
    def final(self) -> int | None:
        return None if self.earned is None else self.late.apply(self.earned)


def rows(one: Class, deadline: Deadline | None) -> tuple[Row, ...]:
    """Every line of the roster, in its order."""
    return tuple(_row(one, student, deadline) for student in one.students)


def _row(one: Class, student: Student, deadline: Deadline | None) -> Row:
    if student.problem:
        return Row(student, "roster", f"line {student.line}: {student.problem}")
    place = one.of(student)
    job = folders.read_json(place / "job.json")
    snapshot = folders.read_json(place / "snapshot.json")
    if job is None or snapshot is None:
        return Row(student, "not_run")
    received = student.received or _moment(snapshot.get("received"))
    late = lateness(deadline, received, student.due(deadline) if deadline else None)
    status, note = str(job.get("status")), str(snapshot.get("detail", ""))
    record = None
    if status in ("graded", "grader_error"):
        try:
            record = reading.read(place / "results.json")
        except reading.RecordProblem as problem:
            status, note = "grader_error", str(job.get("why") or problem)
    if record is not None and (record.failed_by_grader or status == "grader_error"):
        status, record = "grader_error", None
    known = deadline is None or received is not None or status != "graded"
    fetched = bool(record and snapshot.get("fetched"))
    fetched_late = fetched and late.charged > 0 and student.received is None
    row = Row(student, status, note, received, late, record, fetched_late)
    told = (
        note,
        "" if student.received else str(snapshot.get("dated") or ""),
        "" if known else "time of submission unknown, taken as on time",
        "late by when it was fetched; when it was pushed is not known" if fetched_late else "",
        f"not graded here, for what the kernels use: {', '.join(row.opted_out)}"
        if row.opted_out
        else "",
    )
    return replace(row, note="; ".join(filter(None, told)))


def _by_choice(check: reading.Check) -> bool:
    return check.points > 0 and (check.status, check.reason) == ("not_graded", "feature")


def _moment(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None


def write(path: Path, all_rows: Sequence[Row]) -> None:
    """The grade book, replaced in one step."""
    names = _exercise_names(all_rows)
    head = [*_HEAD, *names, *_TAIL]
    atomic.write_text(path, csv_table([head, *(_cells(row, names) for row in all_rows)]))


def totals(all_rows: Sequence[Row]) -> str:
    """How many have which status: `graded: 2, nothing handed in: 1`."""
    counts = Counter(row.status for row in all_rows)
    return ", ".join(f"{STATUS.get(status, status)}: {n}" for status, n in sorted(counts.items()))


def graders(all_rows: Iterable[Row]) -> list[str]:
    """Who graded; more than one is worth a warning."""
    return sorted({row.grader for row in all_rows if row.grader})


def outcome(row: Row) -> str:
    """What became of a student, with the details that are known."""
    status = STATUS.get(row.status, row.status)
    return f"{status} ({visible(row.note)})" if row.note else status


def _cells(row: Row, names: Sequence[str]) -> list[object]:
    record, student = row.record, row.student
    by_name = {one.name: one.earned for one in record.exercises} if record else {}
    gradable: tuple[object, object] = (record.possible, record.points) if record else ("", "")
    return [
        student.name,
        student.pseudonym,
        student.group,
        row.status,
        row.machine,
        row.grader,
        _number(row.earned),
        *gradable,
        *(by_name.get(name, "") for name in names),
        row.late.days,
        row.late.charged,
        _number(row.final),
        row.received.isoformat() if row.received else "",
        row.note or ("" if row.status == "graded" else STATUS.get(row.status, "")),
    ]


def _exercise_names(all_rows: Iterable[Row]) -> list[str]:
    found = {one.name for row in all_rows if row.record for one in row.record.exercises}
    return sorted(found)


def _number(value: int | None) -> object:
    return "" if value is None else value
