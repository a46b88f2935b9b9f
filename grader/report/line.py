"""A line of a report: pieces of text with a style each, drawn with colour or without."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, cast

from rich.console import Console
from rich.text import Text

from grader.report.output import OUTPUT
from grader.report.words import visible

# Longer lines are hard to read; shorter terminals are respected.
_WIDEST = 100

STYLES = {
    "pass": "green",
    "fail": "bold red",
    "grader error": "bold magenta",
    "interrupted": "yellow",
    "skipped": "yellow",
    "not graded": "cyan",
    "not started": "cyan",
    "missing": "yellow",
}


@dataclass(frozen=True)
class Line:
    """Pieces (text, style); style "" is plain. Colours repeat what the words say."""

    pieces: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        return "".join(text for text, _ in self.pieces)


def line(*pieces: str | tuple[str, str]) -> Line:
    """A line of plain strings and (text, style) pairs."""
    return Line(tuple((piece, "") if isinstance(piece, str) else piece for piece in pieces))


def paragraph(text: str, indent: str = "", style: str = "", first: str = "") -> Iterator[Line]:
    """The lines of a text, each wrapped where it is longer than the page; `first` leads."""
    width = max(40, _width() - len(indent))
    for number, raw in enumerate(visible(text).splitlines()):
        lead = first if number == 0 else ""
        for part in textwrap.wrap(lead + raw, width, break_on_hyphens=False) or [""]:
            yield line(indent, (part, style))
            indent = " " * len(indent)


def _width() -> int:
    try:
        # A pseudo-terminal that nobody told its size says 0.
        return min(_WIDEST, os.get_terminal_size(sys.stdout.fileno()).columns or _WIDEST)
    except (OSError, ValueError):
        return _WIDEST


def is_plain(asked: bool) -> bool:
    """Plain lines when asked for, with NO_COLOR, or when nobody watches a terminal."""
    return asked or bool(os.environ.get("NO_COLOR")) or not sys.stdout.isatty()


def console(plain: bool) -> Console:
    """Where reports go; no markup is interpreted, because texts come from students' files."""
    return Console(
        file=cast(IO[str], OUTPUT),
        no_color=plain or None,
        color_system=None if plain else "auto",
        force_terminal=False if plain else None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=True,
    )


def show(target: Console, lines: Iterable[Line]) -> None:
    for one in lines:
        text = Text()
        for piece, style in one.pieces:
            text.append(visible(piece), style or None)  # much of it is from students' files
        target.print(text, soft_wrap=True)
