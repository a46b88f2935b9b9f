"""Words for what shows only when launches are timed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.finding import Finding
from grader.messages.wording import Template, at, counted

_FRESH = "Every launch gets fresh A and B, and a C of rubbish"


def speedup(median: float, low: float, high: float) -> str:
    """`1.62 times the baseline (1.61-1.63)`: how much faster than the grader's naive kernel."""
    return f"{ratio(median)} times the baseline ({ratio(low)}-{ratio(high)})"


def ratio(value: float) -> str:
    """`1.60`, `12.5`: as many digits as noise leaves."""
    return f"{value:.2f}" if value < 10 else f"{value:.1f}"


def _too_slow(finding: Finding) -> str:
    facts = finding.facts
    unsteady = (
        ""
        if facts["steady"]
        else " Its launches differ more than those of the baseline beside them, so the slower end "
        "of that range counts."
    )
    return (
        f"The kernel is {ratio(facts['speedup'])} times as fast "
        f"({ratio(facts['low'])}-{ratio(facts['high'])}) as the grader's own naive kernel"
        f"{at(finding)}. On this GPU points begin at {ratio(facts['minimum'])} times, and "
        f"{ratio(facts['full'])} times earns all of them."
        f"{unsteady} Which part of the work takes the time?"
    )


def _timed_wrong(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"In a timed launch {_wrong_rows(facts)} wrong{at(finding)}, though smaller matrices were "
        "right. Is there an index, a count or a buffer that does not hold this size?"
    )


def _later_wrong(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{_right_before(finding)} {_wrong_rows(facts)} wrong. {_FRESH}: does the kernel keep "
        "anything from one launch to the next, or depend on the order of its threads?"
    )


def _later_inputs(finding: Finding) -> str:
    return (
        f"{_right_before(finding)} {counted(finding.facts['count'], 'word')} of A and B changed. "
        "Why would a launch differ from the one before it?"
    )


def _later_guards(finding: Finding) -> str:
    return (
        f"{_right_before(finding)} {counted(finding.facts['count'], 'word')} outside A, B and C "
        "changed. Why would a launch differ from the one before it?"
    )


def _right_before(finding: Finding) -> str:
    launch = finding.facts["launch"]
    return f"The launches before were right; in timed launch {launch}{at(finding)}"


def _wrong_rows(facts: Mapping[str, Any]) -> str:
    count, row = facts["count"], facts["row"]
    return f"row {row} of C is" if count == 1 else f"{count} rows of C (the first is {row}) are"


def _timed_inputs(finding: Finding) -> str:
    return (
        f"A timed launch changed {counted(finding.facts['count'], 'word')} of A and B"
        f"{at(finding)}. Which store does not go to C or to shared memory?"
    )


def _timed_guards(finding: Finding) -> str:
    return (
        f"A timed launch wrote {counted(finding.facts['count'], 'word')} outside A, B and C"
        f"{at(finding)}. Which store has no guard, or an index that does not hold this size?"
    )


def _impossible(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"A launch took {facts['seconds'] * 1e3:.3g} ms{at(finding)}; with every FP32 unit busy, "
        f"or memory at its limit, this GPU needs {facts['bound_s'] * 1e3:.3g} ms for the product. "
        "Was it computed in this launch, in FP32?"
    )


TEXTS: Mapping[str, Template] = {
    "too_slow": _too_slow,
    "timed_wrong": _timed_wrong,
    "timed_inputs_changed": _timed_inputs,
    "timed_guards_written": _timed_guards,
    "later_timed_wrong": _later_wrong,
    "later_timed_inputs_changed": _later_inputs,
    "later_timed_guards_written": _later_guards,
    "impossible_speed": _impossible,
}
