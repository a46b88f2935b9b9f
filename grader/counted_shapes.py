"""Shapes at which a kernel's memory traffic is counted.

A grading draws them from its seed: a kernel must be thrifty everywhere, not where it is looked at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable

from grader.checks.plan import derived_seed
from grader.counters import SECTOR_WORDS
from grader.device import LaunchConfig
from grader.exercise import Exercise
from grader.problems.matmul import Shape

# Enough tiles in each direction for every path through the kernel's loops, and still quick.
_LEAST_SIZE = 64
# Of a drawn K: three steps of the deepest usual ones, so that what is done in each shows.
_LEAST_DEPTH = 96
# A drawn dimension has up to this many tiles more than the least.
_MORE_TILES = 8
_MOST_RAGGED_TILES = 3  # whole ones, in each direction
# Multiply-adds of whole tiles: a quarter of a second in the simulator. Where the tiles themselves
# are as large as that, twice as many are allowed, or one tile more at the edges.
_MOST_WORK, _ALIGNED_GROWTH, _RAGGED_GROWTH = 1_200_000, 2.0, 1.5
# Fewer choices than this are worse than two equal dimensions.
_LEAST_CHOICES = 8
# Steps along K of a file that does not name tile_k: most are as deep or half as deep. K is then
# above two of them, so that one more step is less than all of K again.
USUAL_DEPTH = 16


def aligned_shape(config: LaunchConfig) -> Shape:
    """Whole tiles and whole sectors, M, N and K mutually different where tiles allow it: the shape
    of listings and comparisons, the same for every seed."""
    sizes = []
    for tile, extra in zip(config.tiles, range(3), strict=True):
        step = _step(tile)
        sizes.append(step * (-(-_LEAST_SIZE // step) + (extra if step <= _LEAST_SIZE else 0)))
    return Shape(*sizes)


def is_aligned(config: LaunchConfig, shape: Shape) -> bool:
    """Whether all counters at this shape can be judged: whole tiles, whole sectors."""
    return all(size % _step(tile) == 0 for size, tile in zip(shape, config.tiles, strict=True))


def drawn_aligned(seed: int, exercise: Exercise, config: LaunchConfig) -> Shape:
    """Whole tiles and whole sectors, their numbers drawn; it depends on these three alone."""
    least_sizes = (_LEAST_SIZE, _LEAST_SIZE, _LEAST_DEPTH)
    axes = []
    for tile, size in zip(config.tiles, least_sizes, strict=True):
        step = _step(tile)
        least = -(-size // step)
        axes.append([step * count for count in range(least, least + _MORE_TILES + 1)])
    shapes = _affordable(
        (Shape(*sizes) for sizes in itertools.product(*axes)),
        lambda shape: shape.multiply_adds,
        _ALIGNED_GROWTH,
    )
    different = [shape for shape in shapes if len(set(shape)) == 3]
    choices = different if len(different) >= _LEAST_CHOICES else shapes
    return choices[_draw(seed, exercise, config)("aligned", len(choices))]


def drawn_ragged(seed: int, exercise: Exercise, config: LaunchConfig) -> Shape:
    """Some whole tiles in each direction and a part of one more: of N at least half of a tile, so
    that the edge weighs enough; of M and K any part. It depends on these three alone."""
    draw = _draw(seed, exercise, config)
    tiles = (*config.tiles[:2], config.tile_k if config.tile_k > 1 else USUAL_DEPTH)
    least = (1, 1, 2 if config.tile_k == 1 else 1)
    axes = [range(first, _MOST_RAGGED_TILES + 1) for first in least]
    choices = _affordable(
        (Shape(*counts) for counts in itertools.product(*axes)),
        lambda counts: math.prod((n + 1) * tile for n, tile in zip(counts, tiles, strict=True)),
        _RAGGED_GROWTH,
    )
    whole = choices[draw("ragged", len(choices))]
    parts = []
    for name, tile, part in zip("mnk", tiles, (1, tiles[1] // 2, 1), strict=True):
        lowest = max(part, 1)  # a tile of 1 has no part: one row or column more
        parts.append(lowest + draw(name, max(tile - lowest, 1)))
    return Shape(*(n * tile + part for n, tile, part in zip(whole, tiles, parts, strict=True)))


def _step(tile: int) -> int:
    return math.lcm(tile, SECTOR_WORDS)  # no row of a matrix begins in the middle of a sector


def _affordable(
    shapes: Iterable[Shape], work: Callable[[Shape], int], growth: float
) -> list[Shape]:
    """Those that are quick to count, in a fixed order; at least the quickest."""
    ordered = sorted(shapes, key=lambda shape: (work(shape), shape))
    limit = max(_MOST_WORK, growth * work(ordered[0]))
    return [shape for shape in ordered if work(shape) <= limit]


def _draw(seed: int, exercise: Exercise, config: LaunchConfig) -> Callable[[str, int], int]:
    def draw(what: str, choices: int) -> int:
        return derived_seed(seed, "counted", exercise.name, config, what) % choices

    return draw
