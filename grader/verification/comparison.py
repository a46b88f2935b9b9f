"""Two records of one submission, check by check. Times are not compared; speed is, in quarters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.formats.reading import Check, parse

# The folder before a file's name: it may lie elsewhere now.
_FOLDER = re.compile(r"[^\s\"'(]*/(?=[0-9]{2}_[a-z0-9_]+\.cu\b)")


@dataclass(frozen=True)
class Comparison:
    """`different`: sentences about what did not come out the same; `open`: about what could not be
    compared, because one of the gradings did not decide it."""

    checks: int
    different: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclass
class _Notes:
    different: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


def compare(then: Mapping[str, Any], now: Mapping[str, Any]) -> Comparison:
    """Both hold together (`formats.reading.parse`) and are about the same exercises."""
    notes = _Notes()
    speeds = _quarters(then), _quarters(now)
    pairs = list(zip(parse(then).checks, parse(now).checks, strict=True))
    for before, after in pairs:
        if undecided := list(_undecided(before, after)):
            notes.open += undecided
        elif before.name == "fast":
            quarters = tuple(one.get(before.exercise) for one in speeds)
            notes.different += _speed(before, after, quarters[0], quarters[1])
        else:
            notes.different += _differences(before, after)
    return Comparison(len(pairs), tuple(notes.different), tuple(notes.open))


def _quarters(data: Mapping[str, Any]) -> dict[str, Any]:
    return {one["name"]: (one.get("timing") or {}).get("quarters") for one in data["exercises"]}


def _undecided(before: Check, after: Check) -> Iterator[str]:
    for check, where in ((before, "the record has"), (after, "this grading has")):
        if check.status == "grader_error":
            yield f"{check.title}: {where} an error of the grader: {check.message}"
        elif check.reason == "inconclusive":
            yield f"{check.title}: {where} no answer: {check.message}"


def _differences(before: Check, after: Check) -> Iterator[str]:
    told = (
        ("status", before.status, after.status),
        ("reason", before.reason, after.reason),
        ("verdict", before.verdict, after.verdict),
        ("points", f"{before.earned} of {before.points}", f"{after.earned} of {after.points}"),
        ("message", _placeless(before.message), _placeless(after.message)),
        ("place", _places(before), _places(after)),
    )
    for what, then, now in told:
        if then != now:
            yield f"{before.title}: {what} was {_quoted(then)}, is {_quoted(now)}"


def _speed(before: Check, after: Check, then: Any, now: Any) -> Iterator[str]:
    if before.status in ("pass", "fail") and after.status in ("pass", "fail") and then != now:
        yield (
            f"{before.title}: {_worth(then)} then ({before.message}), {_worth(now)} now "
            f"({after.message}). A speed near a threshold can fall on either side of it"
        )
        return
    for what, one, other in (
        ("status", before.status, after.status),
        ("verdict", before.verdict, after.verdict),
        ("points", f"{before.earned} of {before.points}", f"{after.earned} of {after.points}"),
    ):
        if one != other:
            yield f"{before.title}: {what} was {_quoted(one)}, is {_quoted(other)}"


def _worth(quarters: Any) -> str:
    return f"{quarters} of 4 quarters" if quarters is not None else "no quarters"


def _places(check: Check) -> str:
    return ", ".join(
        f"{_placeless(place.file)}:{place.line} {place.role}".strip() for place in check.places
    )


def _placeless(text: str) -> str:
    return _FOLDER.sub("", text)


def _quoted(text: str) -> str:
    return f'"{text}"' if text else "nothing"
