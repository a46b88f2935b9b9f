"""Grades one submission on Gradescope: `python -m grader.gradescope.autograder /autograder`.

Writes results/results.json on every ending: graded, graded in part when the time was over, and
not graded at all, which costs nobody a point by a word that says so.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from grader.atomic import write_text
from grader.classroom.taking import read_note
from grader.exercise import PROJECT
from grader.finding import NOT_YOURS
from grader.formats import gradescope, reading
from grader.handout.contents import STARTER
from grader.record import ERROR_NAME, NAME

# Gradescope ends a grading after 10 minutes unless the assignment says otherwise, and keeps
# nothing of it then. A grading that is told to end writes what it knows within seconds.
LIMIT_S = 540
_LAST_WORDS_S = 30


def main(arguments: list[str]) -> int:
    root = Path(arguments[0])
    target = root / "results" / NAME
    try:
        result = grade(root, float(os.environ.get("AUTOGRADER_LIMIT_S", LIMIT_S)))
    except Exception as fault:  # whatever it was, the student is to see a sentence
        print(f"{type(fault).__name__}: {fault}", file=sys.stderr)
        result = failure(f"The grader failed ({type(fault).__name__}).")
    write_text(target, json.dumps(result, indent=1) + "\n")
    return 0


def grade(root: Path, limit_s: float) -> dict[str, Any]:
    """What Gradescope's results.json says of the folder `root`/submission."""
    with tempfile.TemporaryDirectory(prefix="grading-") as temporary:
        taken, output = Path(temporary, "taken"), Path(temporary, "record")
        told = _run(["take", str(root / "submission"), str(taken)], limit_s)
        if told != 0:
            return failure("The submission cannot be read.")
        (taken / STARTER).mkdir(parents=True, exist_ok=True)
        words = ["grade", str(taken / STARTER), "--device", "simulator", "--plain"]
        _run([*words, "--output", str(output)], limit_s)
        record = next(
            (path for name in (NAME, ERROR_NAME) if (path := output / name).exists()), None
        )
        if record is None:
            return failure("The grading left no record.")
        result = gradescope.compose(reading.read(record))
        note = read_note(taken)
        return {**result, "output": f"{result['output']}\n{note}"} if note else result


def failure(what: str) -> dict[str, Any]:
    """A result for a fault of ours. Gradescope takes none without a score."""
    told = f"{what} {NOT_YOURS} Next: tell your teacher, who can run it again."
    test = {"name": "grading", "score": 0, "max_score": 0, "output": told}
    return {"score": 0, "output": told, "stdout_visibility": "hidden", "tests": [test]}


def _run(words: list[str], limit_s: float) -> int:
    """Run a verb; when the time is over it is told to end, and then ended with all it started."""
    process = subprocess.Popen(
        [sys.executable, "-m", "grader", *words], cwd=PROJECT, stdin=subprocess.DEVNULL,
        start_new_session=True,
    )  # fmt: skip
    try:
        return process.wait(limit_s)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(_LAST_WORDS_S)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
