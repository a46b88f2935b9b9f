"""The options of the verbs about a class. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

VERBS = ("class", "regrade", "forget")
_OUTPUT = Path("class")
_ROSTER = "one line a student; the columns: grader/classroom/README.md"


def _jobs(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError("how many gradings at once is a number from 1 on")
    return int(text)


def add_parsers(add: Callable[..., argparse.ArgumentParser], seed: Callable[[str], int]) -> None:
    """The options of the verbs; `add` is add_parser of the command line's verbs."""
    one = add("class", help="grade a whole class; run it again to go on where it stopped")
    one.add_argument("roster", type=Path, metavar="ROSTER.csv", help=_ROSTER)
    one.add_argument("submissions", type=Path, metavar="DIR", help="where folders and zips lie")
    one.add_argument(
        "--device", choices=("auto", "simulator", "gpu"), help="default: auto, then kept"
    )
    one.add_argument("--seed", type=seed, metavar="N", help="default: drawn once, then kept")
    one.add_argument(
        "--jobs",
        type=_jobs,
        metavar="N",
        help="gradings at once; default: cores / 2, or the profile's",
    )
    one.add_argument("--profile", type=Path, metavar="DIR", help="Snakemake's, for a cluster")
    one.add_argument(
        "--check", action="store_true", help="look at roster and folders, and grade nothing"
    )
    again = add("regrade", help="grade one student again; both results are kept")
    again.add_argument("student", metavar="STUDENT", help="as in the roster")
    again.add_argument("--reason", required=True, metavar="TEXT", help="why, for the record")
    again.add_argument("--fetch", action="store_true", help="take what was handed in anew, too")
    gone = add("forget", help="remove everything about one student")
    gone.add_argument("student", metavar="STUDENT", help="as in the roster, or a folder's name")
    collect = add("collect", help="take what a class handed in; `class` grades it elsewhere")
    collect.add_argument("roster", type=Path, metavar="ROSTER.csv", help=_ROSTER)
    collect.add_argument("submissions", type=Path, metavar="DIR", help="where folders and zips lie")
    collect.set_defaults(seed=None, device=None)  # `class` says which
    take = add("take", help="the graded files of one submission, for another machine to grade")
    take.add_argument("source", metavar="SOURCE", help="a folder or a zip")
    take.add_argument("output", type=Path, metavar="DIR", help="a new folder")
    for parser in (one, again, gone, collect):
        parser.add_argument(
            "--output",
            type=Path,
            default=_OUTPUT,
            metavar="DIR",
            help="the folder of the class; default: class",
        )
