"""The verbs `class`, `regrade` and `forget`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import secrets
import shutil
import subprocess
import sys
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

from grader.classroom import folder as folders
from grader.classroom import gradebook, job, policy, roster, similarity
from grader.classroom.folder import Class
from grader.cli import ERROR, OK
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.report.words import visible

_SNAKEFILE = Path(__file__).with_name("Snakefile")
_SLURM = "grader/classroom/profiles/slurm"
_SEED_BITS = 53  # as commands.py draws them: JSON readers keep larger ones only roughly
_NO_SNAKEMAKE = (
    f"Snakemake is not installed for {sys.executable}. Next: make class installs it; "
    "or: .venv/bin/python -m pip install --require-hashes -r requirements/class.txt"
)


def main(options: argparse.Namespace) -> int:
    if options.verb == "class":
        return _class(options)
    return _regrade(options) if options.verb == "regrade" else _forget(options)


def _class(options: argparse.Namespace) -> int:
    if options.profile and not any(options.profile.glob("config*.yaml")):
        raise GraderFault(f"{options.profile} holds no config.yaml. Next: PROFILE={_SLURM}")
    if options.check:
        compose(options)
        return OK
    if importlib.util.find_spec("snakemake") is None:
        raise GraderFault(_NO_SNAKEMAKE)
    output = options.output
    with folders.locked(output / ".lock", wait=False) as mine:
        if not mine:
            raise GraderFault(f"{output} is being graded by another process. Next: wait for it")
        one = compose(options)
        folders.save(one)
        job.reopen(one)
        ended = _snakemake(one, options.jobs, options.profile)
        return _gather(one, options.names, ended)


def compose(options: argparse.Namespace) -> Class:
    """The class that was named; raises GraderFault for a roster or a folder that is none."""
    if not options.submissions.is_dir():
        raise GraderFault(f"{options.submissions} is no folder. Next: SUBMISSIONS=dir")
    return Class(
        options.output.resolve(),
        options.submissions.resolve(),
        _seed(options),
        options.device,
        roster.read(options.roster, policy.load(PROJECT)),
    )


def _seed(options: argparse.Namespace) -> int:
    """The same for all students, and for every run over this folder."""
    if options.seed is not None:
        return int(options.seed)
    try:
        return folders.load(options.output).seed
    except GraderFault:
        return secrets.randbits(_SEED_BITS)


def _snakemake(one: Class, jobs: int | None, profile: Path | None) -> int:
    """Run the jobs that are not done; the exit status of Snakemake."""
    keys = one.folder / "keys.txt"
    keys.write_text("".join(f"{student.key}\n" for student in one.graded), encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(_SNAKEFILE)]
    command += ["--directory", str(one.folder), "--nolock", "--keep-going", "--rerun-incomplete"]
    command += ["--rerun-triggers", "mtime"]
    command += _where(jobs, profile)
    command += ["--config", f"folder={one.folder}", f"python={sys.executable}", f"keys={keys}"]
    command += [f"device={one.device}"]
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(PROJECT), environment.get("PYTHONPATH")))
    )
    with (one.folder / "snakemake.log").open("ab") as log:
        done = subprocess.run(
            command, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    return done.returncode


def _where(jobs: int | None, profile: Path | None) -> list[str]:
    """Snakemake's options for this machine, or for the cluster of a profile."""
    if profile is None:
        # A grading uses two processes at a time, each bound to a core.
        count = jobs or max(1, (os.cpu_count() or 2) // 2)
        return ["--cores", str(count), "--latency-wait", "5", "--quiet", "all"]
    return ["--profile", str(profile.resolve()), *(["--jobs", str(jobs)] if jobs else [])]


def _gather(one: Class, names: bool, ended: int = 0) -> int:
    """Write the grade book and the page from what is there; say what is open."""
    from grader.classroom import page  # needs jinja2, which only classes have

    rows = gradebook.rows(one, policy.load(PROJECT))
    gradebook.write(one.folder / "gradebook.csv", rows)
    page.write(one.folder / "summary.html", rows, f"Class of {len(rows)}", names)
    leads = tuple(similarity.pairs(one))
    similarity.write(one.folder / "similarity.csv", leads)
    counts = Counter(row.status for row in rows)
    print(f"{len(rows)} students. {gradebook.totals(rows)}.")
    for row in rows:
        if row.record is None:
            print(f"  {visible(row.student.name)}: {gradebook.outcome(row)}")
    print(f"Grade book: {one.folder / 'gradebook.csv'}")
    print(f"Summary: {one.folder / 'summary.html'}")
    print(f"Alike: {len(leads)} pairs in {one.folder / 'similarity.csv'}; what more than "
          f"{similarity.most_often(len(rows))} students wrote counts as textbook code")  # fmt: skip
    if ended or counts["not_run"] or counts["grader_error"]:
        log = one.folder / "snakemake.log"
        told = f"Not everybody could be graded; see {log} and each student's grading.log."
        print(f"{told} Next: run the same command again", file=sys.stderr)
        return ERROR
    return OK


def _regrade(options: argparse.Namespace) -> int:
    """Move the present grading to history/, with the reason, and grade again."""
    one = folders.load(options.output)
    student = one.find(options.student)
    place = one.of(student)
    with folders.locked(place / ".lock", wait=True):
        before = _archive(place, options.reason, options.fetch)
    for attempt in range(1, job.ATTEMPTS + 1):
        if job.main([str(one.folder), student.key, str(attempt)]) == 0:
            break
    _gather(one, names=False)
    row = next(r for r in gradebook.rows(one, policy.load(PROJECT)) if r.student == student)
    earned = "no score" if row.earned is None else f"{row.earned} points"
    print(f"{student.name}: {earned} ({row.status}); this one counts.")
    print(f"The earlier one is kept: {before}")
    return OK if row.status == "graded" else ERROR


def _archive(place: Path, reason: str, fetch: bool) -> Path:
    history = place / "history"
    history.mkdir(parents=True, exist_ok=True)
    target = history / str(len(list(history.iterdir())) + 1)
    partial = history / ".partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    for name in ("results.json", "grading.log", "snapshot.json", "submission"):
        if (place / name).exists():
            (shutil.copytree if name == "submission" else shutil.copy)(place / name, partial / name)
    when = datetime.now(UTC).isoformat(timespec="seconds")
    folders.write_json(partial / "replaced.json", {"when": when, "reason": reason, "counts": False})
    partial.rename(target)
    (place / "job.json").unlink(missing_ok=True)  # from here on the job has to run again
    (place / "results.json").unlink(missing_ok=True)
    (place / "grading.log").unlink(missing_ok=True)
    if fetch:
        (place / "snapshot.json").unlink(missing_ok=True)
    return target


def _forget(options: argparse.Namespace) -> int:
    one = folders.load(options.output)
    student = one.find(options.student)
    shutil.rmtree(one.of(student), ignore_errors=True)
    rest = tuple(other for other in one.students if other.name != student.name)
    smaller = Class(one.folder, one.submissions, one.seed, one.device, rest)
    folders.save(smaller)
    for name in ("keys.txt", "snakemake.log"):
        (one.folder / name).unlink(missing_ok=True)
    shutil.rmtree(one.folder / ".snakemake", ignore_errors=True)
    _gather(smaller, names=False)
    print(f"Nothing about {student.name} is left in {one.folder}. "
          "Next: remove the line from the roster, and what was handed in")  # fmt: skip
    return OK
