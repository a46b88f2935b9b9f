"""A course: course.toml, what a teacher sets, and the limits of the GPU model it names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader import settings
from grader.device import MAX_GRID_Y
from grader.finding import GraderFault

_KIB = 1024

# Compute capability -> shared memory in KiB that one block can have after opting in.
# From the table "Technical Specifications per Compute Capability" of NVIDIA's CUDA C++
# Programming Guide; the other limits of Target are the same for all of these.
_SHARED_OPTIN_KIB = {
    "6.0": 48,
    "6.1": 48,
    "7.0": 96,
    "7.5": 64,
    "8.0": 163,
    "8.6": 99,
    "8.7": 163,
    "8.9": 99,
    "9.0": 227,
    "10.0": 227,
    "10.3": 227,
    "12.0": 99,
    "12.1": 99,
}

# GPU model -> compute capability, from NVIDIA's list of CUDA-enabled GPUs.
_MODELS = {
    "P100": "6.0",
    "GTX 1080": "6.1",
    "GTX 1080 Ti": "6.1",
    "V100": "7.0",
    "T4": "7.5",
    "RTX 2080": "7.5",
    "RTX 2080 Ti": "7.5",
    "Quadro RTX 6000": "7.5",
    "A100": "8.0",
    "A30": "8.0",
    "A2": "8.6",
    "A10": "8.6",
    "A40": "8.6",
    "RTX A4000": "8.6",
    "RTX A5000": "8.6",
    "RTX A6000": "8.6",
    "RTX 3060": "8.6",
    "RTX 3070": "8.6",
    "RTX 3080": "8.6",
    "RTX 3090": "8.6",
    "Jetson AGX Orin": "8.7",
    "L4": "8.9",
    "L40": "8.9",
    "L40S": "8.9",
    "RTX 6000 Ada": "8.9",
    "RTX 4060": "8.9",
    "RTX 4070": "8.9",
    "RTX 4080": "8.9",
    "RTX 4090": "8.9",
    "H100": "9.0",
    "H200": "9.0",
    "GH200": "9.0",
    "B200": "10.0",
    "GB200": "10.0",
    "B300": "10.3",
    "GB300": "10.3",
    "RTX PRO 6000": "12.0",
    "RTX 5070": "12.0",
    "RTX 5080": "12.0",
    "RTX 5090": "12.0",
    "DGX Spark": "12.1",
}

_KEYS = ("target_gpu", "deadline")
_ARCHITECTURE = re.compile(r"(?:sm|compute)_?([0-9]+)([0-9])[af]?")


class CourseError(GraderFault):
    """course.toml is wrong; the text names file, key and what is allowed."""


@dataclass(frozen=True)
class Target:
    """The limits of a GPU model; bytes for shared memory. The simulator enforces them, too."""

    name: str  # "H200", or "sm_90" where course.toml names an architecture
    compute_capability: str  # "9.0"
    shared_per_block_optin: int  # static and dynamic shared memory of a block together
    shared_per_block: int = 48 * _KIB  # static shared memory alone
    max_threads_per_block: int = 1024
    max_block_x: int = 1024
    max_block_y: int = 1024
    max_grid_x: int = 2**31 - 1
    max_grid_y: int = MAX_GRID_Y

    @property
    def capability(self) -> tuple[int, int]:
        """(9, 0) for "9.0"."""
        major, minor = self.compute_capability.split(".")
        return int(major), int(minor)

    @property
    def architecture(self) -> str:
        """What nvcc calls it: `sm_90`."""
        return "sm_" + self.compute_capability.replace(".", "")


@dataclass(frozen=True)
class Course:
    """What a teacher sets for all exercises."""

    target: Target


def load(root: Path) -> Course:
    """Read course.toml of the project at `root`; raises CourseError with file and key."""
    top = settings.read(root / "course.toml", CourseError)
    top.only(_KEYS)
    word = top.text("target_gpu")
    try:
        return Course(target(word))
    except CourseError as fault:
        raise top.fault("target_gpu", str(fault)) from None


def target(word: str) -> Target:
    """The limits of a GPU model ("H200", "NVIDIA GeForce RTX 4090") or architecture ("sm_90").

    Raises CourseError for one that is not in the tables above.
    """
    model = {_plain(name): name for name in _MODELS}.get(_plain(word))
    if model is not None:
        return _of(model, _MODELS[model])
    match = _ARCHITECTURE.fullmatch(word.strip().lower())
    if match and f"{match[1]}.{match[2]}" in _SHARED_OPTIN_KIB:
        return _of(f"sm_{match[1]}{match[2]}", f"{match[1]}.{match[2]}")
    architectures = ", ".join("sm_" + known.replace(".", "") for known in _SHARED_OPTIN_KIB)
    raise CourseError(
        f'is "{word}", which this version does not know. '
        f"{settings.did_you_mean(word, _MODELS)}"
        f"Known GPUs: {', '.join(_MODELS)}. For another one give its architecture: "
        f"{architectures}."
    )


def _of(name: str, compute_capability: str) -> Target:
    return Target(name, compute_capability, _SHARED_OPTIN_KIB[compute_capability] * _KIB)


def _plain(name: str) -> str:
    """The model's name without what vendors put around it: `rtx4090`."""
    lowered = name.lower()
    for vendor in ("nvidia", "geforce", "tesla"):
        lowered = lowered.replace(vendor, "")
    return re.sub(r"[\s_-]", "", lowered)
