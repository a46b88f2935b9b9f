"""The options of the verb `bench`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from grader.seeds import seed

_DESCRIPTION = """\
With --exercise: how fast that kernel is on the GPU, from 512 to 8192 and for ragged shapes, beside
a naive kernel, NumPy and cuBLAS, and under the roofline; as a table and a picture. Without a GPU:
its counters and what the roofline allows. A kernel that is wrong is not measured.

Without --exercise, or with --simulator: how fast the simulator is, in processor time of one core,
beside Oclgrind where that is installed; on a GPU all four kernels first, in a line each.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    parser = add(
        "bench",
        help="how fast a kernel is, and how fast the simulator is",
        description=_DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_subject(parser)
    parser.add_argument(
        "--svg", type=Path, metavar="FILE", help="default: results/bench_NN_name.svg"
    )
    parser.add_argument("--simulator", action="store_true", help="measure the simulator itself")
    parser.add_argument("--compiler", choices=("g++", "clang++"), help="of the simulator")


def add_subject(parser: argparse.ArgumentParser) -> None:
    """Which kernel is measured, where, and how that is shown; `sweep` has these, too."""
    parser.add_argument("folder", nargs="?", type=Path, metavar="DIR", help="default: starter")
    parser.add_argument("--solutions", action="store_true", help="the reference solutions")
    parser.add_argument("--exercise", metavar="EX", help="this one: 02_tiled, 02 or tiled")
    parser.add_argument("--shape", metavar="MxNxK", help="time only this shape")
    parser.add_argument(
        "--device", choices=("auto", "simulator", "gpu"), default="auto", help="default: auto"
    )
    parser.add_argument("--seed", type=seed, metavar="N", help="of the matrices")
    parser.add_argument("--json", action="store_true", help="print everything as data")
    parser.add_argument("--plain", action="store_true", help="no colours, no table")
