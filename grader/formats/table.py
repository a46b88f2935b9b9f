"""CSV: one line a check, for a spreadsheet or a grade book."""

from __future__ import annotations

import csv
import io

from grader.formats.escape import cell
from grader.formats.reading import Record

COLUMNS = ("exercise", "check", "status", "verdict", "earned", "possible", "points", "message")


def write(record: Record) -> str:
    """The last line is the total."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for check in record.checks:
        first = check.message.partition("\n")[0]
        told = (check.exercise, check.name, check.status, check.verdict)
        points = (check.earned, check.possible, check.points)
        writer.writerow([*map(cell, told), *points, cell(first)])
    writer.writerow(["total", "", "", "", record.earned, record.possible, record.points, ""])
    return text.getvalue()
