"""What one timed launch says, and who takes the time of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from grader.problems.matmul import Shape


class Contestant(StrEnum):
    """Whose kernel a timed launch is of."""

    STUDENT = "student"
    BASELINE = "baseline"
    CUBLAS = "cublas"


@dataclass(frozen=True)
class Sample:
    """One timed launch: cold L2, fresh A and B, C poisoned anew; checked after the launch."""

    contestant: Contestant
    seconds: float  # CUDA events around the single launch
    wrong_rows: int = 0  # rows of C that the check refuses
    first_wrong_row: int = -1
    inputs_changed: int = 0  # words of A and B that differ from what was generated
    guards_written: int = 0  # guard words around A, B and C that changed
    longest_gap_s: float = 0.0  # probe right before the launch: how long the GPU was taken away
    first: bool = False  # first launch of this contestant since its module was loaded


@dataclass(frozen=True)
class Conditions:
    """The state of the GPU, as NVML tells it."""

    sm_clock_mhz: int
    memory_clock_mhz: int
    temperature_c: int
    power_w: float
    power_limit_w: float
    throttle: tuple[str, ...]  # words: "power cap", "thermal", "hardware slowdown" ...; () = none
    other_processes: int  # compute processes on this GPU besides ours; -1 unknown


class Stopwatch(Protocol):
    """Times single launches of one build at one shape, against the grader's own baseline."""

    shape: Shape

    def sample(self, contestant: Contestant, draw: int) -> Sample:
        """One timed launch. All contents derive from the stopwatch's key and `draw`, the number
        of the launch in the session.

        Raises KernelFault (the student's: sticky error, time-out, flood of output) or GraderFault.
        """

    def conditions(self) -> Conditions | None:
        """The state of the GPU now; None where NVML is missing."""

    def close(self) -> None:
        """Unload the kernels and free the buffers."""
