"""What this machine's processor does in the same time: NumPy's matrix product."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from grader.problems.matmul import Shape
from grader.timing.roofline import gflops, operations

_REPEATS = 3
# One product may take this long; larger ones are judged by the speed of the largest that did.
LONGEST_S = 2.0


def multiply_s(shape: Shape) -> float:
    """Seconds of one float32 product, the fastest of a few."""
    rng = np.random.default_rng(0)
    a = rng.standard_normal((shape.m, shape.k), dtype=np.float32)
    b = rng.standard_normal((shape.k, shape.n), dtype=np.float32)
    c = np.empty((shape.m, shape.n), np.float32)
    times = []
    for _ in range(_REPEATS):
        begin_s = time.perf_counter()
        np.matmul(a, b, out=c)
        times.append(time.perf_counter() - begin_s)
        if times[-1] > LONGEST_S / _REPEATS:
            break
    return min(times)


class Processor:
    """Remembers how fast it was, so that nobody waits for a product that takes minutes."""

    def __init__(self, multiply: Callable[[Shape], float] = multiply_s) -> None:
        self._multiply = multiply
        self._gflops = 0.0

    def seconds(self, shape: Shape) -> tuple[float, bool]:
        """How long NumPy takes, and whether that was measured (else: told from a smaller one)."""
        expected_s = operations(shape) / (self._gflops * 1e9) if self._gflops else 0.0
        if expected_s > LONGEST_S:
            return expected_s, False
        taken_s = self._multiply(shape)
        self._gflops = gflops(shape, taken_s)
        return taken_s, True
