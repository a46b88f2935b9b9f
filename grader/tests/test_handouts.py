"""What a handout promises is what exercise.toml says, and its links and figures exist."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.exercise import PROJECT, Exercise, load_all

EXERCISES = load_all(PROJECT)
GRADED = [exercise for exercise in EXERCISES if exercise.graded]
HANDOUTS = sorted((PROJECT / "exercises").glob("*/README.md"))
FIGURES = sorted((PROJECT / "exercises").glob("*/*.svg"))
SMALL_BYTES = 8192  # a figure is read with the text, also over a slow line


def handout(exercise: Exercise) -> str:
    return (exercise.folder / "README.md").read_text("utf-8")


def anchors(path: Path) -> set[str]:
    """The anchors of a Markdown file's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_points_add_up_to_100() -> None:
    assert sum(exercise.total for exercise in EXERCISES) == 100


@pytest.mark.parametrize("exercise", GRADED, ids=lambda exercise: exercise.name)
def test_the_table_of_checks_gives_the_points_of_exercise_toml(exercise: Exercise) -> None:
    table = handout(exercise).split("\n## What is checked\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \| (\d+) \| .+ \|$", table, re.MULTILINE)
    told = {check.replace(" ", "_"): int(points) for check, points in rows}
    # A check without points is told only if it is a condition for the others.
    expected = {check: n for check, n in exercise.points.items() if n or check == "compiles"}
    assert told == expected
    assert f"{exercise.total} points" in handout(exercise)


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda exercise: exercise.name)
def test_a_handout_names_the_file_and_the_command(exercise: Exercise) -> None:
    text = handout(exercise)
    assert f"starter/{exercise.name}.cu" in text
    assert f"make test EX={exercise.short}" in text
    assert text.count("<details>") == text.count("</details>") >= 1


@pytest.mark.parametrize("path", HANDOUTS, ids=lambda path: path.parent.name)
def test_every_link_of_a_handout_leads_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text("utf-8")):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        linked = path.parent / file
        assert linked.is_file(), f"{path}: {target}"
        assert not anchor or anchor in anchors(linked), f"{path}: {target}"


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_a_figure_is_small_and_brings_its_own_background(path: Path) -> None:
    assert path.stat().st_size < SMALL_BYTES
    root = ElementTree.fromstring(path.read_text("utf-8"))
    assert root.get("aria-label")
    _, _, width, height = (root.get("viewBox") or "").split()
    first = root[0]
    assert first.tag.endswith("rect")
    assert first.get("fill") not in (None, "none")
    assert float(first.get("width") or 0) >= float(width) - 1
    assert float(first.get("height") or 0) >= float(height) - 1
