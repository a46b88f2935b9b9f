"""Mistakes in the sum, made on purpose in numpy: parts of K, NaNs from outside, lost precision."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.device import LaunchConfig
from grader.diagnosis import Evidence, explain, ksteps
from grader.messages import say
from grader.problems.matmul import FINITE_FILL, Case, Layout, Matrix, Shape
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
)
from grader.verdict import Verdict

NXK = Layout.NXK
_OUTSIDE = -1000  # before any matrix: a NaN, which `nan_to_num` makes a zero


def _floor(k: int, tile_k: int) -> range:
    return range(k // tile_k)


@pytest.mark.parametrize("shape", ["17x9x13", "4x5x33", "1x1x9"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
@pytest.mark.parametrize("layout", list(Layout))
def test_a_dropped_k_tail_is_named(shape: str, inputs: str, layout: Layout) -> None:
    found = only(explained(Kernel(steps=_floor), shape, layout=layout, inputs=inputs))
    assert found.kind == "k_tail_dropped"
    assert found.facts["used"] == found.facts["k"] // 8 * 8


def test_a_k_tail_dropped_with_nothing_before_it_is_a_sum_of_nothing() -> None:
    found = only(explained(Kernel(steps=_floor), "4x5x3"))
    assert (found.kind, found.facts["sizes"]) == ("all_zero", [4, 5, 3])
    assert found.facts["tile"] == [8, 8, 8]


@pytest.mark.parametrize(
    "steps, shape, kind",
    [
        (lambda k, t: range(k // t - 1), "9x7x24", "last_k_tile_missing"),
        (lambda k, t: [0], "9x7x24", "first_k_tile_only"),
        (lambda k, t: [0], "9x7x35", "first_k_tile_only"),
        (lambda k, t: range(1, -(-k // t)), "9x7x35", "first_k_step_missing"),
        (lambda k, t: [(k - 1) // t], "9x7x35", "only_last_k_step"),
        (lambda k, t: [0, 1, 1, 2], "9x7x24", "k_step_twice"),
        (lambda k, t: [0, 2, 3], "9x7x32", "k_step_missing"),
        (lambda k, t: [0, 1], "9x7x40", "k_stops_early"),
        (lambda k, t: [3, 4], "9x7x40", "k_starts_late"),
    ],
)
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_missing_and_doubled_steps_along_k_are_named(
    steps: object, shape: str, kind: str, inputs: str
) -> None:
    found = only(explained(Kernel(steps=steps), shape, inputs=inputs))  # type: ignore[arg-type]
    assert found.kind == kind
    if kind == "k_step_twice":
        assert (found.facts["first_k"], found.facts["last_k"]) == (8, 15)


@pytest.mark.parametrize(
    "steps, kind",
    [
        (lambda k, t: range(k - 1), "last_k_missing"),
        (lambda k, t: range(1, k), "k_starts_late"),
        (lambda k, t: [k - 1], "only_last_k_step"),
        (lambda k, t: [0, *range(k)], "k_step_twice"),
    ],
)
@pytest.mark.parametrize("shape", ["9x7x24", "5x3x7"])
def test_off_by_one_along_k_is_named(steps: object, kind: str, shape: str) -> None:
    kernel = Kernel(steps=steps)  # type: ignore[arg-type]
    assert only(explained(kernel, shape, FLAT)).kind == kind


@pytest.mark.parametrize("shape, sizes", [("16x9x24", ["M"]), ("9x16x24", ["N"]), ("8x9x24", [])])
def test_a_sum_of_as_many_terms_as_another_size_asks_for_that_size(
    shape: str, sizes: list[str]
) -> None:
    found = only(explained(Kernel(steps=lambda k, t: range(k // t - 1)), shape))
    assert (found.kind, found.facts["sizes"]) == ("last_k_tile_missing", sizes)
    assert ("which size is k compared with?" in say(found)) is bool(sizes)


@pytest.mark.parametrize("first, last", [(0, 6), (0, 0), (1, 7), (7, 7)])
@pytest.mark.parametrize("shape", ["9x7x24", "16x8x19"])
def test_a_loop_over_the_tile_that_leaves_out_some_places_is_named(
    first: int, last: int, shape: str
) -> None:
    def part(tile: Floats) -> Floats:
        inside = np.arange(8) >= first if first else np.arange(8) <= last
        return np.where(inside, tile, np.float32(0))

    found = only(explained(Kernel(see_a=part), shape))
    assert found.kind == ("tile_starts_late" if first else "tile_stops_early")
    assert (found.facts["first_place"], found.facts["last_place"]) == (first, last)


def test_assigning_in_place_of_adding_leaves_the_last_term() -> None:
    kernel = Kernel(see_a=lambda tile: tile * (np.arange(8) == 7), steps=lambda k, t: [k // t - 1])
    found = only(explained(kernel, "9x7x24"))
    assert (found.kind, found.facts["skipped"]) == ("only_last_term", 23)


@pytest.mark.parametrize("shape", ["9x7x13", "16x8x25", "1x1x9"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_k_tail_that_multiplies_the_stale_tile_is_named(shape: str, inputs: str) -> None:
    found = only(explained(Kernel(stale=True), shape, inputs=inputs))
    assert found.kind == "k_tail_stale"
    assert found.facts["full"] == found.facts["k"] // 8 * 8
    assert found.facts["by_one"] is (shape == "1x1x9")  # one term in a last step


@pytest.mark.parametrize("shape", ["9x7x24", "1x2x40"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_steps_that_move_on_by_too_little_are_named(shape: str, inputs: str) -> None:
    by_one = Kernel(
        a=lambda row, k, s: row * s.k + k // 8 + k % 8,
        b=lambda k, col, s: (k // 8 + k % 8) * s.n + col,
    )
    assert only(explained(by_one, shape, inputs=inputs)).kind == "steps_by_one"
    words = Kernel(b=lambda k, col, s: k % 8 * s.n + k // 8 * 8 + col)
    assert only(explained(words, shape, inputs=inputs)).kind == "step_of_words"


@pytest.mark.parametrize("first, kind", [(0, "even_terms_only"), (1, "odd_terms_only")])
@pytest.mark.parametrize("shape", ["9x7x13", "4x5x6"])
def test_every_second_term_is_named(first: int, kind: str, shape: str) -> None:
    kernel = Kernel(steps=lambda k, t: range(first, k, 2))
    assert only(explained(kernel, shape, FLAT)).kind == kind


def test_elements_that_are_left_out_because_they_are_zero_are_named() -> None:
    kernel = Kernel(result=lambda old, total: np.where(total == 0, old, total))
    found = only(explained(kernel, "30x40x2"))
    assert (found.kind, found.facts["expected"]) == ("unwritten_zeros", 0.0)
    # A single one may be missing for another reason.
    assert only(explained(kernel, "1x13x2", seed=2)).kind == "unwritten_somewhere"


def test_a_stale_tile_before_the_first_store_is_unset_shared_memory() -> None:
    assert explained(Kernel(stale=True), "9x7x5")[0].kind == "shared_memory_unset"


@pytest.mark.parametrize("shape, used", [("9x7x24", 1), ("9x7x32", 2)])
def test_a_double_buffer_that_ends_in_the_wrong_buffer_is_named(shape: str, used: int) -> None:
    kernel = Kernel(buffer_of=lambda step, steps: step - (step == steps - 1))
    found = only(explained(kernel, shape))
    assert found.kind == "k_step_stale"
    assert (found.facts["step"], found.facts["used_step"]) == (used + 1, used)


def test_a_step_of_the_tile_before_asks_for_the_index_before_the_buffer() -> None:
    found = only(explained(Kernel(a=_first_of_a, b=_first_of_b), "9x7x16"))
    assert found.kind == "k_step_stale"
    assert "does each load move on" in say(found)


def _first_of_a(row: Index, k: Index, s: Shape) -> Index:
    return row * s.k + k % 8


def _first_of_b(k: Index, col: Index, s: Shape) -> Index:
    return k % 8 * s.n + col


@pytest.mark.parametrize(
    "kernel, operand",
    [
        (Kernel(a=_first_of_a), "A"),
        (Kernel(b=_first_of_b), "B"),
        (Kernel(a=_first_of_a, b=_first_of_b), "A and B"),
    ],
)
@pytest.mark.parametrize("shape", ["9x7x24", "16x8x35"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_load_that_stays_in_the_first_step_is_named(
    kernel: Kernel, operand: str, shape: str, inputs: str
) -> None:
    found = only(explained(kernel, shape, inputs=inputs))
    assert (found.kind, found.facts["operand"]) == ("first_step_again", operand)


def _again(width: int) -> tuple[Kernel, Kernel]:
    """Loads that take the first `width` k of each tile again and again."""

    def used(k: Index) -> Index:
        return k - k % 8 + k % width

    a = Kernel(a=lambda row, k, s: row * s.k + used(k))
    return a, Kernel(b=lambda k, col, s: used(k) * s.n + col)


@pytest.mark.parametrize("width, config", [(1, TILED), (4, TUNED)])
@pytest.mark.parametrize("shape", ["9x7x24", "17x33x8"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_load_of_the_same_words_for_all_places_of_a_tile_is_named(
    width: int, config: LaunchConfig, shape: str, inputs: str
) -> None:
    for kernel, operand in zip(_again(width), "AB", strict=True):
        found = only(explained(kernel, shape, config, inputs=inputs))
        assert (found.kind, found.facts["operand"]) == ("places_again", operand)
        assert found.facts["used"] == width


@pytest.mark.parametrize("shape", ["9x7x24", "17x33x19"])
@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_a_load_whose_k_comes_from_the_index_of_its_line_is_named(shape: str, inputs: str) -> None:
    def own(k: Index, line: Index, s: Shape) -> Index:
        return np.where(k // 8 * 8 + line % 8 < s.k, k // 8 * 8 + line % 8, _OUTSIDE)

    of_a = Kernel(a=lambda r, k, s: r * s.k + own(k, r, s), see_a=np.nan_to_num)
    of_b = Kernel(b=lambda k, c, s: own(k, c, s) * s.n + c, see_b=np.nan_to_num)
    for kernel, operand, line in ((of_a, "A", "row"), (of_b, "B", "column")):
        found = only(explained(kernel, shape, inputs=inputs))
        assert (found.kind, found.facts["operand"]) == ("own_place", operand)
        assert found.facts["line"] == line


@pytest.mark.parametrize("shape", ["9x7x13", "17x33x64"])
@pytest.mark.parametrize("by, here, other", [(2, 1, 0), (4, 3, 2), (4, 0, 2)])
def test_a_term_of_an_unrolled_loop_that_takes_another_k_is_named(
    by: int, here: int, other: int, shape: str
) -> None:
    def crossed(k: Index, s: Shape) -> Index:
        return np.where((k % by == here) & (k < s.k // by * by), k - here + other, k)

    of_a = Kernel(a=lambda r, k, s: r * s.k + crossed(k, s))
    of_b = Kernel(b=lambda k, c, s: crossed(k, s) * s.n + c)
    for kernel, operand in ((of_a, "A"), (of_b, "B")):
        found = only(explained(kernel, shape, FLAT))
        assert (found.kind, found.facts["operand"]) == ("crossed_terms", operand)
        assert [found.facts[name] for name in ("by", "here", "other")] == [by, here, other]


def test_in_a_single_turn_of_a_loop_no_term_is_every_fourth() -> None:
    kernel = Kernel(b=lambda k, c, s: np.where(k == 3, 2, k) * s.n + c)
    assert only(explained(kernel, "9x7x5", FLAT)).kind != "crossed_terms"


def test_a_single_term_is_no_step_where_a_tile_has_more() -> None:
    lost = Kernel(a=lambda row, k, s: np.where(k == 9, -1000, row * s.k + k))
    found = only(explained(replace(lost, see_a=lambda tile: np.nan_to_num(tile)), "9x7x24"))
    assert found.kind == "k_step_missing"
    assert "The sum lacks the term k = 9 of K=24: what skips it?" in say(found)


def test_no_prediction_is_larger_than_the_memory_of_a_small_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def past(matrix: Matrix, columns: Index) -> Matrix:
        assert columns.size < 10, "the loop may end at M here, but what it read there is too much"
        return kept(matrix, columns)

    kept = ksteps._past
    monkeypatch.setattr(ksteps, "_past", past)
    config = LaunchConfig(block_x=1, block_y=1, tile_m=8192, tile_n=1, tile_k=1)
    doubled = Kernel(result=lambda old, total: total * 2)
    assert only(explained(doubled, "30000x1x2", config)).kind == "constant_factor"


@pytest.mark.parametrize("shape", ["9x7x13", "16x8x25"])
def test_an_unguarded_k_tail_is_named_by_what_it_reads(shape: str) -> None:
    both = Kernel(guard_a=False, guard_b=False)
    found = only(explained(both, shape, layout=NXK))
    assert (found.kind, found.facts["operand"]) == ("k_tail_unguarded", "A and B")
    found = only(explained(both, shape))
    assert (found.kind, found.facts["operand"]) == ("reads_past_end", "B")
    assert found.facts["k"] % found.facts["tile_k"]
    found = only(explained(Kernel(guard_a=False), shape, gpu=True))
    assert (found.kind, found.facts["operand"]) == ("k_tail_unguarded", "A")
    found = only(explained(Kernel(guard_b=False), shape, layout=NXK, gpu=True))
    assert (found.kind, found.facts["operand"]) == ("k_tail_unguarded", "B")


def test_on_a_gpu_a_c_of_nans_leaves_the_cause_open() -> None:
    unguarded = explained(Kernel(guard_a=False, guard_b=False), "9x7x13", gpu=True)
    assert only(unguarded).kind == "nan_everywhere"
    assert only(explained(Kernel(result=np.add), "9x7x13", gpu=True)).kind == "nan_everywhere"


def test_a_k_loop_one_too_far_is_named() -> None:
    kernel = Kernel(steps=lambda k, t: range(k + 1), guard_a=False, guard_b=False)
    assert only(explained(kernel, "9x7x12", FLAT, NXK)).kind == "k_one_too_far"


@pytest.mark.parametrize("bound", ["M", "N"])
def test_a_k_loop_with_the_wrong_bound_is_named(bound: str) -> None:
    m, n, k = 12, 10, 7
    end = m if bound == "M" else n
    kernel = Kernel(steps=lambda k, t: range(end), guard_a=False, guard_b=False)
    found = only(explained(kernel, f"{m}x{n}x{k}", FLAT, NXK))
    assert (found.kind, found.facts["bound"]) == ("k_loop_bound", bound)


@pytest.mark.parametrize("shape", ["9x7x13", "16x8x8"])
def test_adding_to_what_c_held_is_named(shape: str) -> None:
    kernel = Kernel(result=np.add)
    assert only(explained(kernel, shape)).kind == "accumulates_into_c"
    found = only(explained(kernel, shape, poison=FINITE_FILL, gpu=True))
    assert (found.kind, found.facts["offset"]) == ("accumulates_into_c", 1024.5)


def test_zeros_are_named() -> None:
    assert only(explained(Kernel(steps=lambda k, t: []), "16x9x16")).kind == "all_zero"


def test_an_unwritten_tail_and_a_dropped_k_tail_are_two_findings() -> None:
    kernel = Kernel(
        writes=lambda r, c, s, g: r < s.m - s.m % g.tile_m + 0 * c,
        steps=_floor,
    )
    kinds = [f.kind for f in explained(kernel, "17x9x13")]
    assert kinds == ["unwritten_last_rows", "k_tail_dropped"]


@pytest.mark.parametrize("gpu", [False, True])
def test_rows_of_nans_come_from_a(gpu: bool) -> None:
    kernel = Kernel(a=lambda r, k, s: np.where(r == 4, s.m * s.k + 5, r * s.k + k))
    found = only(explained(kernel, "9x7x13", gpu=gpu))
    assert (found.kind, found.facts["operand"]) == ("reads_past_end", "A")
    assert found.facts["row"] == 4
    assert found.facts["got"] == "NaN"


@pytest.mark.parametrize("gpu", [False, True])
def test_columns_of_nans_come_from_b(gpu: bool) -> None:
    kernel = Kernel(b=lambda k, c, s: np.where(c == 2, s.n * s.k + 5, k * s.n + c))
    found = only(explained(kernel, "9x7x13", gpu=gpu))
    assert (found.kind, found.facts["operand"]) == ("reads_past_end", "B")
    assert found.facts["col"] == 2


def test_nans_without_a_pattern_have_their_place() -> None:
    nan_at = Kernel(b=lambda k, c, s: np.where((c == 2) & (k == 3), s.n * s.k + 5, k * s.n + c))
    kernel = Kernel(b=nan_at.b, writes=lambda r, c, s, g: (c != 2) | (r % 3 == 1))
    kinds = [f.kind for f in explained(kernel, "9x7x13", gpu=True)]
    assert kinds[0].startswith("unwritten")
    assert kinds[1] == "nan_somewhere"


def _rounded(values: np.ndarray, bits: int) -> np.ndarray:
    """Round to nearest even by arithmetic, not by bits: another way than the code under test."""
    mantissa, exponent = np.frexp(values.astype(np.float64))
    return np.asarray(np.ldexp(np.rint(mantissa * 2.0 ** (bits + 1)), exponent - bits - 1))


@pytest.mark.parametrize("bits, name", [(10, "TF32 or FP16"), (7, "BF16")])
@pytest.mark.parametrize("shape", ["33x17x65", "64x64x4096"])
def test_factors_of_reduced_precision_are_named(bits: int, name: str, shape: str) -> None:
    case = Case(Shape.parse(shape), "real", seed=2)
    launch = launch_of(case)
    a, b, c = launch.operands
    image = c.image.copy()
    product = _rounded(a.values(a.image), bits) @ _rounded(b.values(b.image), bits)
    c.values(image)[:] = product
    found = only(explain(Evidence.gather(exercise(), TILED, case, launch, image)))
    assert (found.kind, found.facts["format"]) == ("reduced_factors", name)
    assert found.verdict is Verdict.REDUCED_PRECISION
    assert found.facts["units"] > 16


def test_a_result_rounded_to_half_is_named_with_integers_too() -> None:
    case = Case(Shape(33, 17, 900), seed=2)
    launch = launch_of(case)
    a, b, c = launch.operands
    image = c.image.copy()
    c.values(image)[:] = (a.values(a.image) @ b.values(b.image)).astype(np.float16)
    found = only(explain(Evidence.gather(exercise(), TILED, case, launch, image)))
    assert (found.kind, found.verdict) == ("reduced_result", Verdict.REDUCED_PRECISION)


def test_half_precision_sums_are_called_blurred() -> None:
    case = Case(Shape(20, 24, 300), "real", seed=2)
    launch = launch_of(case)
    a, b, c = (op.values(op.image) for op in launch.operands)
    total = np.zeros(c.shape, np.float16)
    for k in range(300):
        total = total + (a[:, k : k + 1] * b[k : k + 1]).astype(np.float16)
    image = launch.operands[2].image.copy()
    launch.operands[2].values(image)[:] = total
    found = only(explain(Evidence.gather(exercise(), TILED, case, launch, image)))
    assert (found.kind, found.verdict) == ("blurred", Verdict.REDUCED_PRECISION)
