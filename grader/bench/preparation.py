"""A kernel before it is measured: built, found right on a few shapes, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.checks.build import CompilerCheck, compile_entry
from grader.checks.plan import PRACTICE_SEED, Entry
from grader.checks.subject import UNSAFE
from grader.checks.trial import count_shape, try_shape
from grader.counters import Counters
from grader.course import Target
from grader.device import Build, Device, LaunchConfig
from grader.finding import Finding, KernelFault, NotGraded, ordered
from grader.problems.matmul import PINNED, Shape, whole_tile_shapes

# The smallest, and one with several blocks and steps: what is wrong here is wrong everywhere.
_WHOLE_TILES = 3


@dataclass(frozen=True)
class Refusal:
    """Why a kernel is not measured: the check that it fails, and with what."""

    check: str  # "compiles", "safe", "whole_tiles"
    finding: Finding


@dataclass(frozen=True)
class Prepared:
    """A kernel that gives right answers for whole tiles.

    `build` is None where the simulator lacks something that it uses (`lacking` says what). `edge`
    is the fault that it has at other shapes, which are then left out.
    """

    entry: Entry
    build: Build | None
    edge: Finding | None = None
    lacking: str = ""

    @property
    def config(self) -> LaunchConfig | None:
        return self.build.config if self.build else None


@dataclass(frozen=True)
class Counted:
    """The counters of one launch."""

    shape: Shape
    counters: Counters


def prepare(
    entry: Entry,
    device: Device,
    target: Target,
    nvcc: CompilerCheck | None = None,
    shapes: Sequence[Shape] = PINNED,
) -> Prepared | Refusal:
    """Build for `device` and try whole tiles, then `shapes`; where there is an `nvcc` it decides
    what compiles. Raises GraderFault."""
    try:
        compiled = compile_entry(entry, device, target, nvcc)
    except KernelFault as fault:
        return Refusal("compiles", ordered(fault.findings)[0])
    if compiled.build is None:
        return Prepared(entry, None, lacking=compiled.unsupported)
    build = compiled.build
    if fault_ := _first_fault(device, build, whole_tile_shapes(build.launch_config)[:_WHOLE_TILES]):
        return Refusal("safe" if fault_.verdict in UNSAFE else "whole_tiles", fault_)
    return Prepared(entry, build, edge=_first_fault(device, build, shapes))


def count(prepared: Prepared, device: Device, shape: Shape) -> Counted | None:
    """The counters at `shape`; None where the device cannot run or count this kernel."""
    if prepared.build is None:
        return None
    try:
        return Counted(shape, count_shape(device, prepared.build, shape, PRACTICE_SEED))
    except NotGraded:
        return None


def _first_fault(device: Device, build: Build, shapes: Sequence[Shape]) -> Finding | None:
    """The most telling fault at the first shape that has one; every access is followed."""
    for shape in shapes:
        if findings := try_shape(device, build, shape, PRACTICE_SEED, watch=True):
            return replace(ordered(findings)[0], shape=shape)
    return None
