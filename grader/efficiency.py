"""What the counters of a correct kernel say about its use of memory.

Shares and ratios only: a healthy kernel and a faulty one lie far apart in each, and the limits in
`exercise.toml` stand in the gap between them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from grader.counted_shapes import USUAL_DEPTH
from grader.counters import SECTOR_WORDS, Counters, LineCounter, total
from grader.device import Build, LaunchConfig
from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.problems.matmul import Layout, Shape
from grader.verdict import Verdict

# Lanes of a warp: with so many multiply-adds, each lane has made one.
_LANES = 32
_OPERANDS = ("A", "B", "C")


def judge_counters(build: Build, shape: Shape, counters: Counters) -> tuple[Finding, ...]:
    """Everything the exercise's limits forbid, at an aligned shape."""
    exercise, config = build.exercise, build.launch_config
    traffic = [*_small_tiles(exercise, config), *_traffic(exercise, config, shape, counters)]
    # How well loads fill their sectors says something only where they are the loads of a tile.
    sectors = [] if traffic else _sectors(exercise, config, shape, counters)
    found = [
        *_uncounted(counters),
        *traffic,
        *_output(exercise, config, shape, counters),
        *sectors,
        *(_surplus_steps(exercise, config, shape, counters) or _shared(exercise, shape, counters)),
    ]
    return tuple(_placed(finding, build, counters, shape) for finding in found)


def judge_traffic(build: Build, shape: Shape, counters: Counters) -> tuple[Finding, ...]:
    """What also holds at shapes that are no multiple of anything: the number of words."""
    about = (build.exercise, build.launch_config, shape, counters)
    found = [*_uncounted(counters), *_traffic(*about), *_output(*about)]
    return tuple(_placed(finding, build, counters, shape) for finding in found)


def _traffic(
    exercise: Exercise, config: LaunchConfig, shape: Shape, counters: Counters
) -> Iterator[Finding]:
    """Words loaded from A and B against one load of each tile by each block that needs it.

    Whole tiles are counted, also at the edges: whether a kernel loads nothing there or loads some
    valid element again is a matter of style.
    """
    if "max_word_ratio" not in exercise.limits:
        return
    depth = _in_whole_tiles(config, shape)[2]
    per_operand = _words_of_tiles(config, shape)
    yield from _variables(shape, sum(allowed for _, allowed in per_operand), counters)
    for name, allowed in per_operand:
        words = total(_accesses(counters, "global", "load", name), "words")
        if words > allowed * exercise.limits["max_word_ratio"]:
            facts = {"name": name, "access": "load", "words": words, "allowed": allowed}
            facts |= {"ratio": words / allowed, "tile_m": config.tile_m, "tile_n": config.tile_n}
            facts |= {"tile_k": config.tile_k}
            kind = _kind_of_traffic(words * depth / allowed, depth, config.tile_k)
            yield Finding(Verdict.TOO_MUCH_TRAFFIC, kind, facts)


def _words_of_tiles(config: LaunchConfig, shape: Shape) -> tuple[tuple[str, int], ...]:
    """The words of A and of B that all blocks together need."""
    rows, cols, depth = _in_whole_tiles(config, shape)
    return (
        ("A", rows * depth * (cols // config.tile_n)),
        ("B", depth * cols * (rows // config.tile_m)),
    )


def _in_whole_tiles(config: LaunchConfig, shape: Shape) -> tuple[int, int, int]:
    tiles = (config.tile_m, config.tile_n, config.tile_k)
    m, n, k = (-(-size // tile) * tile for size, tile in zip(shape, tiles, strict=True))
    return m, n, k


def _output(
    exercise: Exercise, config: LaunchConfig, shape: Shape, counters: Counters
) -> Iterator[Finding]:
    """Words of C that are stored or loaded against its elements: a sum that lives in C is both in
    each step. Clearing C first, or computing elements of whole tiles twice, is none of that."""
    rows, cols, _ = _in_whole_tiles(config, shape)
    words = {
        access: total(_accesses(counters, "global", access, "C"), "words")
        for access in ("store", "load")
    }
    access = max(words, key=lambda access: words[access])
    ratio = words[access] / (rows * cols)
    if ratio > exercise.limits.get("max_output_ratio", math.inf):
        facts = {"name": "C", "access": access, "words": words[access], "ratio": ratio}
        facts |= {"stored": words["store"], "loaded": words["load"], "elements": rows * cols}
        yield Finding(Verdict.TOO_MUCH_TRAFFIC, "output_traffic", facts)


def _variables(shape: Shape, tiles: int, counters: Counters) -> Iterator[Finding]:
    """Words loaded from device variables that the kernel fills (tables hold no tiles), which lie
    in global memory, too, against those of all tiles and one more for each element of C."""
    filled = {line.name for line in _accesses(counters, "global", "store")}.difference(_OPERANDS)
    lines = [line for line in _accesses(counters, "global", "load") if line.name in filled]
    words, allowed = total(lines, "words"), tiles + shape.m * shape.n
    if words > allowed:
        worst = _worst("variable_traffic", lines)
        facts = {"name": worst.name, "access": worst.access, "words": words, "allowed": allowed}
        yield Finding(Verdict.TOO_MUCH_TRAFFIC, "variable_traffic", facts)


def _kind_of_traffic(loaded: float, depth: int, tile_k: int) -> str:
    """What words for `loaded` along K instead of `depth` may come from: steps that reach past K,
    one step too many, or words that are loaded again."""
    if tile_k == 1 and loaded == int(loaded) and loaded - depth < 2 * USUAL_DEPTH:
        return "unnamed_depth"
    return "one_step_more" if loaded == depth + tile_k else "too_much_traffic"


def _accesses(
    counters: Counters, space: str, access: str = "", name: str = ""
) -> tuple[LineCounter, ...]:
    """The lines of one space, and of one access and array where given. An atomic operation loads
    and stores, so it is either."""
    atomics = (
        replace(counter, access=access or "load")
        for counter in counters.atomics
        if counter.space == space and name in ("", counter.name)
    )
    return (*counters.select(space, access, name), *atomics)


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


def _sectors(
    exercise: Exercise, config: LaunchConfig, shape: Shape, counters: Counters
) -> Iterator[Finding]:
    """Sectors against those that the same words need: tile loads, or without tiles B and C.

    The excess is held against no more than one access for each multiply-add or element of C:
    accesses that nobody needs must not hide those that waste.
    """
    limit = exercise.limits.get("max_sector_ratio")
    if limit is None:
        return
    tiled = "min_tile_m" in exercise.limits
    judged = (("load", "A"), ("load", "B")) if tiled else (("load", "B"), ("store", "C"))
    for access, name in judged:
        lines = _accesses(counters, "global", access, name)
        uses = shape.m * shape.n if name == "C" else shape.multiply_adds
        sectors, needed = total(lines, "sectors"), sum(map(_needed_sectors, lines))
        allowed = (limit - 1) * min(needed, uses / SECTOR_WORDS)
        if sectors <= needed + allowed:
            continue
        # Few lanes at a time: each request may be as good as its words allow, and they too many.
        scattered = sectors > total(lines, "ideal_sectors") + allowed
        kind = "uncoalesced" if scattered else "few_lanes"
        worst = _worst(kind, lines)
        facts = {"name": name, "access": access, **_request_facts(counters, worst)}
        size, words = _row_of_tile(exercise, config, name) if tiled else _row_of_block(config)
        # In a narrow block, lanes down a column touch as many sectors as lanes along rows.
        along = tiled or facts["words_apart"] == 1
        if kind == "uncoalesced" and along and _walks_along(worst, words):
            kind = "ragged_rows"
            facts |= {"size": size, "row_words": words}
        yield Finding(Verdict.UNCOALESCED, kind, facts)


def _request_facts(counters: Counters, line: LineCounter) -> dict[str, object]:
    return {
        "ratio": line.sectors / _needed_sectors(line),
        "sectors_per_request": line.sectors / line.requests,
        "ideal": line.ideal_sectors / line.requests,
        "words_per_request": line.words / line.requests,
        "words_apart": _words_apart(counters, line),
    }


def _row_of_tile(exercise: Exercise, config: LaunchConfig, name: str) -> tuple[str, int]:
    """The size that counts the words of a row of an operand's tile, and that number."""
    if name == "B" and exercise.b_layout is Layout.KXN:
        return "tile_n", config.tile_n
    return "tile_k", config.tile_k


def _row_of_block(config: LaunchConfig) -> tuple[str, int]:
    """The same where a thread has an element of C: as many as its block is wide."""
    return min(("block_x", config.block_x), ("tile_n", config.tile_n), key=lambda size: size[1])


def _walks_along(line: LineCounter, row_words: int) -> bool:
    """Whether rows of so many words, each at a multiple of their number, and one more row that a
    request breaks off in, explain the line's sectors. Lanes down a column need far more."""
    latest = SECTOR_WORDS - math.gcd(row_words, SECTOR_WORDS)  # where in a sector a row begins
    most = -(-(latest + row_words) // SECTOR_WORDS)
    explained = line.sectors <= line.words / row_words * most + line.requests
    return row_words > 1 and latest > 0 and explained


def _words_apart(counters: Counters, line: LineCounter) -> int:
    """How many words neighbouring lanes are apart in the line's most expensive request; 0 where
    that is not known."""
    requests = zip(counters.lines, counters.worst, strict=False)
    stride = next((request.stride for counted, request in requests if counted == line), None)
    return abs(stride.bytes) // 4 if stride else 0


def _needed_sectors(line: LineCounter) -> float:
    """What the words of a line's requests need. Requests of less than a sector's words leave the
    rest of it to others, so that they count by words: otherwise lanes that take turns, each with a
    request of its own, would seem to waste nothing."""
    words = line.words / SECTOR_WORDS
    return words if words < line.requests else line.ideal_sectors


@dataclass(frozen=True)
class _Reading:
    """Bank conflicts as a share of wavefronts, and wavefronts for 32 multiply-adds."""

    share: float
    wavefronts: float


def _reading(prefix: str, shape: Shape, lines: Sequence[LineCounter]) -> _Reading:
    wavefronts = total(lines, f"{prefix}wavefronts")
    share = total(lines, f"{prefix}bank_conflicts") / wavefronts if wavefronts else 0.0
    return _Reading(share, wavefronts * _LANES / shape.multiply_adds)


def _surplus_steps(
    exercise: Exercise, config: LaunchConfig, shape: Shape, counters: Counters
) -> tuple[Finding, ...]:
    """Words stored in shared arrays against those of the tiles. Steps that reach past the end of K
    load nothing from A and B, so nothing else tells of them.

    Words of a tile are read more often than they are stored; of others, such as sums, this says
    nothing.
    """
    lines = [
        line
        for line in counters.select("shared", "store")
        if total(_accesses(counters, "shared", "load", line.name), "words") > 2 * line.words
    ]
    allowed = sum(words for _, words in _words_of_tiles(config, shape))
    words = total(lines, "words")
    if words <= allowed * exercise.limits.get("max_tile_stores", math.inf):
        return ()
    worst = _worst("surplus_steps", lines)
    facts = {"name": worst.name, "access": worst.access, "words": words, "allowed": allowed}
    facts |= {"ratio": words / allowed, "k": shape.k}
    return (Finding(Verdict.TOO_MUCH_TRAFFIC, "surplus_steps", facts),)


def _shared(exercise: Exercise, shape: Shape, counters: Counters) -> Iterator[Finding]:
    """Bank conflicts as a share of wavefronts, and wavefronts for 32 multiply-adds: an excess of
    these without conflicts hides those in the share, or is what lanes cost that read one by one.

    nvcc takes neighbouring scalar loads of a lane together where it can, so there are two readings:
    as written and merged. A kernel is thrifty where one of them keeps both limits. Where nvcc never
    merges (`volatile`, iterations under `#pragma unroll 1`) the two are one.
    """
    lines = _accesses(counters, "shared")
    readings = [_reading(prefix, shape, lines) for prefix in ("", "merged_")]
    most_share = exercise.limits.get("max_conflict_share", math.inf)
    most_wavefronts = exercise.limits.get("max_shared_wavefronts", math.inf)
    if any(r.share <= most_share and r.wavefronts <= most_wavefronts for r in readings):
        return
    # Where conflicts explain the wavefronts, they are the cause.
    conflicting = [reading for reading in readings if reading.share > most_share]
    if conflicting:
        worst = _worst("bank_conflicts", lines)
        facts: dict[str, object] = {"name": worst.name, "access": worst.access}
        facts |= {"share": conflicting[0].share, "merged_share": readings[1].share}
        facts |= {"wavefronts_per_request": worst.wavefronts / worst.requests}
        facts |= {"ideal": worst.ideal_wavefronts / worst.requests}
        yield Finding(Verdict.BANK_CONFLICTS, "bank_conflicts", facts)
    else:
        worst = _worst("shared_wavefronts", lines)
        facts = {"name": worst.name, "access": worst.access}
        facts |= {"wavefronts": min(reading.wavefronts for reading in readings)}
        facts |= {"limit": most_wavefronts}
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
    "uncoalesced": ("global", lambda line: line.sectors - line.ideal_sectors),
    "ragged_rows": ("global", lambda line: line.sectors - line.ideal_sectors),
    "few_lanes": ("global", lambda line: line.sectors - _needed_sectors(line)),
    "too_much_traffic": ("global", lambda line: line.words),
    "one_step_more": ("global", lambda line: line.words),
    "variable_traffic": ("global", lambda line: line.words),
    "output_traffic": ("global", lambda line: line.words),
    "surplus_steps": ("shared", lambda line: line.words),
    "bank_conflicts": ("shared", lambda line: line.bank_conflicts),
    "shared_wavefronts": ("shared", lambda line: line.wavefronts),
}


def _worst(kind: str, lines: Sequence[LineCounter]) -> LineCounter:
    return max(lines, key=_BLAME[kind][1])


def _worst_line(kind: str, facts: Mapping[str, object], counters: Counters) -> int:
    lines = _accesses(counters, _BLAME[kind][0], str(facts["access"]), str(facts["name"]))
    return _worst(kind, lines).line
