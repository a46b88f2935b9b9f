"""Whatever is written in a file that people fill in, the answer is a value or one sentence.

A sample of what `make fuzz` does for long, and strategies for exercise.toml, launch configurations
and results.json.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader import exercise as exercises
from grader import limits
from grader.device import LaunchConfig
from grader.exercise import ExerciseError, load_all
from grader.finding import GraderFault
from grader.formats import reading
from grader.messages import describe
from grader.problems.matmul import drawn_shapes, whole_tile_shapes
from grader.record import SCHEMA
from grader.settings import PROJECT
from grader.tests import fuzz, simulated

NAIVE = load_all(PROJECT)[1]
QUICK = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)

# Submissions.

TEXTS = fuzz.originals()


@pytest.mark.timeout(120)
def test_any_change_to_a_real_kernel_is_read_and_answered(tmp_path: Path) -> None:
    answers = {fuzz.answer(fuzz.mutant(seed, TEXTS), tmp_path, None) for seed in range(150)}
    # Otherwise the changes would be too small to find anything, or too large to leave anything.
    assert {"accepted", "invalid_utf8", "forbidden_include"} <= answers


@pytest.mark.timeout(120)
def test_changed_kernels_that_are_compiled_are_answered(tmp_path: Path) -> None:
    device = simulated.device("g++")
    answers = {fuzz.answer(fuzz.mutant(seed, TEXTS), tmp_path, device) for seed in range(12)}
    assert len(answers) >= 3


def test_an_input_is_the_same_for_the_same_seed() -> None:
    assert [fuzz.mutant(7, TEXTS)] * 2 == [fuzz.mutant(7, TEXTS), fuzz.mutant(7, list(TEXTS))]
    assert fuzz.mutant(7, TEXTS) != fuzz.mutant(8, TEXTS)


# exercise.toml.

TOML_LINES = sorted(
    {
        line
        for path in PROJECT.glob("exercises/*/exercise.toml")
        for line in path.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    }
)
VALUES = st.one_of(
    st.integers().map(str),
    st.floats().map(repr),
    st.text(max_size=20).map(json.dumps),
    st.lists(st.integers(-2, 5), max_size=3).map(str),
    st.sampled_from(["true", "false", "1979-05-27", "{}", "{a = 1}", "inf", "nan", "'", '"""', ""]),
)


@st.composite
def toml(draw: st.DrawFn) -> str:
    """Lines of real files in any order, some with another value, some broken."""
    lines = draw(st.lists(st.sampled_from(TOML_LINES), max_size=25))
    for place in draw(st.lists(st.integers(0, 24), max_size=4)):
        if place < len(lines):
            key = lines[place].split("=")[0]
            value = draw(VALUES)
            lines[place] = draw(st.one_of(st.just(f"{key}= {value}"), st.text(max_size=30)))
    return "\n".join(lines)


@st.composite
def changed_toml(draw: st.DrawFn) -> str:
    """A whole real file with one or two of its values changed."""
    path = draw(st.sampled_from(sorted(PROJECT.glob("exercises/*/exercise.toml"))))
    lines = path.read_text(encoding="utf-8").splitlines()
    keyed = [number for number, line in enumerate(lines) if "=" in line]
    for number in draw(st.lists(st.sampled_from(keyed), min_size=1, max_size=2)):
        lines[number] = f"{lines[number].split('=')[0]}= {draw(VALUES)}"
    return "\n".join(lines)


@given(text=st.one_of(toml(), changed_toml(), st.text(max_size=60)))
@QUICK
def test_any_exercise_file_is_read_or_told_in_one_sentence(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "01_naive"
    folder.mkdir(exist_ok=True)
    (folder / "exercise.toml").write_text(text, encoding="utf-8", errors="replace")
    sentence = ""
    try:
        points = exercises.load(folder).points
    except ExerciseError as fault:
        sentence = str(fault)
    assert ("01_naive" in sentence and len(sentence) < 1000) or min(points.values()) >= 0


# Launch configurations: six integers that a student's file holds.

INTEGERS = st.one_of(
    st.integers(-(2**31), 2**31 - 1), st.integers(-2, 70), st.sampled_from([1024, 4096, 65536])
)


@given(config=st.builds(LaunchConfig, *[INTEGERS] * 6), static=st.integers(0, 2**40))
@QUICK
def test_any_launch_configuration_is_launchable_or_told(config: LaunchConfig, static: int) -> None:
    findings = limits.check_launch(config, static, simulated.TARGET)
    for finding in findings:
        assert describe(finding, NAIVE).text
    if not findings:
        assert 1 <= config.block_x * config.block_y <= 1024


@given(
    block=st.tuples(st.integers(1, 32), st.integers(1, 32)),
    tile=st.tuples(*[st.integers(1, limit) for limit in limits.LARGEST_TILE.values()]),
    data=st.data(),
)
@settings(QUICK, max_examples=25)
def test_whatever_can_be_launched_has_shapes_to_try(
    block: tuple[int, int], tile: tuple[int, int, int], data: Any
) -> None:
    config = LaunchConfig(*block, *tile, 0)
    assert limits.check_launch(config, 0, simulated.TARGET) == ()
    for shape in (*whole_tile_shapes(config), data.draw(drawn_shapes(config))):
        assert min(shape) >= 1


# results.json: a worker on which a student's code ran may have written it.

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
RECORD: dict[str, Any] = {
    "schema": SCHEMA,
    "grader": {"version": "1", "tree_sha256": "0"},
    "seed": 1,
    "created": "2024-01-01T00:00:00+00:00",
    "devices": [{"kind": "simulator", "name": "x"}],
    "score": {"earned": 3, "points": 3, "not_graded": 0},
    "exercises": [
        {
            "name": "01_naive",
            "status": "pass",
            "earned": 3,
            "points": 3,
            "sha256": "",
            "timing": {},
            "checks": [
                {
                    "name": "safe",
                    "description": "d",
                    "status": "pass",
                    "reason": "",
                    "verdict": "",
                    "also": [],
                    "earned": 3,
                    "points": 3,
                    "seconds": 0.1,
                    "message": "",
                    "hint": "",
                    "shape": None,
                    "locations": [],
                    "command": "",
                }
            ],
        }
    ],
}


def places(data: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    keys = (
        list(data) if isinstance(data, dict) else range(len(data) if isinstance(data, list) else 0)
    )
    found = [path] if path else []
    for key in keys:
        found += places(data[key], (*path, key))  # type: ignore[index]
    return found


@st.composite
def records(draw: st.DrawFn) -> Any:
    """A record with some of its values replaced or gone."""
    record: Any = copy.deepcopy(RECORD)
    for path in draw(st.lists(st.sampled_from(places(RECORD)), min_size=1, max_size=3)):
        inside = record
        try:
            for key in path[:-1]:
                inside = inside[key]
            if draw(st.booleans()):
                inside[path[-1]] = draw(JSON)
            else:
                del inside[path[-1]]
        except (KeyError, IndexError, TypeError):
            continue  # gone with an earlier change
    return record


def read_record(folder: Path, text: str) -> None:
    path = folder / "results.json"
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    sentence = ""
    try:
        record = reading.read(path)
    except GraderFault as fault:
        sentence = str(fault)
    assert "Traceback" not in sentence
    assert len(sentence) < 1000
    assert sentence or record.earned <= record.points


@given(data=records())
@QUICK
def test_any_record_is_read_or_told_in_one_sentence(tmp_path: Path, data: Any) -> None:
    read_record(tmp_path, json.dumps(data))


@given(text=st.one_of(st.text(max_size=50), JSON.map(json.dumps), st.just("[" * 100_000)))
@QUICK
def test_any_text_in_place_of_a_record_is_told_in_one_sentence(tmp_path: Path, text: str) -> None:
    read_record(tmp_path, text)


def test_the_record_that_the_changes_start_from_is_one(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text(json.dumps(RECORD), encoding="utf-8")
    assert reading.read(tmp_path / "results.json").earned == 3
