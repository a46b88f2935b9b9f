"""results.json: our record of a grading; every other format is written from it."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.atomic import write_text
from grader.checks.listener import Ledger
from grader.checks.outcome import Status
from grader.checks.plan import Entry, Plan, case_arguments
from grader.exercise import PROJECT
from grader.finding import Finding, GraderFault
from grader.report.words import explanation, repeat, told
from grader.score import CheckScore, ExerciseScore, Score
from grader.tree import tree_sha256, version
from grader.verdict import by_precedence

SCHEMA = "matmul-results/v1"
SCHEMA_FILE = Path(__file__).with_name("results.schema.json")
NAME = "results.json"
# Beside an earlier good record, because a fault of ours must not replace a score.
ERROR_NAME = "results.grader_error.json"
LOG_NAME = "grader_error.log"


class RecordError(GraderFault):
    """The output folder cannot be written; the text says which and what to do."""


def identity() -> dict[str, str]:
    """Which grader this is. A grading asks before it starts: files may change while it runs."""
    return {"version": version(PROJECT), "tree_sha256": tree_sha256(PROJECT)}


def compose(
    score: Score, plan: Plan, ledger: Ledger, grader: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The record as JSON-able data. Between equal gradings only `created`, `seconds`, the folder's
    name in `submission` and what was timed may differ."""
    entries = {entry.exercise.name: entry for entry in plan.entries}
    return {
        "schema": SCHEMA,
        "grader": dict(grader or identity()),
        "submission": _submission(plan),
        "seed": plan.seed,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "devices": _devices(score, ledger),
        "score": {
            "earned": score.earned,
            "points": score.points,
            "not_graded": score.not_graded,
        },
        "exercises": [
            _exercise(one, entries[one.exercise.name], plan, ledger) for one in score.exercises
        ],
    }


def _submission(plan: Plan) -> str:
    """The folder that was graded, as it was named; "" for files of several folders."""
    folders = {str(entry.path.parent) for entry in plan.entries}
    return folders.pop() if len(folders) == 1 else ""


def _exercise(score: ExerciseScore, entry: Entry, plan: Plan, ledger: Ledger) -> dict[str, Any]:
    name = score.exercise.name
    builds = {kind: dict(f) for (one, kind), f in sorted(ledger.builds.items()) if one == name}
    return {
        "name": name,
        "status": score.status,
        "earned": score.earned,
        "points": score.points,
        "sha256": entry.submission.sha256 if entry.submission else "",
        "checks": [_check(check, entry, plan) for check in score.checks],
        "build": builds,
        "timing": _timing(score),
        "counters": dict(ledger.counters.get(name, {"lines": []})),
    }


def _devices(score: Score, ledger: Ledger) -> list[dict[str, Any]]:
    """Simulator first; the GPU with the file of the calibration that was used, "" for none."""
    devices = [dict(ledger.devices[kind]) for kind in sorted(ledger.devices, reverse=True)]
    used = next(filter(None, (_timing(one).get("calibration") for one in score.exercises)), None)
    for device in devices:
        if device["kind"] == "gpu":
            device["calibration"] = used["file"] if used else ""
    return devices


def _timing(score: ExerciseScore) -> dict[str, Any]:
    """What was measured for the check `fast`; empty where nothing was."""
    return next((dict(one.outcome.timing) for one in score.checks if one.outcome.timing), {})


def _check(check: CheckScore, entry: Entry, plan: Plan) -> dict[str, Any]:
    outcome = check.outcome
    return {
        "name": outcome.check,
        "description": outcome.description,
        "status": outcome.status.value,
        "reason": outcome.reason,
        "earned": check.earned,
        "points": check.points,
        "seconds": round(outcome.seconds, 3),
        **_cause(outcome.findings, entry, plan, explanation(outcome)),
        "notes": [_note(finding, entry) for finding in outcome.notes],
    }


def _note(finding: Finding, entry: Entry) -> dict[str, Any]:
    return {
        "kind": finding.kind,
        "message": told(finding, entry.exercise).text,
        "shape": list(finding.shape) if finding.shape else None,
        "locations": _locations(finding),
    }


def _locations(finding: Finding) -> list[dict[str, Any]]:
    return [
        {"file": place.file, "line": place.line, "role": place.role} for place in finding.locations
    ]


def _cause(
    findings: tuple[Finding, ...], entry: Entry, plan: Plan, otherwise: str
) -> dict[str, Any]:
    """The first finding in words, the verdicts of the others; for no finding, `otherwise`."""
    if not findings:
        nothing = dict.fromkeys(("verdict", "hint", "command"), "")
        return {**nothing, "also": [], "message": otherwise, "shape": None, "locations": []}
    first = findings[0]
    verdicts = by_precedence(finding.verdict for finding in findings)
    message = told(first, entry.exercise)
    return {
        "verdict": verdicts[0].value,
        "also": [verdict.value for verdict in verdicts[1:]],
        "message": message.text,
        "hint": message.hint,
        "shape": list(first.shape) if first.shape else None,
        "locations": _locations(first),
        "command": repeat(first, entry.exercise, case_arguments(plan, entry)),
    }


def check_writable(folder: Path) -> None:
    """Create the output folder; raises RecordError now rather than after minutes of grading."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as fault:
        raise _unwritable(folder, fault) from fault


def save(folder: Path, record: Mapping[str, Any]) -> Path:
    """Write the record atomically and return its path.

    One with a grader error goes beside an earlier good record; a good one replaces both.
    """
    broken = any(one["status"] == "grader_error" for one in record["exercises"])
    beside = broken and _is_good(folder / NAME)
    path = folder / (ERROR_NAME if beside else NAME)
    try:
        folder.mkdir(parents=True, exist_ok=True)  # somebody may have removed it meanwhile
        write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")
        if not broken:
            (folder / ERROR_NAME).unlink(missing_ok=True)
    except OSError as fault:
        raise _unwritable(folder, fault) from fault
    return path


def save_log(folder: Path, texts: Iterable[str]) -> Path | None:
    """What went wrong inside the grader, in full; None when nothing did."""
    told = list(dict.fromkeys(text for text in texts if text))
    path = folder / LOG_NAME
    try:
        if not told:
            path.unlink(missing_ok=True)
            return None
        folder.mkdir(parents=True, exist_ok=True)
        write_text(path, "\n\n".join(told) + "\n")
    except OSError as fault:
        raise _unwritable(folder, fault) from fault
    return path


def _is_good(path: Path) -> bool:
    """Whether there is a readable record without a grader error, that is, a score to keep."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        statuses = [one["status"] for one in record["exercises"]]
        return record["schema"] == SCHEMA and Status.GRADER_ERROR not in statuses
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _unwritable(folder: Path, fault: OSError) -> RecordError:
    why = fault.strerror or str(fault)
    return RecordError(
        f"{folder} cannot be written: {why}. Choose another folder for the results: --output DIR"
    )
