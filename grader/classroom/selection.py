"""Which file of each name is taken, by what is in it: work goes before what was handed out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from grader.classroom import places
from grader.exercise import PROJECT, load_all
from grader.report.words import visible
from grader.submission import LIMIT_BYTES, fingerprint, shipped

Read = Callable[[str], bytes]


@dataclass(frozen=True)
class Taken:
    """The file of one name. `note` is for whoever would have looked for another one; else ""."""

    place: str
    content: bytes
    is_work: bool
    note: str = ""


def choose(found: Sequence[str], names: Sequence[str], read: Read) -> dict[str, Taken]:
    """Of each name the best place that holds work; where none does, the best place.

    Raises what `read` does of the best one; others that cannot be read are passed over.
    """
    ranked = places.ranked(found, names)
    return {name: _first(name, where, read) for name, where in ranked.items() if where}


def others(
    found: Sequence[str], names: Sequence[str], taken: Mapping[str, Taken], read: Read
) -> list[str]:
    """What may be meant for a file that is not there, or only as it was handed out."""
    started = [name for name in names if name in taken and taken[name].is_work]
    meant = places.others(found, names, started, [one.place for one in taken.values()])
    return [one for one in meant if not (places.is_copy(one, names) and _is_idle(one, read))]


def _first(name: str, where: Sequence[str], read: Read) -> Taken:
    best = Taken(where[0], content := read(where[0]), _is_work(content))
    chosen = best if best.is_work else next(_work(where[1:], read), best)
    return Taken(chosen.place, chosen.content, chosen.is_work, _note(name, where, chosen))


def _work(where: Sequence[str], read: Read) -> Iterator[Taken]:
    for place in where:
        with suppress(OSError):  # a link, mostly; the note then says that it was not taken
            if _is_work(content := read(place)):
                yield Taken(place, content, is_work=True)


def _note(name: str, where: Sequence[str], chosen: Taken) -> str:
    place = visible(chosen.place)
    if chosen.place != where[0]:
        first = visible(where[0])
        return f"{first} is empty or as it was handed out: {place} was taken"
    alike = places.equally_good(where)
    return f"{alike} files {name} are equally deep: {place} was taken" if alike > 1 else ""


def _is_idle(place: str, read: Read) -> bool:
    with suppress(Exception):  # it is not taken, so why it cannot be read is of no interest
        return not _is_work(read(place))
    return False


def _is_work(content: bytes) -> bool:
    if len(content) > LIMIT_BYTES:
        return True  # its reader says that it is too large
    text = content.decode("utf-8", errors="replace")
    return bool(text.strip()) and fingerprint(text) not in _handed_out()


@cache
def _handed_out() -> frozenset[str]:
    """The fingerprints of every starter that was ever shipped."""
    return frozenset().union(*map(shipped, load_all(PROJECT)))
