"""A class on SLURM and on this machine alone: `python -m grader.proof.slurm DIR`.

Starts SLURM's daemons for this one run (`cluster`), grades a small synthetic class with the profile
that ships with the project, grades it again without SLURM, and compares the grade books. Needs the
packages slurm-wlm and munge, and those of `make class`. Exit status: 0 same, 1 not, 2 it failed.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.classroom import folder as folders
from grader.driver import find_driver
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.proof import synthetic_class
from grader.proof.slurm import cluster

_PROFILE = PROJECT / "grader" / "classroom" / "profiles" / "slurm"
_SEED = 7  # any, but the same on both sides
# SLURM takes every device file for a GPU: these are everywhere. What they are is of no concern to
# the simulator; that each job is given one of its own is what they show.
_MADE_UP_GPUS = (Path("/dev/null"), Path("/dev/zero"))
_REAL_GPU = "This machine has a GPU, and its timings would stand in one of the grade books"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader.proof.slurm")
    parser.add_argument("folder", type=Path, metavar="DIR", help="a new folder; it is kept")
    parser.add_argument("--students", type=int, default=8, metavar="N")
    parser.add_argument("--exercise", default="tiled", metavar="EX", help="what all hand in")
    parser.add_argument(
        "--device", choices=("simulator", "auto"), default="auto",
        help="auto: the jobs ask for GPUs, which are made up here; simulator: they ask for none",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    # As Ctrl-C: the daemons end, too.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        return _prove(options)
    except GraderFault as fault:
        print(fault, file=sys.stderr)
        return 2


def _prove(options: argparse.Namespace) -> int:
    folder = options.folder.resolve()
    if folder.exists():
        raise GraderFault(f"{folder} is there already. Next: name a new folder")
    if options.device == "auto" and find_driver().gpus:
        raise GraderFault(f"{_REAL_GPU}. Next: add --device simulator")
    people = synthetic_class.people(options.students, [options.exercise])
    synthetic_class.write(folder / "class", people)
    with cluster.running(folder / "cluster", _MADE_UP_GPUS) as environment:
        _grade(folder, "slurm", options.device, environment, "--profile", str(_PROFILE))
    _grade(folder, "local", options.device, os.environ)
    return _compare(folder, options.device)


def _grade(
    folder: Path, name: str, device: str, environment: Mapping[str, str], *more: str
) -> None:
    """One run over the class, into `folder`/`name`."""
    roster, submissions = folder / "class" / "roster.csv", folder / "class" / "submissions"
    command = [sys.executable, "-m", "grader", "class", str(roster), str(submissions)]
    command += ["--output", str(folder / name), "--device", device, "--seed", str(_SEED), *more]
    print(f"{name}: grading ...", flush=True)
    begin_s = time.monotonic()
    process = subprocess.Popen(command, cwd=PROJECT, env=environment, start_new_session=True)
    try:
        status = process.wait()
    finally:
        cluster.end(process)
    print(f"{name}: exit status {status} after {time.monotonic() - begin_s:.0f} s")
    if status != 0:
        raise GraderFault(f"The class was not graded. Next: read {folder / name / 'snakemake.log'}")


def _compare(folder: Path, device: str) -> int:
    """Both grade books, and where SLURM ran what; the exit status."""
    places = sorted(path.parent for path in (folder / "slurm").glob("students/*/job.json"))
    ran = [(folders.read_json(place / "job.json") or {}).get("where", {}) for place in places]
    jobs = {where.get("slurm_job") for where in ran} - {""}
    gpus = sorted({where.get("gpus") for where in ran})
    print(f"{len(places)} students in {len(jobs)} SLURM jobs; CUDA_VISIBLE_DEVICES: {gpus}")
    wanted = [""] if device == "simulator" else [str(n) for n in range(len(_MADE_UP_GPUS))]
    same = _book(folder / "slurm") == _book(folder / "local")
    print(f"Grade books: {'the same' if same else 'different'}")
    return 0 if same and places and len(jobs) == len(places) and gpus == wanted else 1


def _book(output: Path) -> bytes:
    return (output / "gradebook.csv").read_bytes()


if __name__ == "__main__":
    sys.exit(main())
