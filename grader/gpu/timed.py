"""The worker's side of a stopwatch: modules and buffers that stay, and one timed launch at a time.

The null stream does everything in order. From the probe to the end of the launch nothing waits for
the host, which has queued it all while the probe ran.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.gpu import cublas

Load = Callable[[str, str, int], tuple[Any, Any]]
Tell = Callable[..., None]

ALIGNMENT = 256  # operands start on boundaries of this many bytes, as from cudaMalloc
WORD = 4
# Long enough to see the time slice of another process, which lasts milliseconds; it also hides
# what the host needs to queue the launch.
_WATCH_NS = 3_000_000
_THREADS = (32, 8, 1)  # a warp along a row
_EACH = 32  # elements of one thread
_LINE = 256  # threads of a block along one dimension
_MAX_GRID_Y = 65_535
_ONES = 0xFFFFFFFF
_TOOLS = {
    "contents": ("fill_matrix",),
    "verification": (
        *("weigh_rows", "weigh_columns", "subtract_expected"),
        *("add_results", "count_rows", "count_changed"),
    ),
    "probe": ("probe",),
}
_FINDINGS = 4  # wrong rows, the first of them, changed inputs, changed guards


@dataclass(frozen=True)
class _Matrix:
    """Rows and columns in memory, with `guard` words before and after."""

    block: Any  # PyCUDA's allocation
    base: int  # of the first guard
    address: int
    words: int
    guard: int

    @property
    def guards(self) -> tuple[int, int]:
        return self.base, self.address + self.words * WORD


@dataclass(frozen=True)
class _Recipe:
    """What `fill_matrix` and the checks need to derive a matrix."""

    rows: int
    cols: int
    key: int
    coins: int
    heads: int
    tails: int

    @property
    def arguments(self) -> tuple[Any, ...]:
        return (
            *(np.uint32(self.rows), np.uint32(self.cols), np.uint64(self.key)),
            *(np.uint64(self.coins), np.int32(self.heads), np.int32(self.tails)),
        )


class Timed:
    """An open stopwatch. Raises PyCUDA's errors; what it had then is freed by `close`."""

    def __init__(self, cuda: Any, load: Load, header: Mapping[str, Any]) -> None:
        """`load(cubin, kernel, dynamic_shared)` gives a module loaded anew and its kernel."""
        self._cuda = cuda
        self._library = ctypes.CDLL("libcuda.so.1")
        self._header = header
        self._shape: tuple[int, int, int] = tuple(header["shape"])
        self._modules: list[Any] = []
        self._kernels: dict[str, Any] = {}
        self._blocks: list[Any] = []
        self._cublas: cublas.Cublas | None = None
        try:
            self._load_kernels(load)
            self._allocate()
            if header["cublas"]:
                self._cublas = cublas.find(header["toolkit"])
            cuda.Context.synchronize()
        except BaseException:
            self.close()
            raise

    @property
    def has_cublas(self) -> bool:
        return self._cublas is not None

    def close(self) -> None:
        """Free what can be freed; after a sticky error that is nothing."""
        for block in self._blocks:
            with contextlib.suppress(self._cuda.Error):
                block.free()
        self._blocks.clear()
        self._kernels.clear()
        self._modules.clear()

    def sample(self, header: Mapping[str, Any], tell: Tell, flush: Callable[[], None]) -> Any:
        """One timed launch. `tell` gets "launching" and "finished" with its time."""
        contestant, stored = header["contestant"], self._stored(header["contestant"])
        a, b = self._recipes(header, stored)
        # Before anything is written, so that no line of the last launch outlives the flush.
        self._library.cuCtxResetPersistingL2Cache()
        self._fill(a, b, stored, header["poison"])
        self._cuda.Context.synchronize()
        tell("launching")
        start, end = self._cuda.Event(), self._cuda.Event()
        self._watch()
        self._cuda.memset_d32(int(self._flush), header["poison"], self._flush_words)
        start.record()
        self._launch(contestant, stored)
        end.record()
        self._cuda.Context.synchronize()
        flush()
        gap_s = int(self._gap_host[0]) * 1e-9
        tell("finished", seconds=end.time_since(start) * 1e-3)
        return {"longest_gap_s": gap_s, **self._check(a, b, stored, header["poison"])}

    def _load_kernels(self, load: Load) -> None:
        tools = self._header["tools"]
        wanted = [(name, tools[file], name, 0) for file, names in _TOOLS.items() for name in names]
        for contestant in ("student", "baseline"):
            told = self._header[contestant]
            wanted.append((contestant, told["cubin"], told["kernel"], told["dynamic_shared"]))
        for name, cubin, kernel, shared in wanted:
            module, self._kernels[name] = load(cubin, kernel, shared)
            self._modules.append(module)

    def _allocate(self) -> None:
        m, n, k = self._shape
        self._a, self._b, self._c = (self._matrix(words) for words in (m * k, k * n, m * n))
        self._flush_words = 2 * self._header["l2_bytes"] // WORD
        self._flush = self._block(self._flush_words * WORD)
        # findings, B * x, the rows' sums, the rows' refused elements
        self._scratch_words = 2 * (_FINDINGS + k + 2 * m)
        self._findings = int(self._block(self._scratch_words * WORD))
        self._weights = self._findings + 8 * _FINDINGS
        self._sums = self._weights + 8 * k
        self._refused = self._sums + 8 * m
        self._gap = self._block(8)
        self._gap_host = self._cuda.pagelocked_empty(1, np.uint64)

    def _matrix(self, words: int) -> _Matrix:
        guard = self._header["guard"]
        block = self._block((words + 2 * guard) * WORD + ALIGNMENT)
        base = -(-int(block) // ALIGNMENT) * ALIGNMENT
        return _Matrix(block, base, base + guard * WORD, words, guard)

    def _block(self, size: int) -> Any:
        block = self._cuda.mem_alloc(size)
        self._blocks.append(block)
        return block

    def _stored(self, contestant: str) -> str:
        """How B is stored for this contestant: the baseline computes A * B in every exercise."""
        return "KxN" if contestant == "baseline" else str(self._header["b_layout"])

    def _recipes(self, header: Mapping[str, Any], stored: str) -> tuple[_Recipe, _Recipe]:
        m, n, k = self._shape
        wide, narrow = self._header["amplitudes"]
        b_size = (k, n) if stored == "KxN" else (n, k)
        coins = header["coins"]
        return (
            _Recipe(m, k, header["key_a"], coins, wide, narrow),
            _Recipe(*b_size, header["key_b"], coins, narrow, wide),
        )

    def _fill(self, a: _Recipe, b: _Recipe, stored: str, poison: int) -> None:
        words = self._header["guard_words"]
        for matrix, word in zip((self._a, self._b), words, strict=True):
            for guard in matrix.guards:
                self._cuda.memset_d32(guard, word, matrix.guard)
        self._cuda.memset_d32(self._c.base, poison, self._c.words + 2 * self._c.guard)
        for matrix, recipe, k_is_row in ((self._a, a, 0), (self._b, b, int(stored == "KxN"))):
            arguments = (np.uintp(matrix.address), *recipe.arguments, np.int32(k_is_row))
            self._along_rows("fill_matrix", recipe, arguments)

    def _watch(self) -> None:
        """Queue the probe, and fetch what it saw before the launch can touch it."""
        self._call("probe", (1, 1, 1), (1, 1), [np.uintp(int(self._gap)), np.uint64(_WATCH_NS)])
        self._cuda.memcpy_dtoh_async(self._gap_host, int(self._gap))

    def _launch(self, contestant: str, stored: str) -> None:
        addresses = (self._a.address, self._b.address, self._c.address)
        if contestant == "cublas":
            if self._cublas is None:
                raise ValueError("cuBLAS was not found when this stopwatch was opened")
            self._cublas.multiply(*addresses, self._shape, stored)
            return
        told = self._header[contestant]
        arguments = [*map(np.uintp, addresses), *map(np.int32, self._shape)]
        shared = told["dynamic_shared"]
        self._call(contestant, (*told["block"], 1), tuple(told["grid"]), arguments, shared)

    def _check(self, a: _Recipe, b: _Recipe, stored: str, poison: int) -> dict[str, int]:
        """Judge the launch. The weights of the columns of C are drawn here, after it has ended."""
        m, n, _ = self._shape
        lot = np.uint64(int.from_bytes(os.urandom(8), "little"))
        self._cuda.memset_d32(self._findings, 0, self._scratch_words)
        self._cuda.memset_d32(self._findings + 8, _ONES, 2)
        weights, sums, refused = map(np.uintp, (self._weights, self._sums, self._refused))
        changed = np.uintp(self._findings + 16)
        b_arguments = (np.uintp(self._b.address), weights, changed, *b.arguments, lot)
        if stored == "KxN":
            self._along_rows("weigh_rows", b, b_arguments)
        else:
            self._along_columns("weigh_columns", b, b_arguments)
        a_arguments = (np.uintp(self._a.address), weights, sums, changed, *a.arguments)
        self._along_rows("subtract_expected", a, a_arguments)
        c_arguments = (np.uintp(self._c.address), sums, refused, np.uint32(m), np.uint32(n), lot)
        self._along_rows("add_results", _Recipe(m, n, 0, 0, 0, 0), c_arguments)
        self._along_line("count_rows", m, [sums, refused, np.uintp(self._findings), np.uint32(m)])
        self._check_guards(poison)
        return self._read_findings()

    def _check_guards(self, poison: int) -> None:
        words = (*self._header["guard_words"], poison)
        counter = np.uintp(self._findings + 24)
        for matrix, word in zip((self._a, self._b, self._c), words, strict=True):
            for guard in matrix.guards:
                arguments = [np.uintp(guard), counter, np.uint32(matrix.guard), np.uint32(word)]
                self._along_line("count_changed", matrix.guard, arguments)

    def _read_findings(self) -> dict[str, int]:
        found = np.empty(_FINDINGS, np.uint64)
        self._cuda.memcpy_dtoh(found, self._findings)
        wrong, first, inputs, guards = map(int, found)
        return {
            "wrong_rows": wrong,
            "first_wrong_row": first if wrong else -1,
            "inputs_changed": inputs,
            "guards_written": guards,
        }

    def _along_rows(self, name: str, recipe: _Recipe, arguments: Sequence[Any]) -> None:
        """A thread takes elements of one row, some columns apart."""
        grid = (-(-recipe.cols // (32 * _EACH)), min(-(-recipe.rows // 8), _MAX_GRID_Y))
        self._call(name, _THREADS, grid, arguments)

    def _along_columns(self, name: str, recipe: _Recipe, arguments: Sequence[Any]) -> None:
        """A thread takes elements of one column, some rows apart."""
        grid = (-(-recipe.cols // 32), min(-(-recipe.rows // (8 * _EACH)), _MAX_GRID_Y))
        self._call(name, _THREADS, grid, arguments)

    def _along_line(self, name: str, count: int, arguments: Sequence[Any]) -> None:
        self._call(name, (_LINE, 1, 1), (-(-count // _LINE), 1), arguments)

    def _call(
        self,
        name: str,
        block: tuple[int, ...],
        grid: tuple[int, ...],
        arguments: Sequence[Any],
        shared: int = 0,
    ) -> None:
        self._kernels[name](*arguments, block=block, grid=grid, shared=shared)
