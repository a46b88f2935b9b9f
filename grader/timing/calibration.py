"""The calibration of a GPU model: which speed-up earns points there.

`make calibrate` writes exercises/calibration/<gpu>.toml, and a teacher may edit it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from grader import settings
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.timing.shapes import ShapeKind

FOLDER = PROJECT / "exercises" / "calibration"
FORMAT = "matmul-calibration/v1"

_ABOUT = ("measured", "driver", "cuda", "nvcc", "pycuda")
_KEYS = ("format", "gpu", *_ABOUT, "baseline_seconds", "exercise", "kernel")
_KERNEL_KEYS = ("exercise", "name", "role", "shape", "speedup", "seconds", "rounds")
_GRADED_CHECKS = ("fast", "efficient")


class CalibrationError(GraderFault):
    """A calibration file is wrong; the text names file, key and what is allowed."""


@dataclass(frozen=True)
class Thresholds:
    """Speed-ups over the baseline: `minimum` earns a quarter of the points, `full` all of them."""

    minimum: float
    full: float

    @property
    def steps(self) -> tuple[float, ...]:
        """The speed-ups at which one quarter, two, three and all of the points begin."""
        width = (self.full - self.minimum) / 3
        return tuple(self.minimum + width * quarter for quarter in range(4))

    def quarters(self, speedup: float) -> int:
        """0 to 4: none under the minimum, then three steps of equal width."""
        if speedup < self.minimum:
            return 0
        if speedup >= self.full:
            return 4
        return 1 + int(3 * (speedup - self.minimum) / (self.full - self.minimum))


@dataclass(frozen=True)
class ExerciseThresholds:
    """One exercise on this GPU. `thresholds` lacks a kind of shape that shows no gap; where the
    square shows none, the points of `fast` count for `efficient`."""

    size: int
    thresholds: Mapping[ShapeKind, Thresholds]

    @property
    def moved(self) -> bool:
        return ShapeKind.SQUARE not in self.thresholds


@dataclass(frozen=True)
class MeasuredKernel:
    """A kernel that the calibration measured at one shape; `role` is that of kernels.toml."""

    exercise: str
    name: str
    role: str
    shape: Shape
    speedup: float


@dataclass(frozen=True)
class Calibration:
    """`baseline_s`: what the grader's own naive kernel takes, by shape, in seconds."""

    gpu: str
    path: Path
    sha256: str
    about: Mapping[str, str]  # measured (a date), driver, cuda, nvcc, pycuda
    exercises: Mapping[str, ExerciseThresholds]
    baseline_s: Mapping[Shape, float]
    evidence: tuple[MeasuredKernel, ...] = ()

    def expected_s(self, shape: Shape) -> float:
        """The baseline's time, scaled from the nearest shape that was measured; 0: none was."""
        if not self.baseline_s:
            return 0.0
        nearest = min(
            self.baseline_s, key=lambda known: abs(known.multiply_adds - shape.multiply_adds)
        )
        return self.baseline_s[nearest] * shape.multiply_adds / nearest.multiply_adds


def slug(gpu: str) -> str:
    """`nvidia_h200` for `NVIDIA H200`: the name of a file."""
    return re.sub(r"[^a-z0-9]+", "_", gpu.lower()).strip("_")


def find(gpu: str, folder: Path = FOLDER) -> Calibration | None:
    """The calibration of this GPU model; None when there is none."""
    path = folder / f"{slug(gpu)}.toml"
    return load(path) if path.exists() else None


def load(path: Path) -> Calibration:
    """Read a calibration; raises CalibrationError with file and key."""
    top = settings.read(path, CalibrationError)
    top.only(_KEYS)
    top.choice("format", [FORMAT])
    exercises = top.table("exercise")
    return Calibration(
        gpu=top.text("gpu"),
        path=path,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
        about=MappingProxyType({key: top.text(key) for key in _ABOUT}),
        exercises=MappingProxyType(
            {key: _exercise(exercises.table(key)) for key in exercises.entries}
        ),
        baseline_s=_baseline(top.table("baseline_seconds")),
        evidence=tuple(_measured(row) for row in top.tables("kernel")),
    )


def _exercise(table: settings.Table) -> ExerciseThresholds:
    table.only(("size", "points", *ShapeKind))
    size = table.count("size", 1)
    found = {kind: _thresholds(table.table(kind)) for kind in ShapeKind if kind in table.entries}
    counted = table.choice("points", _GRADED_CHECKS)
    if (counted == "fast") != (ShapeKind.SQUARE in found):
        raise table.fault(
            "points", 'must be "fast" where [.square] has thresholds, "efficient" where not.'
        )
    return ExerciseThresholds(size, MappingProxyType(found))


def _thresholds(table: settings.Table) -> Thresholds:
    table.only(("minimum", "full"))
    minimum = table.number("minimum", 0.01)
    return Thresholds(minimum, table.number("full", minimum))


def _baseline(table: settings.Table) -> Mapping[Shape, float]:
    found = {}
    for key in table.entries:
        found[_shape(table, key, key)] = table.number(key, 0.0)
    return MappingProxyType(found)


def _measured(row: settings.Table) -> MeasuredKernel:
    row.only(_KERNEL_KEYS)
    return MeasuredKernel(
        row.text("exercise"),
        row.text("name"),
        row.text("role"),
        _shape(row, "shape", row.text("shape")),
        row.number("speedup", 0.0),
    )


def _shape(table: settings.Table, key: str, text: str) -> Shape:
    try:
        return Shape.parse(text)
    except ValueError as fault:
        raise table.fault(key, f"is no shape: {fault}.") from None
