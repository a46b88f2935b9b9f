"""One request of a warp, taken apart: its lanes' words, banks and sectors."""

from __future__ import annotations

from grader.counters import Request

SECTOR_BYTES = 32
WORD_BYTES = 4
BANKS = 32


def active_lanes(request: Request) -> list[int]:
    return [lane for lane, offset in enumerate(request.offsets) if offset is not None]


def lane_words(request: Request, lane: int) -> range:
    """The numbers of the 4-byte words that a lane touches, from the array's start."""
    offset = request.offsets[lane]
    if offset is None:
        return range(0)
    return range(offset // WORD_BYTES, (offset + request.bytes - 1) // WORD_BYTES + 1)


def sectors(request: Request) -> list[int]:
    """The numbers of the sectors that the lanes touch, ascending."""
    words = {word for lane in active_lanes(request) for word in lane_words(request, lane)}
    return sorted({word * WORD_BYTES // SECTOR_BYTES for word in words})


def group_count(request: Request) -> int:
    """How many groups of lanes shared memory serves one after the other."""
    return len(request.offsets) // request.group


def group_lanes(request: Request, group: int) -> list[int]:
    """The active lanes of a group."""
    first = group * request.group
    return [lane for lane in active_lanes(request) if first <= lane < first + request.group]


def words_by_bank(request: Request, group: int) -> dict[int, set[int]]:
    """The distinct words that the lanes of a group want, by bank."""
    wanted: dict[int, set[int]] = {}
    for lane in group_lanes(request, group):
        for word in lane_words(request, lane):
            wanted.setdefault(word % BANKS, set()).add(word)
    return wanted


def group_wavefronts(request: Request, group: int) -> int:
    """A bank gives one word at a time, so the busiest one decides."""
    return max(map(len, words_by_bank(request, group).values()), default=0)


def busiest_group(request: Request) -> int:
    """The first of the groups that take the most wavefronts."""
    return max(range(group_count(request)), key=lambda group: group_wavefronts(request, group))


def busiest_bank(request: Request) -> tuple[int, int]:
    """The first bank that the most words are wanted of, in the busiest group, and how many."""
    wanted = words_by_bank(request, busiest_group(request))
    bank = max(sorted(wanted), key=lambda number: len(wanted[number]))
    return bank, len(wanted[bank])
