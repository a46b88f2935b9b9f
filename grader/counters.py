"""Counters of a launch, named as in Nsight Compute, for each source line that touches memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from grader.problems.matmul import Shape

SECTOR_WORDS = 8  # of 4 bytes


@dataclass(frozen=True)
class LineCounter:
    """One kind of access on one line: a load or store of `bytes` bytes a lane to one array.

    `words` are the 4-byte words that lanes asked for, `ideal_sectors` the 32-byte sectors that the
    distinct words of each request would fill. Shared accesses have wavefronts instead, once as
    written and once (`merged_`) with each lane's neighbouring scalar loads taken together, as nvcc
    does where it can: not volatile ones, nor those of two iterations of a loop under
    `#pragma unroll 1`. `approximate`: lanes went through the line unequally often, so accesses may
    have been put together that the hardware makes apart.
    """

    line: int
    access: str  # "load", "store" or "atomic", whose words are operations by lanes
    space: str  # "global" or "shared"
    name: str  # "A", "As"
    bytes: int
    requests: int
    words: int
    sectors: int = 0
    ideal_sectors: int = 0
    wavefronts: int = 0
    ideal_wavefronts: int = 0
    merged_requests: int = 0
    merged_wavefronts: int = 0
    merged_ideal_wavefronts: int = 0
    approximate: bool = False

    @property
    def bank_conflicts(self) -> int:
        return self.wavefronts - self.ideal_wavefronts

    @property
    def merged_bank_conflicts(self) -> int:
        return self.merged_wavefronts - self.merged_ideal_wavefronts


@dataclass(frozen=True)
class Stride:
    """How far apart most neighbouring lanes are, and whether all of them are."""

    bytes: int
    everywhere: bool


@dataclass(frozen=True)
class Request:
    """One request of a warp: the first of the most expensive ones of its line, access and array.

    `cost` and `ideal` are sectors for global memory and wavefronts for shared memory.
    `offsets` are those of the lanes in bytes from the array's start, None for lanes that took no
    part; a shared array starts in bank 0. `group` lanes are served together.
    """

    line: int
    access: str
    space: str
    name: str
    bytes: int  # of one lane
    cost: int
    ideal: int
    group: int
    warp: int  # number in its block
    block: tuple[int, ...]
    offsets: tuple[int | None, ...]

    @property
    def stride(self) -> Stride | None:
        """None where no distance between neighbouring lanes is that of most pairs."""
        pairs = zip(self.offsets, self.offsets[1:], strict=False)
        steps = Counter(
            right - left for left, right in pairs if left is not None and right is not None
        )
        if not steps:
            return None
        step, times = steps.most_common(1)[0]
        return Stride(step, len(steps) == 1) if 2 * times > steps.total() else None


@dataclass(frozen=True)
class Counters:
    """All lines of a launch; `barriers` is summed over the blocks. `worst` has a request for each
    entry of `lines`, in the same order, where the device keeps them. `uncounted` are accesses for
    which it had no room: then the others say nothing about the kernel. `atomics` stand apart: what
    they cost beyond a load or store at the same places is not counted."""

    lines: tuple[LineCounter, ...]
    barriers: int
    uncounted: int = 0
    worst: tuple[Request, ...] = ()
    atomics: tuple[LineCounter, ...] = ()

    def select(self, space: str, access: str = "", name: str = "") -> tuple[LineCounter, ...]:
        """The lines of one space, and of one access and array where given."""
        return tuple(
            line
            for line in self.lines
            if line.space == space and access in ("", line.access) and name in ("", line.name)
        )

    @property
    def bytes_moved(self) -> int:
        """Between L1 and L2, in whole sectors."""
        return 4 * SECTOR_WORDS * sum(line.sectors for line in self.select("global"))

    @property
    def conflict_share(self) -> float:
        """Bank conflicts as a share of the wavefronts of shared memory."""
        shared = self.select("shared")
        wavefronts = total(shared, "wavefronts")
        return total(shared, "bank_conflicts") / wavefronts if wavefronts else 0.0

    def arithmetic_intensity(self, shape: Shape) -> float:
        """Operations (2*M*N*K) for each byte moved; 0 when nothing was moved."""
        return 2 * shape.m * shape.n * shape.k / self.bytes_moved if self.bytes_moved else 0.0


def total(lines: Iterable[LineCounter], field: str) -> int:
    """The sum of one counter over some lines."""
    return sum(int(getattr(line, field)) for line in lines)
