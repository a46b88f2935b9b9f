"""A choice: the shapes that each check tries, or the one that was asked for; and what A and B hold
there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from grader.checks.drawing import first_shapes
from grader.checks.outcome import PrerequisiteFailed
from grader.checks.plan import GRADING_EXAMPLES, Plan
from grader.checks.search import Drawing
from grader.counted_shapes import drawn_aligned, is_aligned
from grader.device import LaunchConfig
from grader.exercise import Exercise
from grader.problems.matmul import (
    PINNED,
    SMALL_FOURS,
    Inputs,
    Shape,
    cube_shapes,
    deep_shapes,
    deeper_shape,
    draw_seed,
    drawn_shapes,
    further_shapes,
    whole_tile_shapes,
    zeros_shapes,
)

# `safe` looks at this many drawn shapes, because the pinned ones do not know the kernel's tile;
# when it fails, it tries more in search of a smaller one.
SAFE_DRAWN = 8
SAFE_SEARCHED = 25


@dataclass(frozen=True)
class Choice:
    """Depends on the plan, the exercise and the launch configuration alone."""

    plan: Plan
    exercise: Exercise
    config: LaunchConfig
    shrink_limit_s: float

    def safe(self) -> tuple[list[Shape], Drawing | None]:
        """The pinned ones, several blocks with a whole tile of C each, a cube, those that kernels
        treat apart, the first drawn ones; what is drawn besides only shrinks a failure."""
        drawing = self._drawing(SAFE_SEARCHED, only_to_shrink=True)
        return self._or_the_one(self._safe), drawing

    def _safe(self) -> list[Shape]:
        whole = [*whole_tile_shapes(self.config)[1:2], *cube_shapes(self.config)]
        first = self._drawing(SAFE_DRAWN)
        drawn = first_shapes(first.strategy, first.seed, first.count) if first else ()
        return [*PINNED, *whole, *further_shapes(self.config), *drawn]

    def whole_tiles(self) -> list[Shape]:
        """Raises PrerequisiteFailed where the one shape is no such shape."""
        shape = self.plan.shape
        if shape is not None and shape.filled(self.config.tiles) != shape:
            raise PrerequisiteFailed("other_shape")
        return self._or_the_one(lambda: whole_tile_shapes(self.config))

    def telling(self) -> tuple[Shape, ...]:
        """Where a fault in whole tiles may show its cause: with more steps along K, and so small
        that few accidents hide it, with rows that may be read four elements at once."""
        if self.plan.shape is not None:
            return ()
        first, *_ = whole_tile_shapes(self.config)
        steps = [first._replace(k=steps * self.config.tile_k) for steps in (2, 3)]
        return (*(shape for shape in steps if self.config.tile_k > 1), *SMALL_FOURS[3:4])

    def any_shape(self) -> tuple[list[Shape], Drawing | None]:
        """The pinned ones, those that kernels treat apart, deep ones, and as many drawn ones as
        the plan says."""
        shapes = self._or_the_one(
            lambda: [*PINNED, *further_shapes(self.config), *deep_shapes(self.config)]
        )
        return shapes, self._drawing(self.plan.examples)

    def deeper(self) -> Shape | None:
        """Only a grading goes as deep as that."""
        practice = self.plan.examples < GRADING_EXAMPLES
        return None if practice or self.plan.shape else deeper_shape(self.config)

    def counted(self) -> Shape:
        """Raises PrerequisiteFailed where not all can be counted at the one shape."""
        shape = self.plan.shape
        if shape is None:
            return drawn_aligned(self.plan.seed, self.exercise, self.config)
        if not is_aligned(self.config, shape):
            raise PrerequisiteFailed("other_shape")
        return shape

    def integers(self, shape: Shape) -> tuple[Inputs, ...]:
        """What A and B hold there in turn; of the one shape nobody knows which of them failed."""
        if self.plan.shape is not None:
            return ("exact", "zeros", "positive")
        return self._special.get(shape, ("exact",))

    @cached_property
    def _special(self) -> dict[Shape, tuple[Inputs, ...]]:
        with_zeros: tuple[Inputs, ...] = ("exact", "zeros")
        special = dict.fromkeys(zeros_shapes(self.config), with_zeros)
        # At the deep ones, one launch is long enough, and this one has the largest sums.
        special |= dict.fromkeys(deep_shapes(self.config), ("positive",))
        return special

    def _or_the_one(self, all_of_them: Callable[[], list[Shape]]) -> list[Shape]:
        return all_of_them() if self.plan.shape is None else [self.plan.shape]

    def _drawing(self, count: int, only_to_shrink: bool = False) -> Drawing | None:
        if self.plan.shape is not None:
            return None
        seed = draw_seed(self.plan.seed, self.exercise, self.config)
        strategy = drawn_shapes(self.config)
        return Drawing(strategy, seed, count, self.shrink_limit_s, only_to_shrink)
