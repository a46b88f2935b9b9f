"""Whether the GPU was quiet enough for a measurement to say something about the kernel.

A steady GPU gives a narrow interval, whatever its clocks do: a power cap is normal for small cards.
Words are needed only where the interval is wide, or where something took the GPU away.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.timing.sample import Conditions
from grader.timing.session import Pair
from grader.timing.statistics import jitter, median_interval

# A probe reads a timer without a break; what is away for longer was given to somebody else.
GAP_S = 200e-6
# A desktop may draw once; from the second gap on the GPU is shared.
GAPS_FORGIVEN = 1
# An interval within one per cent on both sides decides between quarters, which lie further apart.
NARROW = 0.01
# How much neighbouring launches of our own kernel may differ: on quiet GPUs under one per cent.
BASELINE_JITTER = 0.03
# An idle process disturbs nobody, and the baseline shows that; a busy one is not given much room.
BASELINE_JITTER_BESIDE_OTHERS = 0.01
# Slower than calibrated by more than any power cap we have seen: something else is running.
SLOWER_THAN_CALIBRATED = 1.5
# A cap on power holds clocks low and steady; every other slowdown comes and goes.
_CAPS = ("power cap",)


def is_away(pair: Pair) -> bool:
    """Whether the GPU was taken away right before one of the two launches."""
    return pair.longest_gap_s >= GAP_S


def disturbance(
    kept: Sequence[Pair],
    away: Sequence[Pair],
    ended: str,
    conditions: Conditions | None,
    expected_s: float,
) -> str:
    """Why these pairs decide nothing, as part of a sentence; "" when they do."""
    if len(away) > GAPS_FORGIVEN or not kept:
        gap_s = max(pair.longest_gap_s for pair in away)
        return (
            f"something else uses the GPU: before {len(away)} of {len(kept) + len(away)} pairs of "
            f"launches it was away for up to {gap_s * 1e3:.2g} ms"
        )
    baseline = [pair.baseline.seconds for pair in kept]
    typical_s = sorted(baseline)[len(baseline) // 2]
    if expected_s and typical_s > SLOWER_THAN_CALIBRATED * expected_s:
        return (
            f"the baseline takes {typical_s * 1e3:.3g} ms, {expected_s * 1e3:.3g} ms when "
            f"calibrated{_circumstances(conditions)}"
        )
    if ended == "clear":
        return ""
    if median_interval([pair.ratio for pair in kept]).half_width <= NARROW:
        return ""
    return _why_wide(baseline, conditions)


def _why_wide(baseline: Sequence[float], conditions: Conditions | None) -> str:
    """A wide interval is the GPU's doing where it shows in our own kernel, too, or in NVML; else
    the student's kernel itself is unsteady, and that is no reason to give up."""
    varies = jitter(baseline)
    slowed, others = slowdown(conditions), _others(conditions)
    if slowed:
        return f"times vary, with {slowed}"
    if varies > (BASELINE_JITTER_BESIDE_OTHERS if others else BASELINE_JITTER):
        beside = f", with {others}" if others else ""
        return f"launches of the baseline differ by {100 * varies:.2g} %{beside}"
    return ""


def slowdown(conditions: Conditions | None) -> str:
    """`thermal slowdown`; "" where clocks are free, or capped and steady."""
    words = conditions.throttle if conditions else ()
    return " and ".join(word for word in words if word not in _CAPS)


def _others(conditions: Conditions | None) -> str:
    count = conditions.other_processes if conditions else 0
    return f"{count} other process{'es' if count > 1 else ''} on the GPU" if count > 0 else ""


def _circumstances(conditions: Conditions | None) -> str:
    """What NVML saw, ready to end a sentence; "" for nothing."""
    seen = " and ".join(filter(None, (slowdown(conditions), _others(conditions))))
    return f", with {seen}" if seen else ""
