"""Classroom 50's result.json (schema classroom50/result/v1).

Who was graded is told by the environment that its runner sets; owner and assignment_type are
stamped by the runner itself when they are not set. All scores are whole numbers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from grader.finding import GraderFault
from grader.formats.reading import Record, RecordProblem

# Key of result.json -> variable of the runner's environment.
_REQUIRED = {
    "classroom": "CLASSROOM",
    "assignment": "ASSIGNMENT",
    "submission": "SUBMISSION_TAG",
    "commit": "COMMIT_URL",
    "release": "RELEASE_URL",
}
_OPTIONAL = {"owner": "OWNER", "assignment_type": "MODE"}


def write(record: Record, environment: Mapping[str, str]) -> str:
    return json.dumps(compose(record, environment), indent=1) + "\n"


def compose(record: Record, environment: Mapping[str, str]) -> dict[str, Any]:
    """Raises GraderFault where the environment does not say who was graded."""
    if record.failed_by_grader:
        raise RecordProblem(
            "The grader failed, so there is no result to publish. Next: run the grading again"
        )
    absent = [name for name in _REQUIRED.values() if not environment.get(name)]
    if absent:
        raise GraderFault(
            f"Classroom 50 sets {', '.join(absent)}; here they are not set. "
            "Next: run this inside its autograder"
        )
    named = {key: environment[name] for key, name in _REQUIRED.items()}
    named |= {key: environment[name] for key, name in _OPTIONAL.items() if environment.get(name)}
    graded = _utc(record.created)
    return {
        "schema": "classroom50/result/v1",
        **named,
        "review": environment.get("REVIEW_URL") or named["commit"],
        # The time of the submission where the runner tells it: it must not move with a regrade.
        "datetime": environment.get("SUBMITTED_AT") or graded,
        "graded_at": graded,
        "score": record.earned,
        "max-score": record.possible,
        "tests": [
            {
                "test-name": check.title,
                "passed": check.passed,
                "score": check.earned,
                "max-score": check.possible,
                "message": check.why,
            }
            for check in record.checks
        ],
    }


def _utc(created: str) -> str:
    try:
        moment = datetime.fromisoformat(created)
    except ValueError:
        raise RecordProblem(f"created is {created!r}, no time in ISO 8601.") from None
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
