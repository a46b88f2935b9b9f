"""The driver is asked through its own interface; a library of ours stands in for it here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader import toolchain
from grader.driver import Driver, find_driver

LIBRARY = """
#include <cstddef>
#include <cstring>
extern "C" {
int cuDriverGetVersion(int *version) { *version = 12040; return 0; }
int cuInit(unsigned) { return INIT; }
int cuDeviceGetCount(int *count) { *count = 2; return 0; }
int cuDeviceGet(int *device, int index) { *device = 10 + index; return 0; }
int cuDeviceGetName(char *name, int size, int device) {
    std::strncpy(name, device == 10 ? "GPU ten" : "GPU eleven", size);
    return 0;
}
int cuDeviceTotalMem_v2(std::size_t *bytes, int) { *bytes = 6000000000; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int) {
    *value = attribute == 75 ? 8 : 9;
    return 0;
}
int cuGetErrorName(int, const char **name) { *name = "CUDA_ERROR_OF_A_TEST"; return 0; }
}
"""


def make_library(folder: Path, text: str) -> str:
    source, library = folder / "library.cpp", folder / "libcuda.so.1"
    source.write_text(text, encoding="utf-8")
    command = (*toolchain.host_compiler().command, "-shared", "-fPIC", str(source))
    subprocess.run((*command, "-o", str(library)), check=True)
    return str(library)


def test_every_gpu_is_listed_with_its_compute_capability(tmp_path: Path) -> None:
    driver = find_driver(make_library(tmp_path, LIBRARY.replace("INIT", "0")))
    assert driver.problem == ""
    assert driver.cuda_version == (12, 4)
    assert [gpu.name for gpu in driver.gpus] == ["GPU ten", "GPU eleven"]
    assert driver.gpus[1].compute_capability == (8, 9)
    assert driver.gpus[1].memory_bytes == 6_000_000_000


@pytest.mark.parametrize(
    "status, problem",
    [(100, "finds no GPU"), (803, r"does not start: CUDA_ERROR_OF_A_TEST (803)")],
)
def test_a_driver_without_a_usable_gpu_says_why(tmp_path: Path, status: int, problem: str) -> None:
    driver = find_driver(make_library(tmp_path, LIBRARY.replace("INIT", str(status))))
    assert driver.gpus == ()
    assert problem in driver.problem
    assert driver.cuda_version == (12, 4)


def test_no_driver_is_a_problem_and_not_an_exception(tmp_path: Path) -> None:
    assert find_driver(str(tmp_path / "absent.so.1")) == Driver(
        problem=f"no NVIDIA driver ({tmp_path / 'absent.so.1'} not found)"
    )


def test_a_library_that_is_no_driver_is_a_problem_too(tmp_path: Path) -> None:
    driver = find_driver(make_library(tmp_path, "int nothing;"))
    assert "is not a usable driver" in driver.problem
