"""The last block of large shapes: which elements of C it stores, and when that is a fault."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grader.checks.probing import Blocks, large_blocks, wrong_tiles
from grader.device import Build, Launch, Probe
from grader.finding import Finding
from grader.problems.matmul import Shape, large_shapes, prepare_sparse, sparse_product
from grader.tests.fake_device import CONFIG, FakeDevice, an_entry, an_exercise, shape_of
from grader.tests.simulated import FINISH, PRELUDE, build, device
from grader.verdict import Verdict

STORE = FINISH.replace("[k * N", "[(size_t)k * N").replace("[row *", "[(size_t)row *")
INDICES = PRELUDE.splitlines(keepends=True)[-1]


def found(indices: str, store: str = STORE) -> tuple[Finding, ...]:
    """What is found for a kernel that computes `row` and `col` so."""
    built = build("g++", PRELUDE.replace(INDICES, indices) + store)
    return wrong_tiles(large_blocks(device("g++"), built))


@pytest.mark.parametrize(
    "indices",
    [
        INDICES,
        # Blocks in another order: backwards, and in groups of two rows.
        "    int col = (gridDim.x - 1 - blockIdx.x) * 16 + tx,"
        " row = (gridDim.y - 1 - blockIdx.y) * 16 + ty;\n",
        "    int y = blockIdx.y ^ 1u; if (y >= (int)gridDim.y) y = blockIdx.y;\n"
        "    int col = blockIdx.x * 16 + tx, row = y * 16 + ty;\n",
        # The last tiles are moved inwards.
        "    int col = min((int)blockIdx.x * 16, max(N - 16, 0)) + tx,"
        " row = min((int)blockIdx.y * 16, max(M - 16, 0)) + ty;\n",
    ],
)
def test_the_order_of_tiles_is_up_to_the_kernel(indices: str) -> None:
    assert found(indices) == ()


def test_a_row_that_begins_again_at_0_is_found_with_both_blocks() -> None:
    many_rows, many_cols, *_ = found(INDICES.replace("int col", "unsigned short col"))
    for missed in (many_rows, many_cols):
        assert (missed.verdict, missed.kind) == (Verdict.INDEX_OVERFLOW, "tile_missed")
        row, col = (place % (1 << 16) for place in missed.facts["missed"])
        assert missed.facts["stored"] == [row, col]
        assert missed.facts["other_block"] == [col // 16, row // 16]
        assert [place.line for place in missed.locations] == [10]
    assert many_rows.shape is not None
    assert many_rows.shape.m > 1 << 16
    assert many_cols.shape is not None
    assert many_cols.shape.n > 1 << 16


def test_a_last_block_that_stores_nothing_is_found() -> None:
    narrow = STORE.replace("row < M", "row < (unsigned short)M")
    missed, *_ = found(INDICES, narrow)
    assert missed.kind == "tile_missed"
    assert missed.locations == ()
    assert "stored" not in missed.facts


def test_blocks_without_work_are_no_fault_where_others_make_up_for_them() -> None:
    others = "    for (int y = row; blockIdx.y < 8 && y < M; y += 128) {\n        int row = y;\n"
    assert found(INDICES, others + STORE.removesuffix("}\n") + "    }\n}\n") == ()


@pytest.mark.parametrize(
    ("changed", "read"),
    [
        (("A[(size_t)row *", "A[(unsigned short)row * (size_t)"), "A"),
        (("k * N + col]", "k * N + (unsigned short)col]"), "B"),
        (("[(size_t)k * N", "[(size_t)((float)k * N)"), "B"),
        (("< K;", "< (unsigned char)K;"), None),
    ],
)
def test_a_tile_of_wrong_values_is_found_with_what_it_read(
    changed: tuple[str, str], read: str | None
) -> None:
    wrong = found(INDICES, STORE.replace(*changed))[0]
    assert (wrong.verdict, wrong.kind) == (Verdict.INDEX_OVERFLOW, "wrong_when_large")
    assert wrong.facts["got"] != wrong.facts["expected"]
    assert wrong.facts.get("read", {}).get("name") == read
    assert [place.line for place in wrong.locations] == [9 if read else 10]


class Storing(FakeDevice):
    """A device on which each block stores these elements, or nobody knows which."""

    def __init__(self, stored: list[int] | None, findings: tuple[Finding, ...] = ()) -> None:
        super().__init__()
        self.stored, self.findings = stored, findings
        self.probed: list[tuple[Shape, int]] = []

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        self.probed.append((shape_of(launch), block))
        stored = None if self.stored is None else np.array(self.stored, np.int64)
        return Probe(self.findings, stored)


def a_build() -> Build:
    entry = an_entry()
    assert entry.submission is not None
    return Build(an_exercise(), entry.submission, "simulator", config=CONFIG)


def blocks(device: FakeDevice, across: int, down: int) -> Blocks:
    shape = Shape(down * CONFIG.tile_m, across * CONFIG.tile_n, CONFIG.tile_k)
    return Blocks(device, a_build(), CONFIG, shape)


Order = Callable[[int, int], tuple[int, int]]


class Ordered(FakeDevice):
    """A device whose blocks compute the tile that `order` gives them, where there is such a tile;
    the last one computes nothing."""

    def __init__(self, order: Order) -> None:
        super().__init__()
        self.order = order

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        across, down = launch.grid
        x, y = self.order(block, across)
        if block == across * down - 1 or x >= across or y >= down:
            return Probe((), np.array([], np.int64))
        return Probe((), blocks(self, across, down).tile(y * across + x))


def as_usual(block: int, across: int) -> tuple[int, int]:
    return block % across, block // across


def along_diagonals(block: int, across: int) -> tuple[int, int]:
    return (block + block // across) % across, block // across


def in_z_order(block: int, across: int) -> tuple[int, int]:
    bits = [block >> place & 1 for place in range(8)]
    x, y = (sum(bit << place for place, bit in enumerate(bits[first::2])) for first in (0, 1))
    return x, y


@pytest.mark.parametrize("across", [2, 8])
@pytest.mark.parametrize(
    ("order", "faults"), [(as_usual, 1), (along_diagonals, 0), (in_z_order, 0)]
)
def test_a_last_block_may_be_idle_where_tiles_have_another_order(
    order: Order, faults: int, across: int
) -> None:
    some = blocks(Ordered(order), across, 8)
    assert len(some.misplaced(some.of_last)) == faults


def test_a_block_that_did_not_end_proves_nothing_of_its_tile() -> None:
    some = blocks(Storing(None), 4, 4)
    assert some.misplaced(Probe((), some.tile(5))) == ()


def test_after_a_timeout_nothing_is_said_of_tiles() -> None:
    late = Finding(Verdict.TIMEOUT, "timeout", {"limit_s": 10})
    first = [0, 1, 2]
    assert wrong_tiles(large_blocks(Storing(first), a_build()))[0].kind == "tile_missed"
    assert wrong_tiles(large_blocks(Storing(first, (late,)), a_build())) == ()


def test_every_value_of_a_tile_is_compared() -> None:
    some = blocks(Storing(None), 4, 4)
    rows, cols = np.arange(24, 32), np.arange(24, 32)
    right = sparse_product(some.build.exercise, some.shape, rows, cols).astype(np.float32).ravel()
    assert some.wrong_values(Probe((), some.tile(15), right)) == ()
    for place in (0, 7, 56, 63):
        values = right.copy()
        values[place] += 1
        (wrong,) = some.wrong_values(Probe((), some.tile(15), values))
        assert wrong.facts["element"] == [24 + place // 8, 24 + place % 8]


def test_large_shapes_come_near_the_limit_of_the_contract() -> None:
    for m, n, k in large_shapes(CONFIG):
        assert 1.9e9 < max(m * k, k * n, m * n) < 2**31


def test_what_is_not_known_is_no_fault() -> None:
    built = a_build()
    unknown = Storing(None)
    assert wrong_tiles(large_blocks(unknown, built)) == ()
    shapes = large_shapes(CONFIG)
    launches = [prepare_sparse(built.exercise, CONFIG, shape) for shape in shapes]
    last = [launch.grid[0] * launch.grid[1] - 1 for launch in launches]
    assert unknown.probed == list(zip(shapes, last, strict=True))
    assert wrong_tiles(large_blocks(Storing([64 * 9 * number for number in range(9)]), built)) == ()
