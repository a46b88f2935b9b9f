"""Shapes, inputs and launches of the family of problems."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings

from grader.device import LaunchConfig
from grader.problems.matmul import (
    FINITE_FILL,
    GUARD_WORDS,
    LARGEST_CASE,
    LARGEST_EXACT_K,
    PINNED,
    Case,
    Layout,
    Shape,
    cube_shapes,
    deep_shapes,
    deeper_shape,
    draw_seed,
    drawn_shapes,
    factors,
    fresh_poison,
    further_shapes,
    grid,
    large_shapes,
    magnitude,
    prepare,
    product,
    ragged_shapes,
    repeat_command,
    shared_poison,
    signature,
    smaller_like,
    usual_shapes,
    whole_tile_shapes,
    zeros_shapes,
)
from grader.tests.emulated import FLAT, TILED, TUNED, exercise, launch_of

NAIVE = LaunchConfig(16, 16, 16, 16)
ROW = LaunchConfig(256, 1, 1, 256)
WIDE = LaunchConfig(16, 16, 128, 128, 16)
DEEP = LaunchConfig(32, 8, 64, 32, 64)
SQUARE = LaunchConfig(16, 16, 16, 16, 16)
CONFIGS = [TILED, FLAT, TUNED, NAIVE, ROW, WIDE, DEEP]


@cache
def draws(config: LaunchConfig, count: int = 100, chosen: int = 1) -> list[Shape]:
    shapes: list[Shape] = []

    @seed(chosen)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(drawn_shapes(config))
    def collect(shape: Shape) -> None:
        shapes.append(shape)

    collect()
    return shapes


def test_a_shape_reads_back_as_it_is_written() -> None:
    assert Shape.parse("33x17x65") == Shape(33, 17, 65)
    assert Shape.parse(" 1X2X3 ") == Shape(1, 2, 3)
    assert str(Shape(33, 17, 65)) == "33x17x65"


@pytest.mark.parametrize(
    "text", ["", "3x4", "3x4x5x6", "ax4x5", "-1x4x5", "3.0x4x5", "3xx5", "٣x4x5"]
)
def test_what_is_no_shape_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="MxNxK, for example 33x17x65"):
        Shape.parse(text)


@pytest.mark.parametrize(
    "text, why", [("0x4x5", "zero"), ("65536x65536x1", "too large"), ("1x1x16777216", "too deep")]
)
def test_a_shape_outside_the_contract_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        Shape.parse(text)


def test_the_pinned_shapes_begin_with_the_smallest() -> None:
    assert len(PINNED) == 7
    assert PINNED[0] == (1, 1, 1)
    assert sorted(PINNED, key=lambda s: s.multiply_adds) == list(PINNED)


@pytest.mark.parametrize("config", CONFIGS)
def test_whole_tile_shapes_are_multiples_and_differ(config: LaunchConfig) -> None:
    shapes = whole_tile_shapes(config)
    tiles = (config.tile_m, config.tile_n, config.tile_k)
    assert len(set(shapes)) == len(shapes) >= 4
    few = [shape for shape in shapes if shape.k >= 32]
    for shape in shapes:
        assert all(size % tile == 0 for size, tile in zip(shape, tiles, strict=True))
        assert min(shape) >= 32 or shape.k in (config.tile_k, 8)
    first, *others = shapes
    assert first == min(few, key=lambda s: s.multiply_adds)
    assert all(size - max(tile, 8) < 32 for size, tile in zip(first, tiles, strict=True))
    others = [shape for shape in others if shape not in cube_shapes(config)]
    assert all(len(set(shape)) == 3 for shape in others if shape in few)
    steps = [shape.k // config.tile_k for shape in shapes]
    if config.tile_k > 1:
        assert {step % 2 for step in steps} == {0, 1}
    assert max(steps) >= 3
    assert any(s.m >= 2 * config.tile_m and s.n >= 2 * config.tile_n for s in shapes)
    large = config in (TUNED, WIDE, DEEP)
    rows, cols = (3, 5) if large else (9, 11)
    assert any(s.m >= rows * config.tile_m and s.n >= cols * config.tile_n for s in shapes)
    assert any(s.n == 41 * config.tile_n for s in shapes) or large
    assert any(s.m < s.n for s in others)
    assert any(s.m > s.n for s in others) or config is ROW


@pytest.mark.parametrize("config", [*CONFIGS, LaunchConfig(1, 1, 1024, 1024, 4096)])
def test_deep_shapes_are_a_ragged_and_a_whole_tile_of_long_exact_sums(
    config: LaunchConfig,
) -> None:
    ragged, whole = deep_shapes(config)
    assert whole.filled(config.tiles) == whole
    assert all(size % 4 == 0 for size in whole) or min(config.tiles) < 2
    assert ragged.n * 2 > config.tile_n
    assert all(size % 4 for size in (ragged.n, ragged.k))
    for k in (ragged.k, whole.k):
        assert 512 < k <= LARGEST_EXACT_K
        affordable = k * config.tile_m * config.tile_n < 100_000_000
        assert k > max(4096, 256 * config.tile_k) or not affordable


def test_the_deeper_shape_is_beyond_16_bits_where_that_is_affordable() -> None:
    for config, affordable in ((TILED, True), (NAIVE, True), (WIDE, False)):
        shape = deeper_shape(config)
        assert (shape is not None) is affordable
        assert shape is None or 65_536 + 256 * config.tile_k < shape.k <= LARGEST_EXACT_K
    of_4096 = deeper_shape(LaunchConfig(16, 16, 64, 64, 16))
    assert of_4096 is not None
    assert of_4096.k > 32_768 + 16  # no more is affordable there
    for small in (TILED, SQUARE):
        deepest = deeper_shape(small)
        assert deepest is not None
        assert deepest.k > 32_768 * small.tile_k


@pytest.mark.parametrize("config", CONFIGS)
def test_the_ragged_shapes_reach_beyond_whole_tiles_in_one_dimension(config: LaunchConfig) -> None:
    units = [tile if tile > 1 else 8 for tile in config.tiles]
    shapes = ragged_shapes(config)
    beyond = [[size % unit for size, unit in zip(s, units, strict=True)] for s in shapes]
    assert all(sum(map(bool, rests)) <= 1 for rests in beyond)
    assert beyond[:3] == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    assert shapes[0].k >= min(9 * units[2], 3_000_000 // (shapes[0].m * shapes[0].n))
    aligned = [shape for shape in shapes if shape.n % 4 == shape.k % 4 == 0]
    for axis, unit in enumerate(units):
        assert any(shape[axis] % unit for shape in aligned) or unit == 4


def test_the_first_whole_tile_shape_is_the_smallest_of_32_or_more() -> None:
    assert whole_tile_shapes(NAIVE)[0] == (32, 32, 32)
    assert whole_tile_shapes(LaunchConfig(12, 12, 12, 12, 12))[0] == (36, 36, 36)
    assert whole_tile_shapes(WIDE)[0] == (128, 128, 32)


def test_a_cube_of_whole_tiles_has_three_steps_where_that_is_affordable() -> None:
    assert cube_shapes(TILED) == [(32, 32, 32)]
    assert cube_shapes(NAIVE) == [(48, 48, 48)]
    assert cube_shapes(LaunchConfig(32, 32, 32, 32, 32)) == [(96, 96, 96)]
    assert cube_shapes(LaunchConfig(256, 1, 64, 64, 16)) == [(128, 128, 128)]
    assert cube_shapes(DEEP) == cube_shapes(ROW) == []
    for config in CONFIGS:
        assert set(cube_shapes(config)) <= set(whole_tile_shapes(config))


@pytest.mark.parametrize("config", CONFIGS)
def test_each_pair_of_sizes_is_equal_once_and_each_tiny_size_tried_twice(
    config: LaunchConfig,
) -> None:
    shapes = further_shapes(config)
    equal = {(s.m == s.n, s.n == s.k, s.m == s.k) for s in shapes if max(s) > 4}
    assert {(True, False, False), (False, True, False), (False, False, True)} <= equal
    for axis in range(3):
        for size in range(1, 5):
            company = {s[:axis] + s[axis + 1 :] for s in shapes if max(s) < 5 and s[axis] == size}
            assert len({first for first, _ in company}) == len({last for _, last in company}) == 2


@pytest.mark.parametrize("config", CONFIGS)
def test_usual_shapes_are_whole_then_ragged_then_both_in_turn_then_narrow_then_vectors(
    config: LaunchConfig,
) -> None:
    whole, odd, ragged, ragged_sum, ragged_tiles, low, *vectors = usual_shapes(config)
    assert whole.m == whole.n >= 2048
    assert whole.k >= 1024 or config.tile_m * config.tile_n == 128 * 128
    assert whole.k % 32 == 0
    for shape in (whole, odd):
        assert shape.filled(config.tiles) == shape
    assert odd.m != odd.n
    assert odd.k // max(config.tile_k, 4) % 2
    assert odd.n % 4 == odd.k % 4 == 0
    assert min(odd) > 1024
    assert min(ragged) > 512
    assert ragged_sum._replace(k=odd.k).filled(config.tiles) == ragged_sum._replace(k=odd.k)
    assert ragged_sum.k % 2
    assert ragged_tiles.m % 2
    assert (ragged_tiles.n, low.m) == (20, 19)
    assert ragged_tiles.k // max(config.tile_k, 4) % 2
    assert min(ragged_sum.k, ragged_tiles.k, low.k) > 512 >= config.tile_k
    if config.tile_m * config.tile_n <= 64 * 64:
        assert vectors == [(1, ragged.n, ragged.k), (ragged.m, 1, ragged.k)]
    assert ragged.k % 2
    for size in ragged[:2]:
        assert all(size % tile for tile in (2, 3, 5, 16))


@pytest.mark.parametrize("config", CONFIGS)
def test_large_shapes_are_ragged_then_whole_and_no_index_past_their_edge_overflows(
    config: LaunchConfig,
) -> None:
    ragged, whole = large_shapes(config)[:3], large_shapes(config)[3:]
    assert not any(shape.filled(config.tiles) == shape for shape in ragged)
    assert all(shape.filled(config.tiles) == shape for shape in whole)
    for shape in (*ragged, *whole):
        m, n, k = shape.filled(config.tiles)
        assert max(m * k, m * n, (shape.k + config.tile_k) * n) < 2**31
        assert max(shape.m * shape.k, shape.k * shape.n, shape.m * shape.n) > 1.8e9


@pytest.mark.parametrize("config", CONFIGS)
def test_smaller_shapes_keep_what_may_be_special_about_a_large_one(config: LaunchConfig) -> None:
    for shape in (*usual_shapes(config), *large_shapes(config)):
        smaller = smaller_like(shape, config)
        assert smaller
        assert max(s.multiply_adds for s in smaller) <= 3 * LARGEST_CASE
        if shape.filled(config.tiles) == shape:
            assert all(s.filled(config.tiles) == s for s in smaller)
        for size, sizes in zip(shape, zip(*smaller, strict=True), strict=True):
            assert size > 300 or set(sizes) == {size}
        if shape in usual_shapes(config)[1:]:
            assert shape.k in {s.k for s in smaller}


def test_zeros_fill_rows_and_tiles_and_come_first_and_positive_inputs_have_none() -> None:
    shape = Shape(64, 96, 80)
    a, b = factors(exercise(), launch_of(Case(shape, "zeros", seed=3), SQUARE))
    for matrix in (a, b):
        assert 0.5 < (matrix == 0).mean() < 0.8
        assert (matrix[3::5] == 0).all()
        assert (matrix[::16, ::16] == 0).all()
        assert (matrix[:16, 16:32] == 0).all()
    a, b = factors(exercise(), launch_of(Case(shape, "positive", seed=3)))
    assert {*a.ravel(), *b.ravel()} == {5, 6, 7, 8}


@pytest.mark.parametrize("config", CONFIGS)
def test_inputs_with_zeros_leave_a_product_that_is_not_0(config: LaunchConfig) -> None:
    for shape in zeros_shapes(config):
        launch = launch_of(Case(shape, "zeros", seed=3), config)
        assert (product(exercise(), launch) != 0).any()


@pytest.mark.parametrize("config", CONFIGS)
def test_drawn_shapes_keep_to_the_contract_and_the_budget(config: LaunchConfig) -> None:
    shapes = draws(config)
    costs = [shape.multiply_adds for shape in shapes]
    assert all(len(set(shape)) == 3 and min(shape) >= 1 for shape in shapes)
    assert max(costs) <= LARGEST_CASE
    assert sum(costs) / len(costs) <= 1_500_000


@pytest.mark.parametrize("config", CONFIGS)
def test_drawn_shapes_gather_around_the_kernels_own_tiles(config: LaunchConfig) -> None:
    shapes = draws(config)
    for sizes, tile in (
        ([s.m for s in shapes], config.tile_m),
        ([s.n for s in shapes], config.tile_n),
        ([s.k for s in shapes], config.tile_k),
    ):
        assert sum(size % 4 != 0 for size in sizes) > 50
        if 8 <= tile <= 64:
            assert {tile - 1, tile + 1} <= set(sizes)
            assert any(size > 2 * tile for size in sizes)
    steps = [-(-s.k // config.tile_k) for s in shapes]
    assert 25 <= sum(step % 2 for step in steps) <= 85
    assert sum(s.k % config.tile_k != 0 for s in shapes) > 30 or config.tile_k == 1


def test_drawn_shapes_depend_on_the_seed_and_on_nothing_else() -> None:
    assert draws(TILED, 20, 7) == draws.__wrapped__(TILED, 20, 7)
    assert draws(TILED, 20, 7) != draws(TILED, 20, 8)
    assert draw_seed(1, exercise(), TILED) == draw_seed(1, exercise(Layout.NXK), TILED)
    seeds = {draw_seed(n, exercise(), c) for n in (1, 2) for c in (TILED, TUNED)}
    assert len(seeds) == 4


@pytest.mark.parametrize(
    "fails, smallest",
    [
        (lambda s: s.m % 8 != 0 and s.m > 8, Shape(9, 1, 2)),
        (lambda s: s.k > 16, Shape(1, 2, 17)),
        (lambda s: s.n % 4 != 0 and s.n > 8, Shape(1, 9, 2)),
    ],
)
def test_a_failing_shape_shrinks_to_the_smallest(
    fails: Callable[[Shape], bool], smallest: Shape
) -> None:
    failing: list[Shape] = []

    @seed(3)
    @settings(max_examples=100, database=None, deadline=None, derandomize=False)
    @given(drawn_shapes(TILED))
    def check(shape: Shape) -> None:
        if fails(shape):
            failing.append(shape)
            raise AssertionError

    with pytest.raises(AssertionError):
        check()
    assert sorted(failing[-1]) == sorted(smallest)
    assert fails(failing[-1])


def test_the_grid_covers_c() -> None:
    assert grid(TUNED, Shape(33, 65, 7)) == (3, 3)
    assert grid(TUNED, Shape(32, 64, 7)) == (2, 2)
    assert grid(TUNED, Shape(1, 1, 1)) == (1, 1)


def test_exact_inputs_are_small_integers_without_zeros() -> None:
    a, b, _ = launch_of(Case(Shape(40, 50, 60))).operands
    for operand in (a, b):
        values = operand.values(operand.image)
        assert set(np.unique(values)) == {n for n in range(-8, 9) if n}
    assert not np.array_equal(a.image[a.guard :][:2000], b.image[b.guard :][:2000])


def test_real_inputs_are_zero_mean_and_use_all_bits() -> None:
    a, _, _ = launch_of(Case(Shape(100, 10, 100), "real")).operands
    values = a.values(a.image)
    assert abs(values.mean()) < 0.02
    assert np.abs(values).max() < 1
    words = a.image[a.guard : a.guard + a.size]
    for bit in range(23):
        assert 0.4 < (words >> bit & 1).mean() < 0.6


def test_inputs_depend_on_seed_shape_and_kind() -> None:
    def words(case: Case) -> bytes:
        a, _, _ = launch_of(case).operands
        return a.image[a.guard : a.guard + 12].tobytes()

    case = Case(Shape(3, 4, 5), seed=1)
    assert words(case) == words(Case(Shape(3, 4, 5), seed=1, order=9))
    others = [
        Case(Shape(3, 4, 5), seed=2),
        Case(Shape(3, 5, 4), seed=1),
        Case(Shape(3, 4, 5), "real", 1),
    ]
    assert all(words(case) != words(other) for other in others)


@pytest.mark.parametrize("config", CONFIGS)
def test_guards_begin_at_the_very_next_float_and_span_a_tile_of_rows(config: LaunchConfig) -> None:
    launch = launch_of(Case(Shape(3, 5, 7)), config)
    tiles = {"A": config.tile_m, "B": config.tile_k, "C": config.tile_m}
    for operand in launch.operands:
        before, after = (
            operand.image[: operand.guard],
            operand.image[operand.guard + operand.size :],
        )
        assert operand.guard % 64 == 0
        assert len(before) == len(after) >= tiles[operand.name] * operand.cols
        assert set(before) == set(after) == {GUARD_WORDS[operand.name]}
        assert np.isnan(before.view(np.float32)).all()


def test_guards_of_large_matrices_stay_affordable() -> None:
    launch = launch_of(Case(Shape(2, 2, 100_000)), WIDE)
    assert all(operand.guard * 4 <= 256 * 1024 for operand in launch.operands)


def test_b_lies_as_the_exercise_says() -> None:
    for layout, size in ((Layout.KXN, (7, 5)), (Layout.NXK, (5, 7))):
        a, b, c = launch_of(Case(Shape(3, 5, 7)), layout=layout).operands
        assert (a.rows, a.cols) == (3, 7)
        assert (b.rows, b.cols) == size
        assert (c.rows, c.cols) == (3, 5)


def test_a_launch_carries_the_case() -> None:
    case = Case(Shape(33, 65, 7), order=4, timeout_s=2.5)
    launch = prepare(exercise(), TUNED, case, 0x7FA12345)
    assert (launch.scalars, launch.grid, launch.order) == ((33, 65, 7), (3, 3), 4)
    assert launch.timeout_s == 2.5
    c = launch.operands[2]
    assert set(c.image[c.guard : c.guard + c.size]) == {0x7FA12345}
    assert launch.poison != 0x7FA12345


def test_poison_is_a_signalling_nan_and_changes_with_each_launch() -> None:
    words = [fresh_poison(seed, number) for seed in (0, 1, 2**63) for number in range(50)]
    for word in [*words, *map(shared_poison, words), *GUARD_WORDS.values()]:
        assert word & 0x7F800000 == 0x7F800000
        assert word & 0x00400000 == 0
        assert word & 0x003FFFFF != 0
    assert all(fresh_poison(5, n) != fresh_poison(5, n + 1) for n in range(1000))
    patterns = set(words) | {shared_poison(word) for word in words} | set(GUARD_WORDS.values())
    assert len(patterns) == len(set(words)) * 2 + 3


def test_the_finite_fill_is_a_number_that_no_integer_sum_is() -> None:
    for word in (FINITE_FILL, shared_poison(FINITE_FILL)):
        value = float(np.uint32(word).view(np.float32))
        assert np.isfinite(value)
        assert value != round(value)


@pytest.mark.parametrize("layout", list(Layout))
def test_the_product_is_that_of_the_definition(layout: Layout) -> None:
    launch = launch_of(Case(Shape(3, 5, 7), seed=2), layout=layout)
    a, b, _ = (operand.values(operand.image) for operand in launch.operands)
    right = np.zeros((3, 5))
    scale = np.zeros((3, 5))
    for m, n, k in np.ndindex(3, 5, 7):
        term = float(a[m, k]) * float(b[k, n] if layout is Layout.KXN else b[n, k])
        right[m, n] += term
        scale[m, n] += abs(term)
    assert np.array_equal(product(exercise(layout), launch), right)
    assert np.array_equal(magnitude(*factors(exercise(layout), launch)), scale)


@pytest.mark.parametrize("k", [262_143, 262_144, 524_307, 2_000_003])
def test_integers_are_so_small_that_no_sum_is_rounded(k: int) -> None:
    for inputs in ("exact", "positive"):
        a, b = factors(exercise(), launch_of(Case(Shape(1, 1, k), inputs, seed=3)))
        assert np.abs(a).max() * np.abs(b).max() * k < 1 << 24
        assert np.abs(a).min() > 0


def test_integers_that_would_be_rounded_are_refused() -> None:
    with pytest.raises(ValueError, match="exact up to K"):
        launch_of(Case(Shape(1, 1, LARGEST_EXACT_K + 1)))


def test_the_words_of_the_contract_come_from_the_exercise() -> None:
    assert repeat_command(exercise(), Shape(33, 17, 65)) == "make test EX=tiled SHAPE=33x17x65"
    assert signature(exercise()).startswith("__global__ void matmul_tiled(const float *A, ")
