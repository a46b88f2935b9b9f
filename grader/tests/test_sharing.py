"""A tile that a block was to share: a fact of the text, told beside wrong values only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from grader.device import LaunchConfig, Run
from grader.exercise import PROJECT
from grader.finding import Finding
from grader.judge import judge
from grader.messages import describe
from grader.problems.matmul import Case, Shape, prepare
from grader.source.sharing import unshared
from grader.tests.emulated import build_of, exercise
from grader.verdict import Verdict

PRIVATE = "void f() {\n    float As[8][8];\n    __shared__ float Bs[8][8];\n}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (PRIVATE, ("As", 2)),
        ("void f() {\n float Mds[T][T];\n __shared__ float Nds[T][T]; }", ("Mds", 2)),
        ("void f() { float sum[M][N], x[K];\n __shared__ float Mds[K][M], Nds[K][N]; }", None),
        ("void f() { int n;\n float4 Bs[8]; }", ("Bs", 2)),
        ("void f() { float sum[8]; }", ("", 0)),
        ("void f() { __shared__ float As[8][8], Bs[8][8]; }", None),
        ("#define SHARED __shared__\nvoid f() { SHARED float As[8]; }", None),
        ("struct Tiles { float As[8]; };\nvoid f() { __shared__ Tiles t; }", None),
        ("__device__ void load(float As[8]) {}\nvoid f() { __shared__ float a[8]; }", None),
        ("void f() { extern __shared__ float all[]; float *As = all; As[0] = 1; }", None),
    ],
)
def test_a_plain_array_named_like_a_tile_or_as_large_as_a_shared_one_counts(
    text: str, found: tuple[str, int] | None
) -> None:
    assert unshared(text) == found


@pytest.mark.parametrize("path", sorted(PROJECT.glob("exercises/0[234]*/solution.cu")))
def test_of_a_solution_nothing_is_said(path: Path) -> None:
    assert unshared(path.read_text(encoding="utf-8")) is None


def test_a_wrong_c_is_told_with_the_tile_that_is_not_shared() -> None:
    build = build_of(LaunchConfig(8, 8, 8, 8, 8, 0))
    build = replace(
        build,
        exercise=replace(build.exercise, limits={"max_word_ratio": 1.0}),
        submission=replace(build.submission, text=PRIVATE),
    )
    case = Case(Shape(9, 10, 11), "exact", 1)
    launch = prepare(build.exercise, LaunchConfig(8, 8, 8, 8, 8, 0), case, 0x7FA5A5A5)
    images = tuple(operand.image.copy() for operand in launch.operands)
    found = judge(build, case, launch, Run(images))
    assert found[0].verdict is Verdict.WRONG_ANSWER
    assert "As, declared in line 2" in describe(found[0], build.exercise).hint
    plain = replace(build, exercise=exercise())
    assert "unshared" not in judge(plain, case, launch, Run(images))[0].facts
    assert np.array_equal(images[2], launch.operands[2].image)


def test_a_diagnosis_goes_before_a_file_that_shares_nothing() -> None:
    facts = {"unshared": "", "unshared_line": 0}
    shape = Shape(3, 4, 5)
    told = Finding(
        Verdict.WRONG_ANSWER,
        "k_stops_early",
        facts | {"row": 0, "col": 0, "got": 1.0, "expected": 2.0, "used": 2, "k": 5},
        shape=shape,
    )
    assert "__shared__" not in describe(told, exercise()).hint
    unset = Finding(
        Verdict.UNINITIALISED,
        "unset_output",
        facts | {"name": "C", "index": [0, 0], "thread": [0, 0], "block": [0, 0]},
        shape=shape,
    )
    assert "__shared__" in describe(unset, exercise()).hint
