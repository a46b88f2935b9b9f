"""summary.html: how the class did, for its teacher. It holds pseudonyms and no names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from grader import atomic
from grader.classroom.gradebook import STATUS, Row, graders, totals
from grader.exercise import CHECKS

# The words of the report. Of a file that is missing nothing was skipped: there was no check.
_COLUMNS = ("pass", "fail", "skipped", "not graded", "not started", "missing")
# Who earned less than this share of what could be graded is worth a look, as is who left little
# that could be graded.
_NEEDS_HELP = 0.5
_COMMON_FAULTS = 12


@dataclass(frozen=True)
class Bar:
    """One check of one exercise: students by status."""

    exercise: str
    check: str
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def percent(self, column: str) -> float:
        return 100 * self.counts[column] / self.total if self.total else 0.0


def write(path: Path, rows: Sequence[Row], title: str) -> None:
    """Replace the page in one step."""
    templates = FileSystemLoader(Path(__file__).parent)
    made = Environment(loader=templates, autoescape=True, undefined=StrictUndefined)
    graded = [row for row in rows if row.record is not None]
    text = made.get_template("summary.html.jinja").render(
        title=title,
        rows=rows,
        graded=graded,
        machines=sorted({row.machine for row in graded}),
        graders=graders(rows),
        totals=totals(rows),
        scores=_scores(graded),
        bars=[list(bars) for _, bars in groupby(_bars(graded), lambda bar: bar.exercise)],
        columns=_COLUMNS,
        faults=_faults(graded).most_common(_COMMON_FAULTS),
        help=[row for row in rows if _needs_help(row)],
        why=_why,
    )
    atomic.write_text(path, text)


def _scores(graded: Sequence[Row]) -> list[tuple[str, int]]:
    """Students by tenths of what could be graded."""
    counts = [0] * 10
    for row in graded:
        assert row.record is not None
        if row.record.possible:
            counts[min(9, 10 * row.record.earned // row.record.possible)] += 1
    return [(f"{10 * tenth} to {10 * tenth + 10} %", count) for tenth, count in enumerate(counts)]


def _bars(graded: Sequence[Row]) -> list[Bar]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for row in graded:
        assert row.record is not None
        whole = {one.name: one.status for one in row.record.exercises}
        for check in row.record.checks:
            if not check.points and check.name != "compiles":
                continue  # not asked for in this exercise
            kind = "not graded" if check.undecided else check.status
            if whole[check.exercise] in ("missing", "not_started"):
                kind = whole[check.exercise].replace("_", " ")
            found.setdefault((check.exercise, check.name), Counter())[kind] += 1
    ranks = {check: rank for rank, check in enumerate(CHECKS)}
    order = sorted(found, key=lambda key: (key[0], ranks.get(key[1], len(ranks))))
    return [Bar(e, c, {column: found[e, c][column] for column in _COLUMNS}) for e, c in order]


def _faults(graded: Sequence[Row]) -> Counter[tuple[str, str]]:
    """(exercise, verdict) -> students who have it."""
    return Counter(
        pair
        for row in graded
        if row.record is not None
        for pair in {(c.exercise, c.verdict) for c in row.record.checks if c.verdict}
    )


def _needs_help(row: Row) -> bool:
    if row.record is None:
        return row.status != "roster"
    earned, possible = row.record.earned, row.record.possible
    return bool(row.opted_out) or (possible > 0 and earned < _NEEDS_HELP * possible)


def _why(row: Row) -> str:
    """What went wrong, exercise by exercise; for who was not graded, what became of them."""
    if row.record is None:
        # Not the note: it may hold the name of a folder, which mostly is the student's.
        return STATUS.get(row.status, row.status)
    found: dict[str, dict[str, None]] = {}
    for check in row.record.checks:
        if check.verdict:
            found.setdefault(check.exercise, {})[check.verdict] = None
    for name in row.opted_out:
        found.setdefault(name, {})["not graded, for what the kernel uses"] = None
    for exercise in row.record.exercises:
        if exercise.status in ("missing", "not_started"):
            found.setdefault(exercise.name, {})[exercise.status] = None
    parts = (f"{name}: {', '.join(what).replace('_', ' ')}" for name, what in sorted(found.items()))
    return "; ".join(parts)
