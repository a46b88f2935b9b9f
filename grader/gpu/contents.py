"""What A and B hold in a timed launch: integers with an exact product, anew for every launch.

`kernels/contents.cuh` turns the keys into elements on the GPU. For each k a coin decides whether
column k of A is wide and row k of B narrow, or the other way round. Wide numbers need more bits
than bytes, BF16, half precision or TF32 have, and both factors hold some, so that only arithmetic
on all 24 bits of a float gets the product right; and each product of two is small enough for the
sums over k to stay exact in float32, in any order of summation.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass

from grader.problems.matmul import Shape, fresh_poison

# float32 holds every integer up to this.
_EXACT = 1 << 24
# With 3 bits and a sign for the narrow numbers, the wide ones have 13 at K = 4096 and 12 at 16384;
# TF32 and half precision have 11.
_NARROW = 7
# A sum past _EXACT anywhere in a launch: once in 2^60 launches.
_LOG_MISS = -60 * math.log(2)


@dataclass(frozen=True)
class Amplitudes:
    """Wide columns and rows hold integers in [-wide, wide], narrow ones in [-narrow, narrow]."""

    wide: int
    narrow: int


@dataclass(frozen=True)
class Contents:
    """The keys of one draw, 64 bits each, and the word that C and its guards hold before."""

    key_a: int
    key_b: int
    coins: int
    poison: int


def contents(key: int, draw: int) -> Contents:
    """What launch number `draw` of the session with this key works on."""
    a, b, coins = (_derive(f"{key}/{draw}/{purpose}") for purpose in ("A", "B", "coins"))
    return Contents(a, b, coins, fresh_poison(key, draw))


def amplitudes(shape: Shape) -> Amplitudes:
    """The widest numbers for which all partial sums of this product are exact in float32."""
    low, high = 1, _EXACT // _NARROW
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _is_exact(shape, middle) else (low, middle - 1)
    return Amplitudes(low, _NARROW)


def _is_exact(shape: Shape, wide: int) -> bool:
    """Whether no partial sum passes _EXACT, for certain or by Bernstein's inequality.

    A partial sum adds up to K independent products of mean 0, each at most `largest`. One order
    of summation has 2K sums and products for each element of C.
    """
    largest = wide * _NARROW
    if shape.k * largest <= _EXACT:
        return True
    variance = _variance(wide) * _variance(_NARROW)
    exponent = _EXACT**2 / 2 / (shape.k * variance + largest * _EXACT / 3)
    return math.log(2.0 * 2 * shape.multiply_adds) - exponent <= _LOG_MISS


def _variance(reach: int) -> float:
    """That of an integer drawn from [-reach, reach]."""
    return reach * (reach + 1) / 3


def _derive(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")
