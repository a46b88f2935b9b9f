"""A second process that keeps the GPU busy: `python -m grader.proof.speed.load FOLDER`.

It launches the baseline again and again until its stdin closes. FOLDER is for a lock of its own, so
that it does not queue behind the grading it is to disturb.
"""

from __future__ import annotations

import contextlib
import itertools
import select
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from grader import course
from grader.checks.devices import CACHE
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.gpu.device import GpuDevice
from grader.timing import kernels
from grader.timing.kernels import build_kernel, timed_exercises
from grader.timing.sample import Contestant
from grader.timing.shapes import ShapeKind, shape_of

_RUNNING = "running"
_START_LIMIT_S = 60.0
_SIZE = 4096


def main() -> None:
    kernel = kernels.load(timed_exercises())[0]
    target, folder = course.load(PROJECT).target, Path(sys.argv[1])
    with GpuDevice(target, cache=CACHE / "gpu", lock_folder=folder) as device:
        built = build_kernel(device, kernel)
        with closing(device.stopwatch(built, shape_of(ShapeKind.SQUARE, _SIZE), 1)) as watch:
            for draw in itertools.count(1):
                watch.sample(Contestant.BASELINE, draw)
                if draw == 1:
                    print(_RUNNING, flush=True)
                if select.select([sys.stdin], [], [], 0)[0]:
                    return


@contextmanager
def busy_gpu() -> Iterator[None]:
    """While this lasts, another process launches kernels. Raises GraderFault if it cannot."""
    with tempfile.TemporaryDirectory(prefix="matmul-proof-lock-") as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "grader.proof.speed.load", folder],
            cwd=PROJECT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            ready = select.select([process.stdout], [], [], _START_LIMIT_S)[0]
            if not ready or process.stdout.readline().strip() != _RUNNING:
                raise GraderFault("The second process did not start to use the GPU.")
            yield
        finally:
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10.0)
            process.kill()
            process.wait()
            process.stdout.close()


if __name__ == "__main__":
    main()
