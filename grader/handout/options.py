"""The options of the verbs about the hand-out. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

VERBS = ("handout", "release-solutions", "gradescope", "update", "restore")


def add_parsers(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verbs; `add` is add_parser of the command line's verbs."""
    handout = add("handout", help="make the students' repository, without solutions")
    release = add("release-solutions", help="write the solutions to read after the deadline")
    for parser in (handout, release):
        parser.add_argument("output", type=Path, metavar="DIR", help="a new folder")
    gradescope = add("gradescope", help="make the zip to upload as Gradescope's autograder")
    gradescope.add_argument("output", type=Path, metavar="FILE.zip", help="a new file")
    update = add("update", help="take a newer hand-out; your files in starter/ stay as they are")
    update.add_argument("source", metavar="FROM", help="a folder or a git address")
    add("restore", help="undo changes to what was handed out; starter/ stays as it is")
