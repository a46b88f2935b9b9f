"""The verb `collect`: takes what a whole class handed in, and grades nothing.

For a machine that may read the students' repositories but must not run their code; `make class`
over the same folder grades on another machine, which then needs no access to the repositories.
"""

from __future__ import annotations

import argparse

from grader.classroom import command, gradebook, intake
from grader.classroom import folder as folders
from grader.cli import OK
from grader.messages.wording import counted
from grader.report.words import visible


def main(options: argparse.Namespace) -> int:
    """Exit status 0 whatever came of each: the grade book says it."""
    one = command.compose(options)
    with command.alone(one.folder):
        folders.save(one)
        counts = intake.take_all(one)
    words = gradebook.STATUS | {"ok": "taken"}
    told = (f"{words.get(status, status)}: {count}" for status, count in sorted(counts.items()))
    print(f"{counted(len(one.students), 'student')}. {', '.join(told)}.")
    for row in gradebook.rows(one, None):
        if row.student.problem:
            print(f"  {visible(row.student.name)}: {gradebook.outcome(row)}")
    return OK
