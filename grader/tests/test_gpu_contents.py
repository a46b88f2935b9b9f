"""What timed launches work on: numbers too wide for less than float32, and sums that stay exact."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grader.gpu.contents import Amplitudes, amplitudes, contents
from grader.problems.matmul import Shape

SHAPES = [Shape(size, size, size) for size in (512, 1024, 2048, 4096, 8192, 16384)]


def log2_overflow(shape: Shape, reach: Amplitudes) -> float:
    """Chernoff's bound, from the exact distribution of one product, of any sum passing 2^24."""
    narrow = np.arange(-reach.narrow, reach.narrow + 1, dtype=np.float64)
    wide = 2 * reach.wide + 1

    def log_moment(theta: float) -> float:
        # The mean of exp(theta * x * y), over x in closed form: a geometric series.
        step = theta * narrow[narrow != 0]
        series = np.sinh(step * wide / 2) / np.sinh(step / 2) / wide
        return math.log((series.sum() + 1) / len(narrow))

    limit = 2.0**24
    thetas = np.geomspace(1e-9, 1e-4, 400)
    bound = min(shape.k * log_moment(theta) - theta * limit for theta in thetas)
    return float(bound + math.log(4.0 * shape.k * shape.m * shape.n)) / math.log(2)


@pytest.mark.parametrize(
    "shape", [*SHAPES, Shape(4095, 4097, 4093), Shape(8192, 4096, 2048)], ids=str
)
def test_no_sum_overflows_in_2_to_the_60_launches(shape: Shape) -> None:
    assert log2_overflow(shape, amplitudes(shape)) <= -60


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_numbers_are_about_as_wide_as_that_allows(shape: Shape) -> None:
    reach = amplitudes(shape)
    wider = Amplitudes(int(reach.wide * 1.3), reach.narrow)
    assert log2_overflow(shape, wider) > -60


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_wide_numbers_need_more_bits_than_tensor_cores_keep(shape: Shape) -> None:
    assert amplitudes(shape).wide > 1 << 11  # TF32 and half precision; BF16 keeps 8


@pytest.mark.parametrize("k", [1, 2, 16])
def test_short_sums_are_exact_for_certain(k: int) -> None:
    reach = amplitudes(Shape(4096, 4096, k))
    assert k * reach.wide * reach.narrow <= 1 << 24


def test_the_largest_k_still_has_numbers() -> None:
    assert amplitudes(Shape(1, 1, 2**31 - 1)).wide >= 1


def test_every_draw_has_keys_of_its_own() -> None:
    drawn = [contents(key, draw) for key in (0, 1, 2**64 - 1) for draw in range(20)]
    keys = [key for one in drawn for key in (one.key_a, one.key_b, one.coins)]
    assert len(set(keys)) == len(keys) == 180
    assert contents(1, 7) == contents(1, 7)


def test_c_is_poisoned_with_another_signalling_nan_each_time() -> None:
    words = [contents(5, draw).poison for draw in range(100)]
    assert len(set(words)) > 90
    assert all(word & 0x7FC00000 == 0x7F800000 and word & 0x3FFFFF for word in words)
