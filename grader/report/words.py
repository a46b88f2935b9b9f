"""Words for what is no finding: statuses, reasons, checks. Findings have theirs in `messages`."""

from __future__ import annotations

import unicodedata

from grader.checks.outcome import Outcome, Status
from grader.exercise import CHECKS, Exercise
from grader.finding import Finding
from grader.messages import Message, describe
from grader.problems.matmul import LARGEST_CASE, repeat_command

STATUS = {
    "pass": "pass",
    "fail": "fail",
    "skipped": "skipped",
    "not_graded": "not graded",
    "grader_error": "grader error",
    "not_started": "not started",
    "missing": "missing",
}

_NOT_GRADED = {
    "no_gpu": "needs a GPU",
    "not_calibrated": "no calibration for this GPU",
    "inconclusive": "measurements too noisy, try again on an idle GPU",
    "not_built": "not in this version",
}

_SKIPPED = {
    "missing": "there is no such file",
    "not_started": "the file is as it was handed out",
    "other_shape": "this shape is not made of whole tiles",
}


def check_name(check: str) -> str:
    """`whole tiles` for `whole_tiles`."""
    return check.replace("_", " ")


def explanation(outcome: Outcome) -> str:
    """Why a check has no answer about the kernel; "" for one that passed or failed."""
    if outcome.status is Status.SKIPPED:
        if outcome.reason in CHECKS:
            return f"needs {check_name(outcome.reason)}"
        if (outcome.check, outcome.reason) == ("efficient", "other_shape"):
            return "counts only at multiples of the tile and of 8"
        return _SKIPPED[outcome.reason]
    if outcome.status is Status.NOT_GRADED:
        if outcome.reason == "feature":
            return outcome.detail
        return _NOT_GRADED[outcome.reason]
    return outcome.detail if outcome.status is Status.GRADER_ERROR else ""


def told(finding: Finding, exercise: Exercise) -> Message:
    """A finding in words; in bare facts where its words are broken, since a report must not be."""
    try:
        return describe(finding, exercise)
    except (LookupError, TypeError, ValueError, AttributeError):
        facts = ", ".join(f"{key} {value}" for key, value in finding.facts.items())
        return Message(f"{finding.kind}: {facts}", "")


def repeat(finding: Finding, exercise: Exercise, arguments: str | None = "") -> str:
    """The command that repeats a finding's case, or the whole exercise where it has no case.

    `arguments` name the submission and the seed (plan.case_arguments); None: no command can.
    """
    if arguments is None:
        return ""
    # Only one block of a shape near the contract's limit was run; the whole would take hours.
    if finding.shape is None or finding.shape.multiply_adds > LARGEST_CASE:
        command = f"make test EX={exercise.short}"
    else:
        command = repeat_command(exercise, finding.shape)
    return f"{command} {arguments}".rstrip()


def visible(text: str) -> str:
    """The text without control characters: a kernel's printf must not move the cursor."""
    return "".join(
        char
        if char in "\n\t" or unicodedata.category(char)[0] != "C"
        else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )
