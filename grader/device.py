"""What every device offers: build a submission, launch a case, be closed.

`grader.simulator.device` runs kernels on the CPU, `grader.gpu.device` on an NVIDIA GPU. Both work
through a worker process and both only report what happened; `judge` decides what it means.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:  # names of types only: `problems.matmul` builds launches, and these import it
    from grader.counters import Counters
    from grader.exercise import Exercise
    from grader.finding import Finding, Location
    from grader.submission import Submission

Words = npt.NDArray[np.uint32]

# The symbol that LAUNCH_CONFIG of launch.cuh stores, and its six ints.
CONFIG_SYMBOL = "launch_config"
CONFIG_FORM = struct.Struct("<6i")
# Block rows of a grid, on every GPU.
MAX_GRID_Y = 65_535
# One launch may take this long; a kernel at a graded size takes milliseconds.
LAUNCH_LIMIT_S = 10.0
# What a kernel may print in one launch: enough to debug with, too little to drown a report.
OUTPUT_LIMIT_BYTES = 64 * 1024
# Device variables of a whole submission; more could hold a finished product between launches.
DEVICE_VARIABLES_LIMIT_BYTES = 1 << 20


@dataclass(frozen=True)
class LaunchConfig:
    """The integers of LAUNCH_CONFIG, in the order of the symbol's memory; bytes for the last."""

    block_x: int
    block_y: int
    tile_m: int
    tile_n: int
    tile_k: int = 1
    dynamic_shared: int = 0

    @property
    def tiles(self) -> tuple[int, int, int]:
        """Of M, N and K."""
        return self.tile_m, self.tile_n, self.tile_k


@dataclass(frozen=True)
class Build:
    """A compiled submission, or why there is none.

    Exactly one of `artifact`, `findings` and `unsupported` is set: `findings` is the student's
    fault; `unsupported` names a feature that this device does not have ("inline PTX").
    `resources` holds what the compiler reported: `registers`, `static_shared` and `spill` bytes.
    """

    exercise: Exercise
    submission: Submission
    device: str
    artifact: Path | None = None
    config: LaunchConfig | None = None
    findings: tuple[Finding, ...] = ()
    unsupported: str = ""
    resources: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def launch_config(self) -> LaunchConfig:
        assert self.config is not None, "only a complete build is launched"
        return self.config


class Role(Enum):
    """What a kernel may do with an operand. An output holds nothing when the launch begins."""

    INPUT = "input"
    OUTPUT = "output"
    BOTH = "both"


@dataclass(frozen=True)
class Operand:
    """One matrix in memory: guard words, the matrix, guard words, as raw 32-bit patterns.

    `image[guard:guard + size]` is the matrix, row-major. A device places `image` so that its
    element `guard` lies on a 256-byte boundary, as from cudaMalloc. Outside the contract elements
    may have other sizes (the image is then filled up to whole words), and an array with
    `rows` = 0 has one dimension, `cols`.
    """

    name: str
    rows: int
    cols: int
    guard: int
    image: Words
    role: Role = Role.INPUT
    element_bytes: int = 4

    @property
    def size(self) -> int:
        """Elements."""
        return max(self.rows, 1) * self.cols

    @property
    def bytes(self) -> int:
        return self.size * self.element_bytes

    def values(self, image: Words) -> npt.NDArray[np.float32]:
        """The matrix (rows x cols, float32) inside an image of this operand; no copy."""
        body = image[self.guard : self.guard + self.size]
        return body.view(np.float32).reshape(self.rows, self.cols)


@dataclass(frozen=True)
class Launch:
    """What a worker is told: memory, scalars, geometry, and how the simulator shall vary.

    For the simulator only: `order` seeds the order of threads (0: as numbered); with `watch`, every
    access is followed to find races and reads of unset memory, with `count` to fill
    `Run.counters`; `poison` is the 32-bit pattern that shared memory holds when a block starts.
    `timeout_s` is the limit for this launch.
    """

    operands: tuple[Operand, ...]
    scalars: tuple[int, ...]
    grid: tuple[int, int]
    grid_z: int = 1  # always 1 in the contract
    order: int = 0
    watch: bool = False
    count: bool = False
    poison: int = 0x7FA5A5A5
    timeout_s: float = LAUNCH_LIMIT_S


@dataclass(frozen=True)
class Run:
    """What came back: the operands' images afterwards, in the order of `Launch.operands`.

    `images` is empty when the launch did not finish; `findings` then says why. `suspicions`
    are faults only if C depends on them. `output` is what the kernel printed, cut to the cap.
    `seconds` is what the launch took: on the GPU its time there, in the simulator processor time.
    """

    images: tuple[Words, ...]
    findings: tuple[Finding, ...] = ()
    suspicions: tuple[Finding, ...] = ()
    output: str = ""
    counters: Counters | None = None
    seconds: float = 0.0


Elements = npt.NDArray[np.int64]  # of a matrix, counted along its rows


@dataclass(frozen=True)
class Loads:
    """Loads of one block, in their order: of which operand, which element, by which code."""

    operands: npt.NDArray[np.int64]
    elements: Elements
    pcs: npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Probe:
    """What one block did.

    `stored` are the elements of the output that it stored, ascending, each once, and `values` what
    they hold now; both None where that is not known. `loads` are the first ones, of the inputs.
    `where` looks up the place of a load, or (None) of the first store; that takes longer than a
    block.
    """

    findings: tuple[Finding, ...] = ()
    stored: Elements | None = None
    values: npt.NDArray[np.float32] | None = None
    loads: Loads | None = None
    where: Callable[[int | None], tuple[Location, ...]] = lambda pc: ()


class Device(Protocol):
    """A place where kernels run. Every method may raise GraderFault: never the student's fault."""

    kind: str  # "simulator" or "gpu"

    def describe(self) -> Mapping[str, Any]:
        """The entry of `devices` in results.json: kind, name, and what it knows of itself."""

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        """Compile the submission for this device; faults of the student become findings."""

    def launch(self, build: Build, launch: Launch) -> Run:
        """Launch once. A crash, a hang or a sticky error costs the worker, which is replaced."""

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        """Run one block (by its linear number) alone, on memory that exists only where it is
        touched, with signed index arithmetic checked: for shapes too large to store.

        The operands' images may be empty: inputs hold `sparse_words` (grader.problems). A device
        that cannot do this finds nothing, and does not know what is stored.
        """

    def close(self) -> None:
        """End the workers; may be called twice."""
