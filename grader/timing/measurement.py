"""Measures one kernel against the baseline: pairs of launches until a rule ends it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.problems.matmul import Shape
from grader.timing import quiet
from grader.timing.rule import StoppingRule
from grader.timing.sample import Conditions, Contestant
from grader.timing.session import Pair, Session
from grader.timing.statistics import Interval, median_interval

Clock = Callable[[], float]
Sleep = Callable[[float], None]

# A GPU raises its clocks within a few launches; the baseline shows when they have settled.
_WARM_UP_LAUNCHES = 10
_SETTLED = 0.02
# One try and three more, each after a pause in which other work may end.
PAUSES_S = (0.0, 0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Measurement:
    """What one try gave, or the last of several.

    `pairs` are those that count; `set_aside` were taken while the GPU was away. `disturbance` is a
    sentence when the numbers say nothing about the kernel, else "". `steady`: the interval is
    narrow. Seconds are medians.
    """

    shape: Shape
    pairs: tuple[Pair, ...]
    speedup: Interval
    student_s: float
    baseline_s: float
    ended: str
    set_aside: int = 0
    tries: int = 1
    disturbance: str = ""
    conditions: Conditions | None = None

    @property
    def steady(self) -> bool:
        return self.speedup.half_width <= quiet.NARROW

    @property
    def deciding(self) -> float:
        """The speed-up that points are given for: the interval's end that favours the student,
        and the other one where only the student's kernel makes it wide."""
        return self.speedup.high if self.steady else self.speedup.low


def measure(
    session: Session,
    rule: StoppingRule,
    *,
    expected_s: float = 0.0,
    clock: Clock = time.monotonic,
    sleep: Sleep = time.sleep,
) -> Measurement:
    """Up to four tries, until one is undisturbed; `expected_s` is the baseline's calibrated time
    (0: not known). Raises KernelFault and GraderFault as Session does."""
    tried = None
    for number, pause_s in enumerate(PAUSES_S, 1):
        sleep(pause_s)
        tried = replace(attempt(session, rule, expected_s=expected_s, clock=clock), tries=number)
        if not tried.disturbance:
            break
    assert tried is not None, "there is at least one try"
    return tried


def attempt(
    session: Session, rule: StoppingRule, *, expected_s: float = 0.0, clock: Clock = time.monotonic
) -> Measurement:
    """One try: warm up, take pairs, look whether anything disturbed them."""
    warm_up(session)
    begin_s = clock()
    kept: list[Pair] = []
    away: list[Pair] = []
    ended = ""
    while not ended:
        pair = session.pair()
        (away if quiet.is_away(pair) else kept).append(pair)
        if len(away) > quiet.GAPS_FORGIVEN:
            ended = "away"
        elif kept:
            ended = rule.ended([one.ratio for one in kept], clock() - begin_s)
    return _summed_up(session, kept, away, ended, expected_s)


def _summed_up(
    session: Session,
    kept: list[Pair],
    away: list[Pair],
    ended: str,
    expected_s: float,
) -> Measurement:
    counted = kept or away
    conditions = session.conditions()
    measured = Measurement(
        shape=session.shape,
        pairs=tuple(counted),
        speedup=median_interval([pair.ratio for pair in counted]),
        student_s=statistics.median(pair.student.seconds for pair in counted),
        baseline_s=statistics.median(pair.baseline.seconds for pair in counted),
        ended=ended,
        set_aside=len(away) if kept else 0,
        conditions=conditions,
    )
    disturbance = quiet.disturbance(kept, away, ended, conditions, expected_s)
    return replace(measured, disturbance=disturbance)


def warm_up(session: Session) -> None:
    """Both kernels once, then the baseline until two launches in a row take equally long.

    These launches are checked like all others, so a kernel gains nothing by telling them apart.
    """
    before_s = session.pair().baseline.seconds
    for _ in range(_WARM_UP_LAUNCHES):
        now_s = session.sample(Contestant.BASELINE).seconds
        if abs(now_s / before_s - 1) <= _SETTLED:
            break
        before_s = now_s


def cublas_seconds(session: Session) -> float:
    """The median time of cuBLAS SGEMM at the session's shape. Raises GraderFault without it."""
    taken = [session.sample(Contestant.CUBLAS).seconds for _ in range(4)]
    return statistics.median(taken[1:])  # the first one warms the library up
