"""An inspection as data for other programs: `--json`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from grader.counters import Counters, LineCounter, Request, total
from grader.finding import Finding
from grader.inspect.inspection import Inspection
from grader.inspect.marks import Mark, marks
from grader.messages import say

SCHEMA = "matmul-inspection/v1"


def compose(seen: Inspection) -> dict[str, Any]:
    """Everything that the listing shows, and the addresses of each line's worst request.

    `counters` is null where the launch did not end.
    """
    return {
        "schema": SCHEMA,
        "file": seen.file.name,
        "kernel": seen.kernel,
        "compiler": seen.compiler,
        "grid": list(seen.grid),
        "block": list(seen.block.threads),
        "dynamic_shared": seen.block.dynamic_shared,
        "arguments": list(seen.arguments),
        "shape": list(seen.shape) if seen.shape else None,
        "counters": _counters(seen, seen.counters) if seen.counters else None,
        "findings": [_finding(finding) for finding in seen.findings],
        "notes": [_finding(finding) for finding in seen.notes],
        "output": seen.output,
        "nvcc": dict(seen.survey),
    }


def _counters(seen: Inspection, counters: Counters) -> dict[str, Any]:
    source = seen.file.lines
    rows = zip(counters.lines, counters.worst, marks(counters), strict=True)
    intensity = counters.arithmetic_intensity(seen.shape) if seen.shape else None
    return {
        "lines": [
            {
                **asdict(line),
                "source": source[line.line - 1] if 0 < line.line <= len(source) else "",
                "bank_conflicts": line.bank_conflicts,
                "mark": _mark(mark),
                "worst_request": _request(request),
            }
            for line, request, mark in rows
        ],
        "atomics": [_atomic(atomic) for atomic in counters.atomics],
        "totals": {
            "global": _sums(counters, "global", ("requests", "sectors", "ideal_sectors", "words")),
            "shared": _sums(
                counters, "shared", ("requests", "wavefronts", "ideal_wavefronts", "bank_conflicts")
            ),
            "bytes_moved": counters.bytes_moved,
            "barriers": counters.barriers,
            "arithmetic_intensity": intensity,
        },
    }


def _atomic(counter: LineCounter) -> dict[str, Any]:
    fields = ("line", "space", "name", "bytes")
    return {**{field: getattr(counter, field) for field in fields}, "operations": counter.words}


def _sums(counters: Counters, space: str, fields: tuple[str, ...]) -> dict[str, int]:
    return {field: total(counters.select(space), field) for field in fields}


def _mark(mark: Mark | None) -> dict[str, Any] | None:
    return asdict(mark) if mark else None


def _request(request: Request) -> dict[str, Any]:
    return {
        "cost": request.cost,
        "ideal": request.ideal,
        "lanes_together": request.group,
        "block": list(request.block),
        "warp": request.warp,
        "offsets": list(request.offsets),
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "verdict": finding.verdict.value,
        "kind": finding.kind,
        "text": say(finding),
        "facts": dict(finding.facts),
        "locations": [asdict(place) for place in finding.locations],
    }
