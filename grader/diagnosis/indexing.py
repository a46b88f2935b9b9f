"""Index mistakes: the C of a kernel that walks A, B or C with another stride, and whose it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.diagnosis.evidence import Evidence, Mask
from grader.finding import Finding
from grader.problems.matmul import Layout, Matrix, Shape, grid

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Walk:
    """How a kernel indexes one matrix: `matrix[i * across + j * along]`."""

    across: int
    along: int

    def indices(self, rows: int, cols: int) -> Indices:
        return np.arange(rows)[:, None] * self.across + np.arange(cols)[None, :] * self.along


@dataclass(frozen=True)
class Reading:
    """A kernel as its index arithmetic: the sizes it believes in and its three walks.

    `a` is indexed by (row, k), `b` by (k, col) and `c` by (row, col).
    """

    shape: Shape
    a: Walk
    b: Walk
    c: Walk


def right_reading(shape: Shape, layout: Layout) -> Reading:
    b = Walk(shape.n, 1) if layout is Layout.KXN else Walk(1, shape.k)
    return Reading(shape, a=Walk(shape.k, 1), b=b, c=Walk(shape.n, 1))


def findings(evidence: Evidence) -> Iterator[Finding]:
    """The index mistakes that reproduce C entirely, holes and NaNs included.

    Where C holds no number at all, holes and NaNs alone must point to one mistake.
    """
    candidates = _candidates(evidence)
    if evidence.finite.any():
        yield from candidates
    elif len(found := list(candidates)) == 1:
        yield from found


def _candidates(evidence: Evidence) -> Iterator[Finding]:
    right = right_reading(evidence.shape, evidence.layout)
    yield from _other_layout(evidence, right)
    yield from _transposed(evidence, right)
    yield from _swapped_parameters(evidence)
    yield from _wrong_strides(evidence, right)


def _other_layout(evidence: Evidence, right: Reading) -> Iterator[Finding]:
    """B read as if it were stored the other way round, as the neighbouring exercises store it."""
    shape = evidence.shape
    kxn = evidence.layout is Layout.KXN
    walk = Walk(1, shape.k) if kxn else Walk(shape.n, 1)
    if walk != right.b and _reproduces(evidence, replace(right, b=walk)):
        stored, read_as = (Layout.KXN, Layout.NXK) if kxn else (Layout.NXK, Layout.KXN)
        yield evidence.finding("b_other_layout", stored=str(stored), read_as=str(read_as))


def _transposed(evidence: Evidence, right: Reading) -> Iterator[Finding]:
    """C holds the right values, stored column by column."""
    walk = Walk(1, evidence.shape.m)
    if walk != right.c and _reproduces(evidence, replace(right, c=walk)):
        yield evidence.finding("transposed")


def _swapped_parameters(evidence: Evidence) -> Iterator[Finding]:
    """A kernel that is right if its parameters came in another order than M, N, K.

    Only where no size equals another one or the tile's: there, other mistakes leave the same C.
    """
    if len({*evidence.shape, *evidence.config.tiles}) < 3 + len({*evidence.config.tiles}):
        return
    for order in permutations(range(3)):
        names = [0, 0, 0]
        for position, meant in enumerate(order):
            names[meant] = evidence.shape[position]
        believed = Shape(*names)
        if believed == evidence.shape:
            continue
        if _reproduces(evidence, right_reading(believed, evidence.layout)):
            yield evidence.finding("swapped_parameters", order=["MNK"[i] for i in order])


def _wrong_strides(evidence: Evidence, right: Reading) -> Iterator[Finding]:
    """One matrix walked with a wrong stride, or along the wrong axis."""
    for operand in "ABC":
        believed = getattr(right, operand.lower())
        for walk, used, names in _walks(evidence, operand):
            changed: dict[str, Any] = {operand.lower(): walk}
            if walk != believed and _reproduces(evidence, replace(right, **changed)):
                yield evidence.finding("wrong_stride", operand=operand, used=used, stride_is=names)


def _walks(evidence: Evidence, operand: str) -> Iterator[tuple[Walk, str, list[str]]]:
    """Both ways to walk with each size of the matrices or of the tile as stride, the index that the
    kernel then uses, and what that stride is."""
    outer, inner = {"A": ("row", "k"), "B": ("k", "col"), "C": ("row", "col")}[operand]
    rows_first = operand != "B" or evidence.layout is Layout.KXN
    for stride, names in _strides(evidence).items():
        forward = Walk(stride, 1), f"{operand}[{outer} * {names[0]} + {inner}]", names
        backward = Walk(1, stride), f"{operand}[{inner} * {names[0]} + {outer}]", names
        yield from (forward, backward) if rows_first else (backward, forward)


def _strides(evidence: Evidence) -> dict[int, list[str]]:
    """The names that each size has here; a size of the tile counts from 3 on."""
    sizes = [*zip("MNK", evidence.shape, strict=True)]
    named = zip(("tile_m", "tile_n", "tile_k"), evidence.config.tiles, strict=True)
    sizes += [(name, size) for name, size in named if size > 2]
    found: dict[int, list[str]] = {}
    for name, size in sizes:
        found.setdefault(size, []).append(name)
    return found


def _reproduces(evidence: Evidence, reading: Reading) -> bool:
    """Whether C is what a kernel of this reading leaves behind, started with our grid."""
    values, holes, contested = _emulate(evidence, reading)
    if (evidence.unwritten != holes)[~contested].any():
        return False
    return evidence.agrees(values, ~holes & ~contested)


def _emulate(evidence: Evidence, reading: Reading) -> tuple[Matrix, Mask, Mask]:
    """The C of a reading, where it writes nothing, and where several elements compete."""
    gx, gy = grid(evidence.config, evidence.shape)
    rows = min(reading.shape.m, gy * evidence.config.tile_m)
    cols = min(reading.shape.n, gx * evidence.config.tile_n)
    a = _gather(evidence.a, reading.a.indices(rows, reading.shape.k))
    b = _gather(evidence.b_stored, reading.b.indices(reading.shape.k, cols))
    with np.errstate(invalid="ignore"):
        computed = a @ b
    target = reading.c.indices(rows, cols)
    inside = target < evidence.expected.size
    values = np.full(evidence.expected.size, np.nan)
    values[target[inside]] = computed[inside]
    writers = np.bincount(target[inside], minlength=evidence.expected.size)
    shape = evidence.expected.shape
    return values.reshape(shape), (writers == 0).reshape(shape), (writers > 1).reshape(shape)


def _gather(matrix: Matrix, indices: Indices) -> Matrix:
    """Elements at flat indices; past the end lies the guard, a NaN."""
    flat = np.ascontiguousarray(matrix).ravel()
    extended = np.append(flat, np.nan)
    return np.asarray(extended[np.minimum(indices, flat.size)])
