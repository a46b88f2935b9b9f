"""Thresholds from measured speed-ups: in the gap between a healthy kernel and a faulty one, and
never where a kernel that students are known to write would stand on the edge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.timing.calibration import Thresholds

# Ratios inside one grading are stable to 0.3 %, but a sound solution that another compiler
# schedules differently may lose several per cent. Without this gap the two cannot be told apart.
LEAST_GAP = 1.15
# The minimum stands about a third of the gap (of its logarithm) above the faulty kernel: near it,
# because an honest kernel with another tile must pass, and a faulty one gains nothing by trying
# again. Tried in this order.
_MINIMUM_IN_GAP = (1 / 3, 0.3, 0.36, 0.27, 0.4, 0.24, 0.45, 0.21, 0.18, 0.15)
# Full marks for what comes within so much of the reference, tried from the top.
FULL_OF_REFERENCE = 0.92
_FULLS = tuple(FULL_OF_REFERENCE - step / 200 for step in range(13))
# No step between two quarters comes nearer than this to a kernel that was measured: several times
# the noise, so that it always earns the same.
CLEAR = 0.02


@dataclass(frozen=True)
class Speedups:
    """Speed-ups of all kernels at one shape, and the slowest rounds of the honest ones of another
    make, which should not come away with nothing."""

    all: tuple[float, ...] = ()
    honest: tuple[float, ...] = ()


def derive(
    reference: float, next_worse: float, measured: Speedups = Speedups()
) -> Thresholds | None:
    """None without a gap. `reference` is the slowest round of the reference solution, `next_worse`
    the fastest round of the fastest kernel that lacks what the exercise teaches."""
    gap = reference / next_worse
    if gap < LEAST_GAP:
        return None
    minima = (next_worse * gap**part for part in _MINIMUM_IN_GAP)
    return _clearest(tuple(minima), reference, measured)


def carry_over(
    known: Thresholds, reference: float, elsewhere: float, measured: Speedups = Speedups()
) -> Thresholds:
    """The same shares of the reference at another kind of shape, where it reaches `elsewhere`.

    A kernel has to reach both kinds, so that what falls short at one of them need not do so here.
    """
    share = elsewhere / reference
    minima = tuple(known.minimum * share * factor for factor in (1.0, 0.99, 0.98, 0.97, 0.96))
    return _clearest(minima, elsewhere, measured)


def _clearest(minima: Sequence[float], reference: float, measured: Speedups) -> Thresholds:
    """Of the pairs that keep clear of every kernel the first that leaves the fewest honest ones
    with nothing. If none keeps clear, the one that keeps furthest away."""

    def distance(found: Thresholds) -> float:
        near = (abs(one / step - 1) for one in measured.all for step in found.steps)
        return min(near, default=1.0)

    def left_out(found: Thresholds) -> int:
        return sum(one < found.minimum for one in measured.honest)

    pairs = list(_pairs(minima, reference))
    clear = [one for one in pairs if distance(one) >= CLEAR]
    return min(clear, key=left_out) if clear else max(pairs, key=distance)


def _pairs(minima: Sequence[float], reference: float) -> Iterator[Thresholds]:
    for minimum in minima:
        for full in _FULLS:
            yield Thresholds(round(minimum, 3), round(max(minimum, reference * full), 3))
