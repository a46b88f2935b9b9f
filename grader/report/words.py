"""Words for what is no finding: statuses, reasons, checks. Findings have theirs in `messages`."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from grader.checks.outcome import Outcome, Status
from grader.exercise import CHECKS, Exercise
from grader.finding import Finding
from grader.messages import Message, describe
from grader.messages.speed import speedup
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
    "no_speed": "this exercise asks for no speed",
    "no_gap": "speed tells nothing on this GPU, its points count for efficient",
    "not_calibrated": "no calibration for this GPU",
    "inconclusive": "the GPU was not quiet, try again when it is idle",
}

_SKIPPED = {
    "missing": "there is no such file",
    "not_started": "the file is as it was handed out",
    "other_shape": "this shape is not made of whole tiles",
}

_A_FEW = 5


def check_name(check: str) -> str:
    """`whole tiles` for `whole_tiles`."""
    return check.replace("_", " ")


def explanation(outcome: Outcome) -> str:
    """Why a check has no answer about the kernel, and what was measured of its speed; "" for one
    that simply passed or failed."""
    measured = _measured(outcome)
    return ": ".join(part for part in (measured, _reason(outcome)) if part)


def _measured(outcome: Outcome) -> str:
    """`1.62 times the baseline (1.61-1.63)`, of the shape that decided; "" where nothing was
    timed, or where the message of a failure says it."""
    shapes = outcome.timing.get("shapes", ())
    if not shapes or outcome.status not in (Status.PASS, Status.NOT_GRADED):
        return ""
    if outcome.reason == "inconclusive":
        return ""
    slowest = min(shapes, key=lambda shape: (shape["quarters"] or 0, shape["deciding"]))
    return speedup(slowest["speedup"], slowest["low"], slowest["high"])


def _reason(outcome: Outcome) -> str:
    if outcome.status is Status.SKIPPED:
        if outcome.reason in CHECKS:
            return f"needs {check_name(outcome.reason)}"
        if (outcome.check, outcome.reason) == ("efficient", "other_shape"):
            return "counts only at multiples of the tile and of 8"
        if (outcome.check, outcome.reason) == ("fast", "other_shape"):
            return "is timed at one large shape only: leave SHAPE out"
        return _SKIPPED[outcome.reason]
    if outcome.status is Status.NOT_GRADED:
        if outcome.reason == "inconclusive" and outcome.detail:
            return f"{outcome.detail}. Next: try again on an idle GPU"
        return outcome.detail or _NOT_GRADED[outcome.reason]
    return outcome.detail if outcome.status is Status.GRADER_ERROR else ""


def reason_in_short(outcome: Outcome) -> str:
    """For a sum over exercises: without what differs from one to the next."""
    return _NOT_GRADED.get(outcome.reason) or explanation(outcome)


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
    # Only one block of a shape near the contract's limit was run; the whole would take hours. And
    # what all shapes took together, one of them does not take.
    if (
        finding.shape is None
        or finding.shape.multiply_adds > LARGEST_CASE
        or finding.kind == "timeout_all"
    ):
        command = f"make test EX={exercise.short}"
    else:
        command = repeat_command(exercise, finding.shape)
    # Seen on the GPU alone: where there is none, nothing would fail.
    device = "DEVICE=gpu" if finding.shape is not None and finding.device == "gpu" else ""
    return " ".join(part for part in (command, device, arguments) if part)


def visible(text: str) -> str:
    """The text without control characters: a kernel's printf must not move the cursor."""
    return "".join(
        char
        if char in "\n\t" or unicodedata.category(char)[0] != "C"
        else "\N{REPLACEMENT CHARACTER}"
        for char in text
    )


def a_few(names: Sequence[str]) -> str:
    """Some of the names, and how many more there are, in one line whatever is in them."""
    named = ", ".join(" ".join(visible(name).split()) for name in names[:_A_FEW])
    return named + (f" and {len(names) - _A_FEW} more" if len(names) > _A_FEW else "")
