"""The picture of one request of a warp: its lanes against banks, or against sectors."""

from __future__ import annotations

from collections.abc import Iterator

from grader.counters import Counters, Request
from grader.finding import GraderFault
from grader.inspect import warp
from grader.inspect.marks import marks, reason
from grader.inspect.svg import (
    BLUE,
    DARK_RED,
    EDGE,
    GREY,
    INK,
    PALE_BLUE,
    PALE_INK,
    PALE_RED,
    RED,
    WHITE,
    document,
    rect,
    text,
    thread,
)
from grader.messages.wording import clipped, counted, pair
from grader.submission import Submission

_CELL = 28  # a lane's or a bank's box
_LEFT = 72
_WIDTH = _LEFT + 32 * _CELL + 32
_LANES_Y, _BANKS_Y = 118, 268
_BAR = 6.0  # of one wavefront, at most
_TALLEST_BAR = 110.0
_LONGEST_SOURCE = 110
_CODE = "ui-monospace, monospace"


def choose(counters: Counters, line: int, array: str) -> Request:
    """The request to draw: of a line (0: the one that wastes most) and an array ("": the worst).

    Raises GraderFault where there is none.
    """
    rows = list(zip(counters.worst, marks(counters), strict=True))
    found = [(r, m) for r, m in rows if line in (0, r.line) and array in ("", r.name)]
    if found:
        return max(found, key=lambda row: _waste(row[0], row[1].waste if row[1] else 0.0))[0]
    of = f" of {array}" if array else ""
    where = f"Line {line} makes" if line else "The kernel makes"
    known = sorted({f"{r.line} ({r.name})" for r, _ in rows}, key=lambda text: int(text.split()[0]))
    lines = f" Lines that do: {', '.join(known)}." if known else ""
    raise GraderFault(f"{where} no counted access{of}.{lines}")


def _waste(request: Request, marked: float) -> tuple[float, float, int]:
    return marked, request.cost / request.ideal, request.cost


def draw(request: Request, file: Submission) -> str:
    """The picture as SVG."""
    unit = "sector" if request.space == "global" else "wavefront"
    cost = f"{counted(request.cost, unit)}, {request.ideal} would do"
    title = f"{file.path.name}:{request.line}, {request.access} of {request.name}: {cost}"
    body, height = _banks(request) if request.space == "shared" else _sectors(request)
    shapes = [*_head(request, file, title), *_lanes(request), *body]
    return document(_WIDTH, height, f"{title}. {reason(request)}", shapes)


def _head(request: Request, file: Submission, title: str) -> Iterator[str]:
    texts = file.lines
    source = texts[request.line - 1].strip() if 0 < request.line <= len(texts) else ""
    yield text(20, 28, title, 16, weight="bold")
    yield text(20, 50, clipped(source, _LONGEST_SOURCE), 13, family=_CODE, fill=PALE_INK)
    yield text(20, 74, reason(request), fill=DARK_RED if request.cost > request.ideal else INK)


def _lane_x(lane: int) -> float:
    return _LEFT + (lane + 0.5) * _CELL


def _lanes(request: Request) -> Iterator[str]:
    shown = set(_shown(request))
    active = set(warp.active_lanes(request))
    yield text(_LEFT - 12, _LANES_Y + 18, "lane", anchor="end")
    for lane in range(len(request.offsets)):
        fill = BLUE if lane in shown else PALE_BLUE if lane in active else WHITE
        ink = INK if lane in active else EDGE
        yield rect(_lane_x(lane) - _CELL / 2, _LANES_Y, _CELL, _CELL, fill)
        yield text(_lane_x(lane), _LANES_Y + 19, str(lane), 12, "middle", fill=ink)


def _shown(request: Request) -> list[int]:
    """The lanes whose words are followed: of shared memory the busiest group."""
    if request.space == "global":
        return warp.active_lanes(request)
    return warp.group_lanes(request, warp.busiest_group(request))


def _banks(request: Request) -> tuple[list[str], float]:
    wanted = warp.words_by_bank(request, warp.busiest_group(request))
    busiest, most = warp.busiest_bank(request)
    if most == 1:
        busiest = -1
    bar = min(_BAR, _TALLEST_BAR / most)
    shapes = list(_threads_to_banks(request, busiest))
    shapes.append(text(_LEFT - 12, _BANKS_Y + 18, "bank", anchor="end"))
    shapes.append(text(_LEFT - 12, _BANKS_Y + _CELL + 16, "words", anchor="end"))
    for bank in sorted(range(warp.BANKS), key=lambda number: number == busiest):  # it comes on top
        shapes += _bank(bank, len(wanted.get(bank, ())), bar, bank == busiest)
    y = _BANKS_Y + _CELL + 48 + most * bar
    if most > 1:
        others = sum(len(words) == most for words in wanted.values()) - 1
        shapes.append(_busiest_label(request, busiest, most, others, y))
        y += 24
    notes = _shared_notes(request)
    return [*shapes, *_foot(notes, y)], y + 20 * len(notes) - 4


def _busiest_label(request: Request, bank: int, words: int, others: int, y: float) -> str:
    also = f" (and {counted(others, 'other')} as busy)" if others else ""
    these = " for these lanes" if warp.group_count(request) > 1 else ""
    label = f"busiest: bank {bank}{also}: {words} words, so {words} wavefronts{these}"
    left = bank < warp.BANKS // 2
    x = _lane_x(bank) + (-8 if left else 8)
    return text(x, y, label, 13, "start" if left else "end", "bold", DARK_RED)


def _bank(bank: int, words: int, bar: float, busiest: bool) -> Iterator[str]:
    x = _lane_x(bank)
    fill = WHITE if words == 0 else RED if busiest else PALE_RED if words > 1 else BLUE
    stroke, width = (DARK_RED, 3) if busiest else (EDGE, 1)
    yield rect(x - _CELL / 2, _BANKS_Y, _CELL, _CELL, fill, stroke, width)
    ink = INK if words else EDGE
    yield text(x, _BANKS_Y + 19, str(bank), 12, "middle", "bold" if busiest else "normal", ink)
    if words:
        yield text(x, _BANKS_Y + _CELL + 16, str(words), 11, "middle", fill=INK)
        for number in range(words):
            y = _BANKS_Y + _CELL + 22 + number * bar
            yield rect(x - 8, y, 16, bar, fill, stroke, 0.75)


def _threads_to_banks(request: Request, busiest: int) -> Iterator[str]:
    strands = [
        (lane, word % warp.BANKS)
        for lane in _shown(request)
        for word in warp.lane_words(request, lane)
    ]
    for lane, bank in strands:
        color = DARK_RED if bank == busiest else PALE_INK
        yield thread(_lane_x(lane), _LANES_Y + _CELL, _lane_x(bank), _BANKS_Y, color, 0.6)


def _shared_notes(request: Request) -> list[str]:
    groups = warp.group_count(request)
    notes = [
        "A bank hands out one word at a time (lanes that want the same word share it): the busiest "
        "bank sets the number of wavefronts."
    ]
    if groups > 1:
        first = warp.busiest_group(request) * request.group
        notes.append(
            f"{request.bytes} bytes a lane are served in {groups} groups of {request.group} lanes, "
            f"one after the other; shown is the busiest, lanes {first} to "
            f"{first + request.group - 1}."
        )
    return [*notes, _whose(request)]


def _whose(request: Request) -> str:
    return (
        f"The most expensive request of this line, first made by warp {request.warp} of block "
        f"{pair(request.block)}."
    )


def _foot(notes: list[str], y: float) -> Iterator[str]:
    for number, note in enumerate(notes):
        yield text(20, y + 20 * number, note, 12, fill=PALE_INK)


def _sectors(request: Request) -> tuple[list[str], float]:
    found = warp.sectors(request)
    words = warp.SECTOR_BYTES // warp.WORD_BYTES
    gap = 4.0
    # A word is at most as wide as a lane: then four sectors of neighbouring lanes lie below them.
    cell = min(_CELL, (32 * _CELL - gap * len(found)) / (words * len(found)))
    starts = {n: _LEFT + i * (cell * words + gap) for i, n in enumerate(found)}
    used = {word for lane in warp.active_lanes(request) for word in warp.lane_words(request, lane)}
    shapes = []
    for lane in warp.active_lanes(request):
        for word in warp.lane_words(request, lane):
            x = starts[word // words] + (word % words + 0.5) * cell
            color = DARK_RED if request.cost > request.ideal else PALE_INK
            shapes.append(thread(_lane_x(lane), _LANES_Y + _CELL, x, _BANKS_Y, color, 0.6))
    shapes.append(text(_LEFT - 12, _BANKS_Y + 18, "sector", anchor="end"))
    shapes.append(text(_LEFT - 12, _BANKS_Y + _CELL + 16, "at word", anchor="end"))
    wide = cell * words >= 56
    for number, x in starts.items():
        shapes += _sector(number, x, cell, used)
        turned = {"anchor": "middle"} if wide else {"turned": True}
        at = (x + cell * words / 2, _BANKS_Y + _CELL + 16) if wide else (x + 3, _BANKS_Y + 34)
        shapes.append(text(*at, f"{number * words:,}", 11, **turned))
    bottom = _BANKS_Y + _CELL + (44 if wide else 84)
    notes = _global_notes(request, len(used))
    shapes += _foot(notes, bottom)
    return shapes, bottom + 20 * len(notes) + 4


def _sector(number: int, x: float, cell: float, used: set[int]) -> Iterator[str]:
    words = warp.SECTOR_BYTES // warp.WORD_BYTES
    for place in range(words):
        fill = BLUE if number * words + place in used else WHITE
        yield rect(x + place * cell, _BANKS_Y, cell, _CELL, fill, GREY, 0.5)
    yield rect(x, _BANKS_Y, cell * words, _CELL, "none", PALE_INK, 1.5)


def _global_notes(request: Request, words: int) -> list[str]:
    moved = request.cost * warp.SECTOR_BYTES
    return [
        f"Memory moves whole sectors of {warp.SECTOR_BYTES} bytes: {moved:,} bytes move, and "
        f"{words * warp.WORD_BYTES:,} of them (blue) are asked for.",
        _whose(request),
    ]
