"""Kernels on the simulator in a few lines, with every compiler of this machine."""

from __future__ import annotations

import functools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.course import Target
from grader.device import Build, Run
from grader.exercise import Exercise
from grader.finding import Finding
from grader.problems.matmul import Case, Layout, Shape, prepare, product
from grader.settings import PROJECT
from grader.simulator.device import SimulatorDevice
from grader.submission import Submission
from grader.toolchain import find_host_compilers

TARGET = Target("H200", "9.0", 227 * 1024)
CACHE = PROJECT / ".cache" / "simulator"
EXERCISE = Exercise(
    name="01_naive",
    title="Naive",
    kernel="matmul_naive",
    b_layout=Layout.KXN,
    graded=True,
    points={},
    limits={},
    hints={},
    folder=Path("exercises/01_naive"),
)
PRELUDE = (
    '#include "launch.cuh"\n'
    "LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);\n"
    "__global__ void matmul_naive(const float *A, const float *B, float *C,"
    " int M, int N, int K) {\n"
    "    int tx = threadIdx.x, ty = threadIdx.y;\n"
    "    int col = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;\n"
)
BODY_LINE = 6  # of the first line after the prelude
FINISH = (
    "\n    if (row < M && col < N) {\n"
    "        float sum = 0.0f;\n"
    "        for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
    "        C[row * N + col] = sum;\n"
    "    }\n"
    "}\n"
)
SHAPE = Shape(17, 18, 19)

both_compilers = pytest.mark.parametrize("family", ["g++", "clang++"])


@functools.cache
def device(family: str) -> SimulatorDevice:
    """The simulator with a compiler of this family; skips where there is none."""
    for compiler in find_host_compilers():
        if compiler.family == family:
            return SimulatorDevice(TARGET, compiler, cache=CACHE)
    pytest.skip(f"needs {family}")


def submission(text: str, name: str = "starter/01_naive.cu") -> Submission:
    return Submission(name=name, path=Path(name), text=text, sha256="")


def build(family: str, text: str, exercise: Exercise = EXERCISE) -> Build:
    return device(family).build(exercise, submission(text))


def launch(
    family: str,
    built: Build,
    shape: Shape = SHAPE,
    order: int = 0,
    timeout_s: float = 10.0,
    watch: bool = False,
) -> Run:
    assert built.config is not None, built.findings
    case = Case(shape, "exact", 5, order, timeout_s=timeout_s)
    made = prepare(built.exercise, built.config, case, 0x7FA00001)
    return device(family).launch(built, replace(made, watch=watch))


def run(family: str, body: str, shape: Shape = SHAPE, before: str = "", watch: bool = False) -> Run:
    """Launch the naive kernel with `body` before its loop and `before` in front of the file."""
    built = build(family, before + PRELUDE + body + FINISH)
    return launch(family, built, shape, watch=watch)


def right(built: Build, shape: Shape, run: Run) -> bool:
    """Whether the run left the exact product in C."""
    assert built.config is not None
    made = prepare(built.exercise, built.config, Case(shape, "exact", 5), 0x7FA00001)
    got = made.operands[2].values(run.images[2])
    return np.array_equal(got, product(built.exercise, made))


def first(run: Run) -> Finding:
    assert run.findings, "the simulator saw nothing"
    return run.findings[0]
