"""Two records of one submission, check by check. Times are not compared; speed is, in quarters."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from grader.formats.reading import Check, Record

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


def compare(then: Record, now: Record) -> Comparison:
    """Both are about the same exercises and their checks."""
    notes = _Notes()
    for one, other in zip(then.exercises, now.exercises, strict=True):
        for before, after in zip(one.checks, other.checks, strict=True):
            if undecided := list(_undecided(before, after)):
                notes.open += undecided
            elif before.name == "fast":
                notes.different += _speed(before, after, one.quarters, other.quarters)
            else:
                notes.different += _differences(before, after)
    return Comparison(len(then.checks), tuple(notes.different), tuple(notes.open))


def _undecided(before: Check, after: Check) -> Iterator[str]:
    for check, where in ((before, "the record has"), (after, "this grading has")):
        if check.status == "grader_error":
            yield f"{check.title}: {where} an error of the grader: {check.message}"
        elif check.reason == "inconclusive":
            yield f"{check.title}: {where} no answer: {check.message}"


def _differences(before: Check, after: Check) -> Iterator[str]:
    now = _told(after)
    for what, then in _told(before).items():
        if then != now[what]:
            yield f"{before.title}: {what} was {_quoted(then)}, is {_quoted(now[what])}"


def _told(check: Check) -> dict[str, str]:
    """What must come out the same. Speed is told in times, which never do."""
    told = {
        "description": check.description,
        "status": check.status,
        "verdict": check.verdict,
        "points": f"{check.earned} of {check.points}",
    }
    if check.name == "fast":
        return told
    return told | {
        "reason": check.reason,
        "message": _placeless(check),
        "hint": check.hint,
        "shape": "x".join(map(str, check.shape)),
        "place": _places(check),
        "also": ", ".join(check.also),
        "command": check.command,
    }


def _speed(before: Check, after: Check, then: int | None, now: int | None) -> Iterator[str]:
    if before.status in ("pass", "fail") and after.status in ("pass", "fail") and then != now:
        yield (
            f"{before.title}: {_worth(then)} then ({before.message}), {_worth(now)} now "
            f"({after.message}). A speed near a threshold can fall on either side of it"
        )
    else:
        yield from _differences(before, after)


def _worth(quarters: int | None) -> str:
    return f"{quarters} of 4 quarters" if quarters is not None else "no quarters"


def _places(check: Check) -> str:
    return ", ".join(
        f"{_name(place.file)}:{place.line} {place.role}".strip() for place in check.places
    )


def _placeless(check: Check) -> str:
    """The message. Only the places tell a folder whose name has blanks."""
    text = check.message
    for place in check.places:
        text = text.replace(place.file, _name(place.file))
    return _FOLDER.sub("", text)


def _name(file: str) -> str:
    return file.rpartition("/")[2]


def _quoted(text: str) -> str:
    return f'"{text}"' if text else "nothing"
