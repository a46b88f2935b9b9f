"""Which files a compiler may open, on machines that set theirs up in their own way."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from grader.finding import GraderFault
from grader.simulator.device import SimulatorDevice
from grader.tests.simulated import EXERCISE, FINISH, PRELUDE, TARGET, submission
from grader.toolchain import host_compiler


def build_with_wrapper(folder: Path, option: str) -> bool:
    """Build a right kernel with a g++ that always has `option` with the folder of its own
    stddef.h; whether the kernel came out."""
    real = shutil.which("g++")
    if real is None:
        pytest.skip("needs g++")
    asked = [real, "-print-file-name=include"]
    headers = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    wrapper = folder / "g++"
    wrapper.write_text(f'#!/bin/sh\nexec "{real}" {option} "{headers}" "$@"\n')
    wrapper.chmod(0o755)
    compiler = host_compiler(environment={"CXX": str(wrapper), "PATH": "/usr/bin:/bin"})
    device = SimulatorDevice(TARGET, compiler, cache=folder / "cache")
    return not device.build(EXERCISE, submission(PRELUDE + FINISH)).findings


def test_headers_that_a_compiler_adds_to_the_system_s_do_not_matter(tmp_path: Path) -> None:
    assert build_with_wrapper(tmp_path, "-isystem")


def test_a_compiler_that_takes_other_headers_before_ours_is_no_fault_of_a_kernel(
    tmp_path: Path,
) -> None:
    with pytest.raises(GraderFault, match=r"g\+\+ takes .*stddef\.h, in place of a header"):
        build_with_wrapper(tmp_path, "-I")
