"""The verbs `class`, `regrade` and `forget`."""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from grader import cores, record, seeds
from grader.classroom import folder as folders
from grader.classroom import (
    gradebook,
    history,
    intake,
    job,
    policy,
    progress,
    roster,
    similarity,
    snapshot,
)
from grader.classroom.folder import Class
from grader.classroom.roster import Student, as_written, key_of
from grader.cli import ERROR, OK
from grader.driver import find_driver
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.messages.wording import counted
from grader.report.words import a_few, visible
from grader.tree import SHORT

_SNAKEFILE = Path(__file__).with_name("Snakefile")
_SLURM = "grader/classroom/profiles/slurm"
# While one uses the GPU, three others compile and simulate; more only slow down the first.
_FOR_EACH_GPU = 4
_NO_SNAKEMAKE = (
    f"Snakemake is not installed for {sys.executable}. Next: make class installs it; "
    "or: .venv/bin/python -m pip install --require-hashes -r requirements/class.txt"
)


def main(options: argparse.Namespace) -> int:
    if options.verb == "class":
        return _class(options)
    folders.load(options.output)  # where there is no class, a lock would make the folder
    with alone(options.output):
        return _regrade(options) if options.verb == "regrade" else _forget(options)


def _class(options: argparse.Namespace) -> int:
    if options.profile and not any(options.profile.glob("config*.yaml")):
        raise GraderFault(f"{options.profile} holds no config.yaml. Next: PROFILE={_SLURM}")
    one = compose(options)
    if one.device == "gpu" and not options.profile and (problem := find_driver().problem):
        next_step = "call it where a GPU is; or, for a class that is not begun, DEVICE=simulator"
        raise GraderFault(f"The GPU cannot be used: {problem}. Next: {next_step}")
    if options.check:
        folders.check_writable(options.output)
        return OK
    if importlib.util.find_spec("snakemake") is None:
        raise GraderFault(_NO_SNAKEMAKE)
    with alone(options.output):
        one = compose(options)
        begun = (one.folder / folders.CLASS).exists()
        folders.save(one)
        intake.take_all(one)
        job.reopen(one)
        ended = _snakemake(one, options.jobs, options.profile)
        done = _gather(one, ended)
        if begun:
            _tell_changed(one)
        return done


@contextmanager
def alone(output: Path) -> Iterator[None]:
    """Nobody else works in the folder of the class meanwhile; raises GraderFault where one does."""
    folders.make(output)
    with folders.locked(output / ".lock", wait=False) as mine:
        if mine is None:
            raise GraderFault(f"{output} is being graded by another process. Next: wait for it")
        yield


def compose(options: argparse.Namespace) -> Class:
    """The class that was named; raises GraderFault for a roster or a folder that is none."""
    policy.load(PROJECT)  # what is wrong in course.toml is told before anybody is graded
    if not options.submissions.is_dir():
        raise GraderFault(f"{options.submissions} is no folder. Next: SUBMISSIONS=dir")
    if options.submissions.resolve() == options.output.resolve():
        told = f"{options.output} is SUBMISSIONS: the class would lie between what was handed in"
        raise GraderFault(f"{told}. Next: OUTPUT=new folder")
    begun = (options.output / folders.CLASS).exists()
    known = folders.load(options.output) if begun else None
    if known:
        _refuse_another(known, options.submissions.resolve())
    seed, device = _seed_and_device(options, known)
    return Class(
        options.output.resolve(),
        options.submissions.resolve(),
        seed,
        device,
        roster.read(options.roster),
    )


def _refuse_another(known: Class, submissions: Path) -> None:
    """A namesake would be graded for what was taken for the class that `known` is.

    An empty folder is no class's: what was taken on one machine may be graded on another.
    """
    if submissions == known.submissions or not intake.entries(submissions, known.folder):
        return
    found = intake.compared(known.folder, submissions)
    others = [key for key, now in found.items() if now != intake.SAME]
    if 2 * len(others) > len(found):
        places = (known.folder / "students" / key for key in others)
        raise GraderFault(
            f"{known.folder} holds the class of {known.submissions}: what was taken there for "
            f"{a_few(sorted(map(intake.source_of, places)))} is not the same in {submissions}. "
            f"Next: for another class OUTPUT=new folder; for this one SUBMISSIONS="
            f"{known.submissions}, or a copy of it"
        )


def _tell_changed(one: Class) -> None:
    """Students hand in again, and teachers unpack another sheet over the last one."""
    found = intake.compared(one.folder, one.submissions)
    names = [each.name for each in one.graded if found.get(each.key) == intake.OTHER]
    if names:
        told = f"In {one.submissions} there are other files now than were graded of {a_few(names)}"
        print(f"{told}. Next: make regrade STUDENT=name REASON=why FETCH=1; for another class or "
              "sheet OUTPUT=new folder", file=sys.stderr)  # fmt: skip


def _seed_and_device(options: argparse.Namespace, known: Class | None) -> tuple[int, str]:
    """The same for all students, and for every run over this folder."""
    if known is None:
        drawn = seeds.draw() if options.seed is None else int(options.seed)
        return drawn, options.device or "auto"
    seed = known.seed if options.seed is None else int(options.seed)
    device = options.device or known.device
    if known.begun and (seed, device) != (known.seed, known.device):
        raise GraderFault(
            f"{options.output} was begun with seed {known.seed} and device {known.device}, "
            "which hold for everybody in it. Next: leave both out, or OUTPUT=new folder"
        )
    return seed, device


def _snakemake(one: Class, jobs: int | None, profile: Path | None) -> int:
    """Run the jobs that are not done; the exit status of Snakemake."""
    keys = "".join(f"{student.key}\n" for student in one.graded)
    (one.folder / "keys.txt").write_text(keys, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--snakefile", str(_SNAKEFILE)]
    command += ["--directory", str(one.folder), "--nolock", "--keep-going", "--rerun-incomplete"]
    command += ["--rerun-triggers", "mtime"]
    command += _where(jobs, profile, one.device)
    # job.json is written last and whole: a job that ended after its Snakemake did is done.
    shutil.rmtree(one.folder / ".snakemake" / "incomplete", ignore_errors=True)
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(
        filter(None, (str(PROJECT), environment.get("PYTHONPATH")))
    )
    with (one.folder / "snakemake.log").open("ab") as log, progress.told(one):
        done = subprocess.run(
            command, cwd=PROJECT, env=environment, stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
    return done.returncode


def at_once(device: str) -> int:
    """How many gradings this machine runs at the same time, where nobody says."""
    # A grading uses two processes at a time, each bound to a core.
    most = max(1, cores.usable() // 2)
    gpus = 0 if device == "simulator" else len(find_driver().gpus)
    return min(most, gpus * _FOR_EACH_GPU) if gpus else most


def _where(jobs: int | None, profile: Path | None, device: str) -> list[str]:
    """Snakemake's options for this machine, or for the cluster of a profile."""
    if profile is None:
        return ["--cores", str(jobs or at_once(device)), "--latency-wait", "5", "--quiet"]
    return ["--profile", str(profile.resolve()), *(["--jobs", str(jobs)] if jobs else [])]


def _gather(one: Class, ended: int = 0) -> int:
    """Write the grade book and the page from what is there; say what is open."""
    from grader.classroom import page  # needs jinja2, which only classes have

    rows = gradebook.rows(one, policy.load(PROJECT))
    gradebook.write(one.folder / "gradebook.csv", rows)
    page.write(one.folder / "summary.html", rows, f"Class of {len(rows)}")
    leads = similarity.pairs(one)
    similarity.write(one.folder / "similarity.csv", leads)
    _tell(one, rows, len(leads))
    if ended or any(row.status in ("not_run", "grader_error") for row in rows):
        print(f"Not everybody could be graded; {_what_to_do(one, ended)}", file=sys.stderr)
        return ERROR
    return OK


def _what_to_do(one: Class, ended: int) -> str:
    """Where Snakemake began nobody's grading, what it said last is the cause."""
    log = one.folder / "snakemake.log"
    begun = any((one.of(student) / "grading.log").exists() for student in one.graded)
    if begun or not ended or not log.exists():
        return f"see {log} and each student's grading.log. Next: run the same command again"
    *_, last = ("nothing", *filter(str.strip, log.read_text("utf-8", "replace").splitlines()))
    told = f"Snakemake began nobody's grading, it said last: {visible(last.strip())}"
    return f"{told}. Next: mend that (all it said is in {log}), then run the same command again"


def _tell(one: Class, rows: Sequence[gradebook.Row], leads: int) -> None:
    """What a teacher is to know before the files are opened."""
    print(f"{counted(len(rows), 'student')}. {gradebook.totals(rows)}.")
    for row in rows:
        if row.record is None:
            print(f"  {visible(row.student.name)}: {gradebook.outcome(row)}")
    if late := sum(row.fetched_late for row in rows):
        told = f"Fetched after the deadline, and nobody knows when they were pushed: {late}"
        print(f"{told}. Next: give the roster's column received", file=sys.stderr)
    if any(row.status == snapshot.MISSING for row in rows) and (left := intake.unclaimed(one)):
        print(f"In {one.submissions} and named by no line of the roster: {a_few(left)}")
    if len(one.strangers) > len(rows):
        told = f"{one.folder} holds gradings of {len(one.strangers)} who are not in the roster"
        print(f"{told}. Next: if it is another class's, OUTPUT=new folder", file=sys.stderr)
    else:
        for key in one.strangers:
            print(f"  students/{key} is of nobody in the roster. Next: make forget STUDENT={key}")
    print(f"Grade book: {one.folder / 'gradebook.csv'}")
    print(f"Summary: {one.folder / 'summary.html'}")
    print(f"Pairs that are alike: {leads}, in {one.folder / 'similarity.csv'}; what more than "
          f"{similarity.most_often(len(rows))} students wrote counts as textbook code")  # fmt: skip
    _tell_graders(gradebook.graders(rows))


def _tell_graders(graders: Sequence[str]) -> None:
    """Whoever mended the grader or its limits believes that everybody has the new points."""
    ours = record.identity()["tree_sha256"][:SHORT]
    if len(graders) > 1:
        told = f"Graded by different versions of the grader ({', '.join(graders)}): see the column"
        print(f"{told} grader. Next: grade the class with one, OUTPUT=new folder", file=sys.stderr)
    elif any(one != ours for one in graders):
        told = (
            f"All were graded by grader {graders[0]}, this copy is {ours}: they keep their points"
        )
        print(f"{told}. Next: to grade with this one, OUTPUT=new folder", file=sys.stderr)


def _regrade(options: argparse.Namespace) -> int:
    """Grade again and keep both gradings, with the reason; one that has a score counts."""
    one = folders.load(options.output)
    student = one.find(options.student)
    place = one.of(student)
    earlier = _row(one, student)
    with folders.locked(place / ".lock", wait=True):
        kept = _archive(one, student, options)
    try:
        for attempt in range(1, job.ATTEMPTS + 1):
            if job.main([str(one.folder), student.key, str(attempt)]) == 0:
                break
    finally:  # also when it is interrupted
        row = _row(one, student)
        back = earlier.status == "graded" and row.status != "graded"
        if back:
            with folders.locked(place / ".lock", wait=True):
                history.put_back(place, kept, options.reason)
    _gather(one)
    earned = "no score" if row.earned is None or back else f"{row.earned} points"
    print(f"{student.name}: {earned}, {gradebook.outcome(row)}; "
          f"{'the earlier one still counts' if back else 'this one counts'}.")  # fmt: skip
    print(f"{'This' if back else 'The earlier'} one is kept: {kept}")
    return ERROR if row.earned is None else OK


def _archive(one: Class, student: Student, options: argparse.Namespace) -> Path:
    """Move the grading to history/; before that, look whether there is something to take anew."""
    history.finish(one.of(student))
    taken = intake.look(one, student) if options.fetch else None
    if taken and taken.status != snapshot.OK:
        told = f"{student.name} was not taken anew: {gradebook.STATUS[taken.status]}"
        raise GraderFault(f"{told} ({taken.detail}). Next: mend that, or leave FETCH=1 out")
    kept = history.archive(one.of(student), options.reason)
    if taken:
        intake.settle(one, student, taken, datetime.now(UTC))
    return kept


def _row(one: Class, student: Student) -> gradebook.Row:
    (row,) = gradebook.rows(replace(one, students=(student,)), policy.load(PROJECT))
    return row


def _forget(options: argparse.Namespace) -> int:
    """Also for who is not in the roster any more, or in a line that cannot be used."""
    one = folders.load(options.output)
    name = as_written(options.student)
    keys = {student.key for student in one.students if name in (student.name, student.key)}
    keys |= {name, key_of(name)} & set(one.strangers)
    if not keys:
        raise GraderFault(f'{one.folder} has nothing about "{name}". Next: look into roster.csv')
    places = [one.folder / "students" / found for found in keys]
    meant = {student.source for student in one.students if student.key in keys}
    for source in meant.union(map(intake.source_of, places)):
        intake.forget(one, source)
    for place in places:
        shutil.rmtree(place, ignore_errors=True)
    named = [f" ({student.name})" for student in one.students if student.key in keys]
    rest = tuple(_without(student, named) for student in one.students if student.key not in keys)
    smaller = replace(one, students=rest)
    folders.save(smaller)
    for file in ("keys.txt", "snakemake.log"):
        (one.folder / file).unlink(missing_ok=True)
    shutil.rmtree(one.folder / ".snakemake", ignore_errors=True)
    _gather(smaller)
    print(f"Nothing about {name} is left in {one.folder}. "
          "Next: remove the line from the roster, and what was handed in; compiled copies "
          "stay in .cache until make clean")  # fmt: skip
    return OK


def _without(student: Student, named: Sequence[str]) -> Student:
    """The student, whose problem may name another who is to be forgotten."""
    problem = student.problem
    for one in named:
        problem = problem.replace(one, "")
    return replace(student, problem=problem)
