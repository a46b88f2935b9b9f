"""The program that Nsight Compute and compute-sanitizer watch: launches kernels, nothing else.

`python -m grader.proof.launches JOBS.json` launches the jobs of the file one after another, each on
memory of exactly its matrices' sizes, so that a tool sees an access past their ends.
"""

from __future__ import annotations

import dataclasses
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from grader import exercise as exercises
from grader.device import LaunchConfig
from grader.exercise import PROJECT
from grader.problems.matmul import Case, Shape, fresh_poison, prepare, product


@dataclass(frozen=True)
class Job:
    """A compiled kernel and its shape. With `verify`, C is filled before and judged afterwards;
    without, C stays as allocated, and a read of it is one of unset memory."""

    cubin: str
    exercise: str
    shape: tuple[int, int, int]
    config: tuple[int, ...]
    verify: bool


def write(jobs: Sequence[Job], path: Path) -> None:
    path.write_text(json.dumps([dataclasses.asdict(job) for job in jobs], indent=1))


def main() -> int:
    """0: every verified launch gave the right product."""
    os.environ["CUDA_MODULE_LOADING"] = "EAGER"
    import pycuda.driver as cuda

    cuda.init()
    context = cuda.Device(0).retain_primary_context()
    context.push()
    try:
        rows = json.loads(Path(sys.argv[1]).read_text())
        right = [_launch(cuda, Job(**row)) for row in rows]  # all, also after a wrong one
        return 0 if all(right) else 1
    finally:
        context.pop()


def _launch(cuda: Any, job: Job) -> bool:
    exercise = exercises.load(PROJECT / "exercises" / job.exercise)
    config = LaunchConfig(*job.config)
    launch = prepare(exercise, config, Case(Shape(*job.shape), seed=5), fresh_poison(5, 0))
    kernel = cuda.module_from_file(job.cubin).get_function(exercise.kernel)
    if config.dynamic_shared > 0:
        attribute = cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        kernel.set_attribute(attribute, config.dynamic_shared)
    matrices = [np.ascontiguousarray(op.values(op.image)) for op in launch.operands]
    blocks = [cuda.mem_alloc(matrix.nbytes) for matrix in matrices]
    for block, matrix in zip(blocks[: 3 if job.verify else 2], matrices, strict=False):
        cuda.memcpy_htod(block, matrix)
    kernel(
        *(np.uintp(int(block)) for block in blocks),
        *(np.int32(scalar) for scalar in launch.scalars),
        block=(config.block_x, config.block_y, 1),
        grid=launch.grid,
        shared=config.dynamic_shared,
    )
    cuda.Context.synchronize()
    if not job.verify:
        return True
    after = np.empty_like(matrices[2])
    cuda.memcpy_dtoh(after, blocks[2])
    right = bool(np.array_equal(after, product(exercise, launch)))
    if not right:
        print(f"{job.cubin}: C is wrong at {Shape(*job.shape)}", file=sys.stderr)
    return right


if __name__ == "__main__":
    sys.exit(main())
