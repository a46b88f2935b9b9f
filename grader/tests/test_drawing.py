"""Drawn shapes: repeatable, distinct, shrunk, and given up in time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from grader.checks.drawing import StopDrawing, first_shapes, smallest_failing
from grader.exercise import PROJECT
from grader.problems.matmul import Shape, drawn_shapes
from grader.tests.fake_device import CONFIG

SHAPES = drawn_shapes(CONFIG)

PRINT_SHAPES = """
from grader.checks.drawing import first_shapes
from grader.device import LaunchConfig
from grader.problems.matmul import drawn_shapes
{extra}
shapes = drawn_shapes(LaunchConfig(16, 16, 128, 128, 16))
print([tuple(shape) for shape in first_shapes(shapes, 5, 100)])
"""


def probed(seed: int, count: int) -> list[Shape]:
    seen: list[Shape] = []

    def probe(shape: Shape) -> bool:
        seen.append(shape)
        return True

    smallest_failing(SHAPES, seed, count, probe)
    return seen


def test_a_hundred_shapes_are_a_hundred_distinct_ones() -> None:
    shapes = probed(seed=3, count=100)
    assert len(shapes) == len(set(shapes)) == 100


def test_the_first_shapes_are_those_of_a_longer_search() -> None:
    assert list(first_shapes(SHAPES, 3, 8)) == probed(seed=3, count=100)[:8]


def test_shapes_do_not_depend_on_loaded_modules_or_the_hash_seed() -> None:
    def shapes_in(extra: str, hash_seed: str) -> str:
        return subprocess.run(
            [sys.executable, "-c", PRINT_SHAPES.format(extra=extra)],
            capture_output=True,
            check=True,
            cwd=PROJECT,
            env={"PYTHONHASHSEED": hash_seed},
            text=True,
        ).stdout

    # Modules with constants of their own, which hypothesis would otherwise draw from; it takes
    # those above 100, hence the large tile.
    extra = "import grader.diagnosis, grader.gpu.nvcc, grader.course"
    assert shapes_in("", "1") == shapes_in(extra, "2")


def test_a_failing_shape_shrinks_in_every_dimension() -> None:
    smallest = smallest_failing(SHAPES, 1, 100, lambda shape: shape.n <= 8)
    assert smallest is not None
    assert smallest.n == 9
    assert smallest.m * smallest.k == 2  # M, N and K are drawn mutually different


def test_no_shape_is_probed_twice_while_shrinking() -> None:
    seen: list[Shape] = []

    def probe(shape: Shape) -> bool:
        seen.append(shape)
        return shape.m < 9

    smallest_failing(SHAPES, 1, 100, probe)
    assert len(seen) == len(set(seen))


def test_shrinking_ends_when_its_time_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = iter(range(1_000_000))
    monkeypatch.setattr("grader.checks.drawing.time.monotonic", lambda: float(next(seconds)))
    after_failure = 0
    failed = False

    def probe(shape: Shape) -> bool:
        nonlocal after_failure, failed
        after_failure += failed
        failed = failed or shape.m > 8
        return shape.m <= 8

    smallest = smallest_failing(SHAPES, 1, 100, probe, shrink_limit_s=3.0)
    assert smallest is not None
    assert after_failure <= 3


def test_stop_drawing_ends_the_search_without_a_failing_shape() -> None:
    probes = 0

    def probe(shape: Shape) -> bool:
        nonlocal probes
        probes += 1
        if probes == 5:
            raise StopDrawing
        return True

    assert smallest_failing(SHAPES, 1, 100, probe) is None
    assert probes == 5


def test_an_unexpected_exception_is_not_swallowed() -> None:
    def probe(shape: Shape) -> bool:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        smallest_failing(SHAPES, 1, 100, probe)


def test_drawing_prints_nothing_and_leaves_no_files(
    tmp_path: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(str(tmp_path))
    smallest_failing(SHAPES, 1, 100, lambda shape: shape.m < 9)
    assert capsys.readouterr() == ("", "")
    assert os.listdir() == []
