"""What the counters of a correct kernel say about its use of memory.

Shares and ratios only: a healthy kernel and a faulty one lie far apart in each, and the limits in
`exercise.toml` stand in the gap between them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from grader.counted_shapes import USUAL_DEPTH
from grader.counters import Counters, LineCounter, total
from grader.device import Build, LaunchConfig
from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.problems.matmul import Shape
from grader.verdict import Verdict

# Words of 4 bytes in a sector of 32.
_SECTOR_WORDS = 8
# Lanes of a warp: with so many multiply-adds, each lane has made one.
_LANES = 32


def judge_counters(build: Build, shape: Shape, counters: Counters) -> tuple[Finding, ...]:
    """Everything the exercise's limits forbid, at an aligned shape."""
    exercise, config = build.exercise, _config(build)
    traffic = [*_small_tiles(exercise, config), *_traffic(exercise, config, shape, counters)]
    # How well loads fill their sectors says something only where they are the loads of a tile.
    sectors = [] if traffic else _sectors(exercise, counters)
    # Where conflicts explain the wavefronts, they are the cause.
    shared = [*_conflicts(exercise, counters)] or [*_wavefronts(exercise, shape, counters)]
    found = [*_uncounted(counters), *traffic, *sectors, *shared]
    return tuple(_placed(finding, build, counters, shape) for finding in found)


def judge_traffic(build: Build, shape: Shape, counters: Counters) -> tuple[Finding, ...]:
    """What also holds at shapes that are no multiple of anything: the words loaded."""
    traffic = _traffic(build.exercise, _config(build), shape, counters)
    found = [*_uncounted(counters), *traffic]
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
            deep = config.tile_k == 1 and _is_one_step_more(words * shape.k / allowed, shape.k)
            kind = "unnamed_depth" if deep else "too_much_traffic"
            yield Finding(Verdict.TOO_MUCH_TRAFFIC, kind, facts)


def _is_one_step_more(depth: float, k: int) -> bool:
    """Whether words for `depth` along K instead of `k` may be those of steps that reach past it."""
    return depth == int(depth) and depth - k < 2 * USUAL_DEPTH


def _uncounted(counters: Counters) -> Iterator[Finding]:
    """What is not counted must not pass for few."""
    if counters.uncounted:
        facts = {"accesses": counters.uncounted}
        yield Finding(Verdict.TOO_MUCH_TRAFFIC, "uncounted", facts)


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
        needed = sum(_needed_sectors(line) for line in lines)
        if not ideal or sectors <= limit * needed:
            continue
        # Few lanes at a time: each request may be as good as its words allow, and they too many.
        kind = "uncoalesced" if sectors > limit * ideal else "few_lanes"
        told = lines if kind == "uncoalesced" else [_worst(kind, lines)]
        requests, touched = total(told, "requests"), total(told, "sectors")
        facts = {"name": name, "access": access, "ratio": sectors / needed}
        facts |= {"sectors_per_request": touched / requests, "ideal": ideal / requests}
        facts |= {"words_per_request": total(told, "words") / requests}
        yield Finding(Verdict.UNCOALESCED, kind, facts)


def _needed_sectors(line: LineCounter) -> float:
    """What the words of a line's requests need. Requests of less than a sector's words leave the
    rest of it to others, so that they count by words: otherwise lanes that take turns, each with a
    request of its own, would seem to waste nothing."""
    words = line.words / _SECTOR_WORDS
    return words if words < line.requests else line.ideal_sectors


def _share(conflicts: int, wavefronts: int) -> float:
    return conflicts / wavefronts if wavefronts else 0.0


def _conflicts(exercise: Exercise, counters: Counters) -> Iterator[Finding]:
    """Bank conflicts as a share of wavefronts, with loads as written and as a compiler merges them.

    nvcc takes neighbouring scalar loads of a lane together where it can; both readings must be bad.
    Where it never does (`volatile`, iterations under `#pragma unroll 1`) the two are one.
    """
    limit = exercise.limits.get("max_conflict_share")
    if limit is None:
        return
    lines = counters.select("shared")
    share = _share(total(lines, "bank_conflicts"), total(lines, "wavefronts"))
    merged = _share(total(lines, "merged_bank_conflicts"), total(lines, "merged_wavefronts"))
    if min(share, merged) <= limit:
        return
    worst = _worst("bank_conflicts", lines)
    facts = {
        "name": worst.name,
        "access": worst.access,
        "share": share,
        "merged_share": merged,
        "wavefronts_per_request": worst.wavefronts / worst.requests,
        "ideal": worst.ideal_wavefronts / worst.requests,
    }
    yield Finding(Verdict.BANK_CONFLICTS, "bank_conflicts", facts)


def _wavefronts(exercise: Exercise, shape: Shape, counters: Counters) -> Iterator[Finding]:
    """Wavefronts for 32 multiply-adds, in the reading that favours the kernel: an excess of them
    without conflicts hides these in the share, or is what lanes cost that read one by one."""
    limit = exercise.limits.get("max_shared_wavefronts")
    lines = counters.select("shared")
    if limit is None or not lines:
        return
    least = min(total(lines, "wavefronts"), total(lines, "merged_wavefronts"))
    wavefronts = least * _LANES / shape.multiply_adds
    if wavefronts > limit:
        worst = _worst("shared_wavefronts", lines)
        facts = {"name": worst.name, "access": worst.access, "wavefronts": wavefronts}
        facts |= {"limit": limit}
        yield Finding(Verdict.TOO_MUCH_TRAFFIC, "shared_wavefronts", facts)


def _placed(finding: Finding, build: Build, counters: Counters, shape: Shape) -> Finding:
    if finding.kind == "tile_too_small":  # whatever the shape
        return replace(finding, device=build.device)
    if finding.kind not in _BLAME:  # about the launch configuration, where the caller places it
        return replace(finding, shape=shape, device=build.device)
    line = _worst_line(finding.kind, finding.facts, counters)
    places = (Location(build.submission.name, line, str(finding.facts["access"])),) if line else ()
    return replace(finding, locations=places, shape=shape, device=build.device)


# Which lines a finding may blame, and by which counter it chooses among them.
_BLAME: Mapping[str, tuple[str, Callable[[LineCounter], float]]] = {
    "uncoalesced": ("global", lambda line: line.sectors),
    "few_lanes": ("global", lambda line: line.sectors - _needed_sectors(line)),
    "too_much_traffic": ("global", lambda line: line.words),
    "bank_conflicts": ("shared", lambda line: line.bank_conflicts),
    "shared_wavefronts": ("shared", lambda line: line.wavefronts),
}


def _worst(kind: str, lines: Sequence[LineCounter]) -> LineCounter:
    return max(lines, key=_BLAME[kind][1])


def _worst_line(kind: str, facts: Mapping[str, object], counters: Counters) -> int:
    lines = counters.select(_BLAME[kind][0], str(facts["access"]), str(facts["name"]))
    return _worst(kind, lines).line
