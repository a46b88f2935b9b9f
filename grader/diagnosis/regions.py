"""Where the bad elements of C lie: last partial tiles, whole blocks, places or parts of a tile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.device import LaunchConfig
from grader.diagnosis.evidence import Mask
from grader.problems.matmul import Shape

# So much of C at least is right where its wrong elements have a place.
_LEAST_CLEAN = 1 / 8

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Region:
    """A description of a mask: its name ends the finding's kind, its facts join the finding's."""

    name: str
    facts: dict[str, Any] = field(default_factory=dict)


def describe(mask: Mask, config: LaunchConfig, shape: Shape, share: float = 1.0) -> Region:
    """The most specific region that the mask lies in and fills to `share`, or `somewhere`.

    A share below 1 is for wrong values: here and there a wrong sum is right by accident.
    """
    return next(_candidates(mask, config, shape, share), Region("somewhere"))


def _candidates(mask: Mask, config: LaunchConfig, shape: Shape, share: float) -> Iterator[Region]:
    if mask.all():
        yield Region("everywhere")
    yield from _tails(mask, config, shape, share)
    yield from _blocks(mask, config, share)
    yield from _places(mask, config, share)
    yield from _parts(mask, config, share)
    if mask.mean() >= share:
        yield Region("everywhere")
    elif share == 1:
        yield from _beyond(mask, config)


def _tails(mask: Mask, config: LaunchConfig, shape: Shape, share: float) -> Iterator[Region]:
    """The rows, columns, or both, that lie past the last full tile."""
    full_rows = shape.m - shape.m % config.tile_m
    full_cols = shape.n - shape.n % config.tile_n
    rows = np.broadcast_to(np.arange(shape.m)[:, None] >= full_rows, mask.shape)
    cols = np.broadcast_to(np.arange(shape.n)[None, :] >= full_cols, mask.shape)
    facts = {"full_rows": full_rows, "full_cols": full_cols}
    for name, tail in (
        ("last_corner", rows & cols),
        ("last_rows", rows),
        ("last_cols", cols),
        ("last_rows_and_cols", rows | cols),
    ):
        partial = tail.any() and not tail.all()
        if partial and not (mask & ~tail).any() and mask[tail].mean() >= share:
            yield Region(name, facts)


def _blocks(mask: Mask, config: LaunchConfig, share: float) -> Iterator[Region]:
    """Whole blocks."""
    bad = _by_block(mask, config)
    size = _by_block(np.ones_like(mask), config)
    if bad.size > 1 and _all_or_nothing(bad, size, share):
        yield Region("blocks", {"blocks": int(np.count_nonzero(bad)), "of_blocks": bad.size})


def _by_block(mask: Mask, config: LaunchConfig) -> Counts:
    """How many elements of the mask each block has (block rows x block columns)."""
    rows = np.arange(0, mask.shape[0], config.tile_m)
    cols = np.arange(0, mask.shape[1], config.tile_n)
    counts = mask.astype(np.int64)
    return np.asarray(np.add.reduceat(np.add.reduceat(counts, rows, axis=0), cols, axis=1))


def _places(mask: Mask, config: LaunchConfig, share: float) -> Iterator[Region]:
    """The same places in every tile. What occurs once repeats nothing."""
    tile_m, tile_n = min(config.tile_m, mask.shape[0]), min(config.tile_n, mask.shape[1])
    if (tile_m, tile_n) == mask.shape:
        return
    rows = np.arange(mask.shape[0])[:, None] % tile_m
    cols = np.arange(mask.shape[1])[None, :] % tile_n
    place = (rows * tile_n + cols).ravel()
    bad = np.bincount(place, weights=mask.ravel()).astype(np.int64)
    places = int(np.count_nonzero(bad))
    if bad.sum() > places and _all_or_nothing(bad, np.bincount(place), share):
        facts = {"places": places, "of_places": tile_m * tile_n}
        yield Region("places", facts)


def _parts(mask: Mask, config: LaunchConfig, share: float) -> Iterator[Region]:
    """Some of the parts, as large as the block, that a tile has: of each thread the same outputs
    where these lie a block apart."""
    high, wide = config.block_y, config.block_x
    down, right = config.tile_m // high, config.tile_n // wide
    whole = (down * high, right * wide) == (config.tile_m, config.tile_n)
    if not whole or mask.shape < (config.tile_m, config.tile_n) or down * right == 1:
        return
    rows = np.arange(mask.shape[0])[:, None] % config.tile_m // high
    cols = np.arange(mask.shape[1])[None, :] % config.tile_n // wide
    part = (rows * right + cols).ravel()
    bad = np.bincount(part, weights=mask.ravel()).astype(np.int64)
    parts = int(np.count_nonzero(bad))
    if parts < bad.size and _all_or_nothing(bad, np.bincount(part), share):
        yield Region("parts", {"parts": parts, "of_parts": bad.size, "part": [high, wide]})


def _beyond(mask: Mask, config: LaunchConfig) -> Iterator[Region]:
    """All of every tile but its first rows and columns: a block computes fewer of both."""
    rows = np.arange(mask.shape[0])[:, None] % config.tile_m
    cols = np.arange(mask.shape[1])[None, :] % config.tile_n
    kept_rows, kept_cols = np.nonzero(~mask)
    high = int((kept_rows % config.tile_m).max()) + 1
    wide = int((kept_cols % config.tile_n).max()) + 1
    both = high < rows.max() + 1 and wide < cols.max() + 1
    if both and np.array_equal(~mask, (rows < high) & (cols < wide)):
        yield Region("beyond", {"corner": [high, wide], "tile": [config.tile_m, config.tile_n]})


def _all_or_nothing(bad: Counts, size: Counts, share: float) -> bool:
    """Whether each part is in the mask not at all or to at least `share`. Where sums may be right
    by accident, those that are in it not at all are more than a few."""
    clean = size[bad == 0].sum()
    least = 1 if share == 1 else _LEAST_CLEAN * size.sum()
    return bool(clean >= least and ((bad == 0) | (bad >= share * size)).all())
