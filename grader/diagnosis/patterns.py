"""Patterns in the finite values of C: zeros, factors, shifts, tiles turned round, places."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from grader.diagnosis import regions
from grader.diagnosis.evidence import Evidence
from grader.finding import Finding
from grader.problems.matmul import Layout, Matrix, grid
from grader.verdict import Verdict

# What the simulator puts into variables without a first value, with g++ and clang++: NaNs, which
# arithmetic passes on.
_UNSET_WORDS = (0xFFFEFFFF, 0xFFFFFFFF)

# Of a region of wrong values, this much at least is wrong: some sums come out right by accident.
_WRONG_SHARE = 0.75

# A factor that is neither whole nor one over a whole number: a single element always has one.
_LEAST_SCALED = 2

# In fewer elements, one number is soon another one, too.
_LEAST_ALIKE = 8

# Fewer elements that should be 0 may be missing for another reason.
_LEAST_ZEROS = 3


def whole_numbers(evidence: Evidence) -> Iterator[Finding]:
    """Fractions are lost, though integers came out right: they are tried first."""
    got = evidence.got[evidence.finite]
    if not evidence.exact and (got == np.rint(got)).all():
        yield evidence.finding("whole_numbers")


def zeros(evidence: Evidence) -> Iterator[Finding]:
    """Nothing was added up."""
    if evidence.agrees(np.zeros_like(evidence.expected)):
        config = evidence.config
        tile = [config.tile_m, config.tile_n, config.tile_k]
        yield evidence.finding("all_zero", sizes=list(evidence.shape), tile=tile)


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


def left_out_zeros(evidence: Evidence) -> Iterator[Finding]:
    """What is missing is all that should be 0, and nothing else."""
    zero = evidence.expected == 0
    if evidence.exact and zero.sum() >= _LEAST_ZEROS and np.array_equal(evidence.unwritten, zero):
        yield evidence.finding("unwritten_zeros", evidence.unwritten)


def added_to_c(evidence: Evidence) -> Iterator[Finding]:
    """A finite fill shows through: each element is off by what C held before."""
    fill = float(np.uint32(evidence.poison).view(np.float32))
    everywhere = np.ones_like(evidence.wrong)
    if np.isfinite(fill) and evidence.agrees(evidence.expected + fill, everywhere):
        yield evidence.finding("accumulates_into_c", offset=fill)


def axes_swapped(evidence: Evidence) -> Iterator[Finding]:
    """Right values in the first rows (or columns), and none beyond, as a kernel leaves them that
    mixes up rows and columns. `causes` are all known mistakes that leave this same C."""
    shape, config = evidence.shape, evidence.config
    gx, gy = grid(config, shape)
    swapped = {
        "blocks": (gx * config.tile_m, gy * config.tile_n),
        "axes": (gx * config.tile_n, gy * config.tile_m),
        "bounds": (shape.n, shape.m),
    }
    causes = [cause for cause, reach in swapped.items() if _missed(evidence, reach)]
    if causes:
        line, tile, first = _cut(evidence)
        causes += ["one_line_of_blocks"] if first == tile else []
        causes += ["part_of_tile"] if first < tile else []
        yield evidence.finding("axes_swapped", causes=causes, line=line, tile=tile, first=first)


def _cut(evidence: Evidence) -> tuple[str, int, int]:
    """Where a C ends that is missing from some row (or column) on: what these lines are called, how
    many of them a tile has, and the first one that is missing."""
    missing_rows = evidence.unwritten.all(axis=1)
    if missing_rows.any():
        return "row", evidence.config.tile_m, int(missing_rows.argmax())
    return "column", evidence.config.tile_n, int(evidence.unwritten.all(axis=0).argmax())


def fits_swapped_tile(evidence: Evidence) -> bool:
    """Whether C is that of a kernel whose tile has tile_n rows and tile_m columns."""
    tile_m, tile_n = evidence.config.tile_m, evidence.config.tile_n
    gx, gy = grid(evidence.config, evidence.shape)
    return tile_m != tile_n and _missed(evidence, (gy * tile_n, gx * tile_m))


def _missed(evidence: Evidence, reach: tuple[int, int]) -> bool:
    """Whether C is right in its first so many rows and columns, and unwritten beyond."""
    missed = np.ones_like(evidence.wrong)
    missed[: reach[0], : reach[1]] = False
    only_these = np.array_equal(evidence.wrong, missed) and evidence.unwritten[missed].all()
    return bool(missed.any() and only_these)


def findings(evidence: Evidence) -> Iterator[Finding]:
    """Patterns that reproduce every finite element, then where the wrong ones lie."""
    yield from _turned_tiles(evidence)
    yield from _shifted(evidence)
    yield from _scaled(evidence)
    yield from _alike(evidence)
    yield from _other_thread_index(evidence)
    yield from _moved(evidence)
    yield from _carried_on(evidence)


def places(evidence: Evidence) -> Iterator[Finding]:
    """No pattern in the values: say where they are."""
    mask = evidence.wrong & evidence.finite
    region = regions.describe(mask, evidence.config, evidence.shape, _WRONG_SHARE)
    yield evidence.finding(f"wrong_{region.name}", mask, **region.facts)


def _turned_tiles(evidence: Evidence) -> Iterator[Finding]:
    """Square tiles transposed: of C where it is stored, else of A or B."""
    config = evidence.config
    of_block = (config.tile_m, config.tile_n)
    of_thread = (config.tile_m // config.block_y, config.tile_n // config.block_x)
    edges = [high for high, wide in (of_block, of_thread) if high == wide > 1]
    fitting = [edge for edge in edges if _is_turned(evidence, edge)]
    if fitting:
        yield evidence.finding(
            "tile_transposed", operand="C", tile=fitting[0], or_tiles=fitting[1:]
        )
    else:
        yield from turned_factors(evidence)


def _is_turned(evidence: Evidence, tile: int) -> bool:
    """Whether C is the right one with its tiles transposed. Where these are cut off, what would
    come from outside of C is anything, but most elements must come from within it."""
    m, n = evidence.shape.m, evidence.shape.n
    turned = _turn(evidence.expected, tile)[:m, :n]
    kept = evidence.finite & (_turn(np.ones_like(evidence.expected), tile)[:m, :n] > 0)
    if 2 * kept.sum() <= evidence.finite.sum():
        kept = evidence.finite  # zeros, as sums of rows and columns that are not there
    return evidence.agrees(turned, kept)


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
    if turn_b and evidence.agrees(deep_a[:rows_a] @ _turn(_misread(evidence), tile_k)[:, :cols_b]):
        yield evidence.finding("b_other_layout_turned", stored=str(evidence.layout), tile=tile_k)


def _misread(evidence: Evidence) -> Matrix:
    """B (K x N) as a kernel sees it that takes it to be stored the other way round."""
    k, n = evidence.b.shape
    words = evidence.b_stored.ravel()
    return words.reshape(k, n) if evidence.layout is Layout.NXK else words.reshape(n, k).T


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
    telling = (evidence.wrong & evidence.finite).sum() >= _LEAST_SCALED
    scaled = expected and got and (telling or got % expected == 0 or expected % got == 0)
    if scaled and evidence.agrees(evidence.expected * (got / expected)):
        yield evidence.finding("constant_factor", factor=float(f"{got / expected:.6g}"))
    elif usable.size > 1 and evidence.agrees(evidence.expected + (got - expected)):
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


def _other_thread_index(evidence: Evidence) -> Iterator[Finding]:
    """threadIdx.y chooses a thread's column of B, or threadIdx.x its row of A, though not its
    element of C; or both, and then a tile holds one value."""
    tile_m, tile_n = evidence.config.tile_m, evidence.config.tile_n
    telling = evidence.wrong & evidence.finite & (evidence.got != 0)  # zeros have other causes
    if max(tile_m, tile_n) == 1 or telling.sum() < _LEAST_ALIKE:
        return
    rows, cols = np.indices(evidence.expected.shape)
    in_tile = rows % tile_m, cols % tile_n
    right = np.pad(evidence.expected, ((0, tile_m + tile_n),) * 2)  # zeros, as in padded tiles
    if evidence.agrees(right[rows, cols - in_tile[1] + in_tile[0]]):
        yield evidence.finding("other_thread_index", used="y", line="column", operand="B")
    elif evidence.agrees(right[rows - in_tile[0] + in_tile[1], cols]):
        yield evidence.finding("other_thread_index", used="x", line="row", operand="A")
    elif evidence.agrees(evidence.got[rows - in_tile[0], cols - in_tile[1]]):
        yield evidence.finding("tiles_alike", tile=[tile_m, tile_n])


def _moved(evidence: Evidence) -> Iterator[Finding]:
    """Rows, or columns, with the right values of others. Only whole numbers are told apart by
    their bytes, and only some of them in a row are no accident; rows of zeros have other causes."""
    if not evidence.exact or min(evidence.shape[:2]) < _LEAST_ALIKE:
        return
    got, expected = evidence.got + 0.0, evidence.expected + 0.0  # no negative zeros
    for line, have, want in (("row", got, expected), ("column", got.T, expected.T)):
        home = {values.tobytes(): number for number, values in enumerate(want) if values.any()}
        wrong = np.flatnonzero((have != want).any(axis=1))
        found = [home.get(have[number].tobytes()) for number in wrong]
        if found and None not in found:
            kind = "lines_moved" if len(set(found)) == len(found) else "lines_repeated"
            yield evidence.finding(kind, line=line, to=int(wrong[0]), of=found[0])
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
