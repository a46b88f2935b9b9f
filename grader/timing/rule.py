"""When a measurement has seen enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from grader.timing.calibration import Thresholds
from grader.timing.statistics import Interval, median_interval


@dataclass(frozen=True)
class StoppingRule:
    """Pairs are taken until the interval of their median ratio is narrow, or time is spent.

    `thresholds` are those of the points, where some are known. A kernel that is nowhere near them
    is done after `clear_pairs`, and after one where that takes the whole time. One whose interval
    holds a step between two quarters gets all the time, so that noise decides as little as can be.
    """

    least_pairs: int = 10
    half_width: float = 0.005  # of the median: a tenth of the distance between two quarters
    budget_s: float = 3.0  # six of these, and the rest of a grading, stay under half a minute
    clear_pairs: int = 3
    clear_factor: float = 2.0
    thresholds: Thresholds | None = None

    def ended(self, ratios: Sequence[float], elapsed_s: float) -> str:
        """Why to stop after these pairs: "clear", "narrow" or "budget"; "" to go on."""
        seen = len(ratios) >= self.clear_pairs or elapsed_s >= self.budget_s
        if seen and self._clear(ratios):
            return "clear"
        if len(ratios) < self.least_pairs:
            # A kernel may be too slow for ten launches; without an end it would take minutes.
            return "budget" if elapsed_s >= 4 * self.budget_s else ""
        interval = median_interval(ratios)
        if interval.half_width <= self.half_width and not self._undecided(interval):
            return "narrow"
        return "budget" if elapsed_s >= self.budget_s else ""

    def _clear(self, ratios: Sequence[float]) -> bool:
        if self.thresholds is None:
            return False
        far_below = max(ratios) < self.thresholds.minimum / self.clear_factor
        return far_below or min(ratios) > self.thresholds.full * self.clear_factor

    def _undecided(self, interval: Interval) -> bool:
        steps = self.thresholds.steps if self.thresholds else ()
        return any(interval.low < step <= interval.high for step in steps)
