"""One student's grading: `python -m grader.classroom.job FOLDER KEY ATTEMPT`.

What Snakemake runs. Exit status 0 when it is done, whatever the score; 1 when the machine failed
and another attempt may help. After the last attempt it is done, too, with that in the grade book.
"""

from __future__ import annotations

import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from grader import interruption, record
from grader.classroom import folder as folders
from grader.classroom import gradebook, intake
from grader.classroom.folder import Class
from grader.classroom.roster import Student
from grader.classroom.snapshot import OK
from grader.cli import ERROR
from grader.driver import find_driver
from grader.exercise import PROJECT

ATTEMPTS = 3
# Four exercises take half a minute, and every check has a limit of its own; this is the last belt.
_LIMIT_S = 1800
_SHOWN = 500  # of a line: a sentence of ours has no more, a kernel's own output may


def main(arguments: list[str]) -> int:
    folder, key, attempt = Path(arguments[0]), arguments[1], int(arguments[2])
    one = folders.load(folder)
    student = one.find(key)
    place = one.of(student)
    # A run that was killed may have left this very job running: wait for it, then see what it did.
    with folders.locked(place / ".lock", wait=True) as lock:
        assert lock is not None
        if folders.read_json(place / "job.json") is not None:
            return 0
        return _grade(one, student, place, attempt, lock)


def _grade(one: Class, student: Student, place: Path, attempt: int, lock: int) -> int:
    # Everybody's was taken before the first job ran, but for who is graded again alone.
    snapshot = intake.status(place) or intake.take_once(one, student, datetime.now(UTC))
    begin_s, log = time.monotonic(), place / "grading.log"
    status, told_before = snapshot, _size(log)
    if snapshot == OK:
        status = _run(one, place, lock)
        if status == "grader_error" and attempt < ATTEMPTS:
            return 1
    told = {"status": status, "attempt": attempt, "seconds": round(time.monotonic() - begin_s, 1)}
    if status == "grader_error" and not (place / record.NAME).exists():
        told["why"] = _last_line(log, told_before)
    folders.write_json(place / "job.json", {**told, "where": _where()})
    return 0


def _size(log: Path) -> int:
    return log.stat().st_size if log.exists() else 0


def _last_line(log: Path, begin: int) -> str:
    """What was said last: a grading that never began leaves no record of why."""
    text = log.read_bytes()[begin:].decode(errors="replace") if log.exists() else ""
    last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
    return last.strip()[:_SHOWN]


def _where() -> dict[str, str]:
    """Which machine this is, and what SLURM gave: to be asked when one node grades badly."""
    job, gpus = (os.environ.get(name, "") for name in ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES"))
    return {"host": socket.gethostname(), "slurm_job": job, "gpus": gpus}


def reopen(one: Class) -> None:
    """Let the jobs run again of those who have no grading of what was taken."""
    for row in gradebook.rows(one, None):
        place = one.of(row.student)
        if row.status not in ("graded", "roster", intake.status(place)):
            (place / "job.json").unlink(missing_ok=True)


def _run(one: Class, place: Path, lock: int) -> str:
    command = [sys.executable, "-m", "grader", "grade", str(place / "submission"), "--plain"]
    command += ["--seed", str(one.seed), "--device", one.device, "--output", str(place)]
    with (place / "grading.log").open("ab") as log, pinned(one) as environment:
        process = subprocess.Popen(
            command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
            env=environment, start_new_session=True,
            pass_fds=(lock,),  # whoever kills us may leave it: then the next job waits for it
        )  # fmt: skip
        try:
            code = process.wait(_LIMIT_S)
        except subprocess.TimeoutExpired:
            code = ERROR
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return "graded" if code in (0, 1) else "grader_error"


@contextmanager
def pinned(one: Class) -> Iterator[dict[str, str]]:
    """The environment of a grading; of several GPUs it names the one with the fewest gradings.

    A scheduler that already chose (CUDA_VISIBLE_DEVICES) is obeyed. A SLURM job without that has
    no GPU, also where the machine would let it use one: that one belongs to another job.
    """
    environment = dict(os.environ)
    if "SLURM_JOB_ID" in environment:
        environment.setdefault("CUDA_VISIBLE_DEVICES", "")
    count = len(find_driver().gpus) if one.device != "simulator" else 0
    if count < 2 or "CUDA_VISIBLE_DEVICES" in environment:
        yield environment
        return
    # Nobody waits here: a grading compiles and simulates, and then queues on its GPU's own lock.
    for turn in itertools.count():
        for gpu in range(count):
            name = f"{socket.gethostname()}-{gpu}-{turn}"  # machines may share the folder
            with folders.locked(one.folder / "gpus" / name, wait=False) as mine:
                if mine is not None:
                    yield environment | {"CUDA_VISIBLE_DEVICES": str(gpu)}
                    return


if __name__ == "__main__":
    interruption.install()  # a job that is told to end takes its grading with it
    sys.exit(main(sys.argv[1:]))
