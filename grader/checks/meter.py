"""A device whose launches are added up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.device import Build, Device, Launch, Probe, Run
from grader.exercise import Exercise
from grader.submission import Submission


class Meter:
    """A Device that hands everything on. `spent_s` is what the launches themselves took (see Run):
    on a busy machine a kernel waits longer, and that is not its fault."""

    def __init__(self, device: Device) -> None:
        self.kind = device.kind
        self.spent_s = 0.0
        self._device = device

    def describe(self) -> Mapping[str, Any]:
        return self._device.describe()

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        return self._device.build(exercise, submission)

    def launch(self, build: Build, launch: Launch) -> Run:
        run = self._device.launch(build, launch)
        self.spent_s += run.seconds
        return run

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        return self._device.probe_block(build, launch, block)

    def close(self) -> None:
        self._device.close()
