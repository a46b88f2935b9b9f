"""CUDA's error codes as findings: which are the kernel's fault, which the machine's.

A sticky error tells what the hardware saw, not where: places in the source come from the
simulator, or for `assert` from the text that the driver prints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from grader.finding import NOT_YOURS, Finding, GraderFault, Location
from grader.verdict import Verdict

# CUresult of cuda.h; the numbers never change.
INVALID_VALUE = 1
OUT_OF_MEMORY = 2
ILLEGAL_ADDRESS = 700
LAUNCH_OUT_OF_RESOURCES = 701
LAUNCH_TIMEOUT = 702
ASSERT = 710
HARDWARE_STACK_ERROR = 714
ILLEGAL_INSTRUCTION = 715
MISALIGNED_ADDRESS = 716
INVALID_ADDRESS_SPACE = 717
LAUNCH_FAILED = 719

_OF_THE_KERNEL: Mapping[int, tuple[Verdict, str]] = {
    ILLEGAL_ADDRESS: (Verdict.OUT_OF_BOUNDS, "illegal_address"),
    INVALID_ADDRESS_SPACE: (Verdict.OUT_OF_BOUNDS, "illegal_address"),
    MISALIGNED_ADDRESS: (Verdict.MISALIGNED, "misaligned_gpu"),
    HARDWARE_STACK_ERROR: (Verdict.CRASH, "stack_overflow"),
    ILLEGAL_INSTRUCTION: (Verdict.CRASH, "trap"),
    LAUNCH_FAILED: (Verdict.CRASH, "trap"),
}
# Reported after the kernel began, yet never its doing: memory full, no GPU, hardware faults
# (214 uncorrectable ECC, 46 unavailable, 999 unknown), a GPU that fell off its bus.
_OF_THE_MACHINE = frozenset({OUT_OF_MEMORY, 3, 4, 46, 100, 101, 214, 220, 226, 802, 803, 804, 999})

_ASSERTION = re.compile(
    r"^(?P<file>[^\n]*?):(?P<line>\d+): [^\n]*: "
    r"block: \[(?P<bx>\d+),(?P<by>\d+),\d+\], thread: \[(?P<tx>\d+),(?P<ty>\d+),\d+\] "
    r"Assertion `(?P<expression>[^\n]*)` failed\.?$",
    re.MULTILINE,
)


@dataclass(frozen=True)
class CudaError:
    """What the worker says of a CUDA call that failed."""

    code: int
    name: str  # "CUDA_ERROR_ILLEGAL_ADDRESS"
    call: str  # "cuCtxSynchronize failed: an illegal memory access was encountered"


def read(header: Mapping[str, Any]) -> CudaError:
    """The error that the worker's answer tells of."""
    return CudaError(header["code"], header["name"], header["call"])


def explain(
    error: CudaError, complaints: str, file: str, limit_s: float, recursive: bool = False
) -> Finding:
    """The finding for an error of a launch; `complaints` is what the driver printed meanwhile.

    A stack that is too small shows as an illegal address; whether the kernel calls itself
    (`recursive`) tells the two apart, since nvcc sizes the stack for all other kernels.
    Raises GraderFault for an error that a kernel cannot cause.
    """
    if error.code in _OF_THE_MACHINE:
        raise machine_fault(error)
    if error.code == ASSERT:
        return _assertion(complaints, file)
    if error.code in (LAUNCH_OUT_OF_RESOURCES, INVALID_VALUE):  # more threads than bounds allow
        return Finding(Verdict.BAD_LAUNCH, "launch_resources", {})
    if error.code == LAUNCH_TIMEOUT:  # the watchdog of a GPU that also drives a screen
        return timeout(limit_s)
    if error.code == ILLEGAL_ADDRESS and recursive:
        return Finding(Verdict.CRASH, "stack_overflow", {"thread": [], "block": []})
    if error.code in _OF_THE_KERNEL:
        verdict, kind = _OF_THE_KERNEL[error.code]
        unknown: dict[str, Any] = {"thread": [], "block": []} if verdict is Verdict.CRASH else {}
        return Finding(verdict, kind, unknown)
    return Finding(Verdict.CRASH, "gpu_error", {"code": error.code, "name": error.name})


def timeout(limit_s: float) -> Finding:
    """The kernel did not end in time."""
    return Finding(Verdict.TIMEOUT, "timeout_gpu", {"limit_s": limit_s})


def machine_fault(error: CudaError) -> GraderFault:
    """Our fault or the machine's, in words."""
    if error.code == OUT_OF_MEMORY:
        return GraderFault(
            f"The GPU has too little free memory ({error.call}). {NOT_YOURS} "
            "Next: look with nvidia-smi for other programs on this GPU."
        )
    return GraderFault(
        f"The GPU reports {error.name} ({error.call}). {NOT_YOURS} Next: make doctor"
    )


def _assertion(complaints: str, file: str) -> Finding:
    match = _ASSERTION.search(complaints)
    if match is None:  # the driver's text did not arrive; the code is proof enough
        facts: dict[str, Any] = {"expression": "", "thread": [], "block": []}
        return Finding(Verdict.CRASH, "assertion", facts)
    facts = {
        "expression": match["expression"],
        "thread": [int(match["tx"]), int(match["ty"])],
        "block": [int(match["bx"]), int(match["by"])],
    }
    own = match["file"] == file or match["file"].endswith("/" + file)
    places = (Location(file, int(match["line"]), "error"),) if own else ()
    return Finding(Verdict.CRASH, "assertion", facts, places)
