"""Shapes far larger than the drawn ones: long sums of a tiny C, and large matrices of which one
block is run."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.problems.matmul_shapes import LARGEST_CASE, LARGEST_EXACT_K, Shape

if TYPE_CHECKING:
    from grader.device import LaunchConfig


def deep_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """One tile of C, ragged and whole, of sums far longer than any other shape's.

    Deep enough for more steps than a byte counts, and for loops that stop at 512, 1,024 or 4,096;
    less deep where tiles are so large that it would take seconds.
    """
    tile_m, tile_n, tile_k = config.tiles
    affordable = min(_DEEPEST_WORK // (tile_m * tile_n), _MOST_DEPTH)
    depth = max(_LEAST_DEPTH, min(max(_DEPTH, _MORE_THAN_A_BYTE * tile_k + 3), affordable))
    ragged = Shape(max(tile_m - 1, 2), max(tile_n - 2, 3), depth)
    return ragged, _whole_within(Shape(tile_m, tile_n, depth), config)


def deeper_shape(config: LaunchConfig) -> Shape | None:
    """The same for a number of steps of 16 bits where tiles are small, or for such a k, with a sign
    at least; None where they are so large that it would take seconds."""
    depths = (_STEPS_OF_16_BITS * config.tile_k + 3, *_DEEPER)
    tile = config.tile_m * config.tile_n
    affordable = [k for k in depths if tile * k <= _DEEPEST_WORK and k <= LARGEST_EXACT_K]
    return Shape(2, 3, max(affordable)) if affordable else None


_DEPTH, _LEAST_DEPTH, _DEEPER = 4127, 521, (68_737, 33_013)  # primes: no step divides them
_LARGE_TILE = 64 * 64
_MOST_DEPTH = 200_003  # further on, integer inputs are smaller
_MORE_THAN_A_BYTE, _STEPS_OF_16_BITS = 257, 32_769
_DEEPEST_WORK = 160_000_000  # multiply-adds of whole tiles: two seconds in the simulator


def usual_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """Sizes at which matrices are usually timed: whole tiles with M = N (and K, where tiles are
    small), whole tiles in an odd number of steps along K, ragged in all three; whole tiles of C
    with a ragged K, whole steps with a ragged C, few rows and few columns; one row and one column,
    where tiles are small. A kernel may have a way of its own for such sizes.

    Only the last block of each is ever run.
    """
    tile_m, tile_n, tile_k = config.tiles
    side = -(-_USUAL_SIDE // math.lcm(tile_m, tile_n, tile_k)) * math.lcm(tile_m, tile_n, tile_k)
    step = math.lcm(32, tile_k)
    affordable = _BLOCK_WORK // (tile_m * tile_n)
    even = min(side, max(affordable // step * step, -(-128 // step) * step))
    deep = min(1024, 4 * affordable)
    unit_m, unit_n, unit_k = _units(config)
    odd = Shape(2048 + 2 * unit_m, 2048 + 4 * unit_n, deep + 2 * unit_k)
    less = min(1024, 2 * affordable)
    whole = _whole_within(odd._replace(k=less + 2 * unit_k), config)
    vectors = (Shape(1, 2063, deep + 7), Shape(2053, 1, deep + 7))
    shapes = (
        Shape(side, side, even),
        _whole_within(odd, config),
        Shape(2053, 2063, less + 7),
        whole._replace(k=less + 7),
        Shape(2053, 20, whole.k),  # rows of B and C may be read by fours
        Shape(19, 2063, less + 7),
        *(vectors if tile_m * tile_n <= _LARGE_TILE else ()),
    )
    return tuple(s for s in shapes if tile_m * tile_n * s.k <= 8 * _BLOCK_WORK and max(s) < 1 << 15)


def whole_cases(config: LaunchConfig) -> tuple[Shape, ...]:
    """Two of these, of whole tiles and ragged, for devices that are fast enough to run all blocks;
    what the others are for, their last blocks show on the simulator."""
    shapes = usual_shapes(config)
    whole = [shape for shape in shapes if shape.filled(config.tiles) == shape]
    ragged = [shape for shape in shapes if shape not in whole]
    return (*whole[:1], *ragged[:1])


_USUAL_SIDE = 2048
_BLOCK_WORK = 1 << 22  # multiply-adds of one block: a fifth of a second with every access followed


def _whole_within(shape: Shape, config: LaunchConfig) -> Shape:
    """The largest shape of whole tiles, an odd number of them in each direction, inside this one;
    one tile at least."""
    pairs = zip(shape, _units(config), strict=True)
    return Shape(*(max(size // unit - 1 | 1, 1) * unit for size, unit in pairs))


def _units(config: LaunchConfig) -> list[int]:
    """The tiles; what is not tiled goes by fours, as vector loads do."""
    return [tile if tile > 2 else 4 for tile in config.tiles]


def large_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """Shapes near the contract's limit of 2^31 elements: a large C, a large A, a large B; ragged,
    then the same of whole tiles.

    Far enough below it that a kernel may compute the index of a row or column past the edge, as
    long as it does not use it. Only one block of each is ever run, so K is small where it can be.
    """
    # 45,001^2 is 2.03e9; one tile more in each direction is still below 2^31.
    ragged = _huge_shapes(config, 45_001, 2_000_000_000)
    return (*ragged, *(_whole_within(shape, config) for shape in ragged))


def beyond_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """Ragged ones just beyond the limit: what fails there is no fault, but worth knowing."""
    return _huge_shapes(config, 46_501, 2_170_000_000)  # 46,501^2 is 2.16e9, 2^31 is 2.15e9


def _huge_shapes(config: LaunchConfig, square: int, elements: int) -> tuple[Shape, ...]:
    tile_m, tile_n, tile_k = config.tiles
    least = _LEAST_HUGE if tile_m * tile_n <= _LARGE_TILE else _LEAST_OF_LARGE_TILES
    # So that C is no larger, and one step past the edge stays below 2^31.
    rows = min(elements // max(least, 2 * tile_n), _MANY_BLOCK_ROWS * tile_m)
    depth = max(least, 2 * tile_m, 15 * tile_k)
    # No power of two divides them by much, so that no index is right by luck.
    return (
        Shape(square, square, 3 * tile_k + 1),
        Shape(rows - 7, tile_n + 1, elements // rows),
        Shape(tile_m + 1, elements // depth - 57, depth),
    )


_LEAST_HUGE, _LEAST_OF_LARGE_TILES = 1_000, 272  # of K: one block's work
_MANY_BLOCK_ROWS = 65_000  # the contract allows 65,535, as every GPU


def smaller_like(shape: Shape, config: LaunchConfig) -> list[Shape]:
    """Shapes to run whole that have what may be special about a large one, smallest first: its
    small sizes, whole tiles, equal sizes, odd ones; then its K, in one block."""
    whole = shape.filled(config.tiles) == shape
    found: dict[Shape, None] = {}
    for halvings in range(max(shape).bit_length(), 0, -1):
        sizes = (s if s <= _KEPT_SIZE else max(s >> halvings | s & 1, 1) for s in shape)
        smaller = Shape(*sizes).filled(config.tiles) if whole else Shape(*sizes)
        if smaller.multiply_adds <= LARGEST_CASE:
            found[smaller] = None
    tiles = (config.tile_m, config.tile_n)
    m, n = (s if s <= _KEPT_SIZE else s % t or t for s, t in zip(shape, tiles, strict=False))
    if config.tile_m * config.tile_n * shape.k <= 8 * _BLOCK_WORK:
        found[Shape(m, n, shape.k)] = None
    ragged = [] if whole or min(shape) <= _KEPT_SIZE else [_RAGGED]
    return [*found, *ragged]


_KEPT_SIZE = 300
_RAGGED = Shape(137, 139, 149)  # all sizes above 128, from which on some kernels go another way
