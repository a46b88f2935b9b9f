"""The options of the verb `export`. Imports nothing heavy: every `--help` reads this."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

VERBS = ("export", "check-run")
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


_CHECK_RUN = """\
Writes the body of GitHub's "create a check run". The record counts as untrusted: it must be about
these files, made by this very grader, and its points must follow from its checks.
"""


def add_parsers(add: Callable[..., argparse.ArgumentParser]) -> None:
    """The options of the verbs; `add` is add_parser of the command line's verbs."""
    _add_export(add)
    _add_check_run(add)


def _add_export(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("export", help="results.json for another system", description=_DESCRIPTION)
    parser.add_argument("format", choices=FORMATS, metavar="FORMAT", help=", ".join(FORMATS))
    parser.add_argument(
        "record", nargs="?", type=Path, default=Path("results/results.json"), metavar="RECORD",
        help="default: results/results.json",
    )  # fmt: skip
    parser.add_argument(
        "--exit-status", action="store_true", help="1 unless every exercise passes, for CI"
    )
    _add_output(parser)


def _add_check_run(add: Callable[..., argparse.ArgumentParser]) -> None:
    parser = add("check-run", help="results.json as a GitHub check run", description=_CHECK_RUN)
    parser.add_argument("record", type=Path, metavar="RECORD")
    parser.add_argument(
        "--submission", type=Path, required=True, metavar="DIR", help="what `take` wrote"
    )
    parser.add_argument("--commit", required=True, metavar="SHA", help="that was handed in")
    _add_output(parser)


def _add_output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")
