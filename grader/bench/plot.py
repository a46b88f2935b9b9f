"""The picture of `bench`: a kernel under the roofline, and its throughput over the size."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.bench.chart import Panel, Point, decades, doublings, rule
from grader.bench.clock import ShapeResult, ShapeTimes
from grader.bench.preparation import Counted
from grader.inspect.svg import EDGE, INK, PALE_INK, WHITE, document, text
from grader.timing.roofline import Roof, best_intensity, gflops, naive_bytes, operations

_TOP, _HEIGHT = 78.0, 290.0
_LEFT, _WIDTH, _BETWEEN = 82.0, 400.0, 104.0
_NOTE_ADVANCE = 7.0  # of a letter in a wide font of size 12: no note may leave the picture
_BLUE, _ORANGE, _GREEN = "#0969da", "#bc4c00", "#1a7f37"
_OPERATIONS = "operations for each byte moved"
_SPEED = "GFLOP/s"


@dataclass(frozen=True)
class Picture:
    """What a picture shows. `rows` is empty without a GPU."""

    title: str
    counted: Counted | None
    roof: Roof | None
    rows: tuple[ShapeResult, ...] = ()

    @property
    def timed(self) -> list[ShapeTimes]:
        return [row for row in self.rows if isinstance(row, ShapeTimes)]

    @property
    def squares(self) -> list[ShapeTimes]:
        return sorted(
            (row for row in self.timed if len(set(row.shape)) == 1), key=lambda row: row.shape
        )


def draw(picture: Picture) -> str | None:
    """The picture as SVG; None where there is nothing to draw."""
    panels = []
    left = _LEFT
    if picture.roof and (picture.counted or picture.timed):
        panels.append(list(_roofline(picture, picture.roof, left)))
        left += _WIDTH + _BETWEEN
    if len(picture.squares) > 1:
        panels.append(list(_throughput(picture, left)))
        left += _WIDTH + _BETWEEN
    if not panels:
        return None
    width = left - _BETWEEN + 30
    across = int((width - 40) / _NOTE_ADVANCE)
    notes = [part for note in _notes(picture) for part in textwrap.wrap(note, across)]
    head = text(20, 30, picture.title, 16, weight="bold")
    bottom = _TOP + _HEIGHT + 70
    foot = [text(20, bottom + 18 * i, note, 12, fill=PALE_INK) for i, note in enumerate(notes)]
    shapes = [head, *(shape for panel in panels for shape in panel), *foot]
    return document(width, bottom + 18 * len(notes), picture.title, shapes)


@dataclass(frozen=True)
class _Mark:
    """A kernel in the roofline: how its traffic was counted, and how fast it is or could be."""

    name: str
    point: Point
    color: str
    measured: bool


def _roofline(picture: Picture, roof: Roof, left: float) -> Iterator[str]:
    marks = list(_marks(picture, roof))
    # From below every kernel here to well past the ridge.
    across = decades(_OPERATIONS, [0.2, 4 * roof.ridge, *(mark.point[0] for mark in marks)])
    slope = roof.attainable_gflops(across.low)
    up = decades(_SPEED, [slope, *(mark.point[1] for mark in marks)], roof.peak_gflops)
    panel = Panel(left, _TOP, _WIDTH, _HEIGHT, across, up)
    yield from panel.frame(f"Roofline of {roof.name}")
    yield panel.curve(
        [(across.low, slope), (roof.ridge, roof.peak_gflops), (across.high, roof.peak_gflops)], INK
    )
    _, y = panel.place((roof.ridge, roof.peak_gflops))
    yield text(left + _WIDTH - 6, y - 7, f"{roof.peak_gflops:,.0f} GFLOP/s", 11, "end")
    names: list[float] = []
    for mark in marks:
        yield from _dot(panel, mark, roof, names)
    at = 2 * across.low  # right below the slope there is room
    x, y = panel.place((at, roof.attainable_gflops(at)))
    yield text(x + 8, _free(y + 14, names), f"{roof.memory_gb_per_s:,.0f} GB/s", 11)


def _dot(panel: Panel, mark: _Mark, roof: Roof, names: list[float]) -> Iterator[str]:
    """The dot, its name on the side where the roof is not, and its way to the roof."""
    x, y = panel.place(mark.point)
    _, above = panel.place((mark.point[0], roof.attainable_gflops(mark.point[0])))
    yield rule((x, y), (x, above), mark.color, 1, "2 3")
    yield panel.dot(mark.point, mark.color if mark.measured else WHITE, mark.color)
    words = f"{mark.name}: {mark.point[1]:,.0f}" if mark.measured else mark.name
    over = y < above  # the slope
    y = _free(y + (4 if over else 18), names)
    if over or x > panel.x + 0.6 * panel.width:  # a name takes up to a third of the panel
        yield text(x - 9, y, words, 12, "end", "bold", mark.color)
    else:
        yield text(x + 9, y, words, 12, "start", "bold", mark.color)


def _free(y: float, names: list[float]) -> float:
    """The first height from `y` down where no other name stands; now this one does."""
    while any(abs(y - other) < 14 for other in names):
        y += 14
    names.append(y)
    return y


def _marks(picture: Picture, roof: Roof) -> Iterator[_Mark]:
    """With times: as fast as measured. Without: as fast as the roof allows."""
    largest = max(picture.timed, key=lambda row: operations(row.shape), default=None)
    if picture.counted is not None:
        shape, counters = picture.counted.shape, picture.counted.counters
        intensity = counters.arithmetic_intensity(shape)
        naive = operations(shape) / naive_bytes(shape)
        speed = largest.gflops if largest else roof.attainable_gflops(intensity)
        base = (
            gflops(largest.shape, largest.baseline_s) if largest else roof.attainable_gflops(naive)
        )
        yield _Mark("naive", (naive, base), _ORANGE, largest is not None)
        yield _Mark("this kernel", (intensity, speed), _BLUE, largest is not None)
    elif largest:
        yield _Mark("this kernel", (best_intensity(largest.shape), largest.gflops), _BLUE, True)


def _throughput(picture: Picture, left: float) -> Iterator[str]:
    rows = picture.squares
    sizes = [float(row.shape.m) for row in rows]
    lines: list[tuple[str, str, str, list[float]]] = [
        ("this kernel", _BLUE, "", [row.gflops for row in rows]),
        ("naive", _ORANGE, "", [gflops(row.shape, row.baseline_s) for row in rows]),
    ]
    for name, color, seconds in (
        ("cuBLAS", _GREEN, [row.cublas_s for row in rows]),
        ("NumPy", EDGE, [row.numpy_s if row.numpy_measured else 0.0 for row in rows]),
    ):
        if any(seconds):
            speeds = [gflops(r.shape, s) if s else 0.0 for r, s in zip(rows, seconds, strict=True)]
            lines.append((name, color, "6 4" if name == "cuBLAS" else "2 4", speeds))
    known = [speed for *_, speeds in lines for speed in speeds if speed]
    peak = picture.roof.peak_gflops if picture.roof else 0.0
    panel = Panel(
        left, _TOP, _WIDTH, _HEIGHT, doublings("M = N = K", sizes), decades(_SPEED, known, peak)
    )
    yield from panel.frame("Throughput over the size")
    if peak:
        _, y = panel.place((sizes[0], peak))
        yield rule((left, y), (left + _WIDTH, y), INK, 1.5)
        yield text(left + 6, y - 6, f"peak {peak:,.0f}", 11)
    yield from _curves(panel, sizes, lines)


def _curves(
    panel: Panel, sizes: Sequence[float], lines: Sequence[tuple[str, str, str, list[float]]]
) -> Iterator[str]:
    ends: list[float] = []
    for name, color, dashes, speeds in lines:
        points = [(size, speed) for size, speed in zip(sizes, speeds, strict=True) if speed]
        yield panel.curve(points, color, dashes)
        yield from (panel.dot(point, color, color, 3.5) for point in points)
        x, y = panel.place(points[-1])
        yield text(x - 4, _free(y + 18, ends), name, 12, "end", "bold", color)


def _notes(picture: Picture) -> list[str]:
    notes = []
    if picture.roof:
        notes.append(f"Roof: {picture.roof}.")
    if picture.counted:
        at = f"as the simulator counts them at {picture.counted.shape}"
        notes.append(f"Bytes moved: sectors between L1 and L2, {at}.")
    if picture.timed:
        notes.append(
            "A kernel above its slope is helped by the caches: not every byte comes from memory."
        )
    else:
        notes.append(
            "No GPU here, so nothing was timed: a hollow dot is the most that the roof allows."
        )
    return notes
