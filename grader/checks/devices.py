"""Chooses and opens the devices that a session uses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.caller import setting
from grader.checks.build import CompilerCheck
from grader.course import Target
from grader.device import Build, Device, Launch, Probe, Run
from grader.driver import find_driver
from grader.exercise import PROJECT, Exercise
from grader.finding import Finding, GraderFault
from grader.gpu import hardware, nvcc
from grader.submission import Submission

if TYPE_CHECKING:
    from grader.gpu.device import GpuDevice
    from grader.simulator.device import SimulatorDevice

CACHE = PROJECT / ".cache"

Note = Callable[[str], None]


@dataclass(frozen=True)
class Chosen:
    """The kinds of devices to use, and a sentence about a GPU that could not be used."""

    kinds: tuple[str, ...]
    note: str = ""


def choose(word: str) -> Chosen:
    """`auto`: the simulator, and the GPU where it can be used. `gpu`: both, or a GraderFault."""
    if word == "simulator":
        return Chosen(("simulator",))
    missing = hardware.available()
    if not missing:
        return Chosen(("simulator", "gpu"))
    if word == "gpu":
        mend = f"{missing.rstrip('.')}, or use the simulator: {setting('device', 'simulator')}"
        raise GraderFault(f"The GPU cannot be used: {mend}")
    return Chosen(("simulator",), f"GPU not used: {missing}" if find_driver().gpus else "")


def open_device(kind: str, target: Target, note: Note) -> Device:
    """A device, or one that repeats why it could not be opened, check by check."""
    try:
        return open_gpu(target, note) if kind == "gpu" else open_simulator(target)
    except GraderFault as fault:
        return BrokenDevice(kind, fault)


# Devices are imported here, because each needs what only a machine with that device has.


def open_gpu(target: Target, note: Note) -> GpuDevice:
    """Raises GraderFault, also where the GPU does not answer."""
    from grader.gpu.device import GpuDevice

    device = GpuDevice(target, cache=CACHE / "gpu", on_wait=note)
    device.describe()  # asks it for its name
    return device


def open_simulator(target: Target) -> SimulatorDevice:
    """Raises GraderFault where there is no compiler."""
    from grader.simulator.device import SimulatorDevice

    return SimulatorDevice(target, cache=CACHE / "simulator")


def compiler_check(target: Target) -> CompilerCheck | None:
    """nvcc as the judge of what compiles, where there is one that knows the target GPU."""
    if not nvcc.decides(target.architecture):
        return None

    def check(exercise: Exercise, submission: Submission) -> tuple[Finding, ...]:
        return nvcc.check_compiles(exercise, submission, target.architecture)

    return check


class BrokenDevice:
    """Stands for a device that could not be opened: every use repeats why."""

    def __init__(self, kind: str, fault: GraderFault) -> None:
        self.kind = kind
        self._fault = fault

    def describe(self) -> Mapping[str, Any]:
        return {"kind": self.kind, "name": "", "problem": str(self._fault)}

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        raise self._fault

    def launch(self, build: Build, launch: Launch) -> Run:
        raise self._fault

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        raise self._fault

    def close(self) -> None:
        pass
