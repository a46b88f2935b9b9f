"""Counters equal those of a GPU: the rule of one access, and whole kernels measured on an H200."""

from __future__ import annotations

import dataclasses
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from grader.counted_shapes import aligned_shape
from grader.counters import Counters, total
from grader.exercise import load_all
from grader.problems.matmul import Case, Layout, Shape, prepare
from grader.settings import PROJECT
from grader.tests.simulated import EXERCISE, FINISH, PRELUDE, both_compilers, build, device
from grader.toolchain import host_compiler

HERE = Path(__file__).parent
OBSERVERS = PROJECT / "grader" / "simulator" / "observers"


def count(family: str, text: str, shape: Shape, kernel: str = "matmul_naive") -> Counters:
    layout = Layout.NXK if kernel == "matmul_padded" else Layout.KXN
    exercise = dataclasses.replace(EXERCISE, kernel=kernel, b_layout=layout)
    built = build(family, text, exercise)
    assert built.config is not None, built.findings
    launch = prepare(exercise, built.config, Case(shape, "exact", 5), 0x7FA00001)
    run = device(family).launch(built, dataclasses.replace(launch, count=True))
    assert run.counters is not None
    return run.counters


def test_the_rule_reproduces_every_access_measured_on_an_h200(tmp_path: Path) -> None:
    program = tmp_path / "rule"
    sources = [HERE / "warp_access_main.cpp", OBSERVERS / "warp_access.cpp"]
    subprocess.run(
        [*host_compiler().command, "-std=c++17", "-O1", "-I", OBSERVERS, *sources, "-o", program],
        check=True,
    )
    lines = (HERE / "data" / "h200_warp_accesses.jsonl").read_text().splitlines()
    rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    asked = "\n".join(_question(row) for row in rows)
    answers = subprocess.run([program], input=asked, capture_output=True, text=True, check=True)
    costs = [tuple(map(int, line.split())) for line in answers.stdout.splitlines()]
    assert len(costs) == len(rows) == 1206
    for row, (cost, ideal) in zip(rows, costs, strict=True):
        if row["space"] == "shared":
            assert (cost, cost - ideal) == (row["wavefronts"], row["conflicts"]), row
        else:
            assert (1, cost) == (row["requests"], row["sectors"]), row


def _question(row: dict[str, Any]) -> str:
    lanes = [-1 if word is None else 4 * word for word in row["lanes"]]
    numbers = [row["space"] == "shared", row["op"] == "st", 4 * row["words"], *lanes]
    return " ".join(str(int(number)) for number in numbers)


def _naive(row: str, col: str) -> str:
    return (
        '#include "launch.cuh"\n'
        "LAUNCH_CONFIG(.block_x = 32, .block_y = 32, .tile_m = 32, .tile_n = 32);\n"
        "__global__ void matmul_naive(const float *A, const float *B, float *C,"
        " int M, int N, int K) {\n"
        f"    int row = blockIdx.{row} * 32 + threadIdx.{row};\n"
        f"    int col = blockIdx.{col} * 32 + threadIdx.{col};\n"
        "    if (row >= M || col >= N) return;\n"
        "    float sum = 0.0f;\n"
        "    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
        "    C[row * N + col] = sum;\n"
        "}\n"
    )


CUBE = Shape(97, 97, 97)  # what was measured with Nsight Compute: global load requests, sectors


@both_compilers
def test_naive_counts_equal_the_hardware_counters(family: str) -> None:
    loads = count(family, _naive("y", "x"), CUBE).select("global", "load")
    assert total(loads, "requests") == 75_272
    assert total(loads, "sectors") == 184_397
    assert total(loads, "words") == 2 * 97**3  # 2*M*N*K


@both_compilers
def test_uncoalesced_counts_equal_the_hardware_counters(family: str) -> None:
    loads = count(family, _naive("x", "y"), CUBE).select("global", "load")
    assert total(loads, "requests") == 75_272
    assert total(loads, "sectors") == 950_309


@both_compilers
def test_tiled_counts_equal_the_hardware_counters(family: str) -> None:
    text = (PROJECT / "exercises" / "02_tiled" / "solution.cu").read_text()
    counters = count(family, text, CUBE, "matmul_tiled")
    loads = counters.select("global", "load")
    assert total(loads, "requests") == 3_104
    assert total(loads, "sectors") == 12_104
    assert total(counters.select("shared"), "bank_conflicts") == 0


@both_compilers
@pytest.mark.parametrize(("pad", "conflicts"), [(0, 2_031_616), (1, 0)], ids=["unpadded", "padded"])
def test_padding_repairs_the_conflicts_the_hardware_counts(
    family: str, pad: int, conflicts: int
) -> None:
    text = (PROJECT / "exercises" / "03_padded" / "solution.cu").read_text()
    assert "[TILE + 1]" in text
    counters = count(family, text.replace("[TILE + 1]", f"[TILE + {pad}]"), CUBE, "matmul_padded")
    assert total(counters.select("shared", "load"), "bank_conflicts") == conflicts


@both_compilers
def test_tiles_divide_the_words_loaded_by_their_size(family: str) -> None:
    shape = Shape(64, 96, 128)
    text = (PROJECT / "exercises" / "02_tiled" / "solution.cu").read_text()
    counters = count(family, text, shape, "matmul_tiled")
    words = total(counters.select("global", "load"), "words")
    assert words == 2 * shape.m * shape.n * shape.k // 32
    assert counters.barriers == 2 * 4 * 6  # two barriers a step, four steps, six blocks


@both_compilers
def test_counts_belong_to_the_line_and_array_of_the_access(family: str) -> None:
    counters = count(family, PRELUDE + FINISH, Shape(16, 16, 16))
    kinds = [(c.line, c.access, c.space, c.name, c.bytes) for c in counters.lines]
    assert kinds == [
        (9, "load", "global", "A", 4),
        (9, "load", "global", "B", 4),
        (10, "store", "global", "C", 4),
    ]
    assert not any(line.approximate for line in counters.lines)
    assert counters.arithmetic_intensity(Shape(16, 16, 16)) > 0


@both_compilers
def test_unequal_lanes_are_marked_approximate(family: str) -> None:
    body = "\n    for (int i = 0; i < tx; ++i) C[i] = 0.0f;\n}\n"
    counters = count(family, PRELUDE + body, Shape(16, 16, 16))
    assert [line.approximate for line in counters.lines] == [True]


def test_neighbouring_loads_of_a_lane_merge_whatever_loop_they_are_in() -> None:
    body = (
        "    __shared__ float s[64];\n    if (ty < 4) s[ty * 16 + tx] = A[tx];\n"
        "    __syncthreads();\n    float sum = 0;\n"
        "    for (int j = 0; j < 16; ++j) for (int i = 0; i < 4; ++i) sum += s[i * 16 + j];\n"
        "    C[col] = sum;\n}\n"
    )
    (loads,) = count("g++", PRELUDE + body, Shape(16, 16, 16)).select("shared", "load")
    assert (loads.requests, loads.merged_requests) == (8 * 64, 8 * 16)


@both_compilers
def test_volatile_loads_do_not_merge(family: str) -> None:
    body = (
        "    SHARED float s[64];\n    if (ty < 4) s[ty * 16 + tx] = A[tx];\n"
        "    __syncthreads();\n    float sum = 0;\n"
        "    for (int i = 0; i < 64; ++i) sum += s[i];\n"
        "    C[col] = sum;\n}\n"
    )
    for shared, merged in (("__shared__", 16), ("volatile __shared__", 64)):
        text = PRELUDE + body.replace("SHARED", shared)
        (loads,) = count(family, text, Shape(16, 16, 16)).select("shared", "load")
        assert (loads.requests, loads.merged_requests) == (8 * 64, 8 * merged)
        assert (loads.wavefronts, loads.merged_wavefronts >= 8 * merged) == (8 * 64, True)


@both_compilers
def test_the_solutions_are_efficient(family: str) -> None:
    from grader.efficiency import judge_counters

    for exercise in load_all(PROJECT):
        text = (exercise.folder / "solution.cu").read_text()
        built = build(family, text, exercise)
        assert built.config is not None
        shape = aligned_shape(built.config)
        launch = prepare(exercise, built.config, Case(shape, "exact", 5), 0x7FA00001)
        run = device(family).launch(built, dataclasses.replace(launch, count=True))
        assert run.counters is not None
        assert judge_counters(built, shape, run.counters) == ()
