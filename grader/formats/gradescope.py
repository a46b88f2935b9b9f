"""Gradescope's results.json: one test a check, so that students see where points were lost.

Source: Gradescope's documentation of autograders, "Output format". One hidden test would hide the
total, so all tests are visible; a check that was not graded has no maximum and no status.
"""

from __future__ import annotations

import json
from typing import Any

from grader.formats.reading import Check, Record


def write(record: Record) -> str:
    return json.dumps(compose(record), indent=1) + "\n"


def compose(record: Record) -> dict[str, Any]:
    return {
        "score": record.earned,
        "execution_time": round(record.seconds),
        "output": f"{record.total_line}. Seed {record.seed}.",
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",  # what the grader's own machinery prints is for the teacher
        "tests": [_test(check) for check in record.checks],
        "extra_data": {
            "points": record.points,
            "not_graded": record.points - record.possible,
            "devices": list(record.devices),
            "seed": record.seed,
            "grader": record.version,
            "tree_sha256": record.tree_sha256,
        },
    }


def _test(check: Check) -> dict[str, Any]:
    test: dict[str, Any] = {
        "name": check.title,
        "score": check.earned,
        "max_score": check.possible,
        "output": check.why_and_where or check.description,
        "visibility": "visible",
    }
    if not check.undecided:
        test["status"] = "passed" if check.passed else "failed"
    return test
