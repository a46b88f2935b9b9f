"""What a GPU allows at best: its FP32 multiply-adds and its memory's bandwidth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.problems.matmul import Shape


@dataclass(frozen=True)
class Roofline:
    """Operations and bytes a second at full clocks; 0 where the device does not tell."""

    flops: float
    bytes: float

    def bound_s(self, shape: Shape) -> float:
        """The least time for C = A * B in FP32; 0 when nothing is known.

        A and B must come from memory, since the L2 is cold; C may stay in the L2 for a while.
        """
        read = 4 * (shape.m * shape.k + shape.k * shape.n)
        by_arithmetic = 2 * shape.multiply_adds / self.flops if self.flops else 0.0
        return max(by_arithmetic, read / self.bytes if self.bytes else 0.0)


def roofline(description: Mapping[str, Any]) -> Roofline:
    """From what a device says of itself."""
    return Roofline(
        float(description.get("peak_gflops") or 0.0) * 1e9,
        float(description.get("memory_gb_per_s") or 0.0) * 1e9,
    )


def gflops(shape: Shape, seconds: float) -> float:
    """10^9 operations a second; a multiply-add is two."""
    return 2 * shape.multiply_adds / seconds * 1e-9
