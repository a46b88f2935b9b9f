"""The NVIDIA driver of this machine and its GPUs, asked without creating a context."""

from __future__ import annotations

import ctypes
import functools
from dataclasses import dataclass

# From cuda.h; these numbers are part of the driver's stable interface.
_SUCCESS = 0
_NO_DEVICE = 100
_CAPABILITY_MAJOR = 75
_CAPABILITY_MINOR = 76
_LIBRARY = "libcuda.so.1"


@dataclass(frozen=True)
class Gpu:
    """One GPU, numbered as CUDA_VISIBLE_DEVICES leaves them."""

    index: int
    name: str
    compute_capability: tuple[int, int]
    memory_bytes: int

    def __str__(self) -> str:
        major, minor = self.compute_capability
        return f"{self.name} (compute capability {major}.{minor})"


@dataclass(frozen=True)
class Driver:
    """What the driver says. `problem` is empty exactly when there is at least one GPU."""

    cuda_version: tuple[int, int] | None = None  # the newest CUDA that the driver supports
    gpus: tuple[Gpu, ...] = ()
    problem: str = ""
    library: str = ""  # what was loaded; "" when there is no driver


@functools.cache
def find_driver(library: str = _LIBRARY) -> Driver:
    """Ask the driver; every failure is a `problem`, nothing is raised."""
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return Driver(problem=f"no NVIDIA driver ({library} not found)")
    try:
        return _ask(cuda, library)
    except (AttributeError, ValueError) as error:  # a library of that name that is no driver
        return Driver(problem=f"{library} is not a usable driver: {error}", library=library)


def _ask(cuda: ctypes.CDLL, library: str) -> Driver:
    number = ctypes.c_int()
    version = None
    if cuda.cuDriverGetVersion(ctypes.byref(number)) == _SUCCESS and number.value > 0:
        version = (number.value // 1000, number.value % 1000 // 10)
    status = cuda.cuInit(0)
    if status == _SUCCESS:
        status = cuda.cuDeviceGetCount(ctypes.byref(number))
    if status != _SUCCESS and status != _NO_DEVICE:
        problem = f"the NVIDIA driver does not start: {_error_name(cuda, status)}"
        return Driver(version, problem=problem, library=library)
    count = number.value if status == _SUCCESS else 0
    gpus = tuple(_describe(cuda, index) for index in range(count))
    return Driver(version, gpus, "" if gpus else "the NVIDIA driver finds no GPU", library)


def _describe(cuda: ctypes.CDLL, index: int) -> Gpu:
    device = ctypes.c_int()
    _must(cuda, cuda.cuDeviceGet(ctypes.byref(device), index))
    name = ctypes.create_string_buffer(256)
    _must(cuda, cuda.cuDeviceGetName(name, len(name), device))
    memory = ctypes.c_size_t()
    _must(cuda, cuda.cuDeviceTotalMem_v2(ctypes.byref(memory), device))
    capability = (
        _attribute(cuda, _CAPABILITY_MAJOR, device),
        _attribute(cuda, _CAPABILITY_MINOR, device),
    )
    return Gpu(index, name.value.decode(errors="replace"), capability, memory.value)


def _attribute(cuda: ctypes.CDLL, attribute: int, device: ctypes.c_int) -> int:
    value = ctypes.c_int()
    _must(cuda, cuda.cuDeviceGetAttribute(ctypes.byref(value), attribute, device))
    return value.value


def _must(cuda: ctypes.CDLL, status: int) -> None:
    if status != _SUCCESS:
        raise ValueError(_error_name(cuda, status))


def _error_name(cuda: ctypes.CDLL, status: int) -> str:
    text = ctypes.c_char_p()
    if cuda.cuGetErrorName(status, ctypes.byref(text)) == _SUCCESS and text.value:
        return f"{text.value.decode(errors='replace')} ({status})"
    return f"error {status}"
