"""Draws shapes with hypothesis, and shrinks a failing one, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from unittest import mock

import hypothesis
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from hypothesis.strategies import SearchStrategy

from grader.problems.matmul import Shape

# Most shapes shrink within two seconds; a student waits no longer than this for a smaller one.
SHRINK_LIMIT_S = 20.0

# Some draws repeat a shape and only distinct ones count, so draws must outnumber shapes by far.
# Fixed, because hypothesis draws differently for another limit.
_MOST_DRAWS = 2000

# What a probe answers: whether the kernel is right for this shape.
Probe = Callable[[Shape], bool]


class StopDrawing(Exception):
    """Raised by a probe when no further shape can tell anything: it is not a failure to shrink."""


class _Falsified(Exception):
    """The shape at hand fails: what hypothesis shrinks."""


class _Enough(BaseException):
    """Ends hypothesis at once; not an Exception, because it would shrink that."""


def first_shapes(strategy: SearchStrategy[Shape], seed: int, count: int) -> tuple[Shape, ...]:
    """The first `count` distinct shapes that `smallest_failing` probes with this seed."""
    seen: list[Shape] = []

    def collect(shape: Shape) -> bool:
        seen.append(shape)
        return True

    smallest_failing(strategy, seed, count, collect)
    return tuple(seen)


def smallest_failing(
    strategy: SearchStrategy[Shape],
    seed: int,
    count: int,
    probe: Probe,
    shrink_limit_s: float = SHRINK_LIMIT_S,
) -> Shape | None:
    """Probes `count` distinct drawn shapes, each once; the smallest that fails, or None.

    A StopDrawing of the probe ends the search; the smallest failing shape so far is returned.
    """
    search = _Search(probe, count, shrink_limit_s)

    @hypothesis.seed(seed)
    @_SETTINGS
    @hypothesis.given(strategy)
    def drawn(shape: Shape) -> None:
        search.visit(shape)

    with _same_draws_everywhere(), suppress(_Falsified, _Enough):
        drawn()
    return search.smallest


_SETTINGS = hypothesis.settings(
    database=None,
    deadline=None,
    max_examples=_MOST_DRAWS,
    phases=(hypothesis.Phase.generate, hypothesis.Phase.shrink),
    verbosity=hypothesis.Verbosity.quiet,
    print_blob=False,
    report_multiple_bugs=False,
    suppress_health_check=list(hypothesis.HealthCheck),
)


class _Search:
    """Counts distinct shapes, remembers answers, and ends when a limit is reached."""

    def __init__(self, probe: Probe, count: int, shrink_limit_s: float) -> None:
        self._probe = probe
        self._count = count
        self._shrink_limit_s = shrink_limit_s
        self._shrink_end = float("inf")
        self._right: dict[Shape, bool] = {}
        self.smallest: Shape | None = None

    def visit(self, shape: Shape) -> None:
        if shape not in self._right:
            self._stop_at_limits()
            self._right[shape] = self._ask(shape)
        if not self._right[shape]:
            raise _Falsified

    def _stop_at_limits(self) -> None:
        enough = self.smallest is None and len(self._right) >= self._count
        if enough or time.monotonic() > self._shrink_end:
            raise _Enough

    def _ask(self, shape: Shape) -> bool:
        try:
            right = self._probe(shape)
        except StopDrawing:
            raise _Enough from None
        if not right:
            self._note(shape)
        return right

    def _note(self, shape: Shape) -> None:
        if self.smallest is None:
            self._shrink_end = time.monotonic() + self._shrink_limit_s
        self.smallest = smaller(self.smallest, shape)


def smaller(first: Shape | None, second: Shape) -> Shape:
    """The shape with fewer multiply-adds; among equals, with fewer numbers to look at."""
    if first is None:
        return second
    return min(first, second, key=lambda shape: (shape.m * shape.n * shape.k, sum(shape)))


@contextmanager
def _same_draws_everywhere() -> Iterator[None]:
    """Keeps hypothesis from mixing in constants of whatever modules happen to be loaded.

    Otherwise the drawn shapes would also depend on the devices in use, and a seed would not
    repeat a grading.
    """
    providers.CONSTANTS_CACHE.cache.clear()
    with mock.patch.object(providers.HypothesisProvider, "_local_constants", Constants()):
        yield
    providers.CONSTANTS_CACHE.cache.clear()
