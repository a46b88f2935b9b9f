"""The program that Oclgrind runs: launches tiled.cl once. `python opencl_launch.py SIZE`.

It runs in whatever Python has pyopencl, so it imports nothing of the project's. Exit status 1 when
the product is wrong.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyopencl as cl

TILE = 16


def main() -> int:
    size = int(sys.argv[1])
    source = Path(__file__).with_name("tiled.cl").read_text(encoding="utf-8")
    device = cl.get_platforms()[0].get_devices()[0]
    context = cl.Context([device])
    queue = cl.CommandQueue(context)
    program = cl.Program(context, source).build()
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-8, 9, (size, size)).astype(np.float32) for _ in range(2))
    c = np.full((size, size), np.nan, np.float32)
    flags = cl.mem_flags
    places = [
        cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a),
        cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b),
        cl.Buffer(context, flags.WRITE_ONLY, c.nbytes),
    ]
    sizes = [np.int32(size)] * 3
    program.matmul_tiled(queue, (size, size), (TILE, TILE), *places, *sizes)
    cl.enqueue_copy(queue, c, places[2])
    queue.finish()
    return 0 if np.array_equal(c, a @ b) else 1


if __name__ == "__main__":
    sys.exit(main())
