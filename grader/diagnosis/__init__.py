"""What is wrong with a C: not only that it differs, but the mistake that would produce it.

Each hypothesis computes the C of a kernel with one particular mistake and is accepted only where
it reproduces what came back. `explain` asks them in order, the most specific first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from grader.diagnosis import indexing, ksteps, patterns, precision, regions, spread
from grader.diagnosis.evidence import EPS32, TOLERANCE, Evidence, number
from grader.finding import Finding

__all__ = ["EPS32", "TOLERANCE", "Evidence", "explain", "number"]


def explain(evidence: Evidence) -> tuple[Finding, ...]:
    """Why C is wrong: one finding that explains all of it, or one each for what was never
    written, for the NaNs, and for the wrong numbers. Empty when C is right.
    """
    if not evidence.wrong.any():
        return ()
    whole = next(_whole(evidence), None)
    if whole is not None:
        return (whole,)
    written = next(_written(evidence), None)
    parts = (spread.findings(evidence), _values(evidence)) if written is None else ()
    found = [next(_unwritten(evidence), None), written, *(next(part, None) for part in parts)]
    # Whatever the explanations miss, a wrong C never comes out without a finding.
    return tuple(one for one in found if one is not None) or (evidence.finding("wrong_somewhere"),)


def _whole(evidence: Evidence) -> Iterator[Finding]:
    if evidence.unwritten.all():
        tiles = (evidence.config.tile_m, evidence.config.tile_n)
        partial = evidence.shape.m < tiles[0] or evidence.shape.n < tiles[1]
        yield evidence.finding("nothing_written", partial=partial, tile=list(tiles))
    yield from patterns.unset_variables(evidence)
    yield from patterns.added_to_c(evidence)
    if evidence.finite.all() and _predictable(evidence):
        yield from precision.findings(evidence)
    # A C of NaNs alone fits every index that runs past the end of A or B.
    if _predictable(evidence) and not evidence.nan.all():
        yield from (_or_turned(evidence, found) for found in indexing.findings(evidence))


def _or_turned(evidence: Evidence, found: Finding) -> Finding:
    """An index mistake in A or B looks like a tile that is turned round where the matrix is one
    tile, or less: then the finding names both."""
    operand = "B" if found.kind == "b_other_layout" else found.facts.get("operand")
    turned = next(patterns.turned_factors(evidence), None) if operand in ("A", "B") else None
    if turned is None or turned.facts.get("operand") != operand:
        return found
    return replace(found, facts={**found.facts, "turned_tile": turned.facts["tile"]})


def _written(evidence: Evidence) -> Iterator[Finding]:
    """What explains all written elements, numbers and NaNs together."""
    if _predictable(evidence):
        yield from ksteps.beyond_the_end(evidence)


def _unwritten(evidence: Evidence) -> Iterator[Finding]:
    if evidence.unwritten.any():
        yield from patterns.left_out_zeros(evidence)
        region = regions.describe(evidence.unwritten, evidence.config, evidence.shape)
        if not region.name.startswith("last_"):  # one more row of tiles than columns: both fit
            yield from patterns.axes_swapped(evidence)
        swapped = {"swapped_tile": True} if patterns.fits_swapped_tile(evidence) else {}
        facts = {**region.facts, **swapped, **_tile_of_threads(evidence, region)}
        yield evidence.finding(f"unwritten_{region.name}", evidence.unwritten, **facts)


def _tile_of_threads(evidence: Evidence, region: regions.Region) -> dict[str, bool]:
    """What rules out that parts of a tile are missing because its sizes are not the block's."""
    config = evidence.config
    same = (config.tile_m, config.tile_n) == (config.block_y, config.block_x)
    return {"tile_is_block": True} if same and region.name == "places" else {}


def _values(evidence: Evidence) -> Iterator[Finding]:
    if not (evidence.wrong & evidence.finite).any():
        yield from patterns.infinities(evidence)
        return
    yield from patterns.whole_numbers(evidence)
    yield from patterns.zeros(evidence)
    if _predictable(evidence):
        if not evidence.finite.all():
            yield from precision.findings(evidence)
        yield from chain(ksteps.findings(evidence), patterns.findings(evidence))
    yield from precision.blurred(evidence)
    yield from patterns.places(evidence)


def _predictable(evidence: Evidence) -> bool:
    """Where it is not, only what needs no prediction of a whole matrix is said."""
    return evidence.predictable(evidence.shape.k)
