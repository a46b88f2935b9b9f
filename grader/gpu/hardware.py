"""The GPU of this machine: whether there is one to use, and what the worker says of it."""

from __future__ import annotations

import importlib.util
import sys
from dataclasses import dataclass

from grader import toolchain
from grader.driver import find_driver
from grader.finding import NOT_YOURS, GraderFault
from grader.gpu.frames import Frame

# FP32 multiply-adds that a multiprocessor starts in a clock, from the table "Throughput of Native
# Arithmetic Instructions" of NVIDIA's CUDA C++ Programming Guide.
_FP32_CORES = {(6, 0): 64, (7, 0): 64, (7, 2): 64, (7, 5): 64, (8, 0): 64}
_FP32_CORES_OF_OTHERS = 128
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
    clock_khz: int  # the highest, of the multiprocessors and of the memory
    memory_clock_khz: int
    memory_bus_bits: int

    @property
    def architecture(self) -> str:
        """What nvcc calls it: `sm_90`."""
        return "sm_{}{}".format(*self.compute_capability)

    @property
    def peak_gflops(self) -> float:
        """What all FP32 cores do at the highest clock: a multiply-add a clock, two operations."""
        cores = _FP32_CORES.get(self.compute_capability, _FP32_CORES_OF_OTHERS)
        return self.multiprocessors * cores * 2 * self.clock_khz * 1e-6

    @property
    def memory_gb_per_s(self) -> float:
        """The bandwidth of the GPU's memory: its bus carries a word twice a clock."""
        return 2 * self.memory_clock_khz * 1e3 * self.memory_bus_bits / 8 * 1e-9


def greet(frame: Frame) -> Gpu:
    """The GPU that the worker found; raises GraderFault when it found none."""
    header = dict(frame.header)
    if header.pop("event") == "hello":
        header["compute_capability"] = tuple(header["compute_capability"])
        return Gpu(**header)
    if header["module"].partition(".")[0] == "pycuda":
        raise GraderFault(NO_PYCUDA)
    raise GraderFault(f"The GPU cannot be used: {header['detail']}. {NOT_YOURS} Next: make doctor")
