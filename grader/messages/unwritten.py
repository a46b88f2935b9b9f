"""Words for elements of C that nobody wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.finding import Finding
from grader.messages.wording import Template, at, box, counted, hole, parts, places, share, size


def _nothing_written(finding: Finding) -> str:
    facts = finding.facts
    start = f"No element of C was written{at(finding)}."
    if facts["partial"]:
        rows, cols = facts["tile"]
        return (
            f"{start} Which line stores to C, and does a thread get there where C is smaller than "
            f"a tile of {rows} x {cols}?"
        )
    return f"{start} Does any thread get as far as a store to C?"


def _or_swapped(facts: Mapping[str, Any]) -> str:
    if "swapped_tile" not in facts:
        return ""
    return ", or are tile_m, the rows of a tile, and tile_n, its columns, the wrong way round"


def _axes_swapped(finding: Finding) -> str:
    facts = finding.facts
    line, causes = facts["line"], facts["causes"]
    said = []
    if "axes" in causes or "blocks" in causes:
        said.append("takes x for the rows and y for the columns")
    if "bounds" in causes:
        said.append("compares rows with N and columns with M")
    if "one_line_of_blocks" in causes:
        said.append(f"starts no block at {line} {facts['first']}")
    if "part_of_tile" in causes:
        part = counted(facts["first"], line)
        said.append(f"computes only {part} of the {facts['tile']} of a tile")
    question = "which index, and which size, goes with the rows"
    if said[1:]:
        question = "which of these does yours do"
    return f"{hole(finding)}. This is the C of a kernel that {', or '.join(said)}: {question}?"


TEXTS: Mapping[str, Template] = {
    "nothing_written": _nothing_written,
    "unwritten_last_rows": "{hole}. Row {full_rows} lies past the last full tile: does any thread "
    "compute it?",
    "unwritten_last_cols": "{hole}. Column {full_cols} lies past the last full tile: does any "
    "thread compute it?",
    "unwritten_last_rows_and_cols": "{hole}. What begins at row {full_rows} and column {full_cols} "
    "lies past the last full tile: does any thread compute it?",
    "unwritten_last_corner": "{hole}. Only the corner that starts there is missing, where rows and "
    "columns both run past the last full tile: which condition leaves it out?",
    "unwritten_blocks": "{hole}. The whole tiles of {blocks} of {of_blocks} blocks are missing: "
    "which rows does each block take from blockIdx.y, and which columns from blockIdx.x?",
    "unwritten_beyond": lambda f: (
        f"{hole(f)}. Of each tile of {size(f.facts['tile'])} only the first "
        f"{size(f.facts['corner'])} elements are written: how many rows and columns does a block "
        "compute, and what do tile_m and tile_n say?"
    ),
    "unwritten_zeros": "{hole}. Missing are exactly the elements that should be 0, {count} of "
    "{of}: which condition keeps a sum of 0 from C?",
    "unwritten_places": lambda f: (
        f"{hole(f)}. Missing are {places(f.facts)}. "
        f"Do the threads of a block together compute all of it{_or_swapped(f.facts)}?"
    ),
    "unwritten_parts": lambda f: (
        f"{hole(f)}. Missing are {parts(f.facts)}. "
        f"Do the threads of a block together compute all of it{_or_swapped(f.facts)}?"
    ),
    "unwritten_somewhere": lambda f: (
        f"{hole(f)}; {share(f.facts)} missing, in {box(f.facts)}. "
        f"Which thread should write that one{_or_swapped(f.facts)}?"
    ),
    "axes_swapped": _axes_swapped,
}
