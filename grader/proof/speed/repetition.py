"""Measures each kernel again and again in one process: do verdict and points ever differ?"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from grader.device import Build
from grader.finding import KernelFault, NotGraded
from grader.proof.speed.claims import Claim
from grader.speed import Timer, judge
from grader.timing.evidence import spread
from grader.timing.kernels import build_kernel

Again = Callable[[int], Timer]  # a Timer for a seed


@dataclass(frozen=True)
class Repeated:
    """What all repetitions of one kernel gave. `answers` counts words like "4 quarters"."""

    name: str
    expected: str
    answers: Counter[str]
    speedups: tuple[float, ...]
    pairs: int  # in all repetitions together

    @property
    def spread(self) -> float:
        """Between the highest and the lowest median, relative to the lowest."""
        return spread(self.speedups) if self.speedups else 0.0

    @property
    def right(self) -> bool:
        return set(self.answers) == {self.expected}


def repeat(again: Again, claim: Claim, times: int) -> Repeated:
    """Every repetition has its own seed and loads the kernels anew."""
    built = build_kernel(again(0).device, claim.kernel)
    return repeat_build(again, built, claim.name, f"{claim.quarters} quarters", times)


def repeat_build(
    again: Again,
    built: Build,
    name: str,
    expected: str,
    times: int,
    word: Callable[[str], str] = lambda answer: answer,
) -> Repeated:
    """`word` may make one answer of several."""
    answers: Counter[str] = Counter()
    speedups: list[float] = []
    pairs = 0
    for seed in range(1, times + 1):
        answer, speedup, taken = answer_of(again(seed), built)
        answers[word(answer)] += 1
        speedups += [speedup] if speedup else []
        pairs += taken
    return Repeated(name, expected, answers, tuple(speedups), pairs)


def answer_of(timer: Timer, built: Build) -> tuple[str, float, int]:
    """What a grading says at the square alone, the median speed-up and how many pairs it took."""
    try:
        timing = timer.time(built, any_shape=False)
    except KernelFault as fault:
        return fault.findings[0].verdict.value, 0.0, 0
    measured = timing.decisive.measurement
    seen = measured.speedup.median, len(measured.pairs)
    try:
        judge(timing)
    except NotGraded as reason:
        return reason.reason, *seen
    except KernelFault:  # too slow; a quarter of nothing
        return "0 quarters", *seen
    return f"{timing.quarters} quarters", *seen


def table(rows: Sequence[Repeated]) -> Iterator[str]:
    """A line for each kernel, then whether all is well."""
    wide = max(len(row.name) for row in rows)
    heads = f"{'times':>5}  {'speed-up':>8}  {'spread':>6}  {'pairs':>5}  answers"
    yield f"  {'kernel':<{wide}}  {heads}"
    for row in rows:
        times = sum(row.answers.values())
        median = statistics.median(row.speedups) if row.speedups else 0.0
        told = ", ".join(f"{count} x {answer}" for answer, count in row.answers.most_common())
        wrong = "" if row.right else f"  WRONG: expected {row.expected}"
        yield (
            f"  {row.name:<{wide}}  {times:>5}  {median:>8.3f}  {row.spread:>6.2%}  "
            f"{row.pairs / times:>5.1f}  {told}{wrong}"
        )
