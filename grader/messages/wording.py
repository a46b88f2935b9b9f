"""Phrases that many messages share: elements, threads, sizes, numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader.finding import Finding

Template = str | Callable[[Finding], str]

# A name from the student's file, or a compiler's sentence, must not make a page of a message.
_LONGEST_NAME = 60
_LONGEST_SENTENCE = 240


def phrases(finding: Finding) -> dict[str, Any]:
    """The facts, and what messages say again and again:

    `at`: " (M=17 N=1 K=4)"; `element`: "C[16][0] is 0.0, expected 3.0 (M=17 N=1 K=4)"; `hole`:
    "C[16][0] was never written (M=17 N=1 K=4)"; `share`: "1 of 17 elements is"; `who`:
    "Thread (3, 0) of block (0, 1)".
    """
    facts = finding.facts
    return {
        **facts,
        "at": at(finding),
        "who": who(facts),
        **({"element": element(finding), "hole": hole(finding)} if "row" in facts else {}),
        **({"share": share(facts)} if "of" in facts else {}),
    }


def at(finding: Finding) -> str:
    if finding.shape is None:
        return ""
    m, n, k = finding.shape
    return f" (M={m} N={n} K={k})"


def element(finding: Finding) -> str:
    facts = finding.facts
    got, expected = number(facts.get("got", "")), number(facts.get("expected", ""))
    return f"C[{facts['row']}][{facts['col']}] is {got}, expected {expected}{at(finding)}"


def hole(finding: Finding) -> str:
    return f"C[{finding.facts['row']}][{finding.facts['col']}] was never written{at(finding)}"


def share(facts: Mapping[str, Any]) -> str:
    """`1 of 17 elements is`"""
    verb = "is" if facts["count"] == 1 else "are"
    return f"{facts['count']} of {counted(facts['of'], 'element')} {verb}"


def who(facts: Mapping[str, Any]) -> str:
    """The thread and its block; a GPU does not tell."""
    thread, block = facts.get("thread"), facts.get("block")
    if not thread or not block:
        return "A thread"
    return f"Thread {pair(thread)} of block {pair(block)}"


def pair(values: Sequence[int]) -> str:
    return f"({', '.join(map(str, values))})"


def subscripts(index: Sequence[int]) -> str:
    """`[16][0]`"""
    return "".join(f"[{i}]" for i in index)


def size(lengths: Sequence[int]) -> str:
    """`16 x 16`"""
    return " x ".join(map(str, lengths))


def box(facts: Mapping[str, Any]) -> str:
    top, bottom, left, right = facts["box"]
    rows = f"row {top}" if top == bottom else f"rows {top} to {bottom}"
    cols = f"column {left}" if left == right else f"columns {left} to {right}"
    return f"{rows}, {cols}"


def places(facts: Mapping[str, Any]) -> str:
    row, col = facts["in_tile"]
    return (
        f"{facts['places']} of the {facts['of_places']} places of a tile, the same in every tile, "
        f"first row {row}, column {col} of the tile"
    )


def parts(facts: Mapping[str, Any]) -> str:
    """Parts of a tile as large as the block of threads."""
    row, col = facts["in_tile"]
    return (
        f"{facts['parts']} of the {facts['of_parts']} parts of {size(facts['part'])} elements that "
        f"a tile has, first at row {row}, column {col} of the tile"
    )


def number(value: float | str) -> str:
    """As a float32 is read: seven digits, and never taken for an integer."""
    if isinstance(value, str):
        return value
    text = f"{value:.7g}"
    return text if any(c in text for c in ".en") else f"{text}.0"


def counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str], joint: str = "and") -> str:
    """`a, b and c`"""
    short = [clipped(name, _LONGEST_NAME) for name in names]
    return f" {joint} ".join([", ".join(short[:-1]), short[-1]] if short[1:] else short)


def sentence(text: str) -> str:
    """One line of a compiler's message, cut to a readable length, without its full stop."""
    return clipped(" ".join(text.split()).rstrip(".?! "), _LONGEST_SENTENCE)


def clipped(text: str, length: int = _LONGEST_NAME) -> str:
    return text if len(text) <= length else f"{text[: length - 6]} [...]"
