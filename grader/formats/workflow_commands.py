"""GitHub workflow commands that mark the lines of the student's file, and the score.

At most ten annotations of a kind are shown for a step: the first finding of each check comes first,
since one check tells the cause of its failure with its first place.
"""

from __future__ import annotations

from grader.formats.escape import workflow_data, workflow_property
from grader.formats.reading import Check, Record

SHOWN = 10


def write(record: Record) -> str:
    errors = [line for check in record.checks if (line := _error(check))]
    return "\n".join([*errors[:SHOWN], _score(record)]) + "\n"


def _error(check: Check) -> str:
    if check.status != "fail" or not check.places:
        return ""
    place = check.places[0]
    properties = [f"file={workflow_property(place.file)}"]
    if place.line:
        properties.append(f"line={place.line}")
    properties.append(f"title={workflow_property(check.title)}")
    return f"::error {','.join(properties)}::{workflow_data(check.why)}"


def _score(record: Record) -> str:
    title = workflow_property("Grading complete")
    return f"::notice title={title}::{workflow_data(record.total_line)}"
