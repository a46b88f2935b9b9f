"""Words for wrong elements of C of which only the place is known."""

from __future__ import annotations

from collections.abc import Mapping

from grader.finding import Finding
from grader.messages.wording import Template, box, element, pair, parts, places, share


def _wrong(finding: Finding, where: str, question: str) -> str:
    return f"{element(finding)}; {share(finding.facts)} wrong, {where}. {question}"


def _wrong_tail(finding: Finding, where: str) -> str:
    where = f"all {where.format_map(finding.facts)} the last full tile"
    return _wrong(finding, where, "What is loaded for a tile that is only partly inside?")


TEXTS: Mapping[str, Template] = {
    "wrong_everywhere": lambda f: (
        f"{element(f)}; {share(f.facts)} wrong. Work one out by hand: which products make it up?"
    ),
    "wrong_last_rows": lambda f: _wrong_tail(f, "from row {full_rows} on, past"),
    "wrong_last_cols": lambda f: _wrong_tail(f, "from column {full_cols} on, past"),
    "wrong_last_rows_and_cols": lambda f: _wrong_tail(
        f, "from row {full_rows} or column {full_cols} on, past"
    ),
    "wrong_last_corner": lambda f: _wrong_tail(f, "where both rows and columns run past"),
    "wrong_blocks": lambda f: _wrong(
        f,
        f"in {f.facts['blocks']} of {f.facts['of_blocks']} blocks, the first one block "
        f"{pair(f.facts['block'])}",
        "What does that block do differently?",
    ),
    "wrong_places": lambda f: _wrong(
        f, f"in {places(f.facts)}", "Which of a thread's outputs is that?"
    ),
    "wrong_parts": lambda f: _wrong(
        f, f"in {parts(f.facts)}", "Which of a thread's outputs is that?"
    ),
    "wrong_somewhere": lambda f: _wrong(
        f, f"in {box(f.facts)}", "Work one out by hand: which products make it up?"
    ),
}
