"""Medians and their intervals, without any assumption on how noise is distributed."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

# How often the interval covers the true median, at least.
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Interval:
    """The median of `count` values and an interval around it, in the values' own unit.

    `low` and `high` are two of the values: by their ranks alone they enclose the true median with
    at least CONFIDENCE. Under six values no two of them do; then they are the extremes.
    """

    median: float
    low: float
    high: float
    count: int

    @property
    def half_width(self) -> float:
        """The longer side of the interval, relative to the median."""
        return max(self.high - self.median, self.median - self.low) / self.median


def median_interval(values: Sequence[float]) -> Interval:
    """The median of positive values with its interval."""
    ordered = sorted(values)
    skipped = _skipped(len(ordered))
    return Interval(
        statistics.median(ordered), ordered[skipped], ordered[-1 - skipped], len(ordered)
    )


@cache
def _skipped(count: int) -> int:
    """How many values may be left out at each end.

    The value of rank r lies above the true median when fewer than r of `count` tosses of a coin
    show heads: the two tails together may have 1 - CONFIDENCE.
    """
    tail, skipped = 0.0, 0
    for rank in range(count // 2):
        tail += math.comb(count, rank) / 2**count
        if 2 * tail > 1 - CONFIDENCE:
            break
        skipped = rank
    return skipped


def jitter(values: Sequence[float]) -> float:
    """How much neighbouring values differ: four of five steps are smaller, relative to the value.

    Steps rather than a spread: clocks that drift slowly move every value, and disturb no pair.
    """
    steps = sorted(abs(later / earlier - 1) for earlier, later in pairwise(values))
    return steps[math.ceil(0.8 * len(steps)) - 1] if steps else 0.0
