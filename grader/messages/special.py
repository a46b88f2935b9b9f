"""Words for faults that only special shapes or numbers show: small shapes, and usual numbers, are
right."""

from __future__ import annotations

from collections.abc import Mapping

from grader.finding import Finding
from grader.messages.wording import Template, at, counted, number, pair, subscripts, who

# What to ask then.
_NARROW = "which is the largest number that each type in this index holds?"
_WAY = "which way does the kernel take only for sizes like these?"

_DOES = {"read": "reads", "write": "writes"}


def _outside_when_large(finding: Finding) -> str:
    """Where small shapes are right, so that neither guards nor strides are at fault."""
    facts = finding.facts
    where = "an address that belongs to no array"
    if "operand" in facts:
        past = facts["index"] - facts["rows"] * facts["cols"] + 1
        distance = counted(past if past > 0 else -facts["index"], "element")
        where = (
            f"{distance} {'past the end' if past > 0 else 'before the start'} of "
            f"{facts['operand']}, which is {facts['rows']} x {facts['cols']}"
        )
    return (
        f"{who(facts)} {_DOES[facts['access']]} {where}{at(finding)}. Every small shape stays "
        f"inside: {_WAY if finding.kind.endswith('_usual') else _NARROW}"
    )


def _tile_missed(finding: Finding) -> str:
    facts = finding.facts
    row, col = facts["missed"]
    does = "stores nothing of C"
    if "stored" in facts:
        other_row, other_col = facts["stored"]
        other = f"block {pair(facts['other_block'])}"
        does = f"stores C[{other_row}][{other_col}] and on, which {other} stores as well"
    return (
        f"The last block, {pair(facts['block'])}, {does}{at(finding)}: its own tile, which "
        f"begins at C[{row}][{col}], is left out. {_question(finding)}"
    )


def _question(finding: Finding) -> str:
    if finding.kind.endswith("_usual"):
        return f"Small shapes are right: {_WAY}"
    return "Which is the largest number that the type of each index can hold?"


def _wrong_when_large(finding: Finding) -> str:
    facts = finding.facts
    cause = "" if finding.kind.endswith("_usual") else ", though the indices stay inside"
    if "read" in facts:
        read = facts["read"]["name"] + subscripts(facts["read"]["index"])
        cause = f": it reads {read}, which no element of C that it stores depends on"
    return (
        f"The last block, {pair(facts['block'])}, leaves {number(facts['got'])} in "
        f"C{subscripts(facts['element'])} instead of {number(facts['expected'])}{cause}"
        f"{at(finding)}. {_question(finding)}"
    )


TEXTS: Mapping[str, Template] = {
    "global_access_when_large": _outside_when_large,
    "global_access_usual": _outside_when_large,
    "wild_access_when_large": _outside_when_large,
    "wild_access_usual": _outside_when_large,
    "tile_missed": _tile_missed,
    "tile_missed_usual": _tile_missed,
    "wrong_when_large": _wrong_when_large,
    "wrong_when_large_usual": _wrong_when_large,
    "wrong_with_zeros": "{element}. Here two thirds of A and B are 0, whole rows and tiles among "
    "them; without zeros C was right. What does the kernel do where an element is 0?",
    "wrong_with_positive": "{element}. Here all elements of A and B are positive, so that sums "
    "become large; with both signs C was right. What happens to a large sum?",
    "wrong_with_large_sizes": "{element}. Smaller shapes are right: " + _WAY,
}
