"""`--grid`, `--block` and `--shared`, within the limits of the target GPU."""

from __future__ import annotations

import math

from grader.course import Target
from grader.finding import GraderFault
from grader.inspect.expression import evaluate
from grader.simulator.protocol import Triple

_AXES = "xyz"
# The same on every GPU since compute capability 3.0.
_LARGEST_BLOCK_Z = 64


def read_grid(text: str, target: Target) -> Triple:
    """`4,4` in blocks; a missing y or z is 1. Raises GraderFault with one sentence."""
    grid = _triple("--grid", text)
    limits = (target.max_grid_x, target.max_grid_y, target.max_grid_y)
    _check("--grid", "blocks", grid, limits)
    return grid


def read_block(text: str, target: Target) -> Triple:
    """`16,16` in threads, as `read_grid`."""
    block = _triple("--block", text)
    _check("--block", "threads", block, (target.max_block_x, target.max_block_y, _LARGEST_BLOCK_Z))
    threads = math.prod(block)
    if threads > target.max_threads_per_block:
        raise GraderFault(
            f"--block {text} has {threads} threads; {target.name} allows "
            f"{target.max_threads_per_block} in a block."
        )
    return block


def check_shared(static: int, dynamic: int, target: Target) -> None:
    """Raise GraderFault where a block needs more shared memory than the GPU gives it."""
    if dynamic < 0:
        raise GraderFault(f"--shared {dynamic}: give a number of bytes, 0 or more.")
    if static > target.shared_per_block:
        limit, what = target.shared_per_block, "__shared__ arrays"
    elif static + dynamic > target.shared_per_block_optin:
        limit, what = target.shared_per_block_optin, "__shared__ arrays and --shared"
    else:
        return
    raise GraderFault(
        f"A block takes {static + dynamic} bytes for its {what}; {target.name} allows {limit}."
    )


def _triple(option: str, text: str) -> Triple:
    sizes = [evaluate(part) for part in text.split(",")]
    if len(sizes) > 3:
        raise GraderFault(f"{option} {text} has {len(sizes)} sizes; give up to three: x,y,z.")
    x, y, z = [*sizes, 1, 1][:3]
    return x, y, z


def _check(option: str, what: str, sizes: Triple, limits: Triple) -> None:
    for axis, size, limit in zip(_AXES, sizes, limits, strict=True):
        if not 1 <= size <= limit:
            raise GraderFault(f"{option}: {size} {what} along {axis}; 1 to {limit} are possible.")
