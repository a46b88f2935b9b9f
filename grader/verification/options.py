"""The options of the verb `verify`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

_DESCRIPTION = """\
Grades a submission again as a record says: the same seed, exercises and kinds of devices. Exit
status: 0 it comes out the same, 1 it does not, 2 it cannot be compared (another grader, other
files, other devices, or an error of the grader).
"""


def add_parser(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verb; `add` is add_parser of the command line's verbs."""
    told = "repeat a grading from its results.json: is it the same?"
    parser = add("verify", help=told, description=_DESCRIPTION)
    parser.add_argument("record", type=Path, metavar="RECORD", help="the results.json")
    parser.add_argument("folder", type=Path, metavar="DIR", help="the files that were graded")
    parser.add_argument("--plain", action="store_true", help="no colours, no moving lines")
