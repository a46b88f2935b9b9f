"""The verb `take`: one submission's files as data, for another machine that grades them.

OUTPUT/starter/*.cu   the files that are graded, and nothing else of the student's
OUTPUT/snapshot.json  what was found: status, files, and what the student is to be told
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from grader.classroom.snapshot import take
from grader.cli import OK
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.handout import protection
from grader.handout.contents import STARTER

NAME = "snapshot.json"


def main(options: argparse.Namespace) -> int:
    """Exit status 0 also where nothing was handed in: that is graded, with 0 points."""
    names = tuple(f"{exercise.name}.cu" for exercise in load_all(PROJECT) if exercise.graded)
    source = Path(os.path.abspath(options.source))
    try:
        taken = take(source.name, source.parent, names, options.output / STARTER)
    except OSError as fault:
        raise GraderFault(
            f"{options.output} cannot be written: {fault.strerror}. Next: name another folder"
        ) from None
    if taken.status not in ("ok", "missing"):
        raise GraderFault(f"{source}: {taken.status.replace('_', ' ')}: {taken.detail}.")
    note = protection.note(protection.changed_outside(source)) if source.is_dir() else ""
    told = {"status": taken.status, "files": list(taken.files), "note": note}
    (options.output / NAME).write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    print(f"Taken: {', '.join(taken.files)}" if taken.files else "Nothing was handed in.")
    return OK


def read_note(output: Path) -> str:
    """What the student is to be told, from a folder that `take` filled; "" where there is none."""
    try:
        told = json.loads((output / NAME).read_text(encoding="utf-8"))
        return str(told["note"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""
