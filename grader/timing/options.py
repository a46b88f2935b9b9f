"""The options of the verb `calibrate`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

# Fewer say nothing about how far two rounds lie apart.
LEAST_ROUNDS = 5
# Of a round; together with the rounds twenty, twice what a grading takes at least.
PAIRS = 4

_DESCRIPTION = """\
Measures the solutions and known slower kernels on the GPU of this machine, several rounds at
several sizes, and writes exercises/calibration/<gpu>.toml: which speed-up over the grader's own
naive kernel earns points on this GPU model. Speed is graded only where there is such a file. The
GPU must have nothing else to do; a large one takes three minutes.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    parser = add(
        "calibrate", help="measure which speed earns points on this GPU", description=_DESCRIPTION
    )
    parser.add_argument(
        "--sizes", type=_sizes, metavar="N,N", help="M = N = K; default: those of exercise.toml"
    )
    parser.add_argument(
        "--rounds", type=_rounds, default=LEAST_ROUNDS, help=f"default: {LEAST_ROUNDS}"
    )
    parser.add_argument(
        "--output", type=Path, metavar="FILE", help="default: exercises/calibration/<gpu>.toml"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="measure and print, but write nothing"
    )


def _sizes(text: str) -> tuple[int, ...]:
    sizes = tuple(sorted({int(word) for word in text.split(",")}))
    if sizes[0] < 64:
        raise argparse.ArgumentTypeError("a size is at least 64")
    return sizes


def _rounds(text: str) -> int:
    rounds = int(text)
    if rounds < LEAST_ROUNDS:
        raise argparse.ArgumentTypeError(f"at least {LEAST_ROUNDS} rounds are needed")
    return rounds


_sizes.__name__, _rounds.__name__ = "sizes", "number"  # what argparse calls them in its errors
