"""One panel of a chart with two logarithmic axes, as SVG."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.inspect.svg import EDGE, GREY, INK, PALE_INK, WHITE, rect, text

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """From `low` to `high` in the data's unit; `ticks` are the values that get a label."""

    title: str
    low: float
    high: float
    ticks: tuple[float, ...]

    def share(self, value: float) -> float:
        """Where a value lies: 0 at `low`, 1 at `high`."""
        return math.log(value / self.low) / math.log(self.high / self.low)


def decades(title: str, values: Sequence[float], least_high: float = 0.0) -> Axis:
    """An axis that holds all values with room around them, labelled 1, 10, 100 ..."""
    low = 10.0 ** math.floor(math.log10(min(values) * 0.8))
    top = max(*values, least_high) * 1.5
    ticks = tuple(10.0**n for n in range(round(math.log10(low)), math.ceil(math.log10(top)) + 1))
    return Axis(title, low, top, tuple(tick for tick in ticks if tick <= top))


def doublings(title: str, values: Sequence[float]) -> Axis:
    """An axis from the first to the last power of two among or around the values."""
    first, last = math.floor(math.log2(min(values))), math.ceil(math.log2(max(values)))
    ticks = tuple(2.0**n for n in range(first, last + 1))
    return Axis(title, 2.0**first / 1.15, 2.0**last * 1.15, ticks)


@dataclass(frozen=True)
class Panel:
    """A rectangle of the picture, in pixels, with its axes."""

    x: float
    y: float
    width: float
    height: float
    across: Axis
    up: Axis

    def place(self, point: Point) -> Point:
        """From data to pixels; what lies outside is moved to the border."""
        across, up = (
            min(max(axis.share(value), 0.0), 1.0)
            for axis, value in zip((self.across, self.up), point, strict=True)
        )
        return self.x + across * self.width, self.y + (1.0 - up) * self.height

    def frame(self, title: str) -> Iterator[str]:
        """Title, grid, labels of the ticks and of the axes."""
        yield rect(self.x, self.y, self.width, self.height, WHITE, EDGE)
        yield text(self.x, self.y - 14, title, 14, weight="bold")
        bottom, right = self.y + self.height, self.x + self.width
        for tick in self.across.ticks:
            x, _ = self.place((tick, self.up.low))
            yield rule((x, self.y), (x, bottom), GREY)
            yield text(x, bottom + 18, label(tick), 12, "middle", fill=PALE_INK)
        for tick in self.up.ticks:
            _, y = self.place((self.across.low, tick))
            yield rule((self.x, y), (right, y), GREY)
            yield text(self.x - 8, y + 4, label(tick), 12, "end", fill=PALE_INK)
        yield text(self.x + self.width / 2, bottom + 38, self.across.title, 12, "middle")
        yield upright(self.x - 52, self.y + self.height / 2, self.up.title)

    def curve(self, points: Sequence[Point], stroke: str, dashes: str = "") -> str:
        """Straight lines between the points."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(self.place, points))
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        return (
            f'<polyline points="{places}" fill="none" stroke="{stroke}" stroke-width="2"{dashed}/>'
        )

    def dot(self, point: Point, fill: str, stroke: str = INK, radius: float = 5) -> str:
        x, y = self.place(point)
        return (
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="1.5"/>'
        )


def rule(start: Point, end: Point, stroke: str, width: float = 1, dashes: str = "") -> str:
    """A straight line in pixels."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{start[0]:.1f}" y1="{start[1]:.1f}" x2="{end[0]:.1f}" y2="{end[1]:.1f}" '
        f'stroke="{stroke}" stroke-width="{width:g}"{dashed}/>'
    )


def upright(x: float, y: float, words: str) -> str:
    """A title beside an axis, read upwards; (x, y) is its middle."""
    return f'<g transform="rotate(-90 {x:g} {y:g})">' + text(x, y, words, 12, "middle") + "</g>"


def label(value: float) -> str:
    """`0.1`, `512`, `10,000`"""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
