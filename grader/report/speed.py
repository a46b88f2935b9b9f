"""How the report tells what was timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from grader.messages.speed import ratio
from grader.problems.matmul import Shape
from grader.report.line import Line, line
from grader.score import CheckScore, rounded


def share(check: CheckScore) -> str:
    """`all 5 points`, `3 quarters of 5 points`; and why it is half of that."""
    quarters, points = check.outcome.quarters, check.points
    if quarters == 4:
        told = f"all {points} points"
    else:
        told = f"{quarters} quarter{'s' if quarters > 1 else ''} of {points} points"
    if check.earned < rounded(Fraction(points * quarters, 4)):  # what they give by themselves
        told += ", half until any shape passes"
    return told


def timing_lines(timing: Mapping[str, Any]) -> Iterator[Line]:
    """A line for each timed shape: what a ratio alone does not say."""
    for shape in timing.get("shapes", ()):
        if shape["disturbance"]:  # then these numbers are not the kernel's
            continue
        yield line(f"{'':14}{Shape(*shape['shape'])}: {', '.join(_parts(shape))}")


def _parts(shape: Mapping[str, Any]) -> Iterator[str]:
    yield f"{shape['student_s'] * 1e3:.3g} ms"
    yield f"{shape['gflops']:,.0f} GFLOP/s"
    yield f"{ratio(shape['speedup'])} times the baseline"
    if shape["percent_of_cublas"] is not None:
        yield f"{shape['percent_of_cublas']:.0f} % of cuBLAS"
    if shape["percent_of_roofline"] is not None:
        yield f"{shape['percent_of_roofline']:.0f} % of the roofline"
