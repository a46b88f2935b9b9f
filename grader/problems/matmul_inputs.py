"""Cases of this family: what A and B hold, how the operands lie in memory, what C should be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from grader.device import LAUNCH_LIMIT_S, Launch, LaunchConfig, Operand, Role, Words
from grader.problems.matmul_shapes import LARGEST_EXACT_K, Layout, Shape

if TYPE_CHECKING:
    from grader.exercise import Exercise

Matrix = npt.NDArray[np.float64]
Size = tuple[int, int]  # rows, columns

# Guards hold signalling NaNs, a pattern for each operand: a value read from one turns C into NaN,
# and on a CPU the quiet NaN that comes out still tells which guard it came from.
GUARD_WORDS = {"A": 0x7F8AAAAA, "B": 0x7F8BBBBB, "C": 0x7F8CCCCC}
QUIET_BIT = 0x00400000  # what arithmetic sets in a signalling NaN
# A finite fill for C: 1024.5, which no sum of integers is. A second run with it tells a kernel
# that adds to C from one that reads NaN elsewhere.
FINITE_FILL = 0x44801000
_POISON = 0x7FA00000  # signalling; the low 20 bits change with each launch
_SHARED_POISON = 0x7F900000  # the same for shared memory, so that the two can be told apart
_EXPONENT = 0x7F800000

# 256 bytes: guards are whole multiples, so that a matrix starts on that boundary as soon as its
# image does.
_ALIGNMENT_WORDS = 64
_SMALLEST_GUARD = 1024
_LARGEST_GUARD = 1 << 16  # 256 KiB: six of them still travel to a worker in a millisecond

# A sum is exact in float32, in any order, while all of it is below 2^24.
_LARGEST_SUM = (1 << 24) - 1
_LARGEST_INTEGER = 8  # with it, up to K = 262,143
_LEAST_ZERO_TILE = 8  # the first elements of smaller tiles would be most of a matrix
_LEAST_POSITIVE = 5  # sums of 1,600 terms are larger than any half-precision number


Inputs = Literal["exact", "zeros", "positive", "real"]


@dataclass(frozen=True)
class Case:
    """One launch to judge. `exact`: integers in [-8, 8] without 0; `zeros`: the same, but two
    thirds of them 0; `positive`: integers from 5 to 8; all of them smaller where K is so large that
    sums would be rounded; `real`: zero-mean full-mantissa floats.

    `order` seeds the order of the threads of a block in the simulator (0: as numbered).
    """

    shape: Shape
    inputs: Inputs = "exact"
    seed: int = 0
    order: int = 0
    timeout_s: float = LAUNCH_LIMIT_S

    @property
    def exact(self) -> bool:
        """Whether the right answer is the only one: all numbers are integers."""
        return self.inputs != "real"


def grid(config: LaunchConfig, shape: Shape) -> tuple[int, int]:
    """Blocks along x (columns of C) and along y (rows of C); tiles are positive (see limits)."""
    return -(-shape.n // config.tile_n), -(-shape.m // config.tile_m)


def fresh_poison(seed: int, number: int) -> int:
    """The signalling NaN that fills C in launch `number`; consecutive launches differ."""
    # Odd multipliers from Knuth's multiplicative hashing spread small numbers over the bits.
    mixed = (seed + 1) * 0x9E3779B1 + number * 0x85EBCA6B
    return _POISON | (mixed >> 4) & 0xFFFFF


def shared_poison(poison: int) -> int:
    """The word that shared memory holds when C holds `poison`: a NaN as well, or finite as well."""
    if poison & _EXPONENT == _EXPONENT:
        return _SHARED_POISON | poison & 0xFFFFF
    return poison ^ 0x4000  # 1026.5 for FINITE_FILL


def prepare(exercise: Exercise, config: LaunchConfig, case: Case, poison: int) -> Launch:
    """The launch of a case: A and B filled, C poisoned, guards around each, the contract's grid.

    Raises ValueError where integers would no longer be exact (K > LARGEST_EXACT_K).
    """
    shape = case.shape
    if case.exact and shape.k > LARGEST_EXACT_K:
        raise ValueError(f"integer inputs are exact up to K = {LARGEST_EXACT_K}, not {shape.k}")
    a_size, b_size = _sizes(exercise, shape)
    a_tile, b_tile = _sizes(exercise, Shape(*config.tiles))
    tallest = max(config.tile_m, config.tile_n, config.tile_k)
    return Launch(
        operands=(
            _operand("A", a_size, tallest, _input_words(case, 0, a_size, a_tile)),
            _operand("B", b_size, tallest, _input_words(case, 1, b_size, b_tile)),
            _operand("C", (shape.m, shape.n), tallest, np.uint32(poison), Role.OUTPUT),
        ),
        scalars=tuple(shape),
        grid=grid(config, shape),
        order=case.order,
        poison=shared_poison(poison),
        timeout_s=case.timeout_s,
    )


def _operand(
    name: str,
    size: tuple[int, int],
    tile: int,
    words: Words | np.uint32,
    role: Role = Role.INPUT,
) -> Operand:
    rows, cols = size
    guard = _guard_words(tile, cols)
    image = np.full(rows * cols + 2 * guard, GUARD_WORDS[name], dtype=np.uint32)
    image[guard : guard + rows * cols] = words
    image.flags.writeable = False  # a device copies it; the judge compares against it
    return Operand(name, rows, cols, guard, image, role)


def _guard_words(tile: int, cols: int) -> int:
    """A tile of rows and one tile more, for what runs past the end of the last of these rows."""
    wanted = min(max(tile * cols + tile, _SMALLEST_GUARD), _LARGEST_GUARD)
    return -(-wanted // _ALIGNMENT_WORDS) * _ALIGNMENT_WORDS


def _sizes(exercise: Exercise, shape: Shape) -> tuple[Size, Size]:
    """Rows and columns of A and of B as they lie in memory; or of their tiles."""
    m, n, k = shape
    return (m, k), (k, n) if exercise.b_layout is Layout.KXN else (n, k)


def _input_words(case: Case, stream: int, size: Size, tile: Size) -> Words:
    """The words of A (stream 0) or B (stream 1): they depend on seed, shape, inputs, operand and,
    for zeros, on the tile."""
    key = np.random.SeedSequence([case.seed, *case.shape, case.inputs == "exact", stream])
    rng = np.random.Generator(np.random.Philox(key))
    count = size[0] * size[1]
    if case.inputs == "real":
        # Zero mean: sums of positive numbers hide reduced precision. Rounding fills the mantissa.
        return rng.uniform(-1.0, 1.0, count).astype(np.float32).view(np.uint32)
    # Without zeros, no term of a sum can be dropped or doubled unseen.
    largest = min(_LARGEST_INTEGER, math.isqrt(_LARGEST_SUM // case.shape.k))
    least = min(_LEAST_POSITIVE, largest) if case.inputs == "positive" else 1
    numbers = rng.integers(least, largest, count, dtype=np.int8, endpoint=True)
    if case.inputs != "positive":
        numbers *= rng.integers(0, 1, count, dtype=np.int8, endpoint=True) * 2 - 1
    if case.inputs == "zeros":
        numbers[_zeros(rng, size, tile).ravel()] = 0
    return numbers.astype(np.float32).view(np.uint32)


def _zeros(rng: np.random.Generator, size: Size, tile: Size) -> npt.NDArray[np.bool_]:
    """Where a matrix with zeros has them: a third of all elements anywhere, every fifth row, every
    third tile along a diagonal, and the first element of each tile."""
    rows, cols = np.arange(size[0])[:, None], np.arange(size[1])[None, :]
    tall, wide = (max(side, _LEAST_ZERO_TILE) for side in tile)
    of_tile = (rows // tall + cols // wide) % 3 == 1
    first = (rows % tall == 0) & (cols % wide == 0)
    return np.asarray((rng.random(size) < 1 / 3) | (rows % 5 == 3) | of_tile | first)


def prepare_sparse(exercise: Exercise, config: LaunchConfig, shape: Shape) -> Launch:
    """The launch of a shape too large to store: operands without images (Device.probe_block)."""
    nothing = np.empty(0, np.uint32)
    a_size, b_size = _sizes(exercise, shape)
    return Launch(
        operands=(
            Operand("A", *a_size, _SMALLEST_GUARD, nothing),
            Operand("B", *b_size, _SMALLEST_GUARD, nothing),
            Operand("C", shape.m, shape.n, _SMALLEST_GUARD, nothing, Role.OUTPUT),
        ),
        scalars=tuple(shape),
        grid=grid(config, shape),
    )


def sparse_words(operand: int, elements: npt.NDArray[np.int64]) -> Matrix:
    """What A (operand 0) or B (1) holds at these elements in a sparse launch: integers as of the
    exact inputs, and one in 512 an odd number from 2,049 to 2,063, which less precise types do not
    hold. The simulator's observers/sparse.cpp computes the same."""
    mixed = (elements + operand * 0x9E3779B9).astype(np.uint32) * np.uint32(0x85EBCA6B)
    mixed = np.bitwise_xor(mixed, mixed >> np.uint32(15)) * np.uint32(0xC2B2AE35)
    mixed = np.bitwise_xor(mixed, mixed >> np.uint32(13))
    size = (mixed % np.uint32(8)).astype(np.float64) + 1
    long = mixed >> np.uint32(4) & np.uint32(511)
    size = np.where(long == 0, 2 * size + 2047, size)
    return np.asarray(np.where(mixed & np.uint32(8), -size, size))


def sparse_product(
    exercise: Exercise, shape: Shape, rows: npt.NDArray[np.int64], cols: npt.NDArray[np.int64]
) -> Matrix:
    """What a sparse launch should leave in these rows of C at these columns: R x S, float64; NaN
    where so many long factors meet that float32 may round their sum."""
    steps = np.arange(shape.k, dtype=np.int64)
    a = sparse_words(0, rows[:, None] * shape.k + steps)
    if exercise.b_layout is Layout.KXN:
        b = sparse_words(1, steps[:, None] * shape.n + cols)
    else:
        b = sparse_words(1, cols[:, None] * shape.k + steps).T
    return np.where(magnitude(a, b) <= _LARGEST_SUM, a @ b, np.nan)


def factors(exercise: Exercise, launch: Launch) -> tuple[Matrix, Matrix]:
    """A (M x K) and the factor on its right (K x N, whatever B's layout), as they were sent."""
    a, b = (op.values(op.image).astype(np.float64) for op in launch.operands[:2])
    return a, b if exercise.b_layout is Layout.KXN else b.T


def product(exercise: Exercise, launch: Launch) -> Matrix:
    """What C should be (M x N, float64); exact for integer inputs."""
    a, b = factors(exercise, launch)
    return np.asarray(a @ b)


def magnitude(a: Matrix, b: Matrix) -> Matrix:
    """|A| * |B| (M x N) of two factors: what the errors of a correct kernel are measured by."""
    return np.asarray(np.abs(a) @ np.abs(b))
