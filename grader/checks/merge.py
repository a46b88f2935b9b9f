"""Merges the outcomes of one exercise on several devices into one outcome per check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.checks.outcome import Outcome, Status, worst
from grader.exercise import NEEDS
from grader.finding import ordered


def merge(outcomes: Sequence[Outcome]) -> tuple[Outcome, ...]:
    """One outcome per check, in the order the checks first appear.

    A check fails if it fails on any device and passes if it passes on one and fails on none. A
    check that needs one which failed elsewhere is skipped, so that devices cannot contradict
    each other in the score. A device that lacks a feature (it does not count, it does not run
    inline PTX, it has no stopwatch) has no say where another one has it.
    """
    merged: dict[str, Outcome] = {}
    for check in dict.fromkeys(outcome.check for outcome in outcomes):
        one = _merge_check([outcome for outcome in outcomes if outcome.check == check])
        needed = merged.get(NEEDS.get(check, ""))
        if one.status in (Status.PASS, Status.FAIL) and needed and _blocks(needed):
            one = replace(one, status=Status.SKIPPED, reason=needed.check, findings=())
        merged[check] = one
    return tuple(merged.values())


# Reasons of a device that cannot do what a check needs.
_UNABLE = ("feature", "no_gpu")


def _blocks(needed: Outcome) -> bool:
    return needed.status is Status.FAIL or (
        needed.status is Status.SKIPPED and needed.reason in NEEDS
    )


def _merge_check(outcomes: list[Outcome]) -> Outcome:
    able = [outcome for outcome in outcomes if outcome.reason not in _UNABLE] or outcomes
    status = worst(able)
    deciding = [outcome for outcome in able if outcome.status is status]
    return replace(
        deciding[0],
        device="",
        findings=ordered(finding for outcome in deciding for finding in outcome.findings),
        notes=tuple(note for outcome in outcomes for note in outcome.notes),
        log="\n".join(outcome.log for outcome in outcomes if outcome.log),
        seconds=sum(outcome.seconds for outcome in outcomes),
        timing=next((outcome.timing for outcome in outcomes if outcome.timing), {}),
    )
