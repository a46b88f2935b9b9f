"""Right values with too few bits: TF32, FP16 or BF16 somewhere on the way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.diagnosis.evidence import EPS32, TOLERANCE, Evidence
from grader.finding import Finding
from grader.problems.matmul import Matrix
from grader.verdict import Verdict

_FORMATS = {10: "TF32 or FP16", 7: "BF16"}  # bits of the stored mantissa (float32 has 23)
# BF16 inputs err by 2^-8 each when truncated: what is worse than both together has another cause.
_LARGEST_LOSS = 2.0**-6
# Reduced precision blurs the whole matrix; a kernel that forgets some terms hits a part of it.
_SMALLEST_SHARE = 0.25


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The rounding that reproduces C: of the factors, or of the result."""
    for bits, name in _FORMATS.items():
        for rounded in (_to_even, _away, _truncate):
            a, b = rounded(evidence.a, bits), rounded(evidence.b, bits)
            for left, right in ((a, b), (a, evidence.b), (evidence.a, b)):
                if not evidence.exact and evidence.agrees(left @ right):
                    yield _finding(evidence, "reduced_factors", format=name, bits=bits)
                    return
            if evidence.agrees(rounded(evidence.expected, bits)):
                yield _finding(evidence, "reduced_result", format=name, bits=bits)
                return


def blurred(evidence: Evidence) -> Iterator[Finding]:
    """Everywhere a little wrong, and no simpler explanation found."""
    if evidence.exact or not evidence.finite.all():
        return
    loss = evidence.units.max() * EPS32
    if loss <= _LARGEST_LOSS and evidence.wrong.mean() >= _SMALLEST_SHARE:
        yield _finding(evidence, "blurred")


def _finding(evidence: Evidence, kind: str, **facts: str | int) -> Finding:
    units = evidence.units
    worst = units == units.max()
    return evidence.finding(
        kind,
        worst,
        Verdict.REDUCED_PRECISION,
        units=round(float(units.max()), 1),
        limit=TOLERANCE,
        wrong=int(evidence.wrong.sum()),
        **facts,
    )


def _truncate(matrix: Matrix, bits: int) -> Matrix:
    words = matrix.astype(np.float32).view(np.uint32)
    kept = words >> np.uint32(23 - bits) << np.uint32(23 - bits)
    return kept.view(np.float32).astype(np.float64)


def _to_even(matrix: Matrix, bits: int) -> Matrix:
    """To the nearest, ties to even: what a conversion does unless told otherwise."""
    words = matrix.astype(np.float32).view(np.uint32)
    lowest_kept = words >> np.uint32(23 - bits) & np.uint32(1)
    below_half = np.uint32((1 << (22 - bits)) - 1)
    return _truncate((words + below_half + lowest_kept).view(np.float32).astype(np.float64), bits)


def _away(matrix: Matrix, bits: int) -> Matrix:
    """To the nearest, ties away from zero: `cvt.rna.tf32`."""
    words = matrix.astype(np.float32).view(np.uint32)
    half = np.uint32(1 << (22 - bits))
    return _truncate((words + half).view(np.float32).astype(np.float64), bits)
