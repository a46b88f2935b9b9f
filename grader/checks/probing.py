"""Large shapes: what the last block does where indices are as large as the contract allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from grader.device import Build, Device, Launch, LaunchConfig, Probe
from grader.finding import Finding
from grader.problems.matmul import Shape, beyond_shapes, large_shapes, prepare_sparse
from grader.verdict import Verdict

# A tile that lies across others touches four of them; what touches more is no tile.
_MOST_OWNERS = 4
# A block that computes nothing but its own tile is done by then; one that does the work of others
# at such a shape is not, and may be ended.
_USUAL_S = 2.0

Elements = npt.NDArray[np.int64]  # of C, counted along its rows


def large_blocks(device: Device, build: Build) -> tuple[Blocks, ...]:
    """The blocks of the shapes near the contract's limit."""
    assert build.config is not None, "only a complete build is launched"
    return tuple(Blocks(device, build, build.config, shape) for shape in large_shapes(build.config))


def probe_large(large: Sequence[Blocks]) -> tuple[Finding, ...]:
    """Faults of the last block at these shapes. Raises GraderFault.

    A block that takes too long there proves nothing: such sizes are not meant for a CPU.
    """
    found: list[Finding] = []
    for blocks in large:
        told = blocks.of_last.findings
        found += [replace(f, shape=blocks.shape) for f in told if f.verdict is not Verdict.TIMEOUT]
    return tuple(found)


def missed_tiles(large: Sequence[Blocks]) -> tuple[Finding, ...]:
    """Tiles of C at these shapes that no block stores, in a kernel that is right at small ones: a
    number of it is too narrow. Raises GraderFault."""
    found: list[Finding] = []
    for blocks in large:
        if not blocks.of_last.findings:
            found += [replace(f, shape=blocks.shape) for f in blocks.misplaced(blocks.of_last)]
    return tuple(found)


def note_overflow(device: Device, build: Build, note: Callable[[Finding], None]) -> None:
    """Indices that overflow just beyond the contract's sizes, where a correct kernel may end.

    Raises GraderFault.
    """
    assert build.config is not None, "only a complete build is launched"
    for shape in beyond_shapes(build.config):
        blocks = Blocks(device, build, build.config, shape)
        for finding in blocks.of_last.findings:
            if finding.verdict is Verdict.INDEX_OVERFLOW:
                note(replace(finding, kind="overflow_beyond", shape=shape))


@dataclass(frozen=True)
class Blocks:
    """The blocks of one shape, by linear number; each runs alone."""

    device: Device
    build: Build
    config: LaunchConfig
    shape: Shape

    @property
    def launch(self) -> Launch:
        return prepare_sparse(self.build.exercise, self.config, self.shape)

    @property
    def last(self) -> int:
        across, down = self.launch.grid
        return across * down - 1

    @cached_property
    def of_last(self) -> Probe:
        """What the last block does; it runs once."""
        return self.run(self.last)

    def run(self, block: int, timeout_s: float | None = None) -> Probe:
        launch = self.launch
        launch = replace(launch, timeout_s=timeout_s or launch.timeout_s)
        return self.device.probe_block(self.build, launch, block)

    def misplaced(self, probe: Probe) -> tuple[Finding, ...]:
        """A fault where the last block leaves its tile to nobody. A kernel may number its tiles in
        another order, so it is none to store another tile, unless the block that has this number
        in the usual order stores that as well; nor to store nothing, unless the first block keeps
        to its own tile, so that no block makes up for it."""
        stored = probe.stored
        if stored is None or _holds(stored, self.tile(self.last)):
            return ()
        if len(stored) == 0:
            return () if not self._first_is_usual() else (self._finding(probe, {}),)
        owners = self.owners(stored)
        if len(owners) > _MOST_OWNERS:
            return ()
        theirs = [self.run(owner).stored for owner in owners if owner != self.last]
        known = [elements for elements in theirs if elements is not None]
        if len(known) < len(theirs) or not known or not _holds(np.concatenate(known), stored):
            return ()
        facts = {"other_block": self._position(owners[0]), "stored": self._element(stored[0])}
        return (self._finding(probe, facts),)

    def tile(self, block: int) -> Elements:
        """The elements of C that belong to a block in the usual order."""
        x, y = self._position(block)
        config, shape = self.config, self.shape
        rows = np.arange(y * config.tile_m, min((y + 1) * config.tile_m, shape.m), dtype=np.int64)
        cols = np.arange(x * config.tile_n, min((x + 1) * config.tile_n, shape.n), dtype=np.int64)
        return (rows[:, None] * shape.n + cols).ravel()

    def owners(self, elements: Elements) -> list[int]:
        """The blocks that have these elements in the usual order, ascending."""
        rows, cols = elements // self.shape.n, elements % self.shape.n
        across = self.launch.grid[0]
        blocks = rows // self.config.tile_m * across + cols // self.config.tile_n
        return [int(block) for block in np.unique(blocks)]

    def _first_is_usual(self) -> bool:
        stored = self.run(0, _USUAL_S).stored
        return stored is not None and np.array_equal(stored, self.tile(0))

    def _finding(self, probe: Probe, more: Mapping[str, object]) -> Finding:
        missed = self._element(self.tile(self.last)[0])
        facts = {"block": self._position(self.last), "missed": missed, **more}
        kind = "tile_missed"
        places = probe.where()
        return Finding(Verdict.INDEX_OVERFLOW, kind, facts, places, device=self.device.kind)

    def _position(self, block: int) -> list[int]:
        across = self.launch.grid[0]
        return [block % across, block // across]

    def _element(self, element: int) -> list[int]:
        return [int(element) // self.shape.n, int(element) % self.shape.n]


def _holds(elements: Elements, wanted: Elements) -> bool:
    return bool(np.isin(wanted, elements).all())
