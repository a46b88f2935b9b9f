"""The few shapes of which pictures are made, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

INK, PALE_INK, PANEL, EDGE, WHITE = "#1f2328", "#57606a", "#f6f8fa", "#8c959f", "#ffffff"
BLUE, PALE_BLUE, RED, PALE_RED, DARK_RED = "#54aeff", "#ddf4ff", "#ff8182", "#ffebe9", "#a40e26"
GREY = "#d0d7de"


def rect(
    x: float,
    y: float,
    width: float,
    height: float,
    fill: str,
    stroke: str = EDGE,
    stroke_width: float = 1,
) -> str:
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" fill="{fill}" '
        f'stroke="{stroke}" stroke-width="{stroke_width:g}"/>'
    )


def text(
    x: float,
    y: float,
    words: str,
    size: float = 13,
    anchor: str = "start",
    weight: str = "normal",
    fill: str = INK,
    family: str = "",
    turned: bool = False,
) -> str:
    """`turned`: reads downwards from (x, y)."""
    extra = f" font-family={quoteattr(family)}" if family else ""
    extra += f' transform="rotate(90 {x:g} {y:g})"' if turned else ""
    return (
        f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" text-anchor="{anchor}" '
        f'font-weight="{weight}" fill="{fill}"{extra} xml:space="preserve">{escape(words)}</text>'
    )


def thread(x1: float, y1: float, x2: float, y2: float, stroke: str, opacity: float) -> str:
    """A line that leaves and arrives upright, so that many of them stay apart at their ends."""
    middle = (y1 + y2) / 2
    return (
        f'<path d="M{x1:g} {y1:g}C{x1:g} {middle:g} {x2:g} {middle:g} {x2:g} {y2:g}" fill="none" '
        f'stroke="{stroke}" stroke-width="1.5" stroke-opacity="{opacity:g}"/>'
    )


def document(width: float, height: float, label: str, shapes: Sequence[str]) -> str:
    """A picture on a light panel of its own: it reads the same on every page."""
    panel = (
        f'<rect x="0.5" y="0.5" width="{width - 1:g}" height="{height - 1:g}" rx="6" '
        f'fill="{PANEL}" stroke="{EDGE}"/>'
    )
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" font-family="sans-serif" role="img" '
        f"aria-label={quoteattr(label)}>"
    )
    return "\n".join([head, panel, *shapes, "</svg>", ""])
