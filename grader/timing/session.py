"""One opened stopwatch: numbers its launches and refuses every sample that is not what it seems."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.finding import NOT_YOURS, Finding, GraderFault, KernelFault
from grader.problems.matmul import Shape
from grader.timing.sample import Conditions, Contestant, Sample, Stopwatch
from grader.verdict import Verdict

# Clocks and events are exact to a few per cent; below this share of the bound nothing is left to
# explain a time but a product that was not computed.
_IMPOSSIBLE = 0.95


@dataclass(frozen=True)
class Pair:
    """A launch of the student's kernel and one of the baseline, right after one another."""

    student: Sample
    baseline: Sample

    @property
    def ratio(self) -> float:
        """The speed-up over the baseline."""
        return self.baseline.seconds / self.student.seconds

    @property
    def longest_gap_s(self) -> float:
        return max(self.student.longest_gap_s, self.baseline.longest_gap_s)


class Session:
    """Takes samples in an order that depends on the seed alone.

    `bound_s` is what the roofline allows at best (0: not known). Raises KernelFault for what the
    student's kernel did, GraderFault when the GPU gets our own kernel wrong.
    """

    def __init__(self, stopwatch: Stopwatch, seed: int, bound_s: float = 0.0) -> None:
        self.shape: Shape = stopwatch.shape
        self.bound_s = bound_s
        self._stopwatch = stopwatch
        self._random = random.Random(seed)
        self._draws = 0
        self._right = 0  # launches of the student's that were right

    def pair(self) -> Pair:
        """One pair; which of the two comes first is drawn."""
        taken = {who: self.sample(who) for who in self._order()}
        return Pair(taken[Contestant.STUDENT], taken[Contestant.BASELINE])

    def sample(self, contestant: Contestant) -> Sample:
        """One launch, checked."""
        self._draws += 1
        sample = self._stopwatch.sample(contestant, self._draws)
        if contestant is Contestant.STUDENT:
            self._check(sample)
            self._right += 1
        elif _spoilt(sample):
            raise GraderFault(
                f"The GPU got the grader's own kernel wrong ({contestant.value}, "
                f"{self.shape}). {NOT_YOURS} Next: nvidia-smi -q"
            )
        return sample

    def conditions(self) -> Conditions | None:
        return self._stopwatch.conditions()

    def _order(self) -> tuple[Contestant, Contestant]:
        both = (Contestant.STUDENT, Contestant.BASELINE)
        return both if self._random.random() < 0.5 else both[::-1]

    def _check(self, sample: Sample) -> None:
        if found := _fault(sample):
            verdict, kind, facts = found
            facts = {**facts, "launch": self._right + 1, "rows": self.shape.m}
            if self._right:  # the same launch was right before, on other numbers
                raise self._caught(Verdict.REPLAY, f"later_{kind}", facts)
            raise self._caught(verdict, kind, facts)
        if sample.seconds < _IMPOSSIBLE * self.bound_s:
            facts = {"seconds": sample.seconds, "bound_s": self.bound_s}
            raise self._caught(Verdict.REPLAY, "impossible_speed", facts)

    def _caught(self, verdict: Verdict, kind: str, facts: Mapping[str, Any]) -> KernelFault:
        return KernelFault((Finding(verdict, kind, facts, (), self.shape, "gpu"),))


def _spoilt(sample: Sample) -> bool:
    return bool(sample.wrong_rows or sample.inputs_changed or sample.guards_written)


def _fault(sample: Sample) -> tuple[Verdict, str, Mapping[str, Any]] | None:
    """The cause comes before the wrong answer it gives."""
    if sample.guards_written:
        facts = {"count": sample.guards_written}
        return Verdict.OUT_OF_BOUNDS, "timed_guards_written", facts
    if sample.inputs_changed:
        return Verdict.INPUT_MODIFIED, "timed_inputs_changed", {"count": sample.inputs_changed}
    if sample.wrong_rows:
        facts = {"count": sample.wrong_rows, "row": sample.first_wrong_row}
        return Verdict.WRONG_ANSWER, "timed_wrong", facts
    return None
