"""When a submission is late, and what that costs: the table [deadline] of course.toml."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from pathlib import Path

from grader import course, settings
from grader.course import CourseError

_KEYS = ("time", "grace_minutes", "percent_per_day", "late_days")
_DAY = timedelta(days=1)


@dataclass(frozen=True)
class Deadline:
    """`late_days` are days that cost nothing, a budget of each student's; after them each day that
    has begun costs `percent_per_day` of the points earned."""

    time: datetime
    grace: timedelta = timedelta()
    percent_per_day: int = 100
    late_days: int = 0


@dataclass(frozen=True)
class Lateness:
    """What a time of submission costs. `days` late have begun, `charged` of them cost points."""

    days: int = 0
    charged: int = 0
    factor: Fraction = Fraction(1)

    def apply(self, earned: int) -> int:
        """Points after the deduction: rounded once, halves up, in doubt for the student."""
        return math.floor(earned * self.factor + Fraction(1, 2))


ON_TIME = Lateness()


def load(root: Path) -> Deadline | None:
    """The deadline in course.toml, None where it has none; raises CourseError with file and key."""
    course.load(root)  # a key that it does not know may be a deadline
    top = settings.read(root / "course.toml", CourseError)
    if "deadline" not in top.entries:
        return None
    table = top.table("deadline")
    table.only(_KEYS)
    percent = _optional_count(table, "percent_per_day", 100)
    if percent > 100:
        raise table.fault("percent_per_day", f"is {percent}; it must be from 0 to 100.")
    return Deadline(
        time=_moment(table),
        grace=_grace(table),
        percent_per_day=percent,
        late_days=_optional_count(table, "late_days"),
    )


def parse_moment(text: str) -> datetime:
    """A time in ISO 8601 with its zone; raises ValueError, which says what is missing."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f'"{text}" is no time like 2026-12-18T23:59:00+01:00') from None
    if moment.tzinfo is None:
        raise ValueError(f'"{text}" has no time zone; write +01:00 or Z behind it')
    return moment


def lateness(
    deadline: Deadline | None, received: datetime | None, due: datetime | None
) -> Lateness:
    """What `received` costs; `due` is a student's own deadline (an extension), if there is one.

    Without a deadline or without a known time nothing is late. The grace is not charged: who is
    within it is on time, who is beyond it is late from the deadline on.
    """
    if deadline is None or received is None:
        return ON_TIME
    end = due or deadline.time
    if received - end <= deadline.grace:
        return ON_TIME
    days = math.ceil((received - end) / _DAY)
    charged = max(0, days - deadline.late_days)
    factor = max(Fraction(0), 1 - Fraction(charged * deadline.percent_per_day, 100))
    return Lateness(days, charged, factor)


def _moment(table: settings.Table) -> datetime:
    value = table.entries.get("time")
    if isinstance(value, datetime):  # TOML's own date-time
        value = value.isoformat()
    if not isinstance(value, str):
        raise table.fault("time", "must be a time like 2026-12-18T23:59:00+01:00.")
    try:
        return parse_moment(value)
    except ValueError as fault:
        raise table.fault("time", f"is wrong: {fault}.") from None


def _grace(table: settings.Table) -> timedelta:
    try:
        return timedelta(minutes=_optional_count(table, "grace_minutes"))
    except OverflowError:
        raise table.fault("grace_minutes", "is longer than any calendar.") from None


def _optional_count(table: settings.Table, key: str, otherwise: int = 0) -> int:
    return table.count(key) if key in table.entries else otherwise
