"""The verb `collect`: takes what a whole class handed in, and grades nothing.

For a machine that may read the students' repositories but must not run their code; `make class`
over the same folder grades on another machine, which then needs no access to the repositories.
"""

from __future__ import annotations

import argparse

from grader.classroom import command, intake
from grader.classroom import folder as folders
from grader.classroom.gradebook import STATUS
from grader.cli import OK


def main(options: argparse.Namespace) -> int:
    """Exit status 0 whatever came of each: the grade book says it."""
    one = command.compose(options)
    with folders.locked(one.folder / ".lock", wait=True):
        folders.save(one)
        counts = intake.take_all(one)
    for status, count in sorted(counts.items()):
        print(f"{count} {'taken' if status == 'ok' else STATUS.get(status, status)}")
    return OK
