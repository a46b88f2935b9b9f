"""The worker's side of the second yardstick: cuBLAS SGEMM, through nvmath-python's bindings.

Optional: where the package or NVIDIA's library is missing, there is no row for it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np


class Cublas:
    """A handle in the current context."""

    def __init__(self, toolkit: str) -> None:
        """`toolkit` is where CUDA lies, "" for unknown. Raises whatever tells what is missing."""
        # Outranks what a user has set: this row is about FP32.
        os.environ["NVIDIA_TF32_OVERRIDE"] = "0"
        os.environ.pop("CUBLAS_EMULATE_SINGLE_PRECISION", None)
        if toolkit and not os.environ.get("CUDA_PATH"):
            os.environ.setdefault("CUDA_HOME", toolkit)  # one of the places that are searched
        from nvmath.bindings import cublas

        self._cublas: Any = cublas
        self._one = np.ones(1, np.float32)
        self._zero = np.zeros(1, np.float32)
        self._handle = cublas.create()
        cublas.set_math_mode(self._handle, cublas.Math.DEFAULT_MATH)  # SGEMM: FP32 throughout

    def multiply(self, a: int, b: int, c: int, shape: tuple[int, int, int], stored: str) -> None:
        """Queue C = A * B for matrices at these addresses; B is `stored` "KxN" or "NxK".

        cuBLAS counts columns first, and so sees C^T = B^T * A^T.
        """
        m, n, k = shape
        operation = self._cublas.Operation
        transposed, width = (operation.N, n) if stored == "KxN" else (operation.T, k)
        sizes = (n, m, k)
        self._cublas.sgemm(
            *(self._handle, transposed, operation.N, *sizes),
            *(self._one.ctypes.data, b, width, a, k, self._zero.ctypes.data, c, n),
        )


def find(toolkit: str) -> Cublas | None:
    """cuBLAS where it can be used: a second yardstick, so that its lack is no error."""
    try:
        return Cublas(toolkit)
    except Exception:
        return None
