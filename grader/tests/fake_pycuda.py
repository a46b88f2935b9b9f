"""PyCUDA's driver module over the host's memory: g++ or clang++ compile kernels for the CPU.

`python -m grader.tests.fake_pycuda FOLDER PIPE` is the GPU worker over it; FOLDER keeps what was
compiled. A "cubin" is the kernel's text, which is what the fake nvcc of `test_gpu_nvcc` makes.
Words in that text stand for what a CPU cannot do: "STICKY 700" is a kernel that ends in that error.
"""

from __future__ import annotations

import ctypes
import hashlib
import itertools
import re
import shutil
import subprocess
import sys
import time
import types
from pathlib import Path
from typing import Any

import numpy as np

from grader import toolchain
from grader.gpu import own_kernels

FREE_BYTES = 1 << 29
L2_BYTES = 1 << 12
MULTIPROCESSORS = 2
SHARED_OPTIN = 227 * 1024

_HERE = Path(__file__).resolve().parent
_KERNEL = re.compile(r"__global__\s+void\s+(?:__launch_bounds__\([^)]*\)\s*)?(\w+)\s*\(")
_CLOCK = re.compile(r'asm volatile\("mov\.u64 %0, %globaltimer;"[^;]*;')
_WRAPPER = """
extern "C" void launch_{0}(const unsigned *dims, void **all) {{ launch({0}, dims, all); }}
extern "C" unsigned sizes_{0}(unsigned *out) {{ return sizes({0}, out); }}
"""
_TEXTS = {700: "an illegal memory access was encountered", 2: "out of memory"}
_copies = itertools.count()


class Error(Exception):
    """PyCUDA's base class of all errors."""


class _State:
    used_bytes = 0
    sticky = 0
    resets = 0


class Allocation:
    """`mem_alloc`: filled with a pattern, so that nothing works because memory was zero."""

    def __init__(self, size: int) -> None:
        if _State.used_bytes + size > FREE_BYTES:
            raise Error(f"cuMemAlloc failed: {_TEXTS[2]}")
        self._words = np.full(size + 64, 0xA5, np.uint8)
        self._size = size
        _State.used_bytes += size

    def __int__(self) -> int:
        return int(self._words.ctypes.data)

    def free(self) -> None:
        _State.used_bytes -= self._size
        self._size = 0


class Function:
    def __init__(self, library: ctypes.CDLL, name: str, sticky: int) -> None:
        self._launch = getattr(library, f"launch_{name}")
        out = (ctypes.c_uint * 16)()
        self._sizes = list(out[: getattr(library, f"sizes_{name}")(out)])
        self._sticky = sticky

    def __call__(self, *arguments: Any, block: Any, grid: Any, shared: int = 0) -> None:
        assert [argument.nbytes for argument in arguments] == self._sizes
        assert len(block) == 3
        assert block[0] * block[1] <= 1024
        assert 1 <= grid[1] <= 65535
        if self._sticky:
            _State.sticky = self._sticky
            return
        cells = [np.array([argument]) for argument in arguments]
        pointers = (ctypes.c_void_p * len(cells))(*(cell.ctypes.data for cell in cells))
        self._launch((ctypes.c_uint * 5)(*block, *grid[:2]), pointers)

    def set_attribute(self, attribute: int, value: int) -> None:
        assert value <= SHARED_OPTIN


class Module:
    """Loaded anew: with device variables of its own."""

    def __init__(self, path: Path, text: str) -> None:
        copy = path.with_name(f"{path.stem}-{next(_copies)}.so")
        shutil.copy(path, copy)
        self.library = ctypes.CDLL(str(copy))
        copy.unlink()
        sticky = re.search(r"STICKY (\d+)", text)
        self._sticky = int(sticky[1]) if sticky else 0

    def get_function(self, name: str) -> Function:
        return Function(self.library, name, self._sticky)


class Event:
    def record(self) -> None:
        self._s = time.perf_counter()

    def time_since(self, other: Event) -> float:
        return (self._s - other._s) * 1e3


class Context:
    @staticmethod
    def synchronize() -> None:
        if _State.sticky:
            raise Error(f"cuCtxSynchronize failed: {_TEXTS[_State.sticky]}")

    def push(self) -> None:
        pass


class Device:
    def __init__(self, number: int) -> None:
        pass

    count = staticmethod(lambda: 1)
    name = staticmethod(lambda: "CPU")
    compute_capability = staticmethod(lambda: (9, 0))
    total_memory = staticmethod(lambda: FREE_BYTES)
    pci_bus_id = staticmethod(lambda: "0000:00:00.0")
    retain_primary_context = staticmethod(Context)

    def get_attribute(self, attribute: int) -> int:
        return attribute


class _Library:
    """The functions of libcuda that are called through ctypes."""

    def cuCtxSynchronize(self) -> int:  # noqa: N802
        return _State.sticky

    def cuCtxResetPersistingL2Cache(self) -> int:  # noqa: N802
        _State.resets += 1
        return 0

    def cuDeviceGet(self, device: Any, number: int) -> int:  # noqa: N802
        return 0

    def cuDeviceGetUuid(self, uuid: Any, device: Any) -> int:  # noqa: N802
        return 0

    def cuGetErrorString(self, code: int, text: Any) -> int:  # noqa: N802
        text._obj.value = _TEXTS.get(code, f"error {code}").encode()
        return 0

    def cuGetErrorName(self, code: int, text: Any) -> int:  # noqa: N802
        text._obj.value = f"CUDA_ERROR_{code}".encode()
        return 0


def driver(folder: Path) -> types.ModuleType:
    """`pycuda.driver`; compiled kernels are kept in `folder`."""
    made = types.ModuleType("pycuda.driver")

    def memset_d32(address: int, word: int, count: int) -> None:
        ctypes.memmove(address, np.full(count, word, np.uint32).tobytes(), 4 * count)

    def memcpy(target: Any, source: Any) -> None:
        host, other, swap = (target, source, False) if hasattr(target, "nbytes") else (
            source, target, True)  # fmt: skip
        view = np.frombuffer(host, np.uint8)
        address = view.__array_interface__["data"][0]
        to, origin = (int(other), address) if swap else (address, int(other))
        ctypes.memmove(to, origin, view.nbytes)

    for name, value in {
        "Error": Error,
        "Context": Context,
        "Device": Device,
        "Event": Event,
        "init": lambda: None,
        "get_driver_version": lambda: 13000,
        "mem_get_info": lambda: (FREE_BYTES - _State.used_bytes, FREE_BYTES),
        "mem_alloc": Allocation,
        "memset_d32": memset_d32,
        "memcpy_htod": memcpy,
        "memcpy_dtoh": memcpy,
        "memcpy_dtoh_async": memcpy,
        "pagelocked_empty": np.empty,
        "module_from_file": lambda path: Module(*_compiled(Path(path), folder)),
        "function_attribute": types.SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES=8),
        # An attribute is its own value: see Device.get_attribute.
        "device_attribute": types.SimpleNamespace(
            L2_CACHE_SIZE=L2_BYTES,
            MULTIPROCESSOR_COUNT=MULTIPROCESSORS,
            MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=SHARED_OPTIN,
            CLOCK_RATE=1_000_000,
            MEMORY_CLOCK_RATE=2_000_000,
            GLOBAL_MEMORY_BUS_WIDTH=64,
        ),
    }.items():
        setattr(made, name, value)
    return made


def libcuda(name: str | None) -> Any:
    """In the place of `ctypes.CDLL`."""
    return _Library() if name == "libcuda.so.1" else _CDLL(name)


_CDLL = ctypes.CDLL


def _compiled(path: Path, folder: Path) -> tuple[Path, str]:
    """The shared library of a kernel file, made once, and the file's text."""
    text = path.read_text(encoding="utf-8")
    if own_kernels.text("baseline") in text:  # in PTX, which no CPU runs: another stands for it
        text = (Path(__file__).parent / "kernels" / "baseline.cu").read_text(encoding="utf-8")
    library = folder / f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.so"
    if not library.exists():
        code = _CLOCK.sub("now = host_ns();", text)
        wrappers = "".join(_WRAPPER.format(name) for name in _KERNEL.findall(code))
        source, fresh = library.with_suffix(".cpp"), library.with_suffix(".new")
        source.write_text(f'#include "{_HERE}/cpu_cuda.hpp"\n{code}\n{wrappers}', encoding="utf-8")
        flags = ("-std=c++20", "-O1", "-shared", "-fPIC", "-w")
        compiler = toolchain.host_compiler().command
        subprocess.run([*compiler, *flags, "-o", str(fresh), str(source)], check=True)
        fresh.rename(library)
    return library, text


def main() -> None:
    from grader.gpu import worker

    folder = Path(sys.argv.pop(1))
    package = types.ModuleType("pycuda")
    package.driver = driver(folder)  # type: ignore[attr-defined]
    sys.modules.update({"pycuda": package, "pycuda.driver": driver(folder)})
    ctypes.CDLL = libcuda  # type: ignore[assignment, misc]
    worker.main()


if __name__ == "__main__":
    main()
