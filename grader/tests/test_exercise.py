"""Reading exercise.toml: strict, and with errors that name file, key and what is allowed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.exercise import (
    CHECKS,
    LIMITS,
    NEEDS,
    PROJECT,
    Exercise,
    ExerciseError,
    find,
    load,
    load_all,
)
from grader.problems.matmul import Layout

GOOD = """
title = "Tiles"
kernel = "matmul_tiled"
b_layout = "KxN"

[points]
safe = 3
whole_tiles = 2
any_shape = 3
efficient = 12
fast = 5

[limits]
min_tile_m = 8

[speed]
sizes = [512, 1024]

[hints]
race = "Count your barriers."
"""


def write(root: Path, text: str = GOOD, name: str = "02_tiled") -> Path:
    folder = root / "exercises" / name
    folder.mkdir(parents=True)
    (folder / "exercise.toml").write_text(text, encoding="utf-8")
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(ExerciseError) as caught:
        load(folder)
    return str(caught.value)


def test_a_good_file_is_read_as_it_says(tmp_path: Path) -> None:
    exercise = load(write(tmp_path))
    assert (exercise.name, exercise.short, exercise.kernel) == ("02_tiled", "tiled", "matmul_tiled")
    assert exercise.b_layout is Layout.KXN
    assert exercise.graded
    assert exercise.points["compiles"] == 0
    assert exercise.total == 25
    assert exercise.limits == {"min_tile_m": 8.0}
    assert exercise.speed_sizes == (512, 1024)
    assert exercise.hints == {"race": "Count your barriers."}
    assert tuple(exercise.points) == CHECKS


def test_points_cannot_be_changed_after_reading(tmp_path: Path) -> None:
    exercise = load(write(tmp_path))
    with pytest.raises(TypeError):
        exercise.points["safe"] = 100  # type: ignore[index]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('title = "Tiles"', "", ["title is missing", "a string"]),
        ('title = "Tiles"', "title = 3", ["title is 3 (an integer)", "a string"]),
        ('title = "Tiles"', 'title = "  "', ["title", "one line of text"]),
        ('title = "Tiles"', 'titel = "Tiles"', ['unknown key "titel"', 'mean "title"?']),
        ('"matmul_tiled"', '"matmul tiled"', ["kernel", '"matmul tiled"', "C++ name"]),
        ('"KxN"', '"KxM"', ["b_layout", '"KxM"', '"KxN", "NxK"']),
        ("[points]", "graded = 1\n[points]", ["graded is 1 (an integer)", "true or false"]),
        ("safe = 3", "safe = true", ["points.safe is true (a boolean)", "an integer"]),
        ("safe = 3", "safe = 3.0", ["points.safe is 3.0 (a number)", "an integer"]),
        ("safe = 3", "safe = -3", ["points.safe is -3", "at least 0"]),
        ("safe = 3", "", ["points.safe is missing", "an integer"]),
        ("safe = 3", "safe = 3\ncompiles = 1", ['"points.compiles"', "safe, whole_tiles"]),
        ("any_shape", "anyshape", ['"points.anyshape"', '"any_shape"']),
        ("min_tile_m = 8", "min_tile_m = true", ["limits.min_tile_m is true", "a number"]),
        ("min_tile_m = 8", "min_tile_m = 0", ["limits.min_tile_m is 0", "at least 1"]),
        ("min_tile_m = 8", "min_tile_m = nan", ["limits.min_tile_m is nan"]),
        ("min_tile_m = 8", "max_conflict_share = 20", ["limits.max_conflict_share", "at most 1"]),
        ("min_tile_m", "min_tilem", ['"limits.min_tilem"', '"min_tile_m"']),
        ("[speed]\nsizes = [512, 1024]", "", ["speed.sizes is missing", "fast gives 5 points"]),
        ("[512, 1024]", "[]", ["speed.sizes is []", "integers from 1 on"]),
        ("[512, 1024]", "[512, 0]", ["speed.sizes is [512, 0]", "integers from 1 on"]),
        ("[512, 1024]", "[512, true]", ["speed.sizes", "integers from 1 on"]),
        ("[512, 1024]", "[1024, 512]", ["speed.sizes is [1024, 512]", "must rise"]),
        ('race = "', 'Race = "', ["hints.Race", "wrong_answer"]),
        ('race = "', 'rase = "', ['unknown key "hints.rase"', 'mean "race"?']),
        ('race = "', 'out_of_bound = "', ['"hints.out_of_bound"', 'mean "out_of_bounds"?']),
        ('race = "', 'repeated_stores = "', ['mean "repeated_store"?']),
        ('race = "Count your barriers."', "race = []", ["hints.race is []", "an array"]),
        ("[limits]\nmin_tile_m = 8", "[[limits]]", ["limits is", "must be a table"]),
        ('title = "Tiles"', "title = ", ["not valid TOML", "line 2"]),
        ('title = "Tiles"', 'title = "a"\ntitle = "b"', ["not valid TOML", "line 3"]),
    ],
)
def test_an_error_names_file_key_and_what_is_allowed(
    tmp_path: Path, old: str, new: str, words: list[str]
) -> None:
    assert old in GOOD
    message = refusal(write(tmp_path, GOOD.replace(old, new, 1)))
    for word in ["02_tiled/exercise.toml", *words]:
        assert word in message


def test_a_file_that_is_not_utf_8_is_named(tmp_path: Path) -> None:
    folder = write(tmp_path)
    (folder / "exercise.toml").write_bytes(b'title = "f\xfcr"')
    assert "exercise.toml: byte 10 is not UTF-8" in refusal(folder)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "02_tiled"
    folder.mkdir()
    assert "02_tiled/exercise.toml: cannot be read: No such file" in refusal(folder)


def test_a_folder_that_is_not_numbered_is_refused(tmp_path: Path) -> None:
    assert '"tiled" is not a name of an exercise' in refusal(write(tmp_path, name="tiled"))


def test_an_ungraded_exercise_needs_no_points_and_may_have_none(tmp_path: Path) -> None:
    head, points, _ = GOOD.partition("[points]")
    warm_up = load(write(tmp_path, head + "graded = false", "00_warmup"))
    assert warm_up.total == 0
    assert tuple(warm_up.points) == CHECKS
    folder = write(tmp_path, f"{head}graded = false\n{points}{_}", "05_more")
    assert "graded = false" in refusal(folder)


def test_all_exercises_come_in_order_and_other_folders_are_ignored(tmp_path: Path) -> None:
    write(tmp_path, GOOD, "02_tiled")
    write(tmp_path, GOOD.replace("matmul_tiled", "matmul_naive"), "01_naive")
    (tmp_path / "exercises" / "host_program").mkdir()
    (tmp_path / "exercises" / "README.md").write_text("")
    assert [exercise.name for exercise in load_all(tmp_path)] == ["01_naive", "02_tiled"]


@pytest.mark.parametrize(
    ("other", "kernel", "words"),
    [
        ("03_padded", "matmul_tiled", ['kernel "matmul_tiled"', "02_tiled"]),
        ("02_padded", "matmul_padded", ['number "02"', "02_padded"]),
        ("03_tiled", "matmul_padded", ['name "tiled"', "02_tiled"]),
    ],
)
def test_two_exercises_cannot_share_a_kernel_a_number_or_a_name(
    tmp_path: Path, other: str, kernel: str, words: list[str]
) -> None:
    write(tmp_path)
    write(tmp_path, GOOD.replace("matmul_tiled", kernel), other)
    with pytest.raises(ExerciseError) as caught:
        load_all(tmp_path)
    assert all(word in str(caught.value) for word in words)


def test_a_missing_or_empty_exercises_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(ExerciseError, match="exercises: cannot be read"):
        load_all(tmp_path)
    (tmp_path / "exercises").mkdir()
    with pytest.raises(ExerciseError, match="no folder in it is named like"):
        load_all(tmp_path)


def test_an_exercise_is_found_by_name_number_or_short_name() -> None:
    shipped = load_all(PROJECT)
    for word in ("02_tiled", "02", "2", "tiled"):
        assert find(shipped, word).name == "02_tiled"


def test_an_unknown_exercise_is_told_with_the_nearest_and_all_names() -> None:
    with pytest.raises(ExerciseError) as caught:
        find(load_all(PROJECT), "tield")
    assert 'no exercise "tield". Did you mean "tiled"?' in str(caught.value)
    with pytest.raises(ExerciseError, match=r'Did you mean "01_naive"\?'):
        find(load_all(PROJECT), "starter/01_naive.cu")
    assert "01_naive, 02_tiled, 03_padded, 04_tuned" in str(caught.value)


def test_part_of_a_name_is_not_a_name() -> None:
    for word in ("", "0_", "til", "02_"):
        with pytest.raises(ExerciseError):
            find(load_all(PROJECT), word)


# The files that ship.


def shipped() -> tuple[Exercise, ...]:
    return load_all(PROJECT)


def test_the_shipped_exercises_are_worth_100_points() -> None:
    graded = [exercise for exercise in shipped() if exercise.graded]
    assert [exercise.total for exercise in graded] == [20, 25, 20, 35]


def test_each_shipped_kernel_is_declared_in_the_header() -> None:
    header = (PROJECT / "grader" / "include" / "launch.cuh").read_text("utf-8")
    for exercise in shipped():
        assert f"void {exercise.kernel}(const float *, const float *, float *" in header


def test_every_limit_is_used_by_a_shipped_exercise() -> None:
    assert set(LIMITS) == {key for exercise in shipped() for key in exercise.limits}


def test_each_check_says_first_what_it_needs() -> None:
    text = (PROJECT / "tests" / "test_checks.py").read_text()
    functions = re.split(r"^def test_", text, flags=re.MULTILINE)[1:]
    said = {
        function.split("(")[0]: "".join(re.findall(r'subject\.needs\("(\w+)"\)', function))
        for function in functions
    }
    assert list(said.items()) == list(NEEDS.items())
