"""A finding: one thing that is wrong, as data. `messages` turns it into words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from grader.problems.matmul import Shape
from grader.verdict import PRECEDENCE, Verdict

# What every message about a fault that is ours or the machine's says.
NOT_YOURS = "This is not about your kernel."


_ACCIDENT = "repeated_store"


@dataclass(frozen=True)
class Location:
    """A place in the student's file and the part it plays ("read", "write", "error", ...)."""

    file: str
    line: int
    role: str = ""


@dataclass(frozen=True)
class Finding:
    """One fault of a kernel.

    `kind` is the key of its text in `messages`; `facts` holds that text's values: numbers and
    names that JSON can carry, never sentences.
    """

    verdict: Verdict
    kind: str
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    locations: tuple[Location, ...] = ()
    shape: Shape | None = None
    device: str = ""


# Kinds of a wrong C that say where it is wrong, not why.
_UNEXPLAINED = tuple(
    f"wrong_{region}" for region in ("everywhere", "last", "blocks", "places", "parts", "somewhere")
)


def is_unexplained(finding: Finding) -> bool:
    return finding.kind.startswith(_UNEXPLAINED)


def ordered(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The cause first: by precedence, otherwise in the order they were found. Where different
    values were stored, an equal one is an accident."""
    return tuple(sorted(findings, key=lambda f: (PRECEDENCE[f.verdict], f.kind == _ACCIDENT)))


class KernelFault(Exception):
    """Raised inside a check when the student's kernel is at fault."""

    def __init__(self, findings: tuple[Finding, ...]) -> None:
        if not findings:
            raise ValueError("a fault needs at least one finding")
        super().__init__(findings[0].kind)
        self.findings = findings


class GraderFault(Exception):
    """Our fault or the machine's: never costs a student a point.

    The text says what happened, where, and what mends it; it is shown as it is.
    """


class NotGraded(Exception):
    """This check cannot be decided here; `reason` is one of REASONS."""

    REASONS = ("no_gpu", "no_speed", "no_gap", "not_calibrated", "feature", "inconclusive")

    def __init__(self, reason: str, detail: str = "") -> None:
        if reason not in self.REASONS:
            raise ValueError(f"unknown reason {reason!r}")
        super().__init__(detail or reason)
        self.reason = reason
        self.detail = detail
