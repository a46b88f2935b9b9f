"""Exercises, submissions and launches that the tests of grader.gpu build by hand."""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from types import MappingProxyType

import numpy as np

from grader.device import Build, Launch, LaunchConfig, Operand, Words
from grader.exercise import Exercise
from grader.problems.matmul import Layout
from grader.submission import Submission

GUARD = 96
GUARD_WORD = 0x7FC0FFEE
POISON = 0x7FA5A5A5
PARAMETERS = "const float *A, const float *B, float *C, int M, int N, int K"
NAME = "starter/02_tiled.cu"

EXERCISE = Exercise(
    name="02_tiled",
    title="Tiles in shared memory",
    kernel="matmul_tiled",
    b_layout=Layout.KXN,
    graded=True,
    points=MappingProxyType({}),
    limits=MappingProxyType({}),
    hints=MappingProxyType({}),
    folder=Path("exercises/02_tiled"),
)

RECURSIVE = (
    "__device__ __noinline__ float f(const float *a, int m)"
    " { float x[99]; for (int i = 0; i < 99; ++i) x[i] = a[i % 3];"
    " return m == -1 ? 0 : f(a, m + 1) + x[m % 99]; }"
)


def submission(text: str) -> Submission:
    return Submission(NAME, Path(NAME), text, hashlib.sha256(text.encode()).hexdigest())


def kernel(body: str, config: str = "16, 16, 16, 16", before: str = "") -> Submission:
    """A submission whose kernel has this body, on line 4 and after."""
    return submission(
        f'#include "launch.cuh"\n{before}\n'
        f"__global__ void matmul_tiled({PARAMETERS}) {{\n{body}\n}}\nLAUNCH_CONFIG({config});\n"
    )


def launch(m: int, n: int, k: int, timeout_s: float = 10.0, tile: int = 16) -> Launch:
    """A product of small integers, exact in float32 in any order of summation."""
    draw = np.random.default_rng(m * 10000 + n * 100 + k)
    a = draw.integers(-8, 9, (m, k)).astype(np.float32).view(np.uint32)
    b = draw.integers(-8, 9, (k, n)).astype(np.float32).view(np.uint32)
    c = np.full((m, n), POISON, np.uint32)
    operands = (operand("A", a), operand("B", b), operand("C", c))
    return Launch(operands, (m, n, k), (-(-n // tile), -(-m // tile)), timeout_s=timeout_s)


def operand(name: str, matrix: Words) -> Operand:
    guard = np.full(GUARD, GUARD_WORD, np.uint32)
    image = np.concatenate([guard, matrix.ravel(), guard])
    return Operand(name, matrix.shape[0], matrix.shape[1], GUARD, image)


def expected(case: Launch) -> Words:
    """The image that C must have afterwards, guards included."""
    a, b, _ = case.operands
    product = a.values(a.image).astype(np.float64) @ b.values(b.image).astype(np.float64)
    return operand("C", product.astype(np.float32).view(np.uint32)).image


def built(name: str, cubin: Path = Path("none.cubin")) -> Build:
    """A build that asks for the kernel `name`; fake workers behave as it says."""
    exercise = dataclasses.replace(EXERCISE, kernel=name)
    config = LaunchConfig(16, 16, 16, 16)
    return Build(exercise, submission("// none\n"), "gpu", artifact=cubin, config=config)
