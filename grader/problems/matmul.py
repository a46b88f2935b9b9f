"""The family of problems: C = A * B or C = A * B^T, row-major, single precision.

One place for its signature, shapes, inputs, launch geometry and right answers; the parts live in
`matmul_shapes` and `matmul_inputs`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.problems.matmul_inputs import (
    FINITE_FILL,
    GUARD_WORDS,
    LARGEST_EXACT_K,
    QUIET_BIT,
    Case,
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
    PINNED,
    SMALL_FOURS,
    Layout,
    Shape,
    beyond_shapes,
    deep_shape,
    deeper_shape,
    draw_seed,
    drawn_shapes,
    large_shapes,
    ragged_shapes,
    whole_tile_shapes,
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
    "Layout",
    "Matrix",
    "Shape",
    "beyond_shapes",
    "deep_shape",
    "deeper_shape",
    "draw_seed",
    "drawn_shapes",
    "factors",
    "fresh_poison",
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
    "sparse_product",
    "whole_tile_shapes",
]

PARAMETERS = "const float *A, const float *B, float *C, int M, int N, int K"


def signature(exercise: Exercise) -> str:
    """The kernel's declaration as a student writes it."""
    return f"__global__ void {exercise.kernel}({PARAMETERS})"


def repeat_command(exercise: Exercise, shape: Shape) -> str:
    """What to type to see this shape again."""
    return f"make test EX={exercise.short} SHAPE={shape}"
