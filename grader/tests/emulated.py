"""A tiled kernel written in numpy, with every mistake as an option: the judge without a device."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from grader.device import Build, Launch, LaunchConfig, Run
from grader.diagnosis import Evidence, explain
from grader.exercise import Exercise
from grader.finding import Finding
from grader.problems.matmul import Case, Layout, Shape, fresh_poison, prepare
from grader.submission import Submission

Index = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float32]

TILED = LaunchConfig(block_x=8, block_y=8, tile_m=8, tile_n=8, tile_k=8)
FLAT = LaunchConfig(block_x=8, block_y=4, tile_m=4, tile_n=8, tile_k=1)
TUNED = LaunchConfig(block_x=8, block_y=4, tile_m=16, tile_n=32, tile_k=8)


def exercise(layout: Layout = Layout.KXN, hints: dict[str, str] | None = None) -> Exercise:
    return Exercise(
        name="02_tiled",
        title="Tiles",
        kernel="matmul_tiled",
        b_layout=layout,
        graded=True,
        points={},
        limits={},
        hints=hints or {},
        folder=Path("exercises/02_tiled"),
    )


def build_of(config: LaunchConfig, layout: Layout = Layout.KXN, device: str = "simulator") -> Build:
    name = "starter/02_tiled.cu"
    submission = Submission(name=name, path=Path(name), text="", sha256="")
    return Build(exercise(layout), submission, device, artifact=Path("a"), config=config)


class Memory:
    """The operands' images during a launch; a far index reads the guard, as a near one does."""

    def __init__(self, launch: Launch) -> None:
        self.operands = {operand.name: operand for operand in launch.operands}
        self.images = {name: operand.image.copy() for name, operand in self.operands.items()}

    def load(self, name: str, index: Index) -> Floats:
        image = self.images[name]
        place = np.clip(index + self.operands[name].guard, 0, image.size - 1)
        return image.view(np.float32)[place]

    def store(self, name: str, index: Index, values: Floats, where: npt.NDArray[np.bool_]) -> None:
        image = self.images[name]
        where, place = np.broadcast_arrays(where, index + self.operands[name].guard)
        where = where & (place >= 0) & (place < image.size)  # what lies further off, nobody sees
        image[place[where]] = np.broadcast_to(values, where.shape)[where].view(np.uint32)


def _ceiling_steps(k: int, tile_k: int) -> Iterable[int]:
    return range(-(-k // tile_k))


def _same(tile: Floats) -> Floats:
    return tile


@dataclass(frozen=True)
class Kernel:
    """The textbook kernel; each field is one thing that it may do otherwise."""

    parameters: str = "MNK"  # the order in which the kernel declares them
    a: Callable[[Index, Index, Shape], Index] = lambda row, k, s: row * s.k + k
    b: Callable[[Index, Index, Shape], Index] | None = None  # (k, col); default: as stored
    c: Callable[[Index, Index, Shape], Index] = lambda row, col, s: row * s.n + col
    steps: Callable[[int, int], Iterable[int]] = _ceiling_steps
    guard_a: bool = True  # k < K before loading A
    guard_b: bool = True
    stale: bool = False  # the guard skips the store into the tile: the old value stays
    see_a: Callable[[Floats], Floats] = _same  # the tile as it is read from shared memory
    see_b: Callable[[Floats], Floats] = _same
    writes: Callable[[Index, Index, Shape, LaunchConfig], npt.NDArray[np.bool_]] = (
        lambda row, col, s, config: np.ones(np.broadcast_shapes(row.shape, col.shape), bool)
    )
    result: Callable[[Floats, Floats], Floats] = lambda old, total: total
    start: float = 0.0
    swap_blocks: bool = False
    buffer_of: Callable[[int, int], int] = lambda step, steps: step  # double buffering

    def run(self, launch: Launch, config: LaunchConfig, layout: Layout) -> Memory:
        memory = Memory(launch)
        given = dict(zip(self.parameters, launch.scalars, strict=True))
        shape = Shape(given["M"], given["N"], given["K"])
        for y in range(launch.grid[1]):
            for x in range(launch.grid[0]):
                block = (y, x) if self.swap_blocks else (x, y)
                self._block(memory, launch, config, layout, shape, block)
        return memory

    def _block(
        self,
        memory: Memory,
        launch: Launch,
        config: LaunchConfig,
        layout: Layout,
        shape: Shape,
        block: tuple[int, int],
    ) -> None:
        row = block[1] * config.tile_m + np.arange(config.tile_m)[:, None]
        col = block[0] * config.tile_n + np.arange(config.tile_n)[None, :]
        unset = np.uint32(launch.poison).view(np.float32)
        a_tile = np.full((config.tile_m, config.tile_k), unset)
        b_tile = np.full((config.tile_k, config.tile_n), unset)
        total = np.full((config.tile_m, config.tile_n), np.float32(self.start))
        b_index = self.b or (
            (lambda k, c, s: k * s.n + c) if layout is Layout.KXN else (lambda k, c, s: c * s.k + k)
        )
        steps = list(self.steps(shape.k, config.tile_k))
        for step in steps:
            base = self.buffer_of(step, len(steps)) * config.tile_k
            k = base + np.arange(config.tile_k)
            k_row, k_col = k[None, :], k[:, None]
            ok_a = (row < shape.m) & ((k_row < shape.k) | (not self.guard_a))
            ok_b = (col < shape.n) & ((k_col < shape.k) | (not self.guard_b))
            rest_a, rest_b = (a_tile, b_tile) if self.stale else (np.float32(0), np.float32(0))
            a_tile = np.where(ok_a, memory.load("A", self.a(row, k_row, shape)), rest_a)
            b_tile = np.where(ok_b, memory.load("B", b_index(k_col, col, shape)), rest_b)
            seen_a, seen_b = self.see_a(a_tile), self.see_b(b_tile)
            with np.errstate(invalid="ignore"):
                for i in range(config.tile_k):
                    total = total + seen_a[:, i : i + 1] * seen_b[i : i + 1, :]
        target = self.c(row, col, shape)
        inside = (row < shape.m) & (col < shape.n) & self.writes(row, col, shape, config)
        with np.errstate(invalid="ignore"):
            values = self.result(memory.load("C", target), total)
        memory.store("C", target, values.astype(np.float32), inside)


def launch_of(
    case: Case, config: LaunchConfig = TILED, layout: Layout = Layout.KXN, poison: int = 0
) -> Launch:
    return prepare(exercise(layout), config, case, poison or fresh_poison(case.seed, 1))


def run_of(
    kernel: Kernel, launch: Launch, config: LaunchConfig, layout: Layout, gpu: bool = False
) -> Run:
    images = kernel.run(launch, config, layout).images
    if gpu:
        _forget_payloads(images["C"], launch)
    return Run(images=tuple(images[name] for name in "ABC"))


def _forget_payloads(words: npt.NDArray[np.uint32], launch: Launch) -> None:
    """A GPU's arithmetic returns one NaN, whatever went in."""
    computed = np.isnan(words.view(np.float32)) & (words & 0x00400000 != 0)
    words[computed] = 0x7FFFFFFF


def explained(
    kernel: Kernel,
    shape: str,
    config: LaunchConfig = TILED,
    layout: Layout = Layout.KXN,
    inputs: str = "exact",
    poison: int = 0,
    gpu: bool = False,
    seed: int = 5,
) -> tuple[Finding, ...]:
    """What `explain` says of this kernel's C."""
    real_or_exact: Literal["real", "exact"] = "real" if inputs == "real" else "exact"
    case = Case(Shape.parse(shape), real_or_exact, seed)
    launch = launch_of(case, config, layout, poison)
    run = run_of(kernel, launch, config, layout, gpu)
    return explain(Evidence.gather(exercise(layout), config, case, launch, run.images[2]))


def only(findings: tuple[Finding, ...]) -> Finding:
    """The one finding that there is."""
    assert [f.kind for f in findings] == [findings[0].kind]
    return findings[0]
