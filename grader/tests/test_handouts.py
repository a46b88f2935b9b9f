"""What a handout promises is what exercise.toml says, and its links and figures exist."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.exercise import PROJECT, Exercise, load_all
from grader.handout import sheets
from grader.report.words import check_name

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
    # A check without points is told only if it is a condition for the others.
    checks = [check for check, points in exercise.points.items() if points or check == "compiles"]
    assert [*sheets.points_told(handout(exercise))] == [*map(check_name, checks)]
    name = f"exercises/{exercise.name}/README.md"
    assert not list(sheets.contradictions(PROJECT, {name: handout(exercise).encode()}))


def row(exercise: Exercise, check: str) -> str:
    """What the handout says passes a check; "" where it has no row for it."""
    found = re.search(rf"^\| {check} \| \d+ \| (.+) \|$", handout(exercise), re.MULTILINE)
    return found[1] if found else ""


def test_the_limits_of_efficient_are_told_where_they_first_apply() -> None:
    naive, tiled, padded, tuned = GRADED
    for exercise in (naive, tiled):
        ratio = exercise.limits["max_sector_ratio"]
        assert f"at most {ratio:g} times the sectors" in row(exercise, "efficient")
    for exercise in (tiled, tuned):
        smallest = f"{exercise.limits['min_tile_m']:g} x {exercise.limits['min_tile_n']:g}"
        assert f"tiles of at least {smallest}" in row(exercise, "efficient")
    assert f"at most {padded.limits['max_conflict_share']:.0%}".replace("%", " %") in row(
        padded, "efficient"
    )
    # What a handout leaves to an earlier one is the same there.
    assert padded.limits["max_sector_ratio"] == tiled.limits["max_sector_ratio"]
    assert tuned.limits["max_sector_ratio"] == tiled.limits["max_sector_ratio"]
    assert tuned.limits["max_conflict_share"] == padded.limits["max_conflict_share"]


def test_a_hint_fits_every_case_of_its_verdict() -> None:
    _, tiled, padded, _ = (exercise.hints for exercise in GRADED)
    assert "store" in tiled["out_of_bounds"]  # as well as loads
    assert "tile" in padded["misaligned"]
    assert "of A or B" in padded["misaligned"]
    assert "threads" in padded["bad_launch"]  # block_x = 2000 is one, too
    assert "shared memory" in padded["too_much_static_shared"]
    assert "shared memory" in padded["too_much_shared"]


def test_the_warm_up_promises_a_small_shape_and_not_the_smallest() -> None:
    assert "smallest" not in handout(EXERCISES[0])


@pytest.mark.parametrize("exercise", GRADED, ids=lambda exercise: exercise.name)
def test_what_safe_and_efficient_find_has_a_hint_of_the_exercise(exercise: Exercise) -> None:
    kinds = {"race", "out_of_bounds", "uncoalesced"}
    kinds |= {"uninitialised"} if exercise.name == "01_naive" else {"unset_shared", "unset_output"}
    kinds |= {"divergent_barrier"} if exercise.name != "01_naive" else set()
    if "max_word_ratio" in exercise.limits:
        kinds |= {"too_much_traffic", "tile_too_small"}
    if "max_conflict_share" in exercise.limits:
        kinds |= {"bank_conflicts"}
    assert kinds <= set(exercise.hints)


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
