"""What a calibration measured: the speed-up of every kernel at every shape, round by round."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.problems.matmul import Shape
from grader.timing.calibration import Thresholds
from grader.timing.derivation import Speedups, carry_over, derive
from grader.timing.kernels import CalibrationKernel, KernelRole
from grader.timing.shapes import ShapeKind, shape_of


def spread(values: Sequence[float]) -> float:
    """Between the largest and the smallest, relative to the smallest."""
    return max(values) / min(values) - 1


@dataclass(frozen=True)
class KernelEvidence:
    """One kernel at one shape. `rounds` are medians over the pairs of a round, `seconds` and
    `baseline_s` medians over the rounds."""

    kernel: CalibrationKernel
    shape: Shape
    rounds: tuple[float, ...]
    seconds: float
    baseline_s: float

    @property
    def speedup(self) -> float:
        return statistics.median(self.rounds)

    @property
    def spread(self) -> float:
        """Between the fastest and the slowest round, relative to the slowest."""
        return spread(self.rounds)


@dataclass(frozen=True)
class Gap:
    """Between the reference and the fastest kernel that lacks what the exercise teaches."""

    reference: KernelEvidence
    next_worse: KernelEvidence

    @property
    def width(self) -> float:
        """The slowest round of the reference over the fastest of the other kernel."""
        return min(self.reference.rounds) / max(self.next_worse.rounds)


@dataclass(frozen=True)
class ExerciseEvidence:
    """One exercise: all rows, and the size that is graded."""

    name: str
    size: int
    rows: tuple[KernelEvidence, ...]

    def at(self, shape: Shape) -> tuple[KernelEvidence, ...]:
        """The rows of a shape, fastest kernel first."""
        found = [row for row in self.rows if row.shape == shape]
        return tuple(sorted(found, key=lambda row: -row.speedup))

    @property
    def gap(self) -> Gap:
        """At the square, which decides whether speed tells kernels apart."""
        rows = self._graded(ShapeKind.SQUARE)
        slower = [row for row in rows if row.kernel.role is KernelRole.SLOWER]
        return Gap(self.reference(ShapeKind.SQUARE), max(slower, key=lambda row: max(row.rounds)))

    def reference(self, kind: ShapeKind) -> KernelEvidence:
        """The solution at the graded shape of this kind."""
        return next(row for row in self._graded(kind) if row.kernel.role is KernelRole.REFERENCE)

    @property
    def thresholds(self) -> Mapping[ShapeKind, Thresholds]:
        """Of both kinds of shape; none where the square shows no gap."""
        gap = self.gap
        best, worse = min(gap.reference.rounds), max(gap.next_worse.rounds)
        square = derive(best, worse, self._measured(ShapeKind.SQUARE))
        if square is None:
            return {}
        elsewhere = min(self.reference(ShapeKind.RAGGED).rounds)
        ragged = carry_over(square, best, elsewhere, self._measured(ShapeKind.RAGGED))
        return {ShapeKind.SQUARE: square, ShapeKind.RAGGED: ragged}

    def _graded(self, kind: ShapeKind) -> tuple[KernelEvidence, ...]:
        return self.at(shape_of(kind, self.size))

    def _measured(self, kind: ShapeKind) -> Speedups:
        rows = self._graded(kind)
        honest = (min(row.rounds) for row in rows if row.kernel.role is KernelRole.OTHER)
        return Speedups(tuple(row.speedup for row in rows), tuple(honest))
