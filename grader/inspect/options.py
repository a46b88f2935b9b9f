"""The options of the verb `inspect`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

EXAMPLE = 'for example --args "in=f32[n*n] out=f32[n*n] n=97"'

_DESCRIPTION = """\
Launches one kernel on the simulator and shows, for every source line that touches memory, what
hardware counters would show: requests, sectors, wavefronts, bank conflicts; and what is wrong:
races, accesses out of bounds, barriers that some threads miss. Needs no GPU.
"""
_EXAMPLES = """\
examples:
  a file of an exercise, of which everything is known:
    python -m grader inspect --exercise tiled --shape 97x97x97

  any kernel; sizes are expressions, arrays are filled with random numbers or with one (=0):
    python -m grader inspect sum.cu --kernel "block_sums<256>" --grid 8 --block 256 \\
        --args "in=f32[n] out=f32[8]=0 n=100000"

  the picture of one line: which lane wants which bank, or which sector
    python -m grader inspect --exercise padded --line 28 --svg line28.svg

kinds of arrays: f32 f64 i8 u8 i16 u16 i32 u32 i64 u64, one or two sizes: A=f32[97][97].
Exit status: 0 no fault found, 1 a fault found, 2 wrong usage.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    parser = add(
        "inspect",
        help="count and explain every memory access of any kernel, line by line",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", nargs="?", type=Path, metavar="FILE.cu",
        help="device code alone; with --exercise also a folder, default: starter",
    )  # fmt: skip
    exercise = parser.add_argument_group("a file of an exercise")
    exercise.add_argument("--exercise", metavar="EX", help="02_tiled, 02 or tiled")
    exercise.add_argument("--shape", metavar="MxNxK", help="default: whole tiles of the kernel")
    launch = parser.add_argument_group("any other kernel")
    launch.add_argument("--kernel", metavar="NAME", help="default: the only one of the file")
    launch.add_argument("--grid", metavar="X,Y,Z", help="blocks, for example 4,4")
    launch.add_argument("--block", metavar="X,Y,Z", help="threads, for example 16,16")
    launch.add_argument("--args", metavar="LIST", help=f"arrays and scalars in order, {EXAMPLE}")
    launch.add_argument("--shared", metavar="BYTES", help="dynamic shared memory, default 0")
    shown = parser.add_argument_group("what is shown")
    shown.add_argument("--line", type=_natural, metavar="N", help="only this source line")
    shown.add_argument("--svg", type=Path, metavar="OUT", help="draw the line's worst request")
    shown.add_argument("--array", metavar="NAME", help="draw this array's; default: the worst")
    shown.add_argument("--json", action="store_true", help="print everything as data")
    shown.add_argument("--plain", action="store_true", help="no colours")
    parser.add_argument("--seed", type=_natural, default=0, metavar="N", help="of the contents")
    parser.add_argument(
        "--timeout", type=_seconds, default=60.0, metavar="S", help="of the launch, default 60 s"
    )
    parser.add_argument("--compiler", choices=("g++", "clang++"), help="default: the first found")


def _natural(text: str) -> int:
    value = int(text)
    if not 0 <= value < 2**63:
        raise ValueError
    return value


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value <= 86400:
        raise ValueError
    return value


_seconds.__name__ = "time"
_natural.__name__ = "number"  # what argparse calls the type in its errors
