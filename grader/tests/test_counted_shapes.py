"""Where traffic is counted: drawn from the seed, whole tiles and sectors once, ragged once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.counted_shapes import drawn_aligned, drawn_ragged, is_aligned
from grader.device import LaunchConfig
from grader.exercise import Exercise
from grader.problems.matmul import Shape
from grader.tests.fake_device import an_exercise

Draw = Callable[[int, Exercise, LaunchConfig], Shape]
SEEDS = range(60)
CONFIGS = [
    LaunchConfig(16, 16, 16, 16, 16),
    LaunchConfig(32, 8, 8, 32),
    LaunchConfig(256, 1, 128, 128, 8),
    LaunchConfig(10, 10, 10, 10, 7),
    LaunchConfig(16, 16, 128, 64, 128),
]


def drawn(draw: Draw, config: LaunchConfig) -> list[Shape]:
    return [draw(seed, an_exercise(), config) for seed in SEEDS]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_the_aligned_shape_is_made_of_whole_tiles_and_whole_sectors(config: LaunchConfig) -> None:
    tiles = (config.tile_m, config.tile_n, config.tile_k)
    for shape in drawn(drawn_aligned, config):
        assert is_aligned(config, shape)
        assert min(shape) >= 64
        assert shape.k >= 96
        for size, tile in zip(shape, tiles, strict=True):
            assert size % tile == 0
            assert size % 8 == 0


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_the_ragged_shape_has_a_part_of_a_tile_in_each_direction(config: LaunchConfig) -> None:
    tiles = (config.tile_m, config.tile_n, config.tile_k)
    for shape in drawn(drawn_ragged, config):
        for size, tile in zip(shape, tiles, strict=True):
            assert size > tile
            assert size % tile or tile == 1
        assert shape.n % config.tile_n >= config.tile_n // 2


@pytest.mark.parametrize("draw", [drawn_aligned, drawn_ragged])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_the_seed_decides_and_several_shapes_are_possible(draw: Draw, config: LaunchConfig) -> None:
    assert drawn(draw, config) == drawn(draw, config)
    assert len(set(drawn(draw, config))) >= 4


@pytest.mark.parametrize("draw", [drawn_aligned, drawn_ragged])
def test_a_usual_tile_has_many_possible_shapes(draw: Draw) -> None:
    assert len(set(drawn(draw, CONFIGS[0]))) > 30


@pytest.mark.parametrize("draw", [drawn_aligned, drawn_ragged])
@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_counting_stays_quick(draw: Draw, config: LaunchConfig) -> None:
    tile = config.tile_m * config.tile_n * config.tile_k
    assert max(shape.multiply_adds for shape in drawn(draw, config)) <= max(3_200_000, 12 * tile)


def test_where_no_depth_is_named_k_is_more_than_two_usual_steps() -> None:
    """So that one step too many is told from loading everything twice."""
    assert min(shape.k for shape in drawn(drawn_ragged, CONFIGS[1])) > 32
