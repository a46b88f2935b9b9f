"""The options of the verb `bench`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable

_DESCRIPTION = """\
Measures the simulator, in processor time of one core, so that other work on the machine changes
little: multiply-adds a second with all observers off and on, and the time to compile and link.
Where Oclgrind is installed, it runs the same kernel in OpenCL for comparison.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    parser = add(
        "bench", help="how fast the simulator is on this machine", description=_DESCRIPTION
    )
    parser.add_argument("--exercise", metavar="EX", help="only this one: 02_tiled, 02 or tiled")
    parser.add_argument("--json", action="store_true", help="print everything as data")
    parser.add_argument("--plain", action="store_true", help="no colours, no table")
    parser.add_argument("--compiler", choices=("g++", "clang++"), help="default: the first found")
