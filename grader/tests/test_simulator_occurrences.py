"""Which accesses of a warp are one request, where lanes or compilers leave some out."""

from __future__ import annotations

from grader.counters import total
from grader.problems.matmul import Shape
from grader.simulator.scene import constants
from grader.tests.simulated import FINISH, PRELUDE, both_compilers
from grader.tests.test_simulator_counters import count

FIRST = PRELUDE + "    if (threadIdx.y > 1) return;\n"
SHAPE = Shape(16, 16, 16)


@both_compilers
def test_a_lane_that_skips_turns_of_a_loop_stays_in_step_with_the_others(family: str) -> None:
    # In each row the last four lanes reach past the edge: they skip every second store.
    body = (
        "    for (int i = 0; i < 4; ++i)\n"
        "        for (int j = 0; j < 2; ++j)\n"
        "            if (tx + j * 4 < 16) C[i * 64 + j * 4 + tx] = 1.0f;\n}\n"
    )
    stores = count(family, FIRST + body, SHAPE).select("global", "store")
    # One warp, whose two rows store the same: words 0 to 15, then 4 to 15, of each of four rows.
    assert total(stores, "requests") == 8
    assert total(stores, "sectors") == 4 * (2 + 2)
    assert all(line.approximate for line in stores)


@both_compilers
def test_a_word_loaded_again_at_once_is_loaded_once_in_the_merged_reading(family: str) -> None:
    body = (
        "    __shared__ float s[512];\n    s[ty * 16 + tx] = A[tx];\n    __syncthreads();\n"
        "    float sum = 0;\n"
        "    for (int j = 0; j < 8; ++j)\n"
        "        for (int i = 0; i < 4; ++i)\n"
        "            sum += s[j * 32 + tx] * i;\n"
        "    C[col] = sum;\n}\n"
    )
    (loads,) = count(family, PRELUDE + body, SHAPE).select("shared", "load")
    assert (loads.requests, loads.merged_requests) == (8 * 32, 8 * 8)  # eight warps


@both_compilers
def test_constant_memory_is_not_global_memory(family: str) -> None:
    before = "__constant__ float weights[2][4] = {1.0f}, bias;\n__device__ float table[4];\n"
    use = FINISH.replace("+= A[", "+= weights[0][k % 4] * bias * table[k % 4] + A[")
    text = PRELUDE.replace("__global__", before + "__global__") + use
    names = {line.name for line in count(family, text, SHAPE).select("global")}
    assert names == {"A", "B", "C", "table"}


@both_compilers
def test_only_a_kernels_own_arrays_are_counted(family: str) -> None:
    body = (
        "    __shared__ float2 s[16];\n"
        "    s[tx] = make_float2(A[tx], 1.0f);\n"
        "    __syncthreads();\n"
        "    float2 v = s[tx];\n    C[col] = v.x * v.y;\n}\n"
    )
    shared = count(family, PRELUDE + body, SHAPE).select("shared")
    assert [(line.access, line.name, line.bytes) for line in shared] == [
        ("store", "s", 8),
        ("load", "s", 8),
    ]


def test_the_names_of_constant_variables_are_read_from_the_text() -> None:
    text = (
        "__constant__ float a[4], b;  // __constant__ int in_a_comment;\n"
        "__constant__ const int c{3};\nstatic __constant__ unsigned d = 1, e = 2;\n"
        "__device__ float f[4];\n"
    )
    assert {"a", "b", "c", "d", "e"} <= constants(text)
    assert not {"in_a_comment", "f", "float"} & constants(text)
