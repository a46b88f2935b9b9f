"""Which lines waste memory traffic, and why: a sentence from the addresses of one request."""

from __future__ import annotations

from dataclasses import dataclass

from grader.counters import Counters, LineCounter, Request, total
from grader.inspect import warp
from grader.messages.wording import counted

# Eight words that begin anywhere touch 1.875 sectors on average, so rows of a matrix whose length
# is no multiple of 8 stay below this; lanes that walk down a column are at 4 to 8.
_SECTOR_RATIO = 1.9
# And a warp of four rows of eight lanes, each of which reads one word, touches four sectors where
# one would do; nobody arranges a matrix for that.
_SPARE_SECTORS = 3.0  # a request
# As for the exercises: healthy kernels stay under 10 %, faulty ones are above 30 %.
_CONFLICT_SHARE = 0.15
# Conflicts are marked only where they are a part of all wavefronts that one would notice: the
# stores of a tile with rows of 17 words, each of which meets one conflict, are not.
_NOTICEABLE = 0.05


@dataclass(frozen=True)
class Mark:
    """What is wrong with one kind of access on one line. `title` is short ("32-way bank
    conflict"), `reason` says it in a sentence, `waste` is a share of the launch's traffic."""

    title: str
    reason: str
    waste: float


def marks(counters: Counters) -> tuple[Mark | None, ...]:
    """A mark, or None, for each entry of `counters.lines`."""
    pairs = zip(counters.lines, counters.worst, strict=True)
    return tuple(_mark(line, request, counters) for line, request in pairs)


def _mark(line: LineCounter, request: Request, counters: Counters) -> Mark | None:
    if line.space == "global":
        spare = line.sectors - line.ideal_sectors
        few = spare <= _SPARE_SECTORS * line.requests
        if few or line.sectors <= _SECTOR_RATIO * line.ideal_sectors:
            return None
        waste = _share(spare, counters, "global", "sectors")
        return Mark("uncoalesced", reason(request), waste)
    waste = _share(line.bank_conflicts, counters, "shared", "wavefronts")
    if waste < _NOTICEABLE or not _conflicts(line):
        return None
    return Mark(f"{degree(request)}-way bank conflict", reason(request), waste)


def _share(excess: int, counters: Counters, space: str, field: str) -> float:
    whole = total(counters.select(space), field)
    return excess / whole if whole else 0.0


def _conflicts(line: LineCounter) -> bool:
    """In both readings: as written, and with neighbouring loads of a lane merged."""
    plain = line.bank_conflicts > _CONFLICT_SHARE * line.wavefronts
    merged = line.merged_bank_conflicts > _CONFLICT_SHARE * line.merged_wavefronts
    return plain and merged


def degree(request: Request) -> int:
    """How many words of one bank are wanted at once: the wavefronts of one group of lanes."""
    return warp.group_wavefronts(request, warp.busiest_group(request))


def reason(request: Request) -> str:
    """`32 lanes want 32 words of bank 0, ...`: what the request's addresses have in common."""
    far = _distance(request)
    if request.space == "global":
        lanes = counted(len(warp.active_lanes(request)), "lane")
        touched = counted(request.cost, "sector")
        return f"{lanes} touch {touched}, {request.ideal} would do{far}."
    group = warp.busiest_group(request)
    served = counted(len(warp.group_lanes(request, group)), "lane")
    together = " served together" if warp.group_count(request) > 1 else ""
    return f"{served}{together} want {_wanted(request, group)}{far}."


def _wanted(request: Request, group: int) -> str:
    wanted = warp.words_by_bank(request, group)
    bank, most = warp.busiest_bank(request)
    if most == 1:
        return f"{len(wanted)} words of {len(wanted)} banks" if len(wanted) > 1 else "the same word"
    others = sum(len(words) == most for words in wanted.values()) - 1
    also = f" and as many of {counted(others, 'other bank')}" if others else ""
    return f"{most} words of bank {bank}{also}"


def _distance(request: Request) -> str:
    """`: neighbouring lanes are 97 words apart`, where most of them are equally far apart."""
    stride = request.stride
    if stride is None or stride.bytes == 0:
        return ""
    size, unit = abs(stride.bytes), "byte"
    if size % warp.WORD_BYTES == 0:
        size, unit = size // warp.WORD_BYTES, "word"
    most = "" if stride.everywhere else "most "
    return f": {most}neighbouring lanes are {counted(size, unit)} apart"
