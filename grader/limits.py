"""Whether a launch configuration fits the GPU that the course grades on.

Findings, all with verdict `bad_launch`; `what` names the number as LAUNCH_CONFIG spells it:

- not_positive {what, value, limit: 1}: a block or tile size of zero or less
- block_too_wide {what, value, limit}: threads along one axis
- too_many_threads {what: "block_x * block_y", value, limit, block_x, block_y}
- tile_too_large {what, value, limit}: more than LARGEST_TILE
- negative_shared {what: "dynamic_shared", value, limit: 0}
- too_much_static_shared {what: "static shared memory", value, limit}: bytes of `__shared__` arrays
- too_much_shared {what: "shared memory of a block", value, limit, static_shared, dynamic_shared}
- too_many_block_rows {what: "tile_m", value, limit, rows}: from `check_grid`, for one shape
- launch_bounds {what: "block_x * block_y", value, limit, block_x, block_y}: from `check_bounds`

How small a tile may be for an exercise (`min_tile_m`) is no question of launching and not asked.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.course import Target
from grader.device import LaunchConfig
from grader.finding import Finding, Location
from grader.verdict import Verdict

_Found = tuple[str, dict[str, object]]  # kind, facts


# More than this is a slip: 1,024 threads would compute a thousand elements each. The shapes that
# are tried are made of tiles, and must stay small enough to try.
LARGEST_TILE = {"tile_m": 1024, "tile_n": 1024, "tile_k": 4096}


def check_launch(
    config: LaunchConfig,
    static_shared: int,
    target: Target,
    locations: tuple[Location, ...] = (),
) -> tuple[Finding, ...]:
    """What is wrong with a configuration on any shape; empty when the GPU can launch it.

    `static_shared` is what the compiler reported, in bytes; `locations` that of LAUNCH_CONFIG.
    """
    found = [*_sizes(config, target), *_shared(config, static_shared, target)]
    return _findings(found, locations)


def check_grid(
    config: LaunchConfig, rows: int, target: Target, locations: tuple[Location, ...] = ()
) -> tuple[Finding, ...]:
    """Whether a C of `rows` rows needs more block rows than a grid can have."""
    block_rows = -(-rows // config.tile_m)
    if block_rows <= target.max_grid_y:
        return ()
    facts = {"what": "tile_m", "value": block_rows, "limit": target.max_grid_y, "rows": rows}
    return _findings([("too_many_block_rows", facts)], locations)


def check_bounds(
    config: LaunchConfig, most_threads: int, locations: tuple[Location, ...] = ()
) -> tuple[Finding, ...]:
    """Whether a block has more threads than the kernel's own `__launch_bounds__` promises."""
    threads = config.block_x * config.block_y
    if threads <= most_threads:
        return ()
    block = {"block_x": config.block_x, "block_y": config.block_y}
    facts = {"what": "block_x * block_y", "value": threads, "limit": most_threads, **block}
    return _findings([("launch_bounds", facts)], locations)


def _sizes(config: LaunchConfig, target: Target) -> Iterator[_Found]:
    for what in ("block_x", "block_y", "tile_m", "tile_n", "tile_k"):
        value = getattr(config, what)
        if value < 1:
            yield "not_positive", {"what": what, "value": value, "limit": 1}
    wide = False
    for what, value, limit in (
        ("block_x", config.block_x, target.max_block_x),
        ("block_y", config.block_y, target.max_block_y),
    ):
        if value > limit:
            wide = True
            yield "block_too_wide", {"what": what, "value": value, "limit": limit}
    # Where one axis alone is wrong its message says enough; -8 * -200 is no number of threads.
    threads, limit = config.block_x * config.block_y, target.max_threads_per_block
    if threads > limit and not wide and config.block_x > 0:
        block = {"block_x": config.block_x, "block_y": config.block_y}
        what = "block_x * block_y"
        yield "too_many_threads", {"what": what, "value": threads, "limit": limit, **block}
    for what, limit in LARGEST_TILE.items():
        if getattr(config, what) > limit:
            yield "tile_too_large", {"what": what, "value": getattr(config, what), "limit": limit}


def _shared(config: LaunchConfig, static_shared: int, target: Target) -> Iterator[_Found]:
    dynamic = config.dynamic_shared
    if dynamic < 0:
        yield "negative_shared", {"what": "dynamic_shared", "value": dynamic, "limit": 0}
    if static_shared > target.shared_per_block:
        what, limit = "static shared memory", target.shared_per_block
        yield "too_much_static_shared", {"what": what, "value": static_shared, "limit": limit}
    elif static_shared + max(dynamic, 0) > target.shared_per_block_optin:
        yield (
            "too_much_shared",
            {
                "what": "shared memory of a block",
                "value": static_shared + dynamic,
                "limit": target.shared_per_block_optin,
                "static_shared": static_shared,
                "dynamic_shared": dynamic,
            },
        )


def _findings(found: list[_Found], locations: tuple[Location, ...]) -> tuple[Finding, ...]:
    return tuple(Finding(Verdict.BAD_LAUNCH, kind, facts, locations) for kind, facts in found)
