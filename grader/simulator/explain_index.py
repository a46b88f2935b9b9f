"""An index beyond the type of its array: compilers check each one before the access.

That is a fault where the array is a thread's own. Shared arrays are judged by address: indexing a
row beyond its end is harmless while it stays inside the array, and the gap behind it catches the
rest.
"""

from __future__ import annotations

import re
from itertools import pairwise

from grader.finding import Finding
from grader.simulator.compiler import SOURCE
from grader.simulator.protocol import RawFinding
from grader.simulator.scene import Scene, at, place, variable_name
from grader.source.brackets import closing, opening
from grader.source.directives import Macros
from grader.source.expanded import placed
from grader.source.subscripts import indexed
from grader.source.tokens import Token
from grader.verdict import Verdict

_QUALIFIER = re.compile(r"\b(?:const|volatile)\s+")


def explain(raw: RawFinding, scene: Scene) -> Finding | None:
    """The finding; None for an index of a shared array."""
    kind = _QUALIFIER.sub("", raw.text.strip("'").replace(" [", "["))
    shared = {variable_name(v.name) for v in scene.program.shared}
    names, suspects = _suspects(raw, scene, kind, shared)
    own = [name for name in suspects if name not in shared]
    if suspects and not own:
        return None
    facts = {
        "index": raw.offset,
        "type": kind.replace("[", " [", 1),
        "variable": names or (own[0] if own == suspects and len(own) == 1 else ""),
        "length": _length(kind),
        "product": _is_product(raw, scene),
        **place(raw, scene),
    }
    return Finding(Verdict.OUT_OF_BOUNDS, "register_array", facts, at(raw, scene, "index"))


def _suspects(raw: RawFinding, scene: Scene, kind: str, shared: set[str]) -> tuple[str, list[str]]:
    """The array as the source names it ("" where that is not known), and the variables that may
    hold it."""
    text = scene.compiled
    items = tuple(placed(text, SOURCE))
    row = [item for item in items if isinstance(item, Token) and item.line]
    spot = next((n for n, token in enumerate(row) if _is_at(token, raw, text)), None)
    names = indexed(row, spot) if spot is not None else ()
    held = scene.debug.held()
    if names and (names[0].text in held or names[0].text in shared):
        return ".".join(name.text for name in names), [names[0].text]
    words = {name.text for name in names[:1]}
    if spot is not None and spot + 1 < len(row) and row[spot + 1].text == "(":  # a macro's use
        words |= {token.text for token in row[spot : closing(row, spot + 1)]}
    macros = Macros(items)
    of_type = [name for name, types in held.items() if kind in types]
    return "", [name for name in of_type if words & macros.reaching((name,))] or of_type


def _is_product(raw: RawFinding, scene: Scene) -> bool:
    """Whether the index multiplies, as `row * length + column` does; False where it is not
    known which index it is."""
    row = _code(scene)
    spot = next((n for n, token in enumerate(row) if _is_at(token, raw, scene.compiled)), len(row))
    if spot < len(row) and row[spot].text == "]":
        spot = opening(row, spot)
    ahead = (n for n, token in enumerate(row[spot:], spot) if token.text == "[")
    return _multiplies(row, next(ahead, len(row)))


def is_product_of(name: str, line: int, scene: Scene) -> bool:
    """Whether a line has an index of this array that multiplies."""
    row = _code(scene)
    return any(
        token.line == line and token.text == name and after.text == "[" and _multiplies(row, n)
        for n, (token, after) in enumerate(pairwise(row), 1)
    )


def _code(scene: Scene) -> list[Token]:
    return [t for t in placed(scene.compiled, SOURCE) if isinstance(t, Token) and t.line]


def _multiplies(row: list[Token], start: int) -> bool:
    return any(token.text == "*" for token in row[start : closing(row, start)])


def _is_at(token: Token, raw: RawFinding, text: str) -> bool:
    """Whether a finding is about this place; compilers count the bytes of a line."""
    if token.line != raw.line:
        return False
    before = text[text.rfind("\n", 0, token.place) + 1 : token.place]
    return len(before.encode()) + 1 == raw.where


def _length(kind: str) -> int:
    match = re.search(r"\[(\d+)\]", kind)
    return int(match[1]) if match else 0
