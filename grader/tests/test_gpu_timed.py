"""The check of a timed launch finds what is wrong with it, in exact arithmetic, for every shape.

The kernels are the real ones, compiled for the CPU; the student's does what a test tells it.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from grader.gpu import cublas, own_kernels
from grader.gpu.contents import amplitudes, contents
from grader.gpu.timed import Timed
from grader.problems.matmul import Shape
from grader.tests import fake_pycuda

SHAPES = [
    *(Shape(1, 1, 1), Shape(33, 17, 65), Shape(35, 79, 19), Shape(64, 64, 64)),
    *(Shape(3, 2100, 5), Shape(600, 2, 7), Shape(2, 3, 2100), Shape(1, 300, 1)),
]
LAYOUTS = ["KxN", "NxK"]
GUARD = 64
GUARD_WORDS = [0x7F8AAAAA, 0x7F8BBBBB]

# Right, and then wrong in the way that its variables say: one element replaced or moved, the
# launch cut short, words of A or around C overwritten.
STUDENT = """
extern "C" {
int transposed, wrong = -1, spoil = -1, guard, rows_done = 1 << 30;
float offset, value;
}
extern "C" __global__ void student(const float *A, const float *B, float *C, int M, int N, int K) {
    int row = blockIdx.x;
    if (row >= rows_done) return;
    for (int col = 0; col < N; ++col) {
        float sum = 0;
        for (int k = K - 1; k >= 0; --k)
            sum += A[row * K + k] * (transposed ? B[col * K + k] : B[k * N + col]);
        if (wrong == row * N + col) sum = value != 0 ? value : sum + offset;
        if (wrong == row * N + col - 1 && offset != 0) sum -= offset;
        C[row * N + col] = sum;
    }
    if (spoil >= 0 && row == 0) ((float *)A)[spoil] += 1;
    if (guard != 0 && row == 0) C[guard < 0 ? guard : M * N + guard - 1] = 7;
}
"""


class Bench:
    """One stopwatch, opened in this process over the host's memory."""

    def __init__(self, folder: Path, shape: Shape, layout: str, **told: Any) -> None:
        self.shape, self.layout = shape, layout
        self.cuda = fake_pycuda.driver(folder)
        self.reach = amplitudes(shape)
        self.modules: dict[str, Any] = {}
        self.seconds: list[float] = []
        cubins = {name: self._cubin(folder, own_kernels.text(name)) for name in own_kernels.NAMES}
        m, n, _ = shape
        side = {"block": [16, 16], "grid": [-(-n // 16), -(-m // 16)], "dynamic_shared": 0}
        self.header = {
            "shape": list(shape),
            "b_layout": layout,
            "guard": GUARD,
            "guard_words": GUARD_WORDS,
            "amplitudes": [self.reach.wide, self.reach.narrow],
            "l2_bytes": 1 << 12,
            "student": {
                "cubin": self._cubin(folder, STUDENT),
                "kernel": "student",
                "block": [1, 1],
                "grid": [m, 1],
                "dynamic_shared": 0,
            },
            "baseline": {"cubin": cubins["baseline"], "kernel": "baseline", **side},
            "tools": cubins,
            "cublas": False,
            "toolkit": "",
            **told,
        }
        self.timed = Timed(self.cuda, self._load, self.header)
        self.tell("transposed", ctypes.c_int, layout == "NxK")

    def tell(self, name: str, kind: Any, value: float) -> None:
        kind.in_dll(self.modules["student"].library, name).value = value

    def sample(self, draw: int = 1, contestant: str = "student") -> dict[str, Any]:
        drawn = contents(99, draw)
        request = {"contestant": contestant, **vars(drawn)}
        stages: list[str] = []

        def hear(event: str, **facts: float) -> None:
            stages.append(event)
            self.seconds += facts.values()

        found: dict[str, Any] = self.timed.sample(request, hear, lambda: None)
        assert stages == ["launching", "finished"]
        assert 0 <= found.pop("longest_gap_s") < 1
        return found

    def matrices(self) -> tuple[npt.NDArray[np.float32], ...]:
        """A, B as stored, and C, as they are in memory."""
        m, n, k = self.shape
        sizes = ((m, k), (k, n) if self.layout == "KxN" else (n, k), (m, n))
        found = zip((self.timed._a, self.timed._b, self.timed._c), sizes, strict=True)
        return tuple(_floats(matrix.address, size) for matrix, size in found)

    def _load(self, cubin: str, kernel: str, shared: int) -> tuple[Any, Any]:
        module = self.cuda.module_from_file(cubin)
        self.modules[kernel] = module
        return module, module.get_function(kernel)

    def _cubin(self, folder: Path, text: str) -> str:
        path = folder / f"{abs(hash(text))}.cubin"
        path.write_text(text)
        return str(path)


def _floats(address: int, size: tuple[int, ...]) -> npt.NDArray[np.float32]:
    words = (ctypes.c_float * math.prod(size)).from_address(address)
    return np.array(words, np.float32).reshape(size)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(autouse=True)
def host_as_gpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(ctypes, "CDLL", fake_pycuda.libcuda)
    used = fake_pycuda._State.used_bytes
    yield
    fake_pycuda._State.used_bytes = used


RIGHT = {"wrong_rows": 0, "first_wrong_row": -1, "inputs_changed": 0, "guards_written": 0}


def wrong(row: int, rows: int = 1) -> dict[str, int]:
    return {**RIGHT, "wrong_rows": rows, "first_wrong_row": row}


def mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return x ^ (x >> np.uint64(31))


def draw(key: int, indices: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    return mix(np.uint64(key) + (indices + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_right_product_is_accepted(folder: Path, shape: Shape, layout: str) -> None:
    bench = Bench(folder, shape, layout)
    assert [bench.sample(draw) for draw in (1, 2)] == [RIGHT, RIGHT]
    assert bench.sample(3, "baseline") == RIGHT
    assert all(seconds > 0 for seconds in bench.seconds)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_and_b_hold_what_the_keys_say(folder: Path, layout: str) -> None:
    shape = Shape(35, 79, 190)
    bench, drawn = Bench(folder, shape, layout), contents(99, 5)
    bench.sample(5)
    a, b, c = bench.matrices()
    heads = draw(drawn.coins, np.arange(shape.k, dtype=np.uint64)) & np.uint64(1) == 1

    def model(key: int, size: tuple[int, int], reach: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        high = draw(key, np.arange(math.prod(size), dtype=np.uint64)) >> np.uint64(32)
        spread = (2 * reach + 1).astype(np.uint64)
        scaled = high.reshape(size) * spread >> np.uint64(32)
        return scaled.astype(np.int64) - reach

    wide, narrow = bench.reach.wide, bench.reach.narrow
    np.testing.assert_array_equal(
        a, model(drawn.key_a, a.shape, np.where(heads, wide, narrow)[None, :])
    )
    of_b = np.where(heads, narrow, wide)
    of_b = of_b[:, None] if layout == "KxN" else of_b[None, :]
    np.testing.assert_array_equal(b, model(drawn.key_b, b.shape, of_b))
    factor = b.astype(np.float64) if layout == "KxN" else b.T.astype(np.float64)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ factor)


def test_both_factors_hold_wide_and_narrow_numbers_evenly(folder: Path) -> None:
    bench = Bench(folder, Shape(64, 64, 512), "KxN")
    bench.sample()
    a, b, _ = bench.matrices()
    for lines in (a.T, b):
        widest = np.abs(lines).max(axis=1)
        is_wide = widest > 7
        assert 0.3 < is_wide.mean() < 0.7
        assert widest[is_wide].min() > 0.8 * bench.reach.wide
        assert abs(lines[is_wide].mean()) < 0.05 * bench.reach.wide
        assert set(np.unique(lines[~is_wide])) == set(range(-7, 8))
    assert ((np.abs(a).max(axis=0) > 7) != (np.abs(b).max(axis=1) > 7)).all()


def test_every_draw_is_another_product_and_the_same_draw_the_same(folder: Path) -> None:
    bench = Bench(folder, Shape(33, 17, 65), "KxN")
    seen = []
    for number in (1, 2, 1):
        bench.sample(number)
        seen.append(np.concatenate([matrix.ravel() for matrix in bench.matrices()]))
    assert (seen[0] != seen[1]).mean() > 0.9
    np.testing.assert_array_equal(seen[0], seen[2])


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "value", [math.nan, math.inf, -math.inf, 0.5, -3e38, 1e-38, 2.0**25, -(2.0**25), 2.0**24 + 2]
)
def test_one_element_that_no_product_has_is_found(folder: Path, value: float, layout: str) -> None:
    bench = Bench(folder, Shape(35, 79, 19), layout)
    bench.tell("wrong", ctypes.c_int, 20 * 79 + 78)
    bench.tell("value", ctypes.c_float, value)
    assert bench.sample() == wrong(row=20)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_element_that_is_off_by_one_is_found(folder: Path, shape: Shape, layout: str) -> None:
    bench = Bench(folder, shape, layout)
    bench.tell("offset", ctypes.c_float, 1.0)
    for index in {0, shape.m * shape.n // 2, shape.m * shape.n - 1}:
        bench.tell("wrong", ctypes.c_int, index)
        found = bench.sample(index)
        assert found["wrong_rows"] >= 1  # the element after it is off by minus one
        assert found["first_wrong_row"] == index // shape.n


def test_errors_that_cancel_within_a_row_are_found(folder: Path) -> None:
    bench = Bench(folder, Shape(33, 17, 65), "KxN")
    bench.tell("wrong", ctypes.c_int, 5 * 17 + 3)  # and the opposite in the next column
    bench.tell("offset", ctypes.c_float, -4.0)
    assert bench.sample() == wrong(row=5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_that_a_kernel_leaves_out_are_found(folder: Path, layout: str) -> None:
    bench = Bench(folder, Shape(35, 79, 19), layout)
    assert bench.sample(1) == RIGHT  # what C held before does not help
    bench.tell("rows_done", ctypes.c_int, 32)
    assert bench.sample(2) == wrong(row=32, rows=3)
    assert bench.sample(1) == wrong(row=32, rows=3)


def test_an_input_that_is_changed_is_found_and_c_is_still_judged_by_what_was_sent(
    folder: Path,
) -> None:
    bench = Bench(folder, Shape(35, 79, 19), "KxN")
    bench.tell("spoil", ctypes.c_int, 3)
    found = bench.sample()
    assert (found["inputs_changed"], found["wrong_rows"]) == (1, 0)
    bench.tell("rows_done", ctypes.c_int, 1)
    bench.tell("spoil", ctypes.c_int, 19 * 35 - 1)
    found = bench.sample()
    assert (found["inputs_changed"], found["wrong_rows"], found["first_wrong_row"]) == (1, 34, 1)


@pytest.mark.parametrize("place", [-1, -GUARD, 1, GUARD])
def test_a_guard_word_that_is_written_is_found(folder: Path, place: int) -> None:
    bench = Bench(folder, Shape(33, 17, 65), "NxK")
    bench.tell("guard", ctypes.c_int, place)
    assert bench.sample(1) == {**RIGHT, "guards_written": 1}
    bench.tell("guard", ctypes.c_int, 0)
    assert bench.sample(2) == RIGHT


def test_operands_start_on_256_bytes(folder: Path) -> None:
    bench = Bench(folder, Shape(33, 17, 65), "KxN")
    places = [bench.timed._a, bench.timed._b, bench.timed._c]
    assert [place.address % 256 for place in places] == [0, 0, 0]
    assert [place.address - place.base for place in places] == [4 * GUARD] * 3


def test_lines_of_the_last_launch_that_are_to_persist_are_reset(folder: Path) -> None:
    bench = Bench(folder, Shape(33, 17, 65), "KxN")
    before = fake_pycuda._State.resets
    bench.sample()
    assert fake_pycuda._State.resets == before + 1


def test_closing_frees_everything(folder: Path) -> None:
    before = fake_pycuda._State.used_bytes
    bench = Bench(folder, Shape(33, 17, 65), "KxN")
    assert fake_pycuda._State.used_bytes > before
    bench.timed.close()
    assert fake_pycuda._State.used_bytes == before


def test_a_stopwatch_that_does_not_fit_takes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = fake_pycuda._State.used_bytes
    monkeypatch.setattr(fake_pycuda, "FREE_BYTES", before + 60_000)
    with pytest.raises(fake_pycuda.Error, match="out of memory"):
        Bench(folder, Shape(100, 100, 100), "KxN")
    assert fake_pycuda._State.used_bytes == before


class ColumnsFirst:
    """cuBLAS as its manual says: column-major matrices, alpha and beta behind pointers."""

    class Operation:
        N, T = 0, 1

    class Math:
        DEFAULT_MATH = 0

    modes: list[tuple[int, int]] = []  # noqa: RUF012

    @staticmethod
    def create() -> int:
        return 42

    @classmethod
    def set_math_mode(cls, handle: int, mode: int) -> None:
        cls.modes.append((handle, mode))

    @staticmethod
    def sgemm(
        handle: int, transa: int, transb: int, m: int, n: int, k: int, alpha: int, a: int,
        lda: int, b: int, ldb: int, beta: int, c: int, ldc: int,
    ) -> None:  # fmt: skip
        def factor(address: int, transposed: int, rows: int, cols: int, ld: int) -> Any:
            held = (cols, rows) if transposed else (rows, cols)
            assert ld == held[0]
            matrix = _floats(address, (held[1], held[0])).T
            return (matrix.T if transposed else matrix).astype(np.float64)

        assert _floats(alpha, (1,)) == [1.0]
        assert _floats(beta, (1,)) == [0.0]
        assert ldc == m
        product = factor(a, transa, m, k, lda) @ factor(b, transb, k, n, ldb)
        result = np.ascontiguousarray(product.T.astype(np.float32))
        ctypes.memmove(c, result.ctypes.data, result.nbytes)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES[:3], ids=str)
def test_cublas_is_asked_for_the_same_product(
    folder: Path, shape: Shape, layout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys
    import types

    bindings = types.ModuleType("nvmath.bindings")
    monkeypatch.setattr(bindings, "cublas", ColumnsFirst, raising=False)
    monkeypatch.setitem(sys.modules, "nvmath", types.ModuleType("nvmath"))
    monkeypatch.setitem(sys.modules, "nvmath.bindings", bindings)
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "1")
    bench = Bench(folder, shape, layout, cublas=True)
    assert bench.timed.has_cublas
    assert ColumnsFirst.modes[-1] == (42, 0)
    assert bench.sample(1, "cublas") == RIGHT


def test_without_cublas_there_is_none(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "nvmath.bindings", None)
    bench = Bench(folder, Shape(1, 1, 1), "KxN", cublas=True)
    assert not bench.timed.has_cublas
    assert cublas.find("") is None
