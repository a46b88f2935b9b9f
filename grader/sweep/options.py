"""The options of the verb `sweep`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from grader.bench.options import add_subject

_DESCRIPTION = """\
Tries other values for constants of a kernel, by default those that tile_m and tile_n are computed
from, and its loops unrolled or not: times and counters side by side, the best marked. Variants
that do not compile or are wrong are shown as such. Without a GPU: counters only. The file itself
is not changed.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    parser = add(
        "sweep", help="a kernel with other constants, side by side", description=_DESCRIPTION
    )
    add_subject(parser)
    parser.add_argument(
        "--values", metavar="LIST", default="", help="for example: TILE=8,16,32 PAD=0,1"
    )
    parser.add_argument(
        "--no-unrolling", action="store_true", help="leave the loops as they are written"
    )
