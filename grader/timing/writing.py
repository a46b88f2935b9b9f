"""Writes a calibration as TOML: thresholds, their reasons, and every measurement."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator, Mapping, Sequence

from grader.timing.calibration import FORMAT
from grader.timing.derivation import CLEAR, FULL_OF_REFERENCE, LEAST_GAP
from grader.timing.evidence import ExerciseEvidence, KernelEvidence
from grader.timing.shapes import ShapeKind

_HEAD = f"""\
# Which speed-up earns points on this GPU model. Written by `make calibrate`; it may be edited.
#
# A speed-up is the median of (baseline time / kernel time) over pairs of launches side by side; the
# baseline is the grader's own naive kernel with 16 x 16 threads. Under `minimum` a kernel fails
# (too_slow); `minimum` earns a quarter of the points, `full` all of them, with two even steps
# between.
#
# `minimum` lies in the gap between the next-worse kernel, which lacks what the exercise teaches,
# and the reference: at most about a third of the way up, and where that can be had below the
# honest kernels of another make.
# `full` is at most {FULL_OF_REFERENCE:.0%} of the reference's slowest round. No step between two
# quarters is nearer than {CLEAR:.0%} to a kernel that was measured, if that can be had. At the
# ragged shape the thresholds are the same shares of what the reference reaches there; a kernel
# earns what it earns at the worse of the two. Where the reference is less than {LEAST_GAP:g} times
# as fast as the next-worse kernel, speed does not tell the two apart, and the points of `fast`
# count for `efficient`.
"""


def compose(about: Mapping[str, str], found: Sequence[ExerciseEvidence]) -> str:
    """The whole file. `about`: gpu, measured, driver, cuda, nvcc, pycuda."""
    lines = [_HEAD, f"format = {_text(FORMAT)}"]
    lines += [f"{key} = {_text(value)}" for key, value in about.items()]
    lines += ["", "# Seconds of the baseline; far more in a grading means that the GPU is busy."]
    lines += ["[baseline_seconds]", *_baseline(found)]
    for evidence in found:
        lines += ["", *_exercise(evidence)]
    lines += ["", "# The evidence, fastest kernel first: the median of each round."]
    for evidence in found:
        for shape in dict.fromkeys(row.shape for row in evidence.rows):
            lines += [line for row in evidence.at(shape) for line in _row(row)]
    return "\n".join(lines) + "\n"


def _baseline(found: Sequence[ExerciseEvidence]) -> Iterator[str]:
    seconds: dict[str, list[float]] = {}
    for evidence in found:
        for row in evidence.rows:
            seconds.setdefault(str(row.shape), []).append(row.baseline_s)
    for shape, taken in seconds.items():
        yield f"{shape} = {statistics.median(taken):.4g}"


def _exercise(evidence: ExerciseEvidence) -> Iterator[str]:
    thresholds = evidence.thresholds
    yield f"[exercise.{evidence.name}]"
    yield f"size = {evidence.size}"
    yield f"points = {_text('fast' if thresholds else 'efficient')}"
    yield ""
    yield from _reason(evidence)
    for kind, found in thresholds.items():
        best = min(evidence.reference(kind).rounds)
        yield ""
        low, high = 1 - found.minimum / best, 1 - found.full / best
        yield f"# The reference reaches {best:.3f}; `minimum` is {low:.1%} below, `full`"
        yield f"# {high:.1%}."
        yield f"[exercise.{evidence.name}.{kind.value}]"
        yield f"minimum = {found.minimum}"
        yield f"full = {found.full}"


def _reason(evidence: ExerciseEvidence) -> Iterator[str]:
    gap = evidence.gap
    worse, best = max(gap.next_worse.rounds), min(gap.reference.rounds)
    yield f"# square: next-worse {worse:.3f} ({gap.next_worse.kernel.name}),"
    yield f"# reference {best:.3f} ({gap.reference.kernel.name}): a gap of {gap.width:.3f}."
    if ShapeKind.SQUARE in evidence.thresholds:
        above = evidence.thresholds[ShapeKind.SQUARE].minimum / worse - 1
        yield f"# `minimum` is {above:.1%} above the next-worse."
    else:
        yield "# No gap: speed is measured and shown, and decides nothing."


def _row(row: KernelEvidence) -> Iterator[str]:
    yield ""
    yield "[[kernel]]"
    yield f"exercise = {_text(row.kernel.exercise.name)}"
    yield f"name = {_text(row.kernel.name)}"
    yield f"role = {_text(row.kernel.role.value)}"
    yield f"shape = {_text(str(row.shape))}"
    yield f"speedup = {row.speedup:.4g}"
    yield f"seconds = {row.seconds:.4g}"
    yield f"rounds = [{', '.join(f'{one:.4g}' for one in row.rounds)}]"


def _text(text: str) -> str:
    """A basic TOML string; its escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)
