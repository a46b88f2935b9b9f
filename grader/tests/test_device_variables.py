"""Of a file's text, the variables that outlive a launch are told from functions and constants."""

from __future__ import annotations

import pytest

from grader.source.device_variables import first_variable


@pytest.mark.parametrize(
    "text, name",
    [
        ("__device__ int next_tile;", "next_tile"),
        ("__device__ float scratch[64][64];", "scratch"),
        ("static __device__ unsigned count = 0, other;", "count"),
        ("__device__ int f(int i) { return i; }\n__device__ int later;", "later"),
        ("__device__ const float table[2] = {1, 2};", None),
        ("constexpr __device__ int size = 4;", None),
        ("__constant__ float table[2];", None),
        ("// __device__ int gone;", None),
        ("__device__", None),
    ],
)
def test_what_a_kernel_can_change_is_named(text: str, name: str | None) -> None:
    found = first_variable(text)
    assert (found and found[0]) == name
