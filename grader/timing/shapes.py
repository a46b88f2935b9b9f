"""The shapes that are timed: a large square, and its ragged neighbour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from grader.problems.matmul import Shape

# Long enough that nothing but the kernel counts, short enough for dozens of launches in a grading.
LONGEST_BASELINE_S = 0.1


class ShapeKind(StrEnum):
    """Which of the two shapes."""

    SQUARE = "square"
    RAGGED = "ragged"


def shape_of(kind: ShapeKind, size: int) -> Shape:
    """The ragged one is no multiple of 2 along K, of 4 nowhere, and has three different sizes."""
    if kind is ShapeKind.SQUARE:
        return Shape(size, size, size)
    return Shape(size - 1, size + 1, size - 3)


def largest(sizes: Sequence[int], seconds: Mapping[int, float], fits: Callable[[int], bool]) -> int:
    """The largest size whose baseline is known to end in time and that fits; the smallest of
    `sizes` when none does."""
    good = [s for s in sizes if seconds.get(s, 1.0) <= LONGEST_BASELINE_S and fits(s)]
    return max(good, default=min(sizes))
