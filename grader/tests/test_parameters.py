"""The order of a kernel's sizes is read from its definition, whatever else the file holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.device import Run
from grader.finding import Finding
from grader.judge import judge
from grader.messages import describe
from grader.problems.matmul import Case, Shape
from grader.source.parameters import other_order
from grader.tests.emulated import TILED, build_of, launch_of
from grader.verdict import Verdict

SIGNATURE = "const float *A, const float *B, float *C, "


@pytest.mark.parametrize(
    "text, order",
    [
        (f"__global__ void mm({SIGNATURE}int M, int K, int N) {{}}", ("M", "K", "N")),
        (f"__global__ void\nmm({SIGNATURE}const int n, int m, int k)\n{{}}", ("n", "m", "k")),
        (f"void mm({SIGNATURE}int N, int M, int K);", None),  # declared only
        (f"__global__ void mm({SIGNATURE}int M, int N, int K) {{}}", None),
        (f"__global__ void mm({SIGNATURE}int rows, int cols, int depth) {{}}", None),
        (f"// mm(int M, int K, int N) {{}}\nvoid mm({SIGNATURE}int M, int N, int K) {{}}", None),
        (f"void f({SIGNATURE}int M, int K, int N) {{}}", None),
        ("void mm() {}", None),
        ("void mm(", None),
    ],
)
def test_sizes_in_another_order_are_named_as_the_definition_has_them(
    text: str, order: tuple[str, ...] | None
) -> None:
    found = other_order(text, "mm")
    assert (found and found[0]) == order


def test_the_line_is_that_of_the_kernels_name() -> None:
    text = f"\n__global__ void\nmm({SIGNATURE}int M,\n    int K, int N) {{}}"
    assert other_order(text, "mm") == (("M", "K", "N"), 3)


@pytest.mark.parametrize(
    ("name", "told"),
    [("A", True), ("As", False)],  # an index of a tile has nothing to do with the sizes
)
def test_what_leaves_a_matrix_is_told_with_the_order_of_the_sizes(name: str, told: bool) -> None:
    build = build_of(TILED)
    text = f"\nvoid matmul_tiled({SIGNATURE}int M, int K, int N) {{}}\n"
    text += "__device__ int count;"
    build = replace(build, submission=replace(build.submission, text=text))
    case = Case(Shape(9, 10, 11), "exact", 1)
    launch = launch_of(case)
    images = tuple(operand.image.copy() for operand in launch.operands)
    facts = {"name": name, "index": [0, 0], "thread": [0, 0], "block": [0, 0]}
    unset = Finding(Verdict.UNINITIALISED, "unset_output", facts)
    first, unwritten = judge(build, case, launch, Run(images, findings=(unset,)))
    said = "Line 2 names the sizes in the order M, K, N"
    assert (said in describe(first, build.exercise).hint) is told
    assert said in describe(unwritten, build.exercise).hint
    assert unwritten.facts["kept"] == "count"
