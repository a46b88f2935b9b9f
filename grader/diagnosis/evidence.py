"""What a wrong C is judged by: the matrix that came back, the right one, and how far apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.device import Launch, LaunchConfig, Words
from grader.exercise import Exercise
from grader.finding import Finding
from grader.problems.matmul import (
    QUIET_BIT,
    Case,
    Layout,
    Matrix,
    Shape,
    factors,
    magnitude,
    product,
)
from grader.verdict import Verdict

Mask = npt.NDArray[np.bool_]

EPS32 = float(np.finfo(np.float32).eps)
# Above this many multiply-adds the predictions of some thirty whole matrices would take minutes,
# and above this many elements of one of them, whole tiles of it, the memory of a small machine.
_LARGEST_PREDICTED = 1 << 27
_LARGEST_MATRIX = 1 << 25
# In units of eps32 * (|A| @ |B|), correct float32 code stays below 2, whatever its order; the worst
# element of TF32 is above 160 and that of BF16 above 1400, for K up to 4096 (less for larger K).
TOLERANCE = 16.0


@dataclass(frozen=True)
class Evidence:
    """One launch's C (M x N words) beside what it should hold.

    `a` is M x K and `b` is K x N whatever the layout; `b_stored` is B as it lies in memory.
    """

    config: LaunchConfig
    layout: Layout
    shape: Shape
    launch: Launch
    a: Matrix
    b: Matrix
    words: npt.NDArray[np.uint32]
    expected: Matrix
    exact: bool  # integer inputs: the right answer is the only one

    @classmethod
    def gather(
        cls, exercise: Exercise, config: LaunchConfig, case: Case, launch: Launch, image: Words
    ) -> Evidence:
        """From the image of C that a device brought back."""
        a, b = factors(exercise, launch)
        c = launch.operands[2]
        return cls(
            config=config,
            layout=exercise.b_layout,
            shape=case.shape,
            launch=launch,
            a=a,
            b=b,
            words=image[c.guard : c.guard + c.size].reshape(c.rows, c.cols),
            expected=product(exercise, launch),
            exact=case.exact,
        )

    @cached_property
    def got(self) -> Matrix:
        with np.errstate(invalid="ignore"):  # the poison is a signalling NaN
            return self.words.view(np.float32).astype(np.float64)

    @cached_property
    def scale(self) -> Matrix:
        """|A| @ |B|: what rounding errors grow with."""
        return magnitude(self.a, self.b)

    @cached_property
    def slack(self) -> Matrix:
        """How far each element may be off."""
        if self.exact:
            return np.zeros_like(self.expected)
        return TOLERANCE * EPS32 * self.scale

    @cached_property
    def units(self) -> Matrix:
        """The errors in units of eps32 * (|A| @ |B|), as TOLERANCE is."""
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(self.got - self.expected) / (EPS32 * self.scale))

    @cached_property
    def wrong(self) -> Mask:
        return ~self._close(self.expected)

    @cached_property
    def poison(self) -> int:
        c = self.launch.operands[2]
        return int(c.image[c.guard])

    @cached_property
    def unwritten(self) -> Mask:
        """Elements that still hold the poison. A finite fill counts only where it is wrong."""
        return np.asarray((self.words == self.poison) & self.wrong)

    @cached_property
    def finite(self) -> Mask:
        """Elements that the kernel wrote and that are numbers."""
        return np.isfinite(self.got) & ~self.unwritten

    @cached_property
    def nan(self) -> Mask:
        """Elements that the kernel wrote and that are no numbers."""
        return np.isnan(self.got) & ~self.unwritten

    def quieted(self, word: int) -> Mask:
        """Elements that came out of arithmetic with this NaN. A GPU forgets which NaN it was."""
        return np.asarray(self.words == word | QUIET_BIT)

    def predictable(self, k: int) -> bool:
        """Whether whole matrices can be computed for a sum of `k` terms."""
        shape = self.shape._replace(k=k)
        rows, cols, depth = shape.filled(self.config.tiles)
        largest = max(rows * depth, depth * cols, rows * cols)
        return shape.multiply_adds <= _LARGEST_PREDICTED and largest <= _LARGEST_MATRIX

    @property
    def b_stored(self) -> Matrix:
        return self.b if self.layout is Layout.KXN else self.b.T

    def _close(self, prediction: Matrix) -> Mask:
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(self.got - prediction) <= self.slack)

    def agrees(self, prediction: Matrix, where: Mask | None = None) -> bool:
        """Whether C is the prediction at all of `where` (default: every finite element).

        NaN agrees with NaN. False where the prediction explains nothing, that is, where no wrong
        element lies in `where`.
        """
        where = self.finite if where is None else where
        both_nan = np.isnan(self.got) & np.isnan(prediction)
        matches = self._close(prediction) | both_nan
        return bool((self.wrong & where).any() and matches[where].all())

    def finding(
        self,
        kind: str,
        mask: Mask | None = None,
        verdict: Verdict = Verdict.WRONG_ANSWER,
        **facts: Any,
    ) -> Finding:
        """A finding about the elements of `mask` (default: every wrong one), with an example."""
        mask = self.wrong if mask is None else mask
        return Finding(verdict, kind, {**self.element(mask), **facts})

    def element(self, mask: Mask) -> Mapping[str, Any]:
        """The first element of the mask, its block and tile, and how far the mask reaches."""
        rows, cols = np.nonzero(mask)
        row, col = int(rows[0]), int(cols[0])
        tile_m, tile_n = self.config.tile_m, self.config.tile_n
        return {
            "row": row,
            "col": col,
            "block": [col // tile_n, row // tile_m],
            "in_tile": [row % tile_m, col % tile_n],
            "got": number(self.got[row, col]),
            "expected": number(self.expected[row, col]),
            "count": len(rows),
            "of": mask.size,
            "box": [row, int(rows[-1]), int(cols.min()), int(cols.max())],
        }


def number(value: np.float64 | np.float32) -> float | str:
    """JSON has no NaN and no infinity: these become words."""
    return float(value) if np.isfinite(value) else "NaN" if np.isnan(value) else "infinity"
