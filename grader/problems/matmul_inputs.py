"""Cases of this family: what A and B hold, how the operands lie in memory, what C should be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from grader.device import LAUNCH_LIMIT_S, Launch, LaunchConfig, Operand, Role, Words
from grader.problems.matmul_shapes import Layout, Shape

if TYPE_CHECKING:
    from grader.exercise import Exercise

Matrix = npt.NDArray[np.float64]

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

# A sum of K products of at most 8 * 8 is exact in float32, in any order, while it is below 2^24.
LARGEST_EXACT_K = (1 << 24) // 64 - 1
_LARGEST_INTEGER = 8


@dataclass(frozen=True)
class Case:
    """One launch to judge. `exact`: integers in [-8, 8]; `real`: zero-mean full-mantissa floats.

    `order` seeds the order of the threads of a block in the simulator (0: as numbered).
    """

    shape: Shape
    inputs: Literal["exact", "real"] = "exact"
    seed: int = 0
    order: int = 0
    timeout_s: float = LAUNCH_LIMIT_S


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
    if case.inputs == "exact" and shape.k > LARGEST_EXACT_K:
        raise ValueError(f"integer inputs are exact up to K = {LARGEST_EXACT_K}, not {shape.k}")
    b_size = (shape.k, shape.n) if exercise.b_layout is Layout.KXN else (shape.n, shape.k)
    tallest = max(config.tile_m, config.tile_n, config.tile_k)
    return Launch(
        operands=(
            _operand("A", (shape.m, shape.k), tallest, _input_words(case, 0, shape.m * shape.k)),
            _operand("B", b_size, tallest, _input_words(case, 1, shape.k * shape.n)),
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


def _input_words(case: Case, stream: int, size: int) -> Words:
    """The words of A (stream 0) or B (stream 1): they depend on seed, shape, inputs and operand."""
    key = np.random.SeedSequence([case.seed, *case.shape, case.inputs == "exact", stream])
    rng = np.random.Generator(np.random.Philox(key))
    if case.inputs == "exact":
        # Without zeros, no term of a sum can be dropped or doubled unseen.
        magnitude = rng.integers(1, _LARGEST_INTEGER, size, dtype=np.int8, endpoint=True)
        sign = rng.integers(0, 1, size, dtype=np.int8, endpoint=True) * 2 - 1
        return (magnitude * sign).astype(np.float32).view(np.uint32)
    # Zero mean: sums of positive numbers hide reduced precision. Rounding fills the mantissa.
    return rng.uniform(-1.0, 1.0, size).astype(np.float32).view(np.uint32)


def prepare_sparse(exercise: Exercise, config: LaunchConfig, shape: Shape) -> Launch:
    """The launch of a shape too large to store: operands without images (Device.probe_block)."""
    nothing = np.empty(0, np.uint32)
    b_size = (shape.k, shape.n) if exercise.b_layout is Layout.KXN else (shape.n, shape.k)
    return Launch(
        operands=(
            Operand("A", shape.m, shape.k, _SMALLEST_GUARD, nothing),
            Operand("B", *b_size, _SMALLEST_GUARD, nothing),
            Operand("C", shape.m, shape.n, _SMALLEST_GUARD, nothing, Role.OUTPUT),
        ),
        scalars=tuple(shape),
        grid=grid(config, shape),
    )


def sparse_words(operand: int, elements: npt.NDArray[np.int64]) -> Matrix:
    """What A (operand 0) or B (1) holds at these elements in a sparse launch: integers as of the
    exact inputs. The simulator's observers/sparse.cpp computes the same."""
    mixed = (elements + operand * 0x9E3779B9).astype(np.uint32) * np.uint32(0x85EBCA6B)
    mixed = np.bitwise_xor(mixed, mixed >> np.uint32(15)) * np.uint32(0xC2B2AE35)
    mixed = np.bitwise_xor(mixed, mixed >> np.uint32(13))
    size = (mixed % np.uint32(8)).astype(np.float64) + 1
    return np.asarray(np.where(mixed & np.uint32(8), -size, size))


def sparse_product(
    exercise: Exercise, shape: Shape, rows: npt.NDArray[np.int64], cols: npt.NDArray[np.int64]
) -> Matrix:
    """What a sparse launch should leave in these rows of C at these columns: R x S, float64."""
    steps = np.arange(shape.k, dtype=np.int64)
    a = sparse_words(0, rows[:, None] * shape.k + steps)
    if exercise.b_layout is Layout.KXN:
        return np.asarray(a @ sparse_words(1, steps[:, None] * shape.n + cols))
    return np.asarray(a @ sparse_words(1, cols[:, None] * shape.k + steps).T)


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
