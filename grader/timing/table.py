"""What `make calibrate` prints: kernels by speed-up, and the thresholds with their margins."""

from __future__ import annotations

from collections.abc import Iterator

from grader.problems.matmul import Shape
from grader.timing.derivation import LEAST_GAP
from grader.timing.evidence import ExerciseEvidence
from grader.timing.kernels import KernelRole
from grader.timing.shapes import ShapeKind, shape_of

_EARNS = ("nothing", "1 quarter", "2 quarters", "3 quarters", "all points")


def evidence_lines(evidence: ExerciseEvidence) -> Iterator[str]:
    """A table of kernels at the graded square, fastest first, with the other shapes beside it."""
    square = shape_of(ShapeKind.SQUARE, evidence.size)
    shapes = list(dict.fromkeys(row.shape for row in evidence.rows))
    wide = max(len(row.kernel.name) for row in evidence.rows)
    yield ""
    yield f"{evidence.name}: speed-up over the baseline, median of {_rounds(evidence)} rounds"
    heads = "  ".join(f"{shape!s:>14}" for shape in shapes)
    yield f"  {'kernel':<{wide}}  {'role':<9}  {heads}  {'spread':>6}  earns"
    for row in evidence.at(square):
        same = {one.shape: one for one in evidence.rows if one.kernel is row.kernel}
        cells = "  ".join(f"{same[shape].speedup:>14.3f}" for shape in shapes)
        spread = max(same[shape].spread for shape in _graded(evidence))
        earns = _earns(evidence, same[square].speedup, row.kernel.role)
        yield (
            f"  {row.kernel.name:<{wide}}  {row.kernel.role:<9}  {cells}  {spread:>6.1%}  {earns}"
        )
    yield from _gap_lines(evidence)
    if not evidence.thresholds:
        yield "  The points of fast count for efficient on this GPU."


def _rounds(evidence: ExerciseEvidence) -> int:
    return min(len(row.rounds) for row in evidence.rows)


def _graded(evidence: ExerciseEvidence) -> list[Shape]:
    return [shape_of(kind, evidence.size) for kind in ShapeKind]


def _earns(evidence: ExerciseEvidence, speedup: float, role: KernelRole) -> str:
    """At the graded square; a word of warning where that is not what the role says."""
    if ShapeKind.SQUARE not in evidence.thresholds:
        return "-"
    quarters = evidence.thresholds[ShapeKind.SQUARE].quarters(speedup)
    odd = role is KernelRole.OTHER and quarters == 0
    return _EARNS[quarters] + (" (honest, but too slow here)" if odd else "")


def _gap_lines(evidence: ExerciseEvidence) -> Iterator[str]:
    gap = evidence.gap
    low, high = max(gap.next_worse.rounds), min(gap.reference.rounds)
    yield (
        f"  square: reference {high:.3f} / next-worse {low:.3f} "
        f"({gap.next_worse.kernel.name}) = {gap.width:.3f}"
    )
    if not evidence.thresholds:
        yield f"    no threshold: a gap of at least {LEAST_GAP:g} is needed"
    for kind, found in evidence.thresholds.items():
        best = min(evidence.reference(kind).rounds)
        above = (
            f"{found.minimum / low - 1:.1%} above the next-worse, "
            if kind is ShapeKind.SQUARE
            else ""
        )
        yield (
            f"    {kind}: minimum {found.minimum:.3f}, {above}"
            f"{1 - found.minimum / best:.1%} below the reference"
        )
        below = f"{1 - found.full / best:.1%} below the reference"
        yield f"    {kind}: full    {found.full:.3f}, {below}"
