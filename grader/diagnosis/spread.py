"""Where the NaNs in C come from: C itself, shared memory, or memory past the end of A and B."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.diagnosis.evidence import Evidence
from grader.finding import Finding
from grader.problems.matmul import GUARD_WORDS


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The sources of the NaNs, the surest first. On a GPU all NaNs look alike: there, guesses."""
    if not evidence.nan.any():
        return
    yield from _named_by_payload(evidence)
    yield from _guards(evidence)
    if evidence.nan.all():
        yield evidence.finding("nan_everywhere", **_depth(evidence))
    yield from _lines(evidence)
    yield evidence.finding("nan_somewhere", evidence.nan)


def _depth(evidence: Evidence) -> dict[str, Any]:
    """With a K that fills no tile, its tail is the first suspect."""
    return {"k": evidence.shape.k, "tile_k": evidence.config.tile_k}


def _named_by_payload(evidence: Evidence) -> Iterator[Finding]:
    for kind, word in (
        ("accumulates_into_c", evidence.poison),
        ("shared_memory_unset", evidence.launch.poison),
    ):
        if (evidence.quieted(word) & evidence.nan).any():
            yield evidence.finding(kind, evidence.quieted(word) & evidence.nan)


def _guards(evidence: Evidence) -> Iterator[Finding]:
    """The operand whose guard most of the NaNs came from: where both were read, one shows."""
    masks = {operand: evidence.quieted(word) for operand, word in GUARD_WORDS.items()}
    operand = max(masks, key=lambda name: int(masks[name].sum()))
    if masks[operand].any():
        yield evidence.finding("reads_past_end", evidence.nan, operand=operand, **_depth(evidence))


def _lines(evidence: Evidence) -> Iterator[Finding]:
    """Whole rows of NaNs come from a row of A, whole columns from a column of A * B's factor B."""
    rows, cols = np.asarray(evidence.nan.any(axis=1)), np.asarray(evidence.nan.any(axis=0))
    if not rows.all() and evidence.nan[rows].all():
        yield evidence.finding("reads_past_end", evidence.nan, operand="A", **_depth(evidence))
    elif not cols.all() and evidence.nan[:, cols].all():
        yield evidence.finding("reads_past_end", evidence.nan, operand="B", **_depth(evidence))
    elif np.array_equal(evidence.nan, rows[:, None] | cols[None, :]):
        yield evidence.finding("reads_past_end", evidence.nan, operand="A or B", **_depth(evidence))
