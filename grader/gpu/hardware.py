"""The GPU of this machine: whether there is one to use, and what the worker says of it."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass

from grader import toolchain
from grader.driver import find_driver
from grader.finding import GraderFault
from grader.gpu.frames import Frame
from grader.toolchain import NOT_YOURS

NO_PYCUDA = f"PyCUDA is not installed for {sys.executable}. {NOT_YOURS} Next: make setup"


def available() -> str:
    """Empty when this machine can run submissions on a GPU, else why not and what mends it."""
    driver = find_driver()
    if driver.problem:
        return f"{driver.problem}. {NOT_YOURS} Next: make doctor"
    if importlib.util.find_spec("pycuda") is None:
        return NO_PYCUDA
    try:
        toolchain.check_architecture(toolchain.nvcc(), driver.gpus[0].compute_capability)
    except GraderFault as fault:
        return str(fault)
    return ""


@dataclass(frozen=True)
class Gpu:
    """What the worker says of its GPU; bytes for sizes."""

    name: str
    uuid: str
    driver: str  # the driver's own version; "" where the system does not tell
    cuda: str  # the newest CUDA version that the driver supports
    compute_capability: tuple[int, int]
    memory_bytes: int
    l2_bytes: int
    multiprocessors: int
    shared_per_block_optin: int

    @property
    def architecture(self) -> str:
        """What nvcc calls it: `sm_90`."""
        return "sm_{}{}".format(*self.compute_capability)


def greet(frame: Frame) -> Gpu:
    """The GPU that the worker found; raises GraderFault when it found none."""
    header = dict(frame.header)
    if header.pop("event") == "hello":
        header["compute_capability"] = tuple(header["compute_capability"])
        return Gpu(**header)
    if header["module"].partition(".")[0] == "pycuda":
        raise GraderFault(NO_PYCUDA)
    raise GraderFault(f"The GPU cannot be used: {header['detail']}. {NOT_YOURS} Next: make doctor")
