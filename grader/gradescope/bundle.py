"""The zip for Gradescope: the hand-out, so nothing of a solution, with Gradescope's two scripts."""

from __future__ import annotations

import argparse
import zipfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from grader.cli import OK
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.handout import making, manifest
from grader.handout.contents import STARTER
from grader.machine_fault import unwritable

# Gradescope looks for these two at the top of the zip.
SCRIPTS = ("setup.sh", "run_autograder")
_SOURCE = "grader/gradescope/"
# Of the hand-out, what no grading reads.
_LEFT_OUT = (STARTER, ".github/", manifest.NAME)
# The same zip for the same commit: the earliest time that a zip can hold.
_TIME = (1980, 1, 1, 0, 0, 0)


def main(options: argparse.Namespace) -> int:
    count = make(PROJECT, options.output)
    print(f"{options.output}: {count} files, no solution among them.")
    print("Next: upload it on Gradescope: Configure Autograder, Zip file upload. "
          "Under Settings: 2 CPU, 3 GB of memory, a time-out of 10 minutes.")  # fmt: skip
    return OK


def make(root: Path, output: Path) -> int:
    """Write the zip for the repository at `root`; returns the number of files.

    Raises GraderFault for changes that are not committed, for a leak, and for an `output` that
    exists or cannot be written.
    """
    files = compose(root)
    try:
        with zipfile.ZipFile(output, "x", zipfile.ZIP_DEFLATED) as archive:
            for name, content in sorted(files.items()):
                entry = zipfile.ZipInfo(name, _TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if _is_program(content) else 0o100644) << 16
                archive.writestr(entry, content)
    except FileExistsError:
        raise GraderFault(f"{output} exists. Next: name another file: OUT=file.zip") from None
    except OSError as fault:
        with suppress(OSError):  # half a zip; none where its folder is missing
            output.unlink()
        raise unwritable(output, fault, "OUT=file.zip") from None
    return len(files)


def compose(root: Path) -> Mapping[str, bytes]:
    """Name -> content of every file of the zip."""
    handed_out = making.compose(root)
    kept = {name: one for name, one in handed_out.items() if not name.startswith(_LEFT_OUT)}
    return kept | {name: handed_out[f"{_SOURCE}{name}"] for name in SCRIPTS}


def _is_program(content: bytes) -> bool:
    return content.startswith(b"#!")
