"""A GitHub check run: what `POST /repos/{owner}/{repo}/check-runs` takes, for one commit.

The grader does not call GitHub: whoever holds the token sends this.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from grader.formats import step_summary
from grader.formats.escape import markdown
from grader.formats.reading import Check, Record
from grader.handout.contents import STARTER
from grader.report.words import visible

NAME = "Grade on the GPU"
# GitHub's own limits: characters of a summary, of a title, bytes of a message, and annotations of
# one request. A summary has fewer characters than bytes.
_SUMMARY_BYTES = 65_535
_TITLE, _MESSAGE, _ANNOTATIONS = 255, 60_000, 50


def write(record: Record, commit: str, note: str = "") -> str:
    """`note` is one more sentence for the student, which may hold names that students chose."""
    return json.dumps(compose(record, commit, note), indent=1) + "\n"


def compose(record: Record, commit: str, note: str = "") -> dict[str, Any]:
    told = f"{markdown(note)}\n\n" if note else ""
    summary = step_summary.write(record, _SUMMARY_BYTES - len(told.encode()))
    annotations = [one for check in record.checks for one in _annotations(check)]
    return {
        "name": NAME,
        "head_sha": commit,
        "status": "completed",
        "conclusion": _conclusion(record),
        "output": {
            "title": record.total_line,
            "summary": told + summary,
            "annotations": annotations[:_ANNOTATIONS],
        },
    }


def _conclusion(record: Record) -> str:
    """A fault of the grader's says nothing about the student's files."""
    if record.failed_by_grader:
        return "neutral"
    return "success" if record.complete else "failure"


def _annotations(check: Check) -> Iterator[dict[str, Any]]:
    """The first place of a failed check, in the student's own repository."""
    place = check.places[0] if check.places else None
    file = f"{check.exercise}.cu"
    if check.status != "fail" or place is None or not place.file.endswith(file):
        return
    yield {
        "path": f"{STARTER}{file}",
        "start_line": max(1, place.line),
        "end_line": max(1, place.line),
        "annotation_level": "failure",
        "title": visible(check.title)[:_TITLE],
        "message": visible(check.why)[:_MESSAGE] or check.status,
    }
