"""Mistakes along K: parts of the sum that are missing, doubled, stale, or from beyond its end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.diagnosis.evidence import Evidence
from grader.finding import Finding
from grader.problems.matmul import Layout, Matrix

# Wrong elements that a search for the faulty step looks at before a whole matrix is predicted.
_SAMPLE = 8
# Loops are unrolled by hand by so much, and in fewer wrong elements one term looks like another.
_UNROLLED = (2, 4, 8)
_LEAST_CROSSED = 4
# Steps among which "this one used the tile of that one" is searched: pairs grow with the square.
_LARGEST_PAIRS = 64


@dataclass(frozen=True)
class Sum:
    """The sums of a few wrong elements, term by term (samples x K), to find the faulty part."""

    evidence: Evidence
    width: int

    @cached_property
    def _places(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        rows, cols = np.nonzero(self.evidence.wrong & self.evidence.finite)
        chosen = np.linspace(0, len(rows) - 1, min(_SAMPLE, len(rows))).astype(np.int64)
        return rows[chosen], cols[chosen]

    @cached_property
    def terms(self) -> Matrix:
        rows, cols = self._places
        return np.asarray(self.evidence.a[rows] * self.evidence.b[:, cols].T)

    @cached_property
    def steps(self) -> Matrix:
        """The share of each step of `width` terms (samples x steps)."""
        starts = np.arange(0, self.evidence.shape.k, self.width)
        return np.asarray(np.add.reduceat(self.terms, starts, axis=1))

    @property
    def got(self) -> Matrix:
        return np.asarray(self.evidence.got[self._places])

    @property
    def missing(self) -> Matrix:
        """What each sample is short of."""
        return np.asarray(self.evidence.expected[self._places] - self.got)

    def where(self, candidates: Matrix, value: Matrix) -> list[int]:
        """The columns of `candidates` (samples x n) that are `value` for every sample."""
        slack = self.evidence.slack[self._places][:, None]
        close = np.abs(candidates - value[:, None]) <= slack
        return [int(i) for i in np.flatnonzero(close.all(axis=0))]


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The faults along K that reproduce every finite element of C."""
    if not (evidence.wrong & evidence.finite).any():
        return
    yield from _stops_or_starts(evidence)
    yield from _stale_tail(evidence)
    yield from _part_of_each_tile(evidence)
    for width in dict.fromkeys((min(evidence.config.tile_k, evidence.shape.k), 1)):
        yield from _one_step(evidence, Sum(evidence, width))
    yield from _replaced_step(evidence, Sum(evidence, evidence.config.tile_k))
    yield from _repeated_first_step(evidence)
    yield from _repeated_places(evidence)
    yield from _own_place(evidence)
    yield from _steps_by_one(evidence)
    yield from _row_as_an_offset(evidence)
    yield from _every_other(evidence)
    yield from _crossed_terms(evidence, Sum(evidence, 1))


def beyond_the_end(evidence: Evidence) -> Iterator[Finding]:
    """K loops that run past K: they read the next row, and past the matrix the guard's NaN."""
    m, n, k = evidence.shape
    ceiling = -(-k // evidence.config.tile_k) * evidence.config.tile_k
    for end, kind in ((ceiling, "k_tail_unguarded"), (k + 1, "k_one_too_far")):
        for unguarded in ("A and B", "A", "B"):
            if end > k and _ran_to(evidence, end, unguarded):
                yield evidence.finding(kind, operand=unguarded, k=k, end=end)
                return
    for name, end in (("M", m), ("N", n)):
        if end > k and _ran_to(evidence, end, "A and B"):
            yield evidence.finding("k_loop_bound", bound=name, end=end, k=k)
            return


def _ran_to(evidence: Evidence, end: int, unguarded: str) -> bool:
    """Whether C is that of a sum to `end`. A C of NaNs alone would fit other causes, too."""
    if not evidence.predictable(end):
        return False
    prediction = _runs_to(evidence, end, unguarded)
    certain = not np.isnan(prediction).all()
    return certain and evidence.agrees(prediction, ~evidence.unwritten)


def _runs_to(evidence: Evidence, end: int, unguarded: str) -> Matrix:
    """C if the sum ran to `end`; past K, an operand that is guarded supplies zeros."""
    extra = np.arange(evidence.shape.k, end)
    a = _past(evidence.a, extra) if "A" in unguarded else np.zeros((evidence.shape.m, extra.size))
    if "B" not in unguarded:
        b = np.zeros((extra.size, evidence.shape.n))
    elif evidence.layout is Layout.NXK:
        b = _past(evidence.b_stored, extra).T
    else:
        b = np.full((extra.size, evidence.shape.n), np.nan)  # rows past the last one
    with np.errstate(invalid="ignore"):
        return np.asarray(evidence.expected + a @ b)


def _past(matrix: Matrix, columns: npt.NDArray[np.int64]) -> Matrix:
    """`matrix[row, column]` for columns past its width: the next row, or NaN after the last."""
    flat = np.append(np.ascontiguousarray(matrix).ravel(), np.nan)
    at = np.arange(matrix.shape[0])[:, None] * matrix.shape[1] + columns[None, :]
    return np.asarray(flat[np.minimum(at, flat.size - 1)])


def _stops_or_starts(evidence: Evidence) -> Iterator[Finding]:
    """Sums over k < q, and over k >= q."""
    samples = Sum(evidence, 1)
    k = evidence.shape.k
    ends = np.cumsum(samples.terms, axis=1)[:, :-1]
    for q in [i + 1 for i in samples.where(ends, samples.got)][:_SAMPLE]:
        if evidence.agrees(evidence.a[:, :q] @ evidence.b[:q]):
            kind = _end_kind(q, k, evidence.config.tile_k)
            sizes = [name for name, size in zip("MN", evidence.shape[:2], strict=True) if size == q]
            yield evidence.finding(kind, used=q, k=k, sizes=sizes)
            return
    for q in [i + 1 for i in samples.where(ends, samples.missing)][:_SAMPLE]:
        if evidence.agrees(evidence.a[:, q:] @ evidence.b[q:]):
            kind = _start_kind(q, k, evidence.config.tile_k)
            yield evidence.finding(kind, skipped=q, used=k - q, k=k)
            return


def _end_kind(used: int, k: int, tile_k: int) -> str:
    if tile_k > 1 and k % tile_k and used == k - k % tile_k:
        return "k_tail_dropped"
    if used == k - tile_k and not k % tile_k:
        return "last_k_tile_missing" if tile_k > 1 else "last_k_missing"
    if used == k - 1:
        return "last_k_missing"
    if used == tile_k and tile_k > 1:
        return "first_k_tile_only"
    return "k_stops_early"


def _start_kind(skipped: int, k: int, tile_k: int) -> str:
    last_step = (k - 1) // tile_k * tile_k
    if skipped == last_step:  # `sum =` in place of `sum +=`
        return "only_last_k_step"
    if skipped == k - 1:
        return "only_last_term"
    return "first_k_step_missing" if skipped == tile_k > 1 else "k_starts_late"


def _part_of_each_tile(evidence: Evidence) -> Iterator[Finding]:
    """In every step the loop over the tile stops early, or starts late."""
    tile, k = evidence.config.tile_k, evidence.shape.k
    if not 1 < tile < k:
        return
    samples, place = Sum(evidence, 1), np.arange(k) % tile
    by_place = np.stack([samples.terms[:, place == p].sum(axis=1) for p in range(tile)], axis=1)
    ends = np.cumsum(by_place, axis=1)[:, :-1]
    for wanted, kind in ((samples.got, "tile_stops_early"), (samples.missing, "tile_starts_late")):
        for q in [i + 1 for i in samples.where(ends, wanted)][:_SAMPLE]:
            used = place < q if kind == "tile_stops_early" else place >= q
            if evidence.agrees(evidence.a[:, used] @ evidence.b[used]):
                first, last = (0, q - 1) if kind == "tile_stops_early" else (q, tile - 1)
                yield evidence.finding(kind, first_place=first, last_place=last, tile_k=tile)
                return


def _one_step(evidence: Evidence, samples: Sum) -> Iterator[Finding]:
    """One step of several left out, or added twice. A single element soon lacks what happens to be
    one of its terms."""
    whole = samples.width == min(evidence.config.tile_k, evidence.shape.k)
    if samples.steps.shape[1] < 2 or not (whole or len(samples.steps) > 1):
        return
    for sign, kind in ((1, "k_step_missing"), (-1, "k_step_twice")):
        for step in samples.where(samples.steps, sign * samples.missing)[:_SAMPLE]:
            prediction = evidence.expected - sign * _step(evidence, step, samples.width)
            if evidence.agrees(prediction):
                yield evidence.finding(kind, **_span(evidence, step, samples.width))
                return


def _replaced_step(evidence: Evidence, samples: Sum) -> Iterator[Finding]:
    """One step that used the tile of another one: a buffer that was not switched or refilled."""
    steps = samples.steps
    count = steps.shape[1]
    if not 2 <= count <= _LARGEST_PAIRS or samples.width == 1:
        return
    pairs = (steps[:, :, None] - steps[:, None, :]).reshape(len(steps), -1)
    for pair in samples.where(pairs, samples.missing)[:_SAMPLE]:
        step, used = divmod(pair, count)
        lost = _step(evidence, step, samples.width) - _step(evidence, used, samples.width)
        if evidence.agrees(evidence.expected - lost):
            span = _span(evidence, step, samples.width)
            yield evidence.finding("k_step_stale", used_step=used, **span)
            return


def _repeated_first_step(evidence: Evidence) -> Iterator[Finding]:
    """Every step loads the first tile of A, of B, or of both: k0 is missing from an index."""
    tile, k = evidence.config.tile_k, evidence.shape.k
    if not 1 < tile < k:
        return
    first = np.arange(k) % tile
    a, b = evidence.a[:, first], evidence.b[first]
    for operand, prediction in (("A", a @ evidence.b), ("B", evidence.a @ b), ("A and B", a @ b)):
        if evidence.agrees(prediction):
            yield evidence.finding("first_step_again", operand=operand)
            return


def _repeated_places(evidence: Evidence) -> Iterator[Finding]:
    """Each step uses its first k in place of the others, or its first few again and again: what
    tells the words of a tile apart, a thread's index or a loop's, is missing from a load."""
    tile, k, config = evidence.config.tile_k, evidence.shape.k, evidence.config
    place = np.arange(k) % tile
    for width in dict.fromkeys((1, config.block_y, config.block_x)):
        if not width < min(tile, k):
            continue
        used = np.arange(k) - place + place % width
        a, b = evidence.a[:, used], evidence.b[used]
        for operand, c in (("A", a @ evidence.b), ("B", evidence.a @ b), ("A and B", a @ b)):
            if evidence.agrees(c):
                yield evidence.finding("places_again", operand=operand, used=width, tile_k=tile)
                return


def _own_place(evidence: Evidence) -> Iterator[Finding]:
    """The thread index that chooses a load's row of A, or column of B, also chooses its k."""
    (m, n, k), (tile_m, tile_n, tile) = evidence.shape, evidence.config.tiles
    start = np.arange(k) // tile * tile
    for operand, line, lines, reach in (("A", "row", m, tile_m), ("B", "column", n, tile_n)):
        if not 1 < reach <= tile <= k or lines == 1:
            continue
        at = start[None, :] + (np.arange(lines) % reach)[:, None]
        matrix = evidence.a if operand == "A" else evidence.b.T
        seen = np.take_along_axis(matrix, np.minimum(at, k - 1), axis=1) * (at < k)
        c = seen @ evidence.b if operand == "A" else evidence.a @ seen.T
        if evidence.agrees(c):
            yield evidence.finding("own_place", operand=operand, line=line)
            return


def _steps_by_one(evidence: Evidence) -> Iterator[Finding]:
    """Steps are counted, and the count is taken for k0: each one begins a single k further on."""
    tile, k = evidence.config.tile_k, evidence.shape.k
    if tile > 1 and any(evidence.agrees(_by_one(evidence, steps)) for steps in (-(-k // tile), k)):
        yield evidence.finding("steps_by_one", tile_k=tile)


def _by_one(evidence: Evidence, steps: int) -> Matrix:
    """C of so many steps that begin at k = 0, 1, 2 and so on."""
    times = np.convolve(np.ones(steps), np.ones(evidence.config.tile_k))[: evidence.shape.k]
    return np.asarray((evidence.a[:, : times.size] * times) @ evidence.b[: times.size])


def _row_as_an_offset(evidence: Evidence) -> Iterator[Finding]:
    """`k0 + ty * N` for `(k0 + ty) * N`: each step reads B a few words further on, not rows."""
    (_, n, k), tile = evidence.shape, evidence.config.tile_k
    if evidence.layout is not Layout.KXN or not 1 < tile < k:
        return
    place = np.arange(k)
    at = (place % tile * n + place // tile * tile)[:, None] + np.arange(n)[None, :]
    flat = np.ascontiguousarray(evidence.b).ravel()
    if evidence.agrees(evidence.a @ flat[np.minimum(at, flat.size - 1)]):
        yield evidence.finding("step_of_words")


def _every_other(evidence: Evidence) -> Iterator[Finding]:
    """A loop that moves on by two, or is unrolled by two of which one is forgotten."""
    if evidence.shape.k > 2:
        for first, kind in ((0, "even_terms_only"), (1, "odd_terms_only")):
            if evidence.agrees(evidence.a[:, first::2] @ evidence.b[first::2]):
                yield evidence.finding(kind)
                return


def _crossed_terms(evidence: Evidence, samples: Sum) -> Iterator[Finding]:
    """A loop unrolled by hand: one of its terms multiplies its k of one factor with another k of
    the other. There are many such pairs, so only some elements, and two turns, are no accident."""
    a, b, k = evidence.a, evidence.b, evidence.shape.k
    rows, cols = samples._places
    if len(rows) < _LEAST_CROSSED:
        return
    for by in (by for by in _UNROLLED if k >= 2 * by):
        first = np.arange(0, k - by + 1, by)
        for i, j in permutations(range(by), 2):
            here, other = first + i, first + j
            for operand, left, right in (
                ("B", a[:, here], b[other] - b[here]),
                ("A", a[:, other] - a[:, here], b[here]),
            ):
                excess = (left[rows] * right[:, cols].T).sum(axis=1)
                near = samples.where(-excess[:, None], samples.missing)
                if near and evidence.agrees(evidence.expected + left @ right):
                    yield evidence.finding("crossed_terms", by=by, operand=operand, here=i, other=j)
                    return


def _stale_tail(evidence: Evidence) -> Iterator[Finding]:
    """The last, partial step also multiplies what an earlier step left in the rest of the tile."""
    tile, k = evidence.config.tile_k, evidence.shape.k
    full, rest = divmod(k, tile)
    for lag in (1, 2):  # 2: double buffering
        if not rest or full < lag:
            return
        stale = slice((full - lag) * tile + rest, (full - lag + 1) * tile)
        prediction = evidence.expected + evidence.a[:, stale] @ evidence.b[stale]
        if evidence.agrees(prediction):
            # With a single term in the last step, a step that begins at k = 1 adds the same.
            by_one = evidence.agrees(_by_one(evidence, full + 1))
            start = full * tile
            yield evidence.finding("k_tail_stale", k=k, full=start, lag=lag, by_one=by_one)
            return


def _step(evidence: Evidence, step: int, width: int) -> Matrix:
    part = slice(step * width, (step + 1) * width)
    return np.asarray(evidence.a[:, part] @ evidence.b[part])


def _span(evidence: Evidence, step: int, width: int) -> dict[str, Any]:
    """The terms of a step, and which one it is, unless these are single terms within tiles."""
    k, first = evidence.shape.k, step * width
    span = {"first_k": first, "last_k": min(first + width, k) - 1, "k": k}
    if width < min(evidence.config.tile_k, k):
        return span
    return {**span, "step": step, "steps": -(-k // width)}
