"""What a check gave, on one device or merged over devices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from grader.finding import Finding


class Status(StrEnum):
    """How a check ended. Only PASS and FAIL say something about the kernel."""

    PASS = "pass"
    FAIL = "fail"
    SKIPPED = "skipped"
    NOT_GRADED = "not_graded"
    GRADER_ERROR = "grader_error"

    @property
    def undecided(self) -> bool:
        """True when the check says nothing about the kernel, so that it must not cost a point."""
        return self in (Status.NOT_GRADED, Status.GRADER_ERROR)


@dataclass(frozen=True)
class Outcome:
    """One check of one exercise on one device ("" after merging).

    `reason` is the check that was needed (skipped) or a key of `NotGraded.REASONS`; `detail` is
    for the reader (a GraderFault's text; for `feature` what is lacking: "the gpu does not count"),
    `log` what belongs into the log file only. `notes` are no faults and cost nothing.
    `interrupted`: a grader error because somebody ended the grading before this check did. A check
    that passed earns `quarters` of its points in four; `timing` is as in results.json.
    """

    exercise: str
    device: str
    check: str
    description: str
    status: Status
    reason: str = ""
    detail: str = ""
    findings: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    log: str = ""
    seconds: float = 0.0
    interrupted: bool = False
    quarters: int = 4
    timing: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class PrerequisiteFailed(Exception):
    """Raised inside a check that cannot run; `needed` is the check (or the file) it needs."""

    def __init__(self, needed: str) -> None:
        super().__init__(f"needs {needed}")
        self.needed = needed


def worst(outcomes: Sequence[Outcome]) -> Status:
    """The status of one check over devices: one failure fails it, one pass decides it."""
    found = {outcome.status for outcome in outcomes}
    order = (
        Status.FAIL,
        Status.PASS,
        Status.GRADER_ERROR,
        Status.NOT_GRADED,
        Status.SKIPPED,
    )
    return next(status for status in order if status in found)
