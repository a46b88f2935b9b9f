"""Large shapes: what the last block does at sizes at which kernels are usually timed, and where
indices are as large as the contract allows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from grader.device import Build, Device, Elements, Launch, LaunchConfig, Loads, Probe
from grader.finding import Finding, Location
from grader.problems.matmul import (
    Layout,
    Shape,
    beyond_shapes,
    large_shapes,
    prepare_sparse,
    sparse_product,
    usual_shapes,
)
from grader.verdict import Verdict

# A tile that lies across others touches four of them; what touches more is no tile.
_MOST_OWNERS = 4
# A block that computes nothing but its own tile is done by then; one that does the work of others
# at such a shape is not, and may be ended.
_USUAL_S = 2.0
# In two columns, a Z order leaves the usual one in the third row; in one row, at the third block.
_USUAL_ROWS, _USUAL_BLOCKS = 4, 8
_SOME_BLOCKS = 29  # a prime: blocks that only every 2nd, 4th or 8th of is busy are met
# Rows and columns of a block whose values are compared: more than a tile has of either.
_MOST_COMPARED = 512


def usual_blocks(device: Device, build: Build) -> tuple[Blocks, ...]:
    """The blocks of shapes of a usual size, for which a kernel may have a way of its own."""
    config = build.launch_config
    shapes = usual_shapes(config)
    return tuple(Blocks(device, build, config, shape, usual=True) for shape in shapes)


def large_blocks(device: Device, build: Build) -> tuple[Blocks, ...]:
    """The blocks of the shapes near the contract's limit."""
    config = build.launch_config
    return tuple(Blocks(device, build, config, shape) for shape in large_shapes(config))


def probe_large(large: Sequence[Blocks]) -> tuple[Finding, ...]:
    """Faults of the last block at these shapes, in a kernel that has none at small ones. Raises
    GraderFault.

    A block that takes too long there proves nothing: such sizes are not meant for a CPU.
    """
    return tuple(fault for blocks in large for fault in blocks.faults())


def wrong_tiles(large: Sequence[Blocks]) -> tuple[Finding, ...]:
    """Tiles of C at these shapes that no block stores, that hold wrong values, or whose block goes
    wrong, in a kernel that is right at small ones: it has a way of its own there, or a number of it
    is too narrow. Raises GraderFault.

    An index that overflows is for `safe` alone: on a GPU, its value is often right in the end.
    """
    faults = probe_large(large)
    if outside := tuple(f for f in faults if f.verdict is not Verdict.INDEX_OVERFLOW):
        return outside
    found: list[Finding] = []
    for blocks in large:
        probe = blocks.of_last
        if not probe.findings:
            wrong = blocks.misplaced(probe) or blocks.wrong_values(probe)
            found += [replace(f, shape=blocks.shape) for f in wrong]
    return tuple(found)


def note_overflow(device: Device, build: Build, note: Callable[[Finding], None]) -> None:
    """Indices that overflow just beyond the contract's sizes, where a correct kernel may end.

    Raises GraderFault.
    """
    for shape in beyond_shapes(build.launch_config):
        blocks = Blocks(device, build, build.launch_config, shape)
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
    usual: bool = False  # a size at which each access is followed, and no number is too narrow

    @property
    def launch(self) -> Launch:
        launch = prepare_sparse(self.build.exercise, self.config, self.shape)
        return replace(launch, watch=self.usual)

    @property
    def last(self) -> int:
        across, down = self.launch.grid
        return across * down - 1

    @cached_property
    def of_last(self) -> Probe:
        """What the last block does; it runs once."""
        return self.run(self.last, _USUAL_S if self.usual else None)

    @cached_property
    def of_first(self) -> Probe:
        """What the first block does, as long as that is the work of one."""
        return self.run(0, _USUAL_S)

    def faults(self) -> tuple[Finding, ...]:
        """What the last block does that no block may do."""
        told = [f for f in self.of_last.findings if f.verdict is not Verdict.TIMEOUT]
        return tuple(replace(self._only_here(f), shape=self.shape) for f in told)

    def _only_here(self, finding: Finding) -> Finding:
        """Guards and strides were right at small shapes, so that other questions help."""
        if finding.kind not in ("global_access", "wild_access"):
            return finding
        return replace(finding, kind=finding.kind + ("_usual" if self.usual else "_when_large"))

    def run(self, block: int, timeout_s: float | None = None) -> Probe:
        launch = self.launch
        launch = replace(launch, timeout_s=timeout_s or launch.timeout_s)
        return self.device.probe_block(self.build, launch, block)

    def misplaced(self, probe: Probe) -> tuple[Finding, ...]:
        """A fault where the last block leaves its tile to nobody. A kernel may number its tiles in
        another order, so it is none to store another tile, unless the block that has this number
        in the usual order stores that as well; nor to store nothing, unless the order is the usual
        one at the beginning, so that no block makes up for it, or others store nothing either."""
        stored = probe.stored
        if stored is None or _holds(stored, self.tile(self.last)):
            return ()
        if len(stored) == 0:
            nobody = self._begins_as_usual() or self._nobody_stores()
            return (self._missed(probe, {}),) if nobody else ()
        owners = self.owners(stored)
        if len(owners) > _MOST_OWNERS:
            return ()
        theirs = [self.run(owner).stored for owner in owners if owner != self.last]
        known = [elements for elements in theirs if elements is not None]
        if len(known) < len(theirs) or not known or not _holds(np.concatenate(known), stored):
            return ()
        facts = {"other_block": self._position(owners[0]), "stored": self._element(stored[0])}
        return (self._missed(probe, facts),)

    def wrong_values(self, probe: Probe) -> tuple[Finding, ...]:
        """A fault where the last block stored something else than the product, alone as it is: the
        rules let no block wait for another."""
        if probe.stored is None or probe.values is None or len(probe.stored) == 0:
            return ()
        rows, cols = np.divmod(probe.stored, self.shape.n)
        some_rows, some_cols = (np.unique(each)[-_MOST_COMPARED:] for each in (rows, cols))
        compared = np.isin(rows, some_rows) & np.isin(cols, some_cols)
        right = sparse_product(self.build.exercise, self.shape, some_rows, some_cols)
        places = np.searchsorted(some_rows, rows), np.searchsorted(some_cols, cols)
        expected = right[tuple(np.where(compared, each, 0) for each in places)]
        wrong = np.flatnonzero(compared & ~np.isnan(expected) & (probe.values != expected))
        if len(wrong) == 0:
            return ()
        first = wrong[0]
        facts = {
            "block": self._position(self.last),
            "element": self._element(probe.stored[first]),
            "got": float(probe.values[first]),
            "expected": float(expected[first]),
        }
        stray = self._stray(probe.loads, rows, cols) if probe.loads is not None else None
        if stray is None:
            return (self._finding("wrong_when_large", facts, probe.where(None)),)
        operand, element, pc = stray
        facts["read"] = {"name": "AB"[operand], "index": element}
        return (self._finding("wrong_when_large", facts, probe.where(pc)),)

    def _stray(
        self, loads: Loads, rows: Elements, cols: Elements
    ) -> tuple[int, list[int], int] | None:
        """The first load of an element that no product of these rows and columns has: operand,
        element and code."""
        along_k = self.build.exercise.b_layout is Layout.NXK
        widths = np.array([self.shape.k, self.shape.k if along_k else self.shape.n])
        first, second = np.divmod(loads.elements, widths[loads.operands])
        of_b = np.isin(first if along_k else second, cols)
        strays = np.flatnonzero(~np.where(loads.operands == 0, np.isin(first, rows), of_b))
        if len(strays) == 0:
            return None
        spot = strays[0]
        element = [int(first[spot]), int(second[spot])]
        return int(loads.operands[spot]), element, int(loads.pcs[spot])

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

    def _begins_as_usual(self) -> bool:
        """Whether the first blocks of the first rows keep to their own tiles: the first of all does
        so in a Z order or along diagonals, too."""
        across, down = self.launch.grid
        rows = range(min(down, _USUAL_ROWS))
        cols = range(min(across, _USUAL_BLOCKS // len(rows)))
        return all(self._is_usual(row * across + col) for row in rows for col in cols)

    def _nobody_stores(self) -> bool:
        """Whether the first block and some between it and the last store nothing."""
        between = np.linspace(0, self.last, _SOME_BLOCKS, dtype=int, endpoint=False)
        return all(self._stores_nothing(int(block)) for block in between)

    def _stores_nothing(self, block: int) -> bool:
        stored = self._stored(block)
        return stored is not None and len(stored) == 0

    def _is_usual(self, block: int) -> bool:
        stored = self._stored(block)
        return stored is not None and np.array_equal(stored, self.tile(block))

    def _stored(self, block: int) -> Elements | None:
        probe = self.run(block, _USUAL_S) if block else self.of_first
        return probe.stored

    def _missed(self, probe: Probe, more: Mapping[str, object]) -> Finding:
        missed = self._element(self.tile(self.last)[0])
        facts = {"block": self._position(self.last), "missed": missed, **more}
        return self._finding("tile_missed", facts, probe.where(None))

    def _finding(
        self, kind: str, facts: Mapping[str, object], places: tuple[Location, ...]
    ) -> Finding:
        verdict = Verdict.WRONG_ANSWER if self.usual else Verdict.INDEX_OVERFLOW
        kind = f"{kind}_usual" if self.usual else kind
        return Finding(verdict, kind, facts, places, device=self.device.kind)

    def _position(self, block: int) -> list[int]:
        across = self.launch.grid[0]
        return [block % across, block // across]

    def _element(self, element: int) -> list[int]:
        return [int(element) // self.shape.n, int(element) % self.shape.n]


def _holds(elements: Elements, wanted: Elements) -> bool:
    return bool(np.isin(wanted, elements).all())
