"""Shapes far larger than the drawn ones: long sums of a tiny C, and large matrices of which one
block is run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.problems.matmul_shapes import LARGEST_CASE, LARGEST_EXACT_K, Shape

if TYPE_CHECKING:
    from grader.device import LaunchConfig


def deep_shape(config: LaunchConfig) -> Shape:
    """A tiny C of sums far longer than any other shape's.

    Deep enough for more steps than a byte counts, and for loops that stop at 512, 1,024 or 4,096;
    less deep where tiles are so large that idle threads would make it long.
    """
    steps = _MORE_THAN_A_BYTE * config.tile_k + 3
    affordable = min(_DEEPEST_WORK // (config.tile_m * config.tile_n), _MOST_DEPTH)
    return Shape(2, 3, max(_LEAST_DEPTH, min(max(_DEPTH, steps), affordable)))


def deeper_shape(config: LaunchConfig) -> Shape | None:
    """The same for a number of steps of 16 bits where tiles are small, or for such a k, with a sign
    at least; None where they are so large that it would take seconds."""
    depths = (_STEPS_OF_16_BITS * config.tile_k + 3, *_DEEPER)
    tile = config.tile_m * config.tile_n
    affordable = [k for k in depths if tile * k <= _DEEPEST_WORK and k <= LARGEST_EXACT_K]
    return Shape(2, 3, max(affordable)) if affordable else None


_DEPTH, _LEAST_DEPTH, _DEEPER = 5003, 521, (68_737, 33_013)  # primes: no step divides them
_MOST_DEPTH = 200_003  # further on, integer inputs are smaller
_MORE_THAN_A_BYTE, _STEPS_OF_16_BITS = 257, 32_769
_DEEPEST_WORK = 160_000_000  # multiply-adds of whole tiles: two seconds in the simulator


def usual_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """Sizes at which matrices are usually timed: whole tiles with M = N (and K, where tiles are
    small), and ragged in all three. A kernel may have a way of its own for such sizes.

    Only the last block of each is ever run.
    """
    tile_m, tile_n, tile_k = config.tiles
    side = -(-_USUAL_SIDE // math.lcm(tile_m, tile_n, tile_k)) * math.lcm(tile_m, tile_n, tile_k)
    step = math.lcm(32, tile_k)
    affordable = _BLOCK_WORK // (tile_m * tile_n) // step * step
    depth = min(side, max(affordable, -(-128 // step) * step))
    shapes = (Shape(side, side, depth), Shape(2053, 2063, 1031))
    return tuple(s for s in shapes if tile_m * tile_n * s.k <= 8 * _BLOCK_WORK and max(s) < 1 << 15)


_USUAL_SIDE = 2048
_BLOCK_WORK = 1 << 22  # multiply-adds of one block: a fifth of a second with every access followed


def large_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """Shapes near the contract's limit of 2^31 elements: a large C, a large A, a large B.

    Far enough below it that a kernel may compute the index of a row or column past the edge, as
    long as it does not use it. Only one block of each is ever run, so K is small where it can be.
    """
    # 45,000^2 is 2.03e9; one tile more in each direction is still below 2^31.
    return _huge_shapes(config, 45_000, 2_000_000_000)


def beyond_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """The same just beyond the limit: what fails there is no fault, but worth knowing."""
    return _huge_shapes(config, 46_500, 2_170_000_000)  # 46,500^2 is 2.16e9, 2^31 is 2.15e9


def _huge_shapes(config: LaunchConfig, square: int, elements: int) -> tuple[Shape, ...]:
    depth = max(1_000, 15 * config.tile_k)  # so that one step past the edge stays below 2^31
    # No power of two divides them by much, so that no index is right by luck.
    rows = min(1_900_000, _MANY_BLOCK_ROWS * config.tile_m) - 7
    return (
        Shape(square, square, 2 * config.tile_k + 1),
        Shape(rows, config.tile_n + 1, elements // rows),
        Shape(config.tile_m + 1, elements // depth - 7, depth),
    )


_MANY_BLOCK_ROWS = 65_000  # the contract allows 65,535, as every GPU


def smaller_like(shape: Shape, config: LaunchConfig) -> list[Shape]:
    """Shapes to run whole that have what may be special about a large one, smallest first: its
    small sizes, whole tiles, equal sizes, odd ones."""
    whole = shape.filled(config.tiles) == shape
    found: dict[Shape, None] = {}
    for halvings in range(max(shape).bit_length(), 0, -1):
        sizes = (s if s <= _KEPT_SIZE else max(s >> halvings | s & 1, 1) for s in shape)
        smaller = Shape(*sizes).filled(config.tiles) if whole else Shape(*sizes)
        if smaller.multiply_adds <= LARGEST_CASE:
            found[smaller] = None
    ragged = [] if whole or min(shape) <= _KEPT_SIZE else [_RAGGED]
    return [*found, *ragged]


_KEPT_SIZE = 300
_RAGGED = Shape(137, 139, 149)  # all sizes above 128, from which on some kernels go another way
