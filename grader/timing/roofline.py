"""The roofline: what a GPU can do at most, by how often each byte that moves is used."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.problems.matmul import Shape

# FP32 without tensor cores in TFLOP/s and memory in GB/s, from the vendor's data sheets: for
# machines without the GPU. Where there is one, its own clocks and buses are asked.
_DATA_SHEETS = {
    "P100": (9.3, 732),
    "GTX 1080": (8.9, 320),
    "GTX 1080 Ti": (11.3, 484),
    "V100": (15.7, 900),
    "T4": (8.1, 320),
    "RTX 2080": (10.1, 448),
    "RTX 2080 Ti": (13.4, 616),
    "A100": (19.5, 2039),
    "A30": (10.3, 933),
    "A10": (31.2, 600),
    "A40": (37.4, 696),
    "RTX 3060": (12.7, 360),
    "RTX 3070": (20.3, 448),
    "RTX 3080": (29.8, 760),
    "RTX 3090": (35.6, 936),
    "L4": (30.3, 300),
    "L40": (90.5, 864),
    "L40S": (91.6, 864),
    "RTX 4060": (15.1, 272),
    "RTX 4070": (29.1, 504),
    "RTX 4080": (48.7, 717),
    "RTX 4090": (82.6, 1008),
    "H100": (66.9, 3350),
    "H200": (66.9, 4800),
    "GH200": (66.9, 4000),
    "RTX 5070": (30.9, 672),
    "RTX 5080": (56.3, 960),
    "RTX 5090": (104.8, 1792),
}
_WORD_BYTES = 4
_SECTOR_BYTES = 32


@dataclass(frozen=True)
class Roof:
    """Two ceilings: arithmetic, and memory times intensity (operations for each byte moved). One
    that is not known is infinite."""

    name: str
    peak_gflops: float
    memory_gb_per_s: float
    source: str  # where the numbers come from

    def attainable_gflops(self, intensity: float) -> float:
        return min(self.peak_gflops, intensity * self.memory_gb_per_s)

    def bound_s(self, shape: Shape) -> float:
        """The least time for C = A * B in FP32; 0 when nothing is known.

        A and B must come from memory, since the L2 is cold; C may stay in the L2 for a while.
        """
        read = _WORD_BYTES * (shape.m * shape.k + shape.k * shape.n)
        most = max(operations(shape) / self.peak_gflops, read / self.memory_gb_per_s)
        return most * 1e-9

    @property
    def known(self) -> bool:
        """Whether both ceilings are."""
        return math.isfinite(self.peak_gflops) and math.isfinite(self.memory_gb_per_s)

    @property
    def ridge(self) -> float:
        """The intensity from which on arithmetic is the limit."""
        return self.peak_gflops / self.memory_gb_per_s

    def __str__(self) -> str:
        return (
            f"{self.name}: {self.peak_gflops / 1000:.3g} TFLOP/s, "
            f"{self.memory_gb_per_s:,.0f} GB/s ({self.source})"
        )


def of_model(name: str) -> Roof | None:
    """The roof of a GPU model by its data sheet; None for one that is not listed."""
    if name not in _DATA_SHEETS:
        return None
    peak_tflops, memory = _DATA_SHEETS[name]
    return Roof(name, 1000.0 * peak_tflops, float(memory), "data sheet")


def of_device(description: Mapping[str, Any]) -> Roof:
    """The roof of a GPU by what it says of itself."""
    peak, memory = (
        float(description.get(key) or math.inf) for key in ("peak_gflops", "memory_gb_per_s")
    )
    return Roof(str(description["name"]), peak, memory, "its clocks and its bus")


def operations(shape: Shape) -> int:
    """Of one product: a multiplication and an addition for each multiply-add."""
    return 2 * shape.multiply_adds


def gflops(shape: Shape, seconds: float) -> float:
    """10^9 operations a second."""
    return operations(shape) / seconds * 1e-9


def best_intensity(shape: Shape) -> float:
    """Operations for each byte if A, B and C cross the bus once: no kernel can have more."""
    m, n, k = shape
    return operations(shape) / (_WORD_BYTES * (m * k + k * n + m * n))


def naive_bytes(shape: Shape) -> int:
    """What a coalesced naive kernel of 16 x 16 threads moves at multiples of 16.

    A warp is two rows of 16 lanes: in every step it touches one sector in each of two rows of A
    and two sectors of one row of B, which is four sectors for 32 multiply-adds.
    """
    m, n, _ = shape
    return 4 * _SECTOR_BYTES * shape.multiply_adds // 32 + _WORD_BYTES * m * n
