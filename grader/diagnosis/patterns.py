"""Patterns in the finite values of C: zeros, factors, shifts, tiles turned round, places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.diagnosis import regions
from grader.diagnosis.evidence import Evidence
from grader.finding import Finding
from grader.problems.matmul import Matrix, grid
from grader.verdict import Verdict

# What the simulator puts into variables without a first value, with g++ and clang++: NaNs, which
# arithmetic passes on.
_UNSET_WORDS = (0xFFFEFFFF, 0xFFFFFFFF)

# Of a region of wrong values, this much at least is wrong: some sums come out right by accident.
_WRONG_SHARE = 0.75

# In fewer elements, one number is soon another one, too.
_LEAST_ALIKE = 8


def whole_numbers(evidence: Evidence) -> Iterator[Finding]:
    """Fractions are lost, though integers came out right: they are tried first."""
    got = evidence.got[evidence.finite]
    if not evidence.exact and (got == np.rint(got)).all():
        yield evidence.finding("whole_numbers")


def zeros(evidence: Evidence) -> Iterator[Finding]:
    """Nothing was added up."""
    if evidence.agrees(np.zeros_like(evidence.expected)):
        k, tile_k = evidence.shape.k, evidence.config.tile_k
        yield evidence.finding("all_zero", k=k, tile_k=tile_k)


def unset_variables(evidence: Evidence) -> Iterator[Finding]:
    """What a variable without a first value holds, untouched by any sum."""
    mask = np.isin(evidence.words, _UNSET_WORDS) & evidence.wrong
    if mask.any():
        yield evidence.finding("unset_variable", mask, Verdict.UNINITIALISED)


def infinities(evidence: Evidence) -> Iterator[Finding]:
    """Sums that no A and B of a check can have: they grew from what a variable happened to hold."""
    mask = np.isinf(evidence.got) & evidence.wrong & ~evidence.unwritten
    if mask.any():
        yield evidence.finding("infinite", mask)


def added_to_c(evidence: Evidence) -> Iterator[Finding]:
    """A finite fill shows through: each element is off by what C held before."""
    fill = float(np.uint32(evidence.poison).view(np.float32))
    everywhere = np.ones_like(evidence.wrong)
    if np.isfinite(fill) and evidence.agrees(evidence.expected + fill, everywhere):
        yield evidence.finding("accumulates_into_c", offset=fill)


def swapped_grid(evidence: Evidence) -> Iterator[Finding]:
    """blockIdx.x counted rows of tiles: right values, and none where the grid is too narrow. Rows
    that are compared with N and columns with M leave the same C where square tiles are whole."""
    gx, gy = grid(evidence.config, evidence.shape)
    bounds = _missed(evidence, (1, 1), (evidence.shape.m, evidence.shape.n))
    if _missed(evidence, (evidence.config.tile_m, evidence.config.tile_n), (gy, gx)):
        yield evidence.finding("grid_axes_swapped", grid=[gx, gy], bounds=bounds)
    elif bounds:
        yield evidence.finding("bounds_swapped")


def fits_swapped_tile(evidence: Evidence) -> bool:
    """Whether C is that of a kernel whose tile has tile_n rows and tile_m columns."""
    tile = evidence.config.tile_n, evidence.config.tile_m
    return tile[0] != tile[1] and _missed(evidence, tile, grid(evidence.config, evidence.shape))


def _missed(evidence: Evidence, tile: tuple[int, int], blocks: tuple[int, int]) -> bool:
    """Whether C is right as far as so many blocks (along x and y) of such tiles (rows, columns)
    reach, and unwritten beyond."""
    rows = np.arange(evidence.shape.m)[:, None] // tile[0]
    cols = np.arange(evidence.shape.n)[None, :] // tile[1]
    missed = (rows >= blocks[1]) | (cols >= blocks[0])
    only_these = np.array_equal(evidence.wrong, missed) and evidence.unwritten[missed].all()
    return bool(missed.any() and not missed.all() and only_these)


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Patterns that reproduce every finite element, then where the wrong ones lie."""
    yield from _turned_tiles(evidence)
    yield from _shifted(evidence)
    yield from _scaled(evidence)
    yield from _alike(evidence)
    yield from _moved(evidence)
    yield from _carried_on(evidence)


def places(evidence: Evidence) -> Iterator[Finding]:
    """No pattern in the values: say where they are."""
    mask = evidence.wrong & evidence.finite
    region = regions.describe(mask, evidence.config, evidence.shape, _WRONG_SHARE)
    yield evidence.finding(f"wrong_{region.name}", mask, **region.facts)


def _turned_tiles(evidence: Evidence) -> Iterator[Finding]:
    """Square tiles transposed: of C where it is stored, else of A or B."""
    tile_m, tile_n = evidence.config.tile_m, evidence.config.tile_n
    if tile_m == tile_n > 1:
        inside = np.ones_like(evidence.expected)
        turned, kept = _turn(evidence.expected, tile_m), _turn(inside, tile_m) > 0
        m, n = evidence.shape.m, evidence.shape.n
        if evidence.agrees(turned[:m, :n], evidence.finite & kept[:m, :n]):
            yield evidence.finding("tile_transposed", operand="C", tile=tile_m)
            return
    yield from turned_factors(evidence)


def turned_factors(evidence: Evidence) -> Iterator[Finding]:
    """Square tiles of A or B that are stored in shared memory, or read there, with indices
    swapped."""
    tile_m, tile_n, tile_k = (
        evidence.config.tile_m,
        evidence.config.tile_n,
        evidence.config.tile_k,
    )
    rows_a, cols_b = evidence.shape.m, evidence.shape.n
    turn_a, turn_b = tile_m == tile_k > 1, tile_n == tile_k > 1
    deep_a, deep_b = _padded(evidence.a, tile_k), _padded(evidence.b, tile_k)
    if turn_a and evidence.agrees((_turn(evidence.a, tile_k) @ deep_b[:, :cols_b])[:rows_a]):
        yield evidence.finding("tile_transposed", operand="A", tile=tile_k)
    elif turn_b and evidence.agrees(deep_a[:rows_a] @ _turn(evidence.b, tile_k)[:, :cols_b]):
        yield evidence.finding("tile_transposed", operand="B", tile=tile_k)
    elif turn_a and turn_b:
        both = _turn(evidence.a, tile_k) @ _turn(evidence.b, tile_k)
        if evidence.agrees(both[:rows_a, :cols_b]):
            yield evidence.finding("tile_transposed", operand="A and B", tile=tile_k)


def _padded(matrix: Matrix, tile: int) -> Matrix:
    """The matrix with zeros up to whole tiles, as guarded loads leave it in shared memory."""
    extra = [(0, -size % tile) for size in matrix.shape]
    return np.pad(matrix, extra)


def _turn(matrix: Matrix, tile: int) -> Matrix:
    """Each tile x tile part transposed in its place."""
    padded = _padded(matrix, tile)
    rows, cols = padded.shape
    parts = padded.reshape(rows // tile, tile, cols // tile, tile)
    return np.asarray(parts.transpose(0, 3, 2, 1).reshape(rows, cols))


def _shifted(evidence: Evidence) -> Iterator[Finding]:
    """Everything right, one row or column away from where it belongs."""
    m, n = evidence.expected.shape
    for down, right in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, -1), (1, -1), (-1, 1)):
        rows, cols = np.arange(m) - down, np.arange(n) - right
        inside = ((rows >= 0) & (rows < m))[:, None] & ((cols >= 0) & (cols < n))[None, :]
        prediction = evidence.expected[rows.clip(0, m - 1)][:, cols.clip(0, n - 1)]
        where = evidence.finite & inside
        if where.sum() > 1 and evidence.agrees(prediction, where):
            yield evidence.finding("shifted", down=down, right=right)
            return


def _scaled(evidence: Evidence) -> Iterator[Finding]:
    """A constant factor, or a constant added."""
    usable = np.where(evidence.finite, np.abs(evidence.expected), 0.0)
    at = np.unravel_index(int(usable.argmax()), usable.shape)
    got, expected = float(evidence.got[at]), float(evidence.expected[at])
    if expected and got and evidence.agrees(evidence.expected * (got / expected)):
        yield evidence.finding("constant_factor", factor=float(f"{got / expected:.6g}"))
    elif evidence.agrees(evidence.expected + (got - expected)):
        yield evidence.finding("constant_offset", offset=float(f"{got - expected:.6g}"))


def _alike(evidence: Evidence) -> Iterator[Finding]:
    """All rows, or all columns, hold the same: an index that is never used."""
    got = np.where(evidence.finite, evidence.got, np.nan)
    if not evidence.finite.all():
        return
    if got.shape[0] > 1 and (got == got[:1]).all():
        yield evidence.finding("all_alike", lines="rows", index="row")
    elif got.shape[1] > 1 and (got == got[:, :1]).all():
        yield evidence.finding("all_alike", lines="columns", index="column")


def _moved(evidence: Evidence) -> Iterator[Finding]:
    """Rows, or columns, with the right values of others, each with those of another one. Only
    whole numbers are told apart by their bytes, and only some of them in a row are no accident."""
    if not evidence.exact or min(evidence.shape[:2]) < _LEAST_ALIKE:
        return
    got, expected = evidence.got + 0.0, evidence.expected + 0.0  # no negative zeros
    for line, have, want in (("row", got, expected), ("column", got.T, expected.T)):
        home = {values.tobytes(): number for number, values in enumerate(want)}
        wrong = np.flatnonzero((have != want).any(axis=1))
        found = [home.get(have[number].tobytes()) for number in wrong]
        if found and None not in found and len(set(found)) == len(found):
            yield evidence.finding("lines_moved", line=line, to=int(wrong[0]), of=found[0])
            return


def _carried_on(evidence: Evidence) -> Iterator[Finding]:
    """A thread's next sum begins with the one before it, some rows or columns back in its tile."""
    wrong = evidence.wrong & evidence.finite
    if wrong.sum() < _LEAST_ALIKE:
        return
    row, col = np.argwhere(wrong)[0]
    excess = evidence.got[row, col] - evidence.expected[row, col]
    above = evidence.got[:row, col][::-1][: evidence.config.tile_m - 1]
    left = evidence.got[row, :col][::-1][: evidence.config.tile_n - 1]
    for axis, (lines, before) in enumerate((("rows", above), ("columns", left))):
        for near in np.flatnonzero(np.abs(before - excess) <= evidence.slack[row, col]):
            distance = int(near) + 1
            sums = evidence.expected + np.roll(evidence.got, distance, axis)
            if evidence.agrees(sums, wrong):
                yield evidence.finding("sum_carried_on", distance=distance, lines=lines)
                return
