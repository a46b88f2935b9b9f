"""The verb `take`: one submission's files as data, for another machine that grades them.

OUTPUT/starter/*.cu   the files that are graded, and nothing else of the student's
OUTPUT/snapshot.json  what was found: status, files, and what the student is to be told
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from grader.classroom.gradebook import STATUS
from grader.classroom.snapshot import MISNAMED, MISSING, take, wanted
from grader.classroom.snapshot import OK as TAKEN
from grader.cli import OK
from grader.finding import GraderFault
from grader.handout.contents import STARTER

NAME = "snapshot.json"


def main(options: argparse.Namespace) -> int:
    """Exit status 0 also where nothing was handed in: that is graded, with 0 points."""
    source = Path(options.source).resolve()  # whoever types a link means what it leads to
    if not source.exists() and not source.with_name(f"{source.name}.zip").exists():
        raise GraderFault(f"{source} is not there. Next: name a folder or a zip")
    if (options.output / STARTER).exists():  # what lies there would be graded, too
        raise GraderFault(f"{options.output} was filled before. Next: name a new folder")
    try:
        taken = take(source.name, source.parent, wanted(), options.output / STARTER)
    except OSError as fault:
        raise GraderFault(
            f"{options.output} cannot be written: {fault.strerror}. Next: name another folder"
        ) from None
    if taken.status not in (TAKEN, MISSING, MISNAMED):
        fact = f"{source}: {STATUS[taken.status]} ({taken.detail})"
        raise GraderFault(f"{fact}. Next: get it anew from whoever handed it in")
    told = {"status": taken.status, "files": list(taken.files), "note": taken.detail}
    (options.output / NAME).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(f"Taken: {', '.join(taken.files) or 'nothing'}")
    if taken.detail:
        print(taken.detail)
    return OK


def read_note(output: Path) -> str:
    """What the student is to be told, from a folder that `take` filled; "" where there is none."""
    try:
        told = json.loads((output / NAME).read_text(encoding="utf-8"))
        return str(told["note"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
