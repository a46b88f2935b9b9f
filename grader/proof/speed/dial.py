"""A kernel of any speed below the reference's: its solution, with a wait in every block.

The wait is found by measuring. Then one kernel 10 % under the minimum must fail every time, and one
10 % over it pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace

from grader.device import Build
from grader.finding import GraderFault
from grader.proof.speed.repetition import Again, Repeated, repeat_build
from grader.starters import plain_solution
from grader.timing.device import TimingDevice
from grader.timing.kernels import CalibrationKernel, build_kernel
from grader.timing.measurement import warm_up
from grader.timing.session import Session
from grader.timing.shapes import ShapeKind, shape_of
from grader.timing.statistics import median_interval

_WAIT = """
#ifndef DELAY
#define DELAY 0
#endif
__device__ void wait_for_clocks() {
    const long long begin = clock64();
    while (clock64() - begin < DELAY) {
    }
}
"""
# The 10 % to the minimum leave room for this.
_CLOSE_ENOUGH = 0.005
_MOST_TRIES = 12
_FIRST_DELAY = 2000  # clocks
_PAIRS = 5


def with_wait(text: str, kernel: str) -> str:
    """The text of a solution whose kernel waits DELAY clocks first."""
    text = plain_solution(text)  # its lines for the starter define the kernel once more
    body = re.compile(rf"\b{kernel}\s*\([^)]*\)\s*\{{")
    if len(body.findall(text)) != 1:
        raise GraderFault(f"The definition of {kernel} was not found in its solution.")
    include = '#include "launch.cuh"\n'
    text = text.replace(include, include + _WAIT, 1)
    return body.sub(lambda match: f"{match[0]}\n    wait_for_clocks();", text)


def dialled(kernel: CalibrationKernel, delay: int) -> CalibrationKernel:
    """The kernel with a wait; `delay` in clocks."""
    text = f"#define DELAY {delay}\n#line 1\n" + with_wait(
        kernel.submission.text, kernel.exercise.kernel
    )
    name = f"{kernel.name}, waits {delay} clocks"
    return replace(kernel, name=name, submission=kernel.submission.with_text(text))


def find_delay(speedup_at: Callable[[int], float], target: float) -> int:
    """The delay at which the speed-up is `target`: secants on the time, which grows with it.

    Raises GraderFault when the kernel is slower without a wait, or no delay is found.
    """
    low, high = 0, _FIRST_DELAY
    time_low, time_high = 1 / speedup_at(low), 1 / speedup_at(high)
    wanted = 1 / target
    if time_low > wanted * (1 + _CLOSE_ENOUGH):
        raise GraderFault(f"without a wait the speed-up is {1 / time_low:.3f}, below {target:.3f}")
    for _ in range(_MOST_TRIES):
        if time_high < wanted:
            low, high, time_low = high, 2 * high, time_high
            time_high = 1 / speedup_at(high)
            continue
        share = (wanted - time_low) / (time_high - time_low)
        # Away from the ends, where the next step would gain nothing.
        middle = round(low + min(max(share, 0.1), 0.9) * (high - low))
        time = 1 / speedup_at(middle)
        if abs(time / wanted - 1) <= _CLOSE_ENOUGH:
            return middle
        if time < wanted:
            low, time_low = middle, time
        else:
            high, time_high = middle, time
    raise GraderFault(f"no delay gives a speed-up of {target:.3f}; between {low} and {high} clocks")


def speedup_of(device: TimingDevice, built: Build, size: int) -> float:
    """The median of a few pairs."""
    shape = shape_of(ShapeKind.SQUARE, size)
    with closing(device.stopwatch(built, shape, 1)) as watch:
        session = Session(watch, 1)
        warm_up(session)
        return median_interval([session.pair().ratio for _ in range(_PAIRS)]).median


def around_minimum(
    again: Again, kernel: CalibrationKernel, size: int, minimum: float, times: int
) -> tuple[Repeated, ...]:
    """The kernel 10 % under the minimum and the one 10 % over it, each so many times."""
    device = again(0).device
    known: dict[int, float] = {}

    def speedup_at(delay: int) -> float:
        if delay not in known:
            known[delay] = speedup_of(device, build_kernel(device, dialled(kernel, delay)), size)
        return known[delay]

    found = []
    for factor, expected in ((0.9, "fails"), (1.1, "passes")):
        delay = find_delay(speedup_at, factor * minimum)
        name = f"{kernel.exercise.name}, {factor:.0%} of the minimum ({delay} clocks)"
        built = build_kernel(device, dialled(kernel, delay))
        found.append(repeat_build(again, built, name, expected, times, _passes))
    return tuple(found)


def _passes(answer: str) -> str:
    """Whether there are points, however many; another answer stays what it is."""
    if not answer.endswith(" quarters"):
        return answer
    return "fails" if answer.startswith("0") else "passes"
