"""The family of problems: C = A * B or C = A * B^T, row-major, single precision.

One place for its signature, shapes, inputs, launch geometry and right answers; the parts live in
`matmul_shapes`, `matmul_extremes` and `matmul_inputs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.problems.matmul_extremes import (
    beyond_shapes,
    deep_shapes,
    deeper_shape,
    large_shapes,
    smaller_like,
    usual_shapes,
    whole_cases,
)
from grader.problems.matmul_inputs import (
    FINITE_FILL,
    GUARD_WORDS,
    QUIET_BIT,
    Case,
    Inputs,
    Matrix,
    factors,
    fresh_poison,
    grid,
    magnitude,
    prepare,
    prepare_sparse,
    product,
    shared_poison,
    sparse_product,
)
from grader.problems.matmul_shapes import (
    LARGEST_CASE,
    LARGEST_EXACT_K,
    PINNED,
    SMALL_FOURS,
    Layout,
    Shape,
    cube_shapes,
    draw_seed,
    drawn_shapes,
    further_shapes,
    ragged_shapes,
    whole_tile_shapes,
    zeros_shapes,
)

if TYPE_CHECKING:
    from grader.exercise import Exercise

__all__ = [
    "FINITE_FILL",
    "GUARD_WORDS",
    "LARGEST_CASE",
    "LARGEST_EXACT_K",
    "PINNED",
    "QUIET_BIT",
    "SMALL_FOURS",
    "Case",
    "Inputs",
    "Layout",
    "Matrix",
    "Shape",
    "beyond_shapes",
    "cube_shapes",
    "deep_shapes",
    "deeper_shape",
    "draw_seed",
    "drawn_shapes",
    "factors",
    "fresh_poison",
    "further_shapes",
    "grid",
    "large_shapes",
    "magnitude",
    "prepare",
    "prepare_sparse",
    "product",
    "ragged_shapes",
    "repeat_command",
    "shared_poison",
    "signature",
    "smaller_like",
    "sparse_product",
    "usual_shapes",
    "whole_cases",
    "whole_tile_shapes",
    "zeros_shapes",
]

PARAMETERS = "const float *A, const float *B, float *C, int M, int N, int K"


def signature(exercise: Exercise) -> str:
    """The kernel's declaration as a student writes it."""
    return f"__global__ void {exercise.kernel}({PARAMETERS})"


def repeat_command(exercise: Exercise, shape: Shape) -> str:
    """What to type to see this shape again."""
    return f"make test EX={exercise.short} SHAPE={shape}"
