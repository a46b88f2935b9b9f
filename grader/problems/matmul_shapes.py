"""Shapes of this family: what a shape is, the pinned ones, and those made from a kernel's tiles."""

from __future__ import annotations

import hashlib
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from grader.device import LaunchConfig
    from grader.exercise import Exercise


# Further on, not even a sum of K ones is exact in float32.
LARGEST_EXACT_K = (1 << 24) - 1


class Shape(NamedTuple):
    """M x N x K: A is M x K, C is M x N, B is K x N (or N x K, see Layout)."""

    m: int
    n: int
    k: int

    @classmethod
    def parse(cls, text: str) -> Shape:
        """`Shape.parse("33x17x65")`; raises ValueError with a sentence for anything else."""
        parts = text.strip().lower().split("x")
        if len(parts) != 3 or not all(part.isascii() and part.isdigit() for part in parts):
            raise ValueError(f"shape {text!r} is not of the form MxNxK, for example 33x17x65")
        shape = cls(*map(int, parts))
        if min(shape) < 1:
            raise ValueError(f"shape {text!r} has a zero: M, N and K are at least 1")
        if max(shape.m * shape.k, shape.k * shape.n, shape.m * shape.n) >= 2**31:
            raise ValueError(f"shape {text!r} is too large: a matrix has fewer than 2^31 elements")
        if shape.k > LARGEST_EXACT_K:
            raise ValueError(f"shape {text!r} is too deep: K is at most {LARGEST_EXACT_K} here")
        return shape

    @property
    def multiply_adds(self) -> int:
        return self.m * self.n * self.k

    def filled(self, tiles: tuple[int, int, int]) -> Shape:
        """The smallest shape of whole tiles that encloses this one."""
        return Shape(*(-(-size // tile) * tile for size, tile in zip(self, tiles, strict=True)))

    def __str__(self) -> str:
        return f"{self.m}x{self.n}x{self.k}"


class Layout(StrEnum):
    """How B lies in memory. NXK stores the transpose: the kernel computes A * B^T."""

    KXN = "KxN"
    NXK = "NxK"


# Each of these has caught published kernels that pass all the others; smallest first.
PINNED = (
    Shape(1, 1, 1),
    Shape(37, 29, 1),
    Shape(33, 17, 65),
    Shape(35, 79, 19),
    Shape(100, 100, 100),
    Shape(128, 128, 96),
    Shape(256, 128, 64),
)
# Only tried after a larger one failed: few drawn shapes are multiples of 4, and kernels that load
# four elements at once go another way there.
SMALL_FOURS = (
    *(Shape(1, 4, 4), Shape(2, 4, 4), Shape(4, 4, 4), Shape(4, 8, 12), Shape(8, 8, 8)),
    *(Shape(2, 4, 1), Shape(2, 1, 4), Shape(2, 4, 3)),  # of which only one of N and K is one
)

# Most courses begin with kernels for square matrices, and drawn shapes have no equal sizes.
_TWO_EQUAL = (Shape(35, 35, 19), Shape(35, 19, 35), Shape(19, 35, 35))
_SQUARE = (Shape(69, 69, 69), Shape(70, 70, 70))  # rows for no vector load, and for two words
# Each of M, N and K is 1, 2, 3 and 4 twice, each time beside other sizes: a switch over a size has
# one way for each of these.
_TINY = (
    Shape(1, 2, 3),
    Shape(2, 1, 4),
    Shape(3, 4, 1),
    Shape(4, 3, 2),
    Shape(1, 3, 4),
    Shape(2, 4, 3),
    Shape(3, 1, 2),
    Shape(4, 2, 1),
)

# One drawn case at most, in multiply-adds: a tenth of a second in the simulator.
LARGEST_CASE = 6_000_000
# Many blocks of large tiles cost more, once: a quarter of a second, and 8 MB of C.
_LARGEST_WHOLE = 4 * LARGEST_CASE
_LARGEST_C = 2_000_000
# One in this many drawn cases may be that large, the others half of it: it keeps the mean
# below 1.5 million where tiles are large, and changes nothing where they are small.
_LARGE_CASES = 4
# A ring of four buffers that is refilled too early shows it from the fifth step on.
_MANY_STEPS = 9
# Tiles smaller than this still get shapes of more than one warp in each direction.
_SMALLEST_REACH = 48
# A dimension that is not tiled is tried as if it were: the usual tile is not always declared.
_USUAL_TILE = 16


def whole_tile_shapes(config: LaunchConfig) -> list[Shape]:
    """Multiples of every tile; first the smallest with at least 32 in each dimension.

    The others have M, N and K mutually different, with odd and with even numbers of K tiles; the
    second and third have more than one block in both directions; each is the cheapest that does
    it. Then a cube, and last those of many blocks and one step along K.
    """
    units, first = [_unit(tile) for tile in config.tiles], _first_whole(config)
    axes = [[start + unit * i for i in range(6)] for start, unit in zip(first, units, strict=True)]
    candidates = [Shape(m, n, k) for m in axes[0] for n in axes[1] for k in axes[2]]
    candidates.sort(key=lambda shape: (shape.multiply_adds, shape))
    shapes = [first]
    for wanted in _wanted_whole(*units):
        found = next((s for s in candidates if s not in shapes and wanted(s)), None)
        if found is not None:
            shapes.append(found)
    return [*shapes, *(s for s in cube_shapes(config) if s not in shapes), *_many_blocks(*units)]


def cube_shapes(config: LaunchConfig) -> list[Shape]:
    """A cube of whole tiles with three steps along K or more, where one is affordable: up to three
    tiles in each direction."""
    units = [_unit(tile) for tile in config.tiles]
    edge = math.lcm(*units)
    largest = max(3, -(-32 // edge))
    cubes = [Shape(edge * i, edge * i, edge * i) for i in range(largest, 0, -1)]
    cheap = (s for s in cubes if s.k >= 3 * units[2] and s.multiply_adds <= LARGEST_CASE // 2)
    return list(islice(cheap, 1))


def _first_whole(config: LaunchConfig) -> Shape:
    return Shape(*(unit * -(-32 // unit) for unit in map(_unit, config.tiles)))


def ragged_shapes(config: LaunchConfig) -> list[Shape]:
    """Whole tiles in two dimensions, and one row, column or term more in the third: a kernel that
    takes a way without guards "where the tiles are whole" may forget to ask for one dimension.
    Then the same with four more, for those whose rows must be aligned on that way.

    The first has many steps along K: a ring of buffers comes round more than once.
    """
    (m, n, k), step = _first_whole(config), _unit(config.tile_k)
    affordable = max(3, LARGEST_CASE // 2 // (m * n * step))
    long = max(k, min(_MANY_STEPS, affordable) * step)
    more = (Shape(m, n, long + 1), Shape(m, n + 1, k), Shape(m + 1, n, k))
    return [*more, Shape(m, n, k + 4), Shape(m, n + 4, k)]


def further_shapes(config: LaunchConfig) -> list[Shape]:
    """What kernels treat apart: whole tiles but for one dimension, equal sizes, sums shorter than
    a step, steps of which four make no whole number, tiny sizes."""
    m, n, k = _first_whole(config)
    parts = (Shape(m, n, 4), Shape(m, n, 6 * _unit(config.tile_k)), Shape(35, 35, k))
    return [*ragged_shapes(config), *_TWO_EQUAL, *_SQUARE, *parts, *_TINY]


def zeros_shapes(config: LaunchConfig) -> tuple[Shape, ...]:
    """Where A and B are also tried with many zeros: several whole tiles, and a ragged shape."""
    return (*whole_tile_shapes(config)[1:2], Shape(33, 17, 65))


def _many_blocks(*units: int) -> Iterator[Shape]:
    """Kernels that take blocks in groups of 2, 4, 8 or 16 rows meet a group that is not full, and
    those that work out a block's row with floats meet a row so long that the quotient is off."""
    m, n, k = units
    for counts in (((9, 11), (5, 7), (3, 5)), ((2, 41),)):
        shapes = (Shape(rows * m, cols * n, k) for rows, cols in counts)
        yield from islice(filter(_is_affordable, shapes), 1)


def _is_affordable(shape: Shape) -> bool:
    return shape.multiply_adds <= _LARGEST_WHOLE and shape.m * shape.n <= _LARGEST_C


def _unit(tile: int) -> int:
    """The step of a dimension; an untiled one steps by 8, so that vector loads stay aligned."""
    return tile if tile > 1 else 8


def _wanted_whole(tile_m: int, tile_n: int, tile_k: int) -> Iterator[Callable[[Shape], bool]]:
    def distinct(s: Shape, odd: bool) -> bool:
        return len(set(s)) == 3 and s.k // tile_k % 2 == odd

    def blocks(s: Shape) -> bool:
        return s.m >= 2 * tile_m and s.n >= 2 * tile_n

    # Three steps or more: only then does a tile that is overwritten too early do harm.
    yield lambda s: distinct(s, odd=True) and blocks(s) and s.k >= 3 * tile_k
    yield lambda s: distinct(s, odd=False) and blocks(s)
    yield lambda s: distinct(s, odd=True) and s.m < s.n
    yield lambda s: distinct(s, odd=False) and s.m > s.n and s.k >= 4 * tile_k


def drawn_shapes(config: LaunchConfig) -> SearchStrategy[Shape]:
    """Shapes around this kernel's tile boundaries, M, N and K mutually different.

    M and N come from 1, T-1, T, T+1, 2T-1, 2T+1, 3T-1, 3T, primes, and anything up to 3T; K the
    same around `tile_k` and up to 4T, so with odd and even numbers of steps. Each dimension
    shrinks on its own.
    """
    from hypothesis import strategies as st  # here: it costs 0.2 s, and only the checks draw

    # K goes one tile further, so that it has even numbers of steps as often as odd ones.
    tables = [_table(config.tile_m, 3), _table(config.tile_n, 3), _table(config.tile_k, 4)]
    floor = Shape(1, 2, 3)

    @st.composite
    def shapes(draw: st.DrawFn) -> Shape:
        large = draw(st.integers(1, _LARGE_CASES)) == _LARGE_CASES
        limit = LARGEST_CASE if large else LARGEST_CASE // 2

        def pick(table: list[int], make: Callable[[int], Shape]) -> int:
            # Costs rise with the value, so what fits is a beginning of the table.
            end = bisect_left(table, True, key=lambda v: not _fits(make(v), config, limit))
            return draw(st.sampled_from(table[:end] or list(floor)))

        # K first: with large tiles the others would leave it no room for a second step.
        k = pick(tables[2], lambda v: Shape(1, 1, v))
        m = pick([v for v in tables[0] if v != k], lambda v: Shape(v, 1, k))
        n = pick([v for v in tables[1] if v not in (m, k)], lambda v: Shape(m, v, k))
        return Shape(m, n, k)

    return shapes().filter(lambda shape: len(set(shape)) == 3)


def draw_seed(seed: int, exercise: Exercise, config: LaunchConfig) -> int:
    """The seed of the draws: it depends on these three and on nothing else of the submission."""
    text = f"{seed} {exercise.name} {config}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _table(tile: int, tiles: int) -> list[int]:
    """Ascending values to draw from; those at tile boundaries are about half of it.

    One sorted table and one index into it: hypothesis shrinks the index, so the value falls, too.
    """
    tile = tile if tile > 1 else _USUAL_TILE
    reach = max(tiles * tile, _SMALLEST_REACH)
    end = tiles * tile
    edges = {1, tile - 1, tile, tile + 1, 2 * tile - 1, 2 * tile + 1, end - 1, end}
    near = sorted(v for v in edges if v >= 1)
    others = [*range(1, min(reach, 512) + 1), *_primes(reach)]
    return sorted([*others, *near * -(-len(others) // len(near))])


def _primes(limit: int) -> Iterable[int]:
    """Up to a dozen odd primes up to `limit`, spread evenly: more would drown the edges."""
    primes = [n for n in range(3, min(limit, 512), 2) if all(n % d for d in range(3, n, 2))]
    return primes[:: max(1, len(primes) // 12)][:12]


def _fits(shape: Shape, config: LaunchConfig, limit: int) -> bool:
    """Whether a case is cheap enough, counting the tiles it fills: idle threads cost time, too."""
    filled = shape.filled(config.tiles)
    two_steps = 2 * config.tile_m * config.tile_n * config.tile_k
    return shape.multiply_adds <= limit and filled.multiply_adds <= max(limit, two_steps)
