"""A device that can take the time of launches; the simulator cannot."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from grader.device import LAUNCH_LIMIT_S, Build, Device
from grader.problems.matmul import Shape
from grader.timing.sample import Stopwatch


@runtime_checkable
class TimingDevice(Device, Protocol):
    """The part of a GPU device that timing needs besides building and launching."""

    def stopwatch(
        self,
        build: Build,
        shape: Shape,
        key: int,
        *,
        cublas: bool = False,
        timeout_s: float = LAUNCH_LIMIT_S,
    ) -> Stopwatch:
        """Loads the kernels anew; `key` (64 bits) is what all contents derive from."""

    def fits(self, shape: Shape) -> bool:
        """Whether the matrices, their guards and the flush buffer fit into free memory."""
