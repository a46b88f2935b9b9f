"""What the counters of a correct kernel say about its use of memory.

Shares and ratios only: a healthy kernel and a faulty one lie far apart in each, and the limits in
`exercise.toml` stand in the gap between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from grader.counters import Counters, LineCounter, total
from grader.device import Build, LaunchConfig
from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.problems.matmul import Shape
from grader.verdict import Verdict

# Sectors hold 8 words: at multiples of 8, no row of a matrix begins in the middle of one.
_SECTOR_WORDS = 8
# Enough tiles in each direction for every path through the kernel's loops, and still quick.
_LEAST_SIZE = 64


def aligned_shape(config: LaunchConfig) -> Shape:
    """Whole tiles and whole sectors, M, N and K mutually different where tiles allow it."""
    sizes = []
    for tile, extra in ((config.tile_m, 0), (config.tile_n, 1), (config.tile_k, 2)):
        step = math.lcm(tile, _SECTOR_WORDS)
        sizes.append(step * (-(-_LEAST_SIZE // step) + (extra if step <= _LEAST_SIZE else 0)))
    return Shape(*sizes)


def ragged_shape(config: LaunchConfig) -> Shape:
    """Two tiles in each direction, the last one with a single row, all but one column, one step."""
    return Shape(config.tile_m + 1, max(2 * config.tile_n - 1, 2), 2 * config.tile_k + 1)


def is_aligned(config: LaunchConfig, shape: Shape) -> bool:
    """Whether counters at this shape can be judged: whole tiles, whole sectors."""
    tiles = (config.tile_m, config.tile_n, config.tile_k)
    return all(
        size % math.lcm(tile, _SECTOR_WORDS) == 0 for size, tile in zip(shape, tiles, strict=True)
    )


def judge_counters(build: Build, shape: Shape, counters: Counters) -> tuple[Finding, ...]:
    """Everything the exercise's limits forbid, at an aligned shape."""
    exercise, config = build.exercise, _config(build)
    traffic = [*_small_tiles(exercise, config), *_traffic(exercise, config, shape, counters)]
    # How well loads fill their sectors says something only where they are the loads of a tile.
    sectors = [] if traffic else _sectors(exercise, counters)
    found = [*traffic, *sectors, *_conflicts(exercise, counters)]
    return tuple(_placed(finding, build, counters, shape) for finding in found)


def judge_traffic(build: Build, shape: Shape, counters: Counters) -> tuple[Finding, ...]:
    """What also holds at shapes that are no multiple of anything: the words loaded."""
    found = _traffic(build.exercise, _config(build), shape, counters)
    return tuple(_placed(finding, build, counters, shape) for finding in found)


def _config(build: Build) -> LaunchConfig:
    assert build.config is not None, "only a complete build is launched"
    return build.config


def _traffic(
    exercise: Exercise, config: LaunchConfig, shape: Shape, counters: Counters
) -> Iterator[Finding]:
    """Words loaded from A and B against one load of each tile by each block that needs it.

    Whole tiles are counted, also at the edges: whether a kernel loads nothing there or loads some
    valid element again is a matter of style.
    """
    if "max_word_ratio" not in exercise.limits:
        return
    rows, cols, depth = (
        -(-size // tile) * tile
        for size, tile in zip(shape, (config.tile_m, config.tile_n, config.tile_k), strict=True)
    )
    per_operand = (
        ("A", rows * depth * (cols // config.tile_n)),
        ("B", depth * cols * (rows // config.tile_m)),
    )
    for name, allowed in per_operand:
        words = total(counters.select("global", "load", name), "words")
        if words > allowed * exercise.limits["max_word_ratio"]:
            facts = {"name": name, "access": "load", "words": words, "allowed": allowed}
            facts |= {"ratio": words / allowed, "tile_m": config.tile_m, "tile_n": config.tile_n}
            yield Finding(Verdict.TOO_MUCH_TRAFFIC, "too_much_traffic", facts)


def _small_tiles(exercise: Exercise, config: LaunchConfig) -> Iterator[Finding]:
    least_m = int(exercise.limits.get("min_tile_m", 1))
    least_n = int(exercise.limits.get("min_tile_n", 1))
    if config.tile_m < least_m or config.tile_n < least_n:
        facts = {"tile_m": config.tile_m, "tile_n": config.tile_n}
        facts |= {"least_m": least_m, "least_n": least_n}
        yield Finding(Verdict.TOO_MUCH_TRAFFIC, "tile_too_small", facts)


def _sectors(exercise: Exercise, counters: Counters) -> Iterator[Finding]:
    """Sectors against those that the same words need: tile loads, or without tiles B and C."""
    limit = exercise.limits.get("max_sector_ratio")
    if limit is None:
        return
    tiled = "min_tile_m" in exercise.limits
    judged = (("load", "A"), ("load", "B")) if tiled else (("load", "B"), ("store", "C"))
    for access, name in judged:
        lines = counters.select("global", access, name)
        sectors, ideal = total(lines, "sectors"), total(lines, "ideal_sectors")
        if ideal and sectors > limit * ideal:
            requests = total(lines, "requests")
            facts = {"name": name, "access": access, "ratio": sectors / ideal}
            facts |= {"sectors_per_request": sectors / requests, "ideal": ideal / requests}
            yield Finding(Verdict.UNCOALESCED, "uncoalesced", facts)


def _share(conflicts: int, wavefronts: int) -> float:
    return conflicts / wavefronts if wavefronts else 0.0


def _conflicts(exercise: Exercise, counters: Counters) -> Iterator[Finding]:
    """Bank conflicts as a share of wavefronts, with loads as written and as a compiler merges them.

    nvcc takes neighbouring scalar loads of a lane together where it can; both readings must be bad.
    """
    limit = exercise.limits.get("max_conflict_share")
    if limit is None:
        return
    lines = counters.select("shared")
    share = _share(total(lines, "bank_conflicts"), total(lines, "wavefronts"))
    merged = _share(total(lines, "merged_bank_conflicts"), total(lines, "merged_wavefronts"))
    if min(share, merged) <= limit:
        return
    worst = max(lines, key=lambda line: line.bank_conflicts)
    facts = {
        "name": worst.name,
        "access": worst.access,
        "share": share,
        "merged_share": merged,
        "wavefronts_per_request": worst.wavefronts / worst.requests,
        "ideal": worst.ideal_wavefronts / worst.requests,
    }
    yield Finding(Verdict.BANK_CONFLICTS, "bank_conflicts", facts)


def _placed(finding: Finding, build: Build, counters: Counters, shape: Shape) -> Finding:
    if finding.kind not in _BLAME:  # about the file, whatever the shape
        return replace(finding, device=build.device)
    line = _worst_line(finding.kind, finding.facts, counters)
    places = (Location(build.submission.name, line, str(finding.facts["access"])),) if line else ()
    return replace(finding, locations=places, shape=shape, device=build.device)


# By which counter the line of a finding is chosen.
_BLAME = {
    "uncoalesced": ("global", "sectors"),
    "too_much_traffic": ("global", "words"),
    "bank_conflicts": ("shared", "bank_conflicts"),
}


def _worst_line(kind: str, facts: Mapping[str, object], counters: Counters) -> int:
    space, field = _BLAME[kind]
    lines: Sequence[LineCounter] = counters.select(space, str(facts["access"]), str(facts["name"]))
    return max(lines, key=lambda line: int(getattr(line, field))).line
