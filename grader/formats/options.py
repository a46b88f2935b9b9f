"""The options of the verb `export`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

FORMATS = (
    "gradescope",
    "classroom50",
    "classroom-reporter",
    "junit",
    "step-summary",
    "annotations",
    "csv",
)

_DESCRIPTION = """\
Writes a results.json in the format of another system. Every format has the same total: points
earned out of those that could be graded. `annotations` and `step-summary` are for GitHub Actions.
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    parser = add("export", help="results.json for another system", description=_DESCRIPTION)
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument(
        "record", nargs="?", type=Path, default=Path("results/results.json"), metavar="RECORD",
        help="default: results/results.json",
    )  # fmt: skip
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
