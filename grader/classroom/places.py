"""Which of the paths in a submission are taken, and what is told of the others."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from grader import settings
from grader.exercise import PROJECT

STARTER = settings.STARTER.name
# As git tells an address from a path: a scheme or a host stands before the first slash.
ADDRESS = re.compile(r"[^/\\]+:")
_DRIVE = re.compile(r"[A-Za-z]:")
_CUDA = re.compile(r"\.cu(\.txt)?$", re.IGNORECASE)


def ranked(found: Iterable[str], names: Sequence[str]) -> dict[str, list[str]]:
    """For each name where its files lie, the best first: least deep, then in starter/ before
    beside it."""
    where = sorted((one for one in found if not _is_aside(one)), key=lambda one: (_rank(one), one))
    return {name: [one for one in where if parts(one)[-1] == name] for name in names}


def equally_good(where: Sequence[str]) -> int:
    """How many of these places are as good as the first."""
    return sum(_rank(one) == _rank(where[0]) for one in where)


def others(
    found: Sequence[str], names: Sequence[str], started: Iterable[str], taken: Sequence[str]
) -> list[str]:
    """What may be meant for a name that is not `started`; anything where nothing is `taken`."""
    lacking = tuple(name for name in names if name not in started)

    def may_be_meant(place: str) -> bool:
        name = parts(place)[-1]
        if name in names or name.startswith(".") or _is_aside(place):
            return name in lacking
        near = not taken or is_copy(place, lacking) or _CUDA.search(name)
        return bool(near) and not _is_handed_out(place)

    return sorted(one for one in found if one not in taken and may_be_meant(one)) if lacking else []


def is_copy(place: str, names: Sequence[str]) -> bool:
    """Whether it is called as one of `names`, or as systems call another file of that name."""
    return parts(place)[-1].lower().startswith(tuple(Path(name).stem for name in names))


def like(source: str, found: Iterable[str]) -> list[str]:
    """Those of `found` that are called like `source`, but for capitals and an ending."""
    stem = _folded(PurePosixPath(source).name).removesuffix(".zip")
    if not stem:
        return []
    return sorted(one for one in found if f"{_folded(one)}.".startswith(f"{stem}."))


def is_safe(place: str) -> bool:
    """Whether a path of an archive leads to a place inside of it."""
    found = parts(place)
    return not found[0].startswith("/") and ".." not in found and not _DRIVE.match(place)


def parts(place: str) -> tuple[str, ...]:
    """Of a path as Unix or Windows writes it; (".",) of none."""
    return PurePosixPath(place.replace("\\", "/")).parts or (".",)


def _rank(place: str) -> tuple[int, bool]:
    folders = parts(place)[:-1]
    return sum(one != STARTER for one in folders), STARTER not in folders


def _is_aside(place: str) -> bool:
    """Whether it lies in a folder that systems and editors keep for themselves."""
    return any(
        one == "__MACOSX" or (one.startswith(".") and one != "..") for one in parts(place)[:-1]
    )


def _is_handed_out(place: str) -> bool:
    """Whether students get a file of that place: of a whole hand-out those are not their own."""
    names = parts(place.lstrip("/\\"))
    ends = (Path(*names[first:]) for first in range(len(names)))
    return any(os.path.isfile(root / end) for end in ends for root in (PROJECT, PROJECT / STARTER))


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
