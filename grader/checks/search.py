"""Looks for a fault over many shapes and comes back with the smallest that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass

from hypothesis.strategies import SearchStrategy

from grader.checks.drawing import StopDrawing, smaller, smallest_failing
from grader.finding import Finding, KernelFault, is_unexplained, ordered
from grader.problems.matmul import SMALL_FOURS, Shape
from grader.verdict import Verdict

Findings = tuple[Finding, ...]

# What shapes that fill no tile may show besides: it explains nothing of whole ones.
_OF_PARTIAL_TILES = ("k_tail_", "all_zero", "wrong_last")
_ENOUGH_ELEMENTS = 6


@dataclass(frozen=True)
class Drawing:
    """Which shapes hypothesis tries: `count` distinct ones, and more while it shrinks.

    `only_to_shrink`: only after another shape failed, in search of a smaller one.
    """

    strategy: SearchStrategy[Shape]
    seed: int
    count: int
    shrink_limit_s: float
    only_to_shrink: bool = False

    def is_wanted(self, failed: bool) -> bool:
        """After a failure there is nothing to gain without time to shrink."""
        return self.shrink_limit_s > 0 if failed else not self.only_to_shrink


class FaultSearch:
    """Tries shapes until one has a finding whose verdict is in `wanted`.

    Time-outs and faults of ours end a search: each would take its time again for every shape.
    """

    def __init__(
        self, findings_at: Callable[[Shape], Findings], wanted: frozenset[Verdict]
    ) -> None:
        self._findings_at = findings_at
        self._wanted = wanted
        self._fault: Exception | None = None
        self._timeout: Findings = ()

    def run(
        self,
        shapes: Iterable[Shape],
        drawing: Drawing | None,
        telling: Callable[[], Iterable[Shape]] = tuple,
    ) -> None:
        """Raise KernelFault with the findings of the smallest failing shape.

        Tries `shapes` in turn, then the drawn ones; these also after a failure, in search of a
        smaller shape, and `telling` after one that nothing explains. Raises GraderFault, or what
        else went wrong, when the search ended without an answer.
        """
        failing = next((shape for shape in shapes if self._failing(shape)), None)
        wanted = drawing is not None and drawing.is_wanted(failing is not None)
        if drawing is not None and wanted and not self._timeout:
            failing = self._smallest(failing, drawing)
        if failing is not None:
            raise KernelFault(self._clearest(ordered(self._findings_at(failing)), telling()))
        if self._fault is not None:
            raise self._fault

    def _clearest(self, found: Findings, telling: Iterable[Shape]) -> Findings:
        """These findings, or those of one of the `telling` shapes that say why C is wrong where
        these only say where."""
        with suppress(StopDrawing):
            for shape in telling if is_unexplained(found[0]) else ():
                if self._right(shape):
                    continue
                other = ordered(self._findings_at(shape))
                same = other[0].verdict is found[0].verdict and not is_unexplained(other[0])
                if same and not other[0].kind.startswith(_OF_PARTIAL_TILES):
                    return other
        return found

    def _smallest(self, failing: Shape | None, drawing: Drawing) -> Shape | None:
        failing = self._small(failing)
        drawn = smallest_failing(
            drawing.strategy, drawing.seed, drawing.count, self._right, drawing.shrink_limit_s
        )
        if drawn is not None:
            return self._small(smaller(failing, drawn))
        if failing is None and self._timeout:
            raise KernelFault(ordered(self._timeout))
        return None if failing is None else self._halved(failing)

    def _halved(self, failing: Shape) -> Shape:
        """With each dimension halved while the fault stays, and what explains it: no drawn shape
        has as many steps."""
        with suppress(StopDrawing):
            for name in Shape._fields:
                while (size := getattr(failing, name)) > 1:
                    half = failing._replace(**{name: size // 2})
                    if self._right(half) or not self._tells_as_much(half, failing):
                        break
                    failing = half
        return failing

    def _tells_as_much(self, half: Shape, failing: Shape) -> bool:
        """Many sums of a few elements are equal by accident, so these explain less."""
        first, before = (ordered(self._findings_at(one))[0] for one in (half, failing))
        enough = half.m * half.n >= _ENOUGH_ELEMENTS
        return is_unexplained(before) or (first.kind == before.kind and enough)

    def _small(self, failing: Shape | None) -> Shape | None:
        """The first of the small shapes that fails, where a larger one did."""
        if failing is None:
            return None
        small = (shape for shape in SMALL_FOURS if smaller(failing, shape) == shape != failing)
        with suppress(StopDrawing):
            return next((shape for shape in small if not self._right(shape)), failing)
        return failing

    def _failing(self, shape: Shape) -> bool:
        findings = self._findings_at(shape)
        if timed_out(findings):
            self._timeout = findings
        return any(finding.verdict in self._wanted for finding in findings)

    def _right(self, shape: Shape) -> bool:
        try:
            failing = self._failing(shape)
        except Exception as fault:  # the machine's, too: memory is full, a folder is gone
            self._fault = fault
            raise StopDrawing from fault
        if self._timeout:
            raise StopDrawing
        return not failing


def timed_out(findings: Findings) -> bool:
    return any(finding.verdict is Verdict.TIMEOUT for finding in findings)
