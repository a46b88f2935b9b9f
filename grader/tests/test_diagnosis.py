"""Each mistake, made on purpose in numpy, is called by its name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.device import LaunchConfig
from grader.diagnosis import Evidence, explain, regions
from grader.finding import Finding
from grader.messages import say
from grader.problems.matmul import Case, Layout, Shape
from grader.tests.emulated import (
    FLAT,
    TILED,
    TUNED,
    Floats,
    Index,
    Kernel,
    exercise,
    explained,
    launch_of,
    only,
    run_of,
)
from grader.verdict import Verdict

NXK = Layout.NXK


@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("config", [TILED, FLAT, TUNED])
@pytest.mark.parametrize("inputs", ["exact", "real"])
@pytest.mark.parametrize("shape", ["1x1x1", "17x9x5", "8x16x24", "33x17x65"])
def test_a_right_kernel_needs_no_explanation(
    shape: str, inputs: str, config: LaunchConfig, layout: Layout
) -> None:
    assert explained(Kernel(), shape, config, layout, inputs) == ()


@pytest.mark.parametrize(
    "kernel, kind",
    [
        (Kernel(writes=lambda r, c, s, g: r < s.m - s.m % g.tile_m + 0 * c), "last_rows"),
        (Kernel(writes=lambda r, c, s, g: c < s.n - s.n % g.tile_n + 0 * r), "last_cols"),
        (
            Kernel(
                writes=lambda r, c, s, g: (r < s.m - s.m % g.tile_m) & (c < s.n - s.n % g.tile_n)
            ),
            "last_rows_and_cols",
        ),
        (
            Kernel(
                writes=lambda r, c, s, g: (r < s.m - s.m % g.tile_m) | (c < s.n - s.n % g.tile_n)
            ),
            "last_corner",
        ),
    ],
)
@pytest.mark.parametrize("shape", ["17x9x5", "19x21x8", "12x35x9"])
def test_tails_that_were_never_written_are_named(kernel: Kernel, kind: str, shape: str) -> None:
    found = only(explained(kernel, shape))
    m, n, _ = Shape.parse(shape)
    assert found.kind == f"unwritten_{kind}"
    assert found.verdict is Verdict.WRONG_ANSWER
    assert found.facts["full_rows"] == m - m % 8
    assert found.facts["full_cols"] == n - n % 8
    if kind == "last_rows":
        assert found.facts["row"] == m - m % 8
        assert found.facts["col"] == 0
        assert found.facts["block"] == [0, m // 8]
        assert found.facts["in_tile"] == [0, 0]
        assert found.facts["count"] == m % 8 * n
        assert found.facts["of"] == m * n
        assert found.facts["box"] == [m - m % 8, m - 1, 0, n - 1]


@pytest.mark.parametrize("shape, partial", [("16x8x8", False), ("3x20x5", True), ("20x3x5", True)])
def test_a_kernel_that_writes_nothing_is_named(shape: str, partial: bool) -> None:
    found = only(explained(Kernel(writes=lambda r, c, s, g: (r < 0) | (c < 0)), shape))
    assert found.kind == "nothing_written"
    assert found.facts["partial"] is partial


@pytest.mark.parametrize("shape", ["16x24x8", "20x30x8"])
def test_blocks_that_were_never_written_are_counted(shape: str) -> None:
    first_only = Kernel(writes=lambda r, c, s, g: (r < g.tile_m) & (c < g.tile_n))
    found = only(explained(first_only, shape))
    assert found.kind == "unwritten_blocks"
    assert found.facts["blocks"] == found.facts["of_blocks"] - 1
    assert found.facts["block"] == [1, 0]


@pytest.mark.parametrize("shape", ["16x24x8", "21x13x7"])
def test_outputs_of_a_thread_that_were_never_written_are_places_in_the_tile(shape: str) -> None:
    every_second = Kernel(writes=lambda r, c, s, g: (r % 2 == 0) & (c >= 0))
    found = only(explained(every_second, shape))
    assert found.kind == "unwritten_places"
    assert (found.facts["places"], found.facts["of_places"]) == (32, 64)
    assert found.facts["in_tile"] == [1, 0]


def test_a_tile_that_is_larger_than_what_a_block_computes_is_told_with_both_sizes() -> None:
    corner = Kernel(writes=lambda r, c, s, g: (r % g.tile_m < 8) & (c % g.tile_n < 16))
    flat = LaunchConfig(block_x=128, block_y=1, tile_m=32, tile_n=64, tile_k=8)
    for shape in ("32x64x8", "9x20x8"):
        found = only(explained(corner, shape, flat))
        assert found.kind == "unwritten_beyond"
        assert (found.facts["corner"], found.facts["tile"]) == ([8, 16], [32, 64])
    assert only(explained(corner, "8x64x8", flat)).kind != "unwritten_beyond"


def test_a_hole_without_a_pattern_has_its_box() -> None:
    hole = Kernel(writes=lambda r, c, s, g: (r != 3) | (c < 4) | (c > 6))
    found = only(explained(hole, "20x20x8"))
    assert found.kind == "unwritten_somewhere"
    assert found.facts["box"] == [3, 3, 4, 6]


@pytest.mark.parametrize("shape", ["17x9x5", "33x17x65", "9x40x7"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_swapped_parameters_are_named_in_the_order_the_kernel_has(shape: str, inputs: str) -> None:
    for order in ("MKN", "NMK", "KNM", "NKM", "KMN"):
        found = explained(Kernel(parameters=order), shape, TILED, inputs=inputs)
        if found[0].kind == "swapped_parameters":
            assert "".join(only(found).facts["order"]) == order
        else:  # only NaNs and holes, and several orders leave them
            assert "reads_past_end" in {f.kind for f in found}
            assert order != "MKN"


@pytest.mark.parametrize("shape", ["9x17x5", "17x33x65", "8x16x24"])
@pytest.mark.parametrize(
    "kernel, operand, used",
    [
        (Kernel(a=lambda r, k, s: r * s.n + k), "A", "A[row * N + k]"),
        (Kernel(a=lambda r, k, s: k * s.m + r), "A", "A[k * M + row]"),
        (Kernel(b=lambda k, c, s: k * s.m + c), "B", "B[k * M + col]"),
        (Kernel(c=lambda r, c, s: r * s.k + c), "C", "C[row * K + col]"),
    ],
)
def test_a_wrong_stride_is_named_as_the_kernel_writes_it(
    kernel: Kernel, operand: str, used: str, shape: str
) -> None:
    found = explained(kernel, shape)[0]
    if found.kind.startswith(("unwritten", "nothing")):
        pytest.fail(f"a wrong stride was taken for {found.kind}")
    assert found.kind == "wrong_stride"
    assert found.facts["operand"] == operand
    assert found.facts["used"] == used


@pytest.mark.parametrize(
    ("shape", "used", "names"),
    [
        ("8x8x16", "A[row * M + k]", ["M", "N", "tile_m", "tile_n"]),
        ("24x8x16", "A[row * N + k]", ["N", "tile_m", "tile_n"]),
        ("24x16x40", "A[row * tile_m + k]", ["tile_m", "tile_n"]),
    ],
)
def test_a_stride_that_is_the_tile_s_is_told_beside_the_sizes_that_equal_it(
    shape: str, used: str, names: list[str]
) -> None:
    found = explained(Kernel(a=lambda r, k, s: r * 8 + k), shape, TILED)[0]
    assert (found.kind, found.facts["used"]) == ("wrong_stride", used)
    assert [name for name in found.facts["stride_is"] if name != "tile_k"] == names


@pytest.mark.parametrize("shape", ["17x9x5", "33x17x65", "16x16x16"])
def test_b_read_in_the_other_layout_is_named(shape: str) -> None:
    as_kxn = Kernel(b=lambda k, c, s: k * s.n + c)
    found = only(explained(as_kxn, shape, layout=NXK))
    assert (found.kind, found.facts["stored"], found.facts["read_as"]) == (
        "b_other_layout",
        "NxK",
        "KxN",
    )
    as_nxk = Kernel(b=lambda k, c, s: c * s.k + k)
    found = only(explained(as_nxk, shape))
    assert (found.kind, found.facts["stored"], found.facts["read_as"]) == (
        "b_other_layout",
        "KxN",
        "NxK",
    )


@pytest.mark.parametrize("shape", ["17x9x5", "33x17x65", "16x16x16"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_the_transpose_of_the_right_answer_is_named(shape: str, inputs: str) -> None:
    found = only(explained(Kernel(c=lambda r, c, s: c * s.m + r), shape, inputs=inputs))
    assert found.kind == "transposed"


def only_first(rows: int = 1000, cols: int = 1000) -> Kernel:
    return Kernel(writes=lambda r, c, s, g: (r < rows) & (c < cols))


WIDE = LaunchConfig(32, 8, 8, 32, 1)
TALL = LaunchConfig(8, 8, 16, 8, 8)


@pytest.mark.parametrize(
    "kernel, shape, config, causes",
    [
        (Kernel(swap_blocks=True), "17x41x5", TILED, ["blocks", "axes"]),
        (Kernel(swap_blocks=True), "16x24x8", TILED, ["blocks", "axes", "bounds"]),
        (Kernel(swap_blocks=True), "40x65x5", WIDE, ["blocks"]),
        # x for the rows, in threads and blocks alike: as where bounds are swapped
        (only_first(cols=32), "32x64x40", WIDE, ["axes", "bounds", "one_line_of_blocks"]),
        (only_first(cols=13), "13x30x8", TILED, ["bounds"]),
        # blockIdx.y is left out, or multiplied by too much, in a grid that is one block wide
        (only_first(rows=8), "32x32x32", WIDE, ["blocks", "one_line_of_blocks"]),
        # tile_m is twice as large as what a block computes
        (only_first(rows=8), "16x8x8", TALL, ["axes", "bounds", "part_of_tile"]),
    ],
)
def test_all_mistakes_that_leave_the_same_c_as_swapped_axes_are_named(
    kernel: Kernel, shape: str, config: LaunchConfig, causes: list[str]
) -> None:
    found = only(explained(kernel, shape, config))
    assert (found.kind, found.facts["causes"]) == ("axes_swapped", causes)


def test_a_cause_is_told_as_a_fact_only_where_no_other_fits() -> None:
    alone = say(only(explained(only_first(cols=13), "13x30x8")))
    assert "compares rows with N and columns with M: which" in alone
    several = say(only(explained(only_first(cols=32), "32x64x40", WIDE)))
    assert "takes x for the rows and y for the columns, or compares rows with N" in several
    assert "or starts no block at column 32" in several


@pytest.mark.parametrize("shape", ["16x48x5", "24x64x8"])
def test_a_tile_whose_rows_and_columns_may_be_swapped_is_asked_for(shape: str) -> None:
    wide = LaunchConfig(16, 8, 8, 16, 8)
    swapped = Kernel(
        writes=lambda r, c, s, g: (
            (r < -(-s.m // g.tile_m) * g.tile_n) & (c < -(-s.n // g.tile_n) * g.tile_m)
        )
    )
    assert only(explained(swapped, shape, wide)).facts["swapped_tile"]
    half = Kernel(writes=lambda r, c, s, g: (c % g.tile_n < 8) & (r >= 0))
    assert "swapped_tile" not in only(explained(half, shape, wide)).facts


@pytest.mark.parametrize("shape", ["16x24x8", "17x9x13"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_thread_index_that_chooses_the_wrong_line_of_a_factor_is_named(
    shape: str, inputs: str
) -> None:
    for axis, operand, index in ((1, "B", "y"), (0, "A", "x")):

        def chosen(old: Floats, total: Floats, axis: int = axis) -> Floats:
            return np.broadcast_to(np.expand_dims(np.diag(total), axis), total.shape)

        found = only(explained(Kernel(result=chosen), shape, inputs=inputs))
        assert found.kind == "other_thread_index"
        assert (found.facts["operand"], found.facts["used"]) == (operand, index)


def test_a_zero_in_place_of_one_element_is_not_blamed_on_a_thread_index() -> None:
    kernel = Kernel(result=lambda old, total: total * (np.arange(8) < 1)[:, None])
    assert only(explained(kernel, "2x1x5")).kind != "other_thread_index"


def test_tiles_that_hold_one_value_each_are_told() -> None:
    kernel = Kernel(result=lambda old, total: np.full_like(total, total[3, 5]))
    assert only(explained(kernel, "16x24x8")).kind == "tiles_alike"


def test_b_of_the_other_layout_in_tiles_that_are_turned_is_named_as_both() -> None:
    kernel = Kernel(b=lambda k, c, s: k * s.n + c, see_b=lambda tile: tile.T)
    assert only(explained(kernel, "16x24x32", layout=NXK)).kind == "b_other_layout_turned"
    kernel = Kernel(b=lambda k, c, s: c * s.k + k, see_b=lambda tile: tile.T)
    assert only(explained(kernel, "16x24x32")).kind == "b_other_layout_turned"


def test_fractions_that_are_lost_on_the_way_are_told_as_whole_numbers() -> None:
    kernel = Kernel(result=lambda old, total: np.trunc(total))
    assert explained(kernel, "9x7x13") == ()
    assert only(explained(kernel, "9x7x13", inputs="real")).kind == "whole_numbers"


@pytest.mark.parametrize("factor", [2.0, -1.0, 0.5, 3.0])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_constant_factor_is_named(factor: float, inputs: str) -> None:
    kernel = Kernel(result=lambda old, total: total * np.float32(factor))
    found = only(explained(kernel, "9x7x13", inputs=inputs))
    assert found.kind == "constant_factor"
    assert found.facts["factor"] == pytest.approx(factor, rel=1e-5)


def _times(factor: float) -> Callable[[Floats, Floats], Floats]:
    return lambda old, total: total * np.float32(factor)


def test_outputs_of_a_thread_that_lie_a_block_apart_are_told_apart_by_parts_of_a_tile() -> None:
    def diagonal(r: Index, c: Index, s: Shape, g: LaunchConfig) -> npt.NDArray[np.bool_]:
        return np.asarray((r // g.block_y + c // g.block_x) % 4 == 0)

    found = only(explained(Kernel(writes=diagonal), "16x32x9", TUNED))
    assert found.kind == "unwritten_parts"
    assert (found.facts["parts"], found.facts["of_parts"]) == (12, 16)
    assert found.facts["part"] == [4, 8]


def test_a_single_element_has_no_factor_but_a_whole_one() -> None:
    for factor, kind in ((2, "constant_factor"), (0.5, "constant_factor"), (0.4, "wrong_")):
        assert only(explained(Kernel(result=_times(factor)), "1x1x7")).kind.startswith(kind)
    assert only(explained(Kernel(start=7.0), "1x1x7")).kind == "wrong_everywhere"


def test_a_constant_offset_is_named() -> None:
    found = only(explained(Kernel(start=7.0), "9x7x13"))
    assert (found.kind, found.facts["offset"]) == ("constant_offset", 7.0)


@pytest.mark.parametrize("down, right", [(1, 0), (0, 1), (-1, 0), (0, -1), (1, 1)])
def test_shifted_rows_and_columns_are_named(down: int, right: int) -> None:
    kernel = Kernel(
        c=lambda r, c, s: (r + down) * s.n + c + right,
        writes=lambda r, c, s, g: (
            (r + down >= 0) & (r + down < s.m) & (c + right >= 0) & (c + right < s.n)
        ),
    )
    findings = explained(kernel, "19x21x13")
    assert [f.kind for f in findings] == ["unwritten_somewhere", "shifted"]
    assert (findings[1].facts["down"], findings[1].facts["right"]) == (down, right)


@pytest.mark.parametrize("shape", ["16x24x8", "19x21x13"])
def test_tiles_that_are_turned_round_are_named(shape: str) -> None:
    turned_b = Kernel(see_b=lambda tile: tile.T)
    found = only(explained(turned_b, shape))
    assert (found.kind, found.facts["operand"]) == ("tile_transposed", "B")
    found = only(explained(Kernel(see_a=lambda tile: tile.T), shape))
    assert (found.kind, found.facts["operand"]) == ("tile_transposed", "A")
    both = Kernel(see_a=lambda tile: tile.T, see_b=lambda tile: tile.T)
    found = only(explained(both, shape, layout=NXK))
    assert (found.kind, found.facts["operand"]) == ("tile_transposed", "A and B")


def test_in_a_matrix_of_one_tile_a_turned_tile_is_named_beside_the_index() -> None:
    found = only(explained(Kernel(see_b=lambda tile: tile.T), "8x8x8"))
    assert (found.kind, found.facts["turned_tile"]) == ("b_other_layout", 8)
    found = only(explained(Kernel(see_a=lambda tile: tile.T), "8x8x8"))
    assert (found.facts["operand"], found.facts["turned_tile"]) == ("A", 8)
    found = only(explained(Kernel(b=lambda k, c, s: c * s.k + k), "24x16x24"))
    assert found.kind == "b_other_layout"
    assert "turned_tile" not in found.facts


def test_a_tile_of_c_that_is_turned_round_is_named() -> None:
    kernel = Kernel(
        c=lambda r, c, s: (r // 8 * 8 + c % 8) * s.n + c // 8 * 8 + r % 8,
    )
    found = only(explained(kernel, "16x24x8"))
    assert (found.kind, found.facts["operand"]) == ("tile_transposed", "C")


def test_a_tile_of_a_thread_that_is_turned_round_is_not_taken_for_one_of_a_block() -> None:
    turned = Kernel(c=lambda r, c, s: (r // 4 * 4 + c % 4) * s.n + c // 4 * 4 + r % 4)
    sixteen = LaunchConfig(block_x=4, block_y=4, tile_m=16, tile_n=16, tile_k=8)
    for shape in ("4x8x12", "32x32x8"):
        found = only(explained(turned, shape, sixteen))
        assert (found.kind, found.facts["tile"], found.facts["or_tiles"]) == (
            "tile_transposed",
            4,
            [],
        )


@pytest.mark.parametrize("lines, kernel", [
    ("rows", Kernel(a=lambda r, k, s: k + 0 * r)),
    ("columns", Kernel(b=lambda k, c, s: k * s.n + 0 * c)),
])  # fmt: skip
def test_an_index_that_is_never_used_is_named(lines: str, kernel: Kernel) -> None:
    found = only(explained(kernel, "9x7x13"))
    assert (found.kind, found.facts["lines"]) == ("all_alike", lines)


@pytest.mark.parametrize("line", ["row", "column"])
def test_lines_of_c_that_are_stored_in_places_of_others_are_named(line: str) -> None:
    def stored(row: Index, col: Index, s: Shape) -> Index:
        here = row if line == "row" else col
        here = here // 32 * 32 + here % 4 * 8 + here % 32 // 4
        return here * s.n + col if line == "row" else row * s.n + here

    tall = LaunchConfig(block_x=8, block_y=8, tile_m=32, tile_n=32, tile_k=8)
    found = only(explained(Kernel(c=stored), "64x32x16", tall))
    assert (found.kind, found.facts["line"]) == ("lines_moved", line)
    assert (found.facts["to"], found.facts["of"]) == (1, 4)


def test_rows_that_all_hold_what_belongs_in_one_are_not_taken_for_moved_ones() -> None:
    kernel = Kernel(a=lambda r, k, s: np.where(r % 8 < 2, r, r // 8 * 8) * s.k + k)
    found = only(explained(kernel, "16x24x8"))
    assert (found.kind, found.facts["to"], found.facts["of"]) == ("lines_repeated", 2, 0)


def test_rows_of_zeros_are_not_taken_for_those_of_another_row_of_zeros() -> None:
    case = Case(Shape(16, 24, 8), seed=3)
    launch = launch_of(case)
    image = run_of(Kernel(), launch, TILED, Layout.KXN).images[2].copy()
    launch.operands[2].values(image)[[2, 5, 9]] = 0
    evidence = Evidence.gather(exercise(), TILED, case, launch, image)
    expected = evidence.expected * (np.arange(16) != 9)[:, None]
    assert only(explain(replace(evidence, expected=expected))).kind == "wrong_somewhere"


@pytest.mark.parametrize("shape", ["16x32x8", "19x40x9"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_sum_that_does_not_begin_anew_is_named(shape: str, inputs: str) -> None:
    def carried(old: Floats, total: Floats) -> Floats:
        return np.concatenate([total[:, :8], total[:, 8:] + total[:, :-8]], axis=1)

    wide = LaunchConfig(block_x=8, block_y=8, tile_m=8, tile_n=16, tile_k=8)
    found = only(explained(Kernel(result=carried), shape, wide, inputs=inputs))
    assert (found.kind, found.facts["distance"]) == ("sum_carried_on", 8)
    assert found.facts["lines"] == "columns"


def _spoilt(bad: object, shape: str, config: LaunchConfig = TILED) -> Finding:
    """A kernel whose elements (row, col) are off by their own number where `bad` says so."""
    case = Case(Shape.parse(shape), seed=3)
    launch = launch_of(case, config)
    image = run_of(Kernel(), launch, config, Layout.KXN).images[2].copy()
    c = launch.operands[2]
    row, col = np.indices((c.rows, c.cols))
    where = bad(row, col, case.shape)  # type: ignore[operator]
    c.values(image)[where] += (1 + row * 31 + col * 17)[where]
    return only(explain(Evidence.gather(exercise(), config, case, launch, image)))


@pytest.mark.parametrize(
    "bad, kind",
    [
        (lambda r, c, s: r >= 16, "wrong_last_rows"),
        (lambda r, c, s: c >= 16, "wrong_last_cols"),
        (lambda r, c, s: (r >= 16) | (c >= 16), "wrong_last_rows_and_cols"),
        (lambda r, c, s: (r >= 16) & (c >= 16), "wrong_last_corner"),
        (lambda r, c, s: (r // 8 == 1) & (c // 8 == 1), "wrong_blocks"),
        (lambda r, c, s: (r % 4 == 3) & (c % 2 == 1), "wrong_places"),
        (lambda r, c, s: (r == 9) & (c > 3), "wrong_somewhere"),
        (lambda r, c, s: r >= 0, "wrong_everywhere"),
        (lambda r, c, s: (r + c) % 5 > 0, "wrong_everywhere"),
        (lambda r, c, s: (r != 18) | (c != 20), "wrong_everywhere"),
        (lambda r, c, s: r % 8 > 0, "wrong_places"),
    ],
)
def test_wrong_values_without_a_pattern_are_placed(bad: object, kind: str) -> None:
    found = _spoilt(bad, "19x21x13")
    assert found.kind == kind
    assert found.facts["got"] != found.facts["expected"]
    if kind == "wrong_places":
        few = found.facts["in_tile"] == [3, 1]
        assert (found.facts["places"], found.facts["of_places"]) == (8 if few else 56, 64)


STRANGE = [np.inf, -np.inf, np.nan, -0.5, 1e30, 3.0e38, 1e-42]


@settings(derandomize=True, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 18), st.integers(0, 20), st.sampled_from(STRANGE)), min_size=1
    ),
    st.booleans(),
)
def test_no_wrong_value_comes_out_without_a_finding(
    places: list[tuple[int, int, float]], everywhere: bool
) -> None:
    case = Case(Shape(19, 21, 13), seed=3)
    launch = launch_of(case, TILED)
    image = run_of(Kernel(), launch, TILED, Layout.KXN).images[2].copy()
    c = launch.operands[2].values(image)
    for row, col, value in places:
        c[slice(None) if everywhere else row, col] = value
    found = explain(Evidence.gather(exercise(), TILED, case, launch, image))
    assert found
    assert all(say(replace(one, shape=case.shape)) for one in found)


@pytest.mark.parametrize("layout", list(Layout))
@pytest.mark.parametrize("shape", ["1x2x3", "4x3x2", "8x8x8", "9x17x5"])
def test_a_walk_through_a_matrix_with_any_strides_has_words(shape: str, layout: Layout) -> None:
    def index(outer_stride: int, inner_stride: int) -> Callable[[Index, Index, Shape], Index]:
        return lambda outer, inner, s: outer * outer_stride + inner * inner_stride

    sizes = (1, *Shape.parse(shape))
    walks = [index(*strides) for strides in itertools.product(sizes, sizes)]
    for kernel in (each for w in walks for each in (Kernel(a=w), Kernel(b=w), Kernel(c=w))):
        for one in explained(kernel, shape, TILED, layout):
            assert say(replace(one, shape=Shape.parse(shape)))


def test_places_are_counted_of_the_part_of_a_tile_that_there_is() -> None:
    mask = np.zeros((3, 24), bool)
    mask[:, 5::8] = True
    found = regions.describe(mask, TILED, Shape(3, 24, 8))
    assert (found.name, found.facts) == ("places", {"places": 3, "of_places": 3 * TILED.tile_n})


def test_a_c_of_infinities_is_wrong() -> None:
    case = Case(Shape(19, 21, 13), seed=3)
    launch = launch_of(case, TILED)
    image = run_of(Kernel(), launch, TILED, Layout.KXN).images[2].copy()
    launch.operands[2].values(image)[:] = np.inf
    found = only(explain(Evidence.gather(exercise(), TILED, case, launch, image)))
    assert (found.kind, found.facts["got"]) == ("infinite", "infinity")
