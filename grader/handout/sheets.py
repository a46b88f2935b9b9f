"""What the sheet of an exercise, its README.md, says of points, beside its exercise.toml."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from grader.exercise import Exercise, load_all
from grader.report.words import check_name

_ROW = re.compile(r"^\| ([a-z ]+) \| (\d+) \| .+ \|$", re.MULTILINE)


def contradictions(root: Path, files: Mapping[str, bytes]) -> Iterator[str]:
    """What the sheets among the `files` of a hand-out of `root` tell otherwise.

    Nothing of a sheet without our table: it may be translated, or leave out the points.
    """
    for exercise in load_all(root):
        name = f"exercises/{exercise.name}/README.md"
        sheet = files.get(name, b"").decode("utf-8", "replace")
        told = points_told(sheet) if exercise.graded else {}
        if told and (wrong := ", ".join(_wrong(exercise, sheet, told))):
            yield f"{name}: {wrong}"


def points_told(sheet: str) -> Mapping[str, int]:
    """The points of each check as the sheet's table tells them; empty where it has none."""
    table = sheet.partition("\n## What is checked\n")[2].partition("\n## ")[0]
    return {check: int(points) for check, points in _ROW.findall(table)}


def _wrong(exercise: Exercise, sheet: str, told: Mapping[str, int]) -> Iterator[str]:
    given = {check_name(check): points for check, points in exercise.points.items()}
    for check in {**given, **told}:
        if told.get(check, 0) != given.get(check, 0):
            yield f"{check} {told.get(check, 0)} instead of {given.get(check, 0)}"
    if not re.search(rf"\b{exercise.total} points\b", sheet):
        yield f"nowhere {exercise.total} points, the sum"
