"""Whether a mutant that passes does the very same as the original: bits of C, and counters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from grader.checks.drawing import first_shapes
from grader.counters import Counters, total
from grader.device import Build, Device, Words
from grader.exercise import Exercise
from grader.problems.matmul import (
    PINNED,
    Case,
    Shape,
    drawn_shapes,
    fresh_poison,
    prepare,
    whole_tile_shapes,
)
from grader.simulator.compiler import flags, run
from grader.simulator.device import SimulatorDevice
from grader.simulator.failure import SOURCE
from grader.submission import Submission
from grader.tests.simulated import TARGET
from grader.toolchain import host_compiler

SHAPES = 500
_SEED = 5


@dataclass(frozen=True)
class Deed:
    """What one launch did: A, B and C afterwards, and what it cost; no fault was seen."""

    images: tuple[Words, ...]
    counters: Counters


class Original:
    """A solution on the simulator; what it does at each shape is computed once."""

    def __init__(self, exercise: Exercise, text: str, device: SimulatorDevice, cache: Path) -> None:
        path = Path(f"{exercise.name}.cu")
        self.cache = cache
        self._text = text
        self._device = device
        self.build = device.build(exercise, Submission(path.name, path, text, sha256=""))
        if self.build.config is None or self.build.findings:
            raise ValueError(f"the solution of {exercise.name} cannot be built")
        self.config = self.build.config
        self._deeds: dict[Shape, Deed] = {}

    def is_same_program(self, text: str) -> bool:
        """Whether the compiler makes the same of a mutant: it changes the text, not the kernel."""
        return bool(self._code) and machine_code(text) == self._code

    @cached_property
    def _code(self) -> str:
        return machine_code(self._text)

    @cached_property
    def shapes(self) -> tuple[Shape, ...]:
        """The pinned shapes, whole tiles, and drawn ones up to SHAPES in all, smallest first."""
        known = (*PINNED, *whole_tile_shapes(self.config))
        drawn = first_shapes(drawn_shapes(self.config), _SEED, SHAPES)
        shapes = list(dict.fromkeys((*known, *drawn)))[:SHAPES]
        return tuple(sorted(shapes, key=lambda shape: (shape.multiply_adds, shape)))

    def at(self, shape: Shape) -> Deed:
        if shape not in self._deeds:
            deed = deed_of(self.build, shape, self._device)
            if deed is None:
                raise ValueError(f"the solution fails at {shape}")
            self._deeds[shape] = deed
        return self._deeds[shape]


def machine_code(text: str) -> str:
    """What the simulator's compiler makes of a kernel, without lines; "" where it fails."""
    compiler = host_compiler()
    with TemporaryDirectory(prefix="matmul-mutant-") as folder:
        (Path(folder) / SOURCE).write_text(text, encoding="utf-8")
        options = (*flags(compiler, TARGET.capability), "-g0", "-S", "-o", "kernel.s", SOURCE)
        done = run([*compiler.command, "-x", "c++", *options], Path(folder))
        return Path(folder, "kernel.s").read_text() if done.returncode == 0 else ""


def compare(original: Original, build: Build, device: Device) -> str:
    """ "same": outputs and counters agree at all of the original's shapes; "right": outputs do, and
    no more words of A and B are loaded; "other": neither."""
    relation = "same"
    for shape in original.shapes:
        wanted, found = original.at(shape), deed_of(build, shape, device)
        if found is None or not _equal(wanted.images, found.images):
            return "other"
        if _counted(wanted) != _counted(found):
            relation = "right"
        if _loaded(found) > _loaded(wanted):
            return "other"
    return relation


def _equal(first: tuple[Words, ...], second: tuple[Words, ...]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))


def _counted(deed: Deed) -> Counters:
    """The counters without the examples, which name blocks and offsets."""
    return replace(deed.counters, worst=())


def _loaded(deed: Deed) -> int:
    return total(deed.counters.select("global", "load"), "words")


def deed_of(build: Build, shape: Shape, device: Device) -> Deed | None:
    """One launch with full mantissas, so that the order of a sum shows; None with a finding."""
    assert build.config is not None, "only a complete build is launched"
    made = prepare(build.exercise, build.config, Case(shape, "real", _SEED), fresh_poison(_SEED, 0))
    run = device.launch(build, replace(made, count=True))
    if run.findings or run.suspicions or run.counters is None:
        return None
    bodies = zip(made.operands, run.images, strict=True)
    images = tuple(image[op.guard : op.guard + op.size] for op, image in bodies)
    return Deed(images, run.counters)
