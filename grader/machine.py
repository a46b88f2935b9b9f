"""Whether what this machine has really works: tried, not believed. `doctor` reports it.

Each function returns a problem in words, or "" when there is none.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from grader.device import Device
from grader.exercise import PROJECT, Exercise, load_all
from grader.problems.matmul import Case, Shape, fresh_poison, prepare, product
from grader.submission import Submission
from grader.toolchain import HostCompiler

# A program of a few lines compiles in a second; a network drive may take longer.
TRY_TIMEOUT_S = 60.0
# M, N and K differ, so that a kernel of the wrong layout or grid is noticed.
TRY_SHAPE = Shape(5, 7, 3)

TRY_PROGRAM = """
#include <cstdint>
#include <iostream>
#include <vector>
int main() {
    std::vector<std::uint32_t> words{40, 2};
    std::cout << words[0] + words[1] << std::endl;
}
"""
TRY_KERNEL = """#include "launch.cuh"
__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= M || col >= N) return;
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
    C[row * N + col] = sum;
}
LAUNCH_CONFIG(.block_x = 4, .block_y = 4, .tile_m = 4, .tile_n = 4);
"""


def compiler_problem(compiler: HostCompiler) -> str:
    """Compile, link and run a small C++17 program; "" if it works, else what failed."""
    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        source, program = Path(folder) / "try.cpp", Path(folder) / "try"
        source.write_text(TRY_PROGRAM, encoding="utf-8")
        steps = (
            ("compile", (*compiler.command, "-std=c++17", "-c", str(source), "-o", f"{program}.o")),
            ("link", (*compiler.command, f"{program}.o", "-o", str(program))),
            ("run what it built", (str(program),)),
        )
        output = ""
        for step, command in steps:
            status, output = _try(command)
            if status != 0:
                return f"cannot {step}: {_reason(output) or f'exit status {status}'}"
    return "" if output.strip() == "42" else "builds programs that compute wrongly"


def _try(command: tuple[str, ...]) -> tuple[int, str]:
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=TRY_TIMEOUT_S,
            env={**os.environ, "LC_ALL": "C"},  # the reason is looked for in English
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        return -1, str(error)
    return done.returncode, done.stdout.decode(errors="replace")


def _reason(output: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|cannot find|not found", line)]
    return (telling or lines or [""])[0]


def device_problem(device: Device) -> str:
    """Launch a small kernel; "" if its product is right, else what went wrong."""
    exercise = _naive()
    text_sha256 = hashlib.sha256(TRY_KERNEL.encode()).hexdigest()
    submission = Submission("doctor.cu", Path("doctor.cu"), TRY_KERNEL, text_sha256)
    try:
        build = device.build(exercise, submission)
        if build.artifact is None or build.config is None:
            kinds = ", ".join(finding.kind for finding in build.findings)
            return f"does not build a kernel that is right: {kinds or build.unsupported}"
        case = Case(TRY_SHAPE)
        launch = prepare(exercise, build.config, case, fresh_poison(case.seed, 0))
        run = device.launch(build, launch)
        if not run.images or run.findings:
            kinds = ", ".join(finding.kind for finding in run.findings)
            return f"does not run a kernel that is right: {kinds}"
        computed = launch.operands[2].values(run.images[2])
        right = np.array_equal(computed, product(exercise, launch))
        return "" if right else "computes a product that is wrong"
    finally:
        device.close()


def _naive() -> Exercise:
    return next(e for e in load_all(PROJECT) if e.kernel == "matmul_naive")


def pycuda_problem() -> str:
    """Import it in a process of its own: it loads the driver, or may crash."""
    status, output = _try((sys.executable, "-c", "import pycuda.driver"))
    if status == 0:
        return ""
    return f"cannot be imported: {(output.strip().splitlines() or ['no reason given'])[-1]}"
