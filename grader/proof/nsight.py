"""Measures the proof's kernels with Nsight Compute, all in one process."""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader import cores, toolchain
from grader.driver import find_driver
from grader.exercise import PROJECT, Exercise
from grader.finding import GraderFault
from grader.gpu import cubin, nvcc
from grader.problems.matmul import Shape
from grader.proof import launches, measurement
from grader.proof.kernels import ProofKernel
from grader.submission import Submission
from grader.timing.calibration import slug

# Each kernel, to see which of its counters depend on time.
LAUNCHES = 5
# Replaying two hundred launches for every metric takes half a minute.
LIMIT_S = 300.0


def find_tool(name: str) -> Path | None:
    """`ncu` or `compute-sanitizer`, from PATH or the newest toolkit in /usr/local."""
    found = shutil.which(name)
    if found:
        return Path(found)
    toolkits = sorted(Path("/usr/local").glob(f"cuda*/bin/{name}"))
    return toolkits[-1] if toolkits else None


def tool(name: str) -> Path:
    """As `find_tool`; GraderFault when there is none."""
    found = find_tool(name)
    if found is None:
        raise GraderFault(f"{name} not found on PATH or in /usr/local/cuda. It comes with CUDA.")
    return found


def measure(kernels: Sequence[ProofKernel], metrics: Sequence[str], folder: Path) -> Path:
    """Launch every kernel `LAUNCHES` times under ncu; the file `<gpu>.csv` in `folder`.

    Raises GraderFault, also when a kernel's product is wrong.
    """
    ncu = tool("ncu")
    compile_all([kernel.submission for kernel in kernels])
    jobs = [
        made
        for kernel in kernels
        for made in job(kernel.exercise, kernel.submission, (kernel.shape,) * LAUNCHES, verify=True)
    ]
    with tempfile.TemporaryDirectory(prefix="proof-") as place:
        log = Path(place) / "raw.csv"
        command = [str(ncu), "--clock-control", "none", "--csv", "--page", "raw"]
        command += ["--log-file", str(log), "--metrics", ",".join(metrics)]
        output, status = watch(command, jobs, Path(place), LIMIT_S)
        page = log.read_text(encoding="utf-8") if log.is_file() else ""
    rows = len(measurement.raw_page(page))
    if rows != len(jobs) or status != 0:
        said = (page + output)[-600:]
        raise GraderFault(f"ncu measured {rows} of {len(jobs)} launches. It said: {said}")
    path = folder / f"{model()}.csv"
    names = [(kernel.name, kernel.fingerprint) for kernel in kernels]
    measurement.write(path, {**machine(), "ncu": version(ncu)}, names, page, metrics)
    return path


def compile_all(submissions: Sequence[Submission]) -> None:
    """Fill the compiler's cache: nvcc has one process for each, so several run at a time."""
    with ThreadPoolExecutor(cores.usable()) as pool:
        list(pool.map(_compile, submissions))


def _compile(submission: Submission) -> nvcc.Compiled:
    major, minor = find_driver().gpus[0].compute_capability
    return nvcc.compile_submission(submission, toolchain.nvcc(), f"sm_{major}{minor}")


def job(
    exercise: Exercise, submission: Submission, shapes: Sequence[Shape], verify: bool
) -> list[launches.Job]:
    """What the watched program is told to launch, one job a shape."""
    made = _compile(submission)
    config = cubin.read_config(made.cubin)
    if config is None:
        raise GraderFault(f"{submission.name} has no LAUNCH_CONFIG.")
    numbers = (config.block_x, config.block_y, config.tile_m, config.tile_n, config.tile_k)
    return [
        launches.Job(
            cubin=str(made.cubin),
            exercise=exercise.name,
            shape=(shape.m, shape.n, shape.k),
            config=(*numbers, config.dynamic_shared),
            verify=verify,
        )
        for shape in shapes
    ]


def watch(
    command: Sequence[str], jobs: Sequence[launches.Job], folder: Path, limit_s: float
) -> tuple[str, int]:
    """Run the launching program under a tool: all that both printed, and the exit status.

    ("", 1) after `limit_s`.
    """
    told = folder / "jobs.json"
    launches.write(jobs, told)
    program = [sys.executable, "-m", "grader.proof.launches", str(told)]
    try:
        done = subprocess.run(
            [*command, *program],
            cwd=PROJECT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=limit_s,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "", 1
    return done.stdout.decode(errors="replace"), done.returncode


def machine() -> dict[str, str]:
    """Date, GPU, driver and nvcc, for the heading of a measurement."""
    query = ("--query-gpu=driver_version", "--format=csv,noheader", "-i", "0")
    _, told = toolchain.asked(("nvidia-smi", *query))
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "gpu": find_driver().gpus[0].name,
        "driver": told.strip(),
        "nvcc": version(toolchain.nvcc().path),
    }


def model() -> str:
    """A file's name for the GPU: `h200` for "NVIDIA H200"."""
    return slug(find_driver().gpus[0].name).removeprefix("nvidia_")


def version(program: Path) -> str:
    """The release that a tool of the toolkit prints: "V13.0.88", "2025.3.1.0"."""
    found = re.findall(r"\bV?\d+\.\d+(?:\.\d+)+\b", toolchain.asked((str(program), "--version"))[1])
    return found[-1] if found else "unknown"
