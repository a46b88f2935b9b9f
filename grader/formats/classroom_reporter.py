"""What the classroom reporter action reads from `<STEP-ID>_RESULTS`: base64 of JSON, version 1.

Its table counts passed tests and its annotation adds up scores; both agree only when every test is
all or nothing. So each point is a test of its own: a check of 5 points that earned 3 appears as
five tests, three of them passed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import Any

from grader.formats.reading import Check, Record


def write(record: Record) -> str:
    """One line, the value of the step's output `result`."""
    text = json.dumps(compose(record), separators=(",", ":"))
    return base64.b64encode(text.encode()).decode("ascii") + "\n"


def compose(record: Record) -> dict[str, Any]:
    tests = [test for check in record.checks for test in _tests(check)]
    return {
        "version": 1,
        "status": _status(record),
        "max_score": record.possible,
        "tests": tests,
    }


def _status(record: Record) -> str:
    if record.failed_by_grader:
        return "error"
    return "pass" if record.earned == record.possible else "fail"


def _tests(check: Check) -> Iterator[dict[str, Any]]:
    place = check.places[0] if check.places else None
    for point in range(check.possible):
        passed = point < check.earned
        name = check.title if check.possible == 1 else f"{check.title} ({point + 1})"
        yield {
            "name": name,
            "status": "pass" if passed else "fail",
            "score": int(passed),
            "message": "" if passed else check.why,
            "test_code": check.command,
            "filename": place.file if place else "",
            "line_no": place.line if place else 0,
            "execution_time": f"{check.seconds if point == 0 else 0:.3f}s",
        }
