"""CSV: one line a check, for a spreadsheet or a grade book."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.formats.escape import csv_table
from grader.formats.reading import Record

COLUMNS = ("exercise", "check", "status", "verdict", "earned", "possible", "points", "message")


def write(record: Record) -> str:
    """The last line is the total."""
    return csv_table(_rows(record))


def _rows(record: Record) -> Iterator[Sequence[object]]:
    yield COLUMNS
    for check in record.checks:
        told = (check.exercise, check.name, check.status, check.verdict)
        points = (check.earned, check.possible, check.points)
        yield (*told, *points, check.message.partition("\n")[0])
    yield ("total", "", "", "", record.earned, record.possible, record.points, "")
