"""The verbs `test` and `grade`."""

from __future__ import annotations

import argparse
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from grader import course, interruption, output_folder, record, seeds, settings
from grader.checks import devices
from grader.checks.plan import (
    PRACTICE_EXAMPLES,
    PRACTICE_SEED,
    Entry,
    Plan,
    case_arguments,
    folder_entries,
    ignored_files,
    is_own,
    solution_entries,
)
from grader.cli import ERROR, FAILED, OK
from grader.exercise import PROJECT, Exercise, find, load_all
from grader.finding import GraderFault
from grader.grading import Grading
from grader.grading import grade as grade_plan
from grader.handout import protection
from grader.problems.matmul import Shape
from grader.report.architectures import note_lines
from grader.report.line import console, is_plain, line, show
from grader.report.next_step import next_lines
from grader.report.progress import progress
from grader.report.summary import exercise_lines, total_lines

RESULTS = PROJECT / "results"

# tiled.cu and 02_tiled.cu.txt are near 02_tiled.cu, conftest.py and 05_more.cu are near nothing.
_LIKE_A_NAME = 0.7


def test(options: argparse.Namespace) -> int:
    """A student's checks: fixed seed, fewer shapes, no record."""
    plain = is_plain(options.plain)
    chosen = exercises(options.exercise)
    shape = parse_shape(options.shape)
    if shape and not options.exercise:
        raise GraderFault("A shape needs an exercise: make test EX=tiled SHAPE=33x17x65")
    folder = existing(options.folder or settings.STARTER)
    seed = PRACTICE_SEED if options.seed is None else options.seed
    plan = Plan(folder_entries(chosen, folder), seed, PRACTICE_EXAMPLES, shape)
    screen = console(plain)
    show_place(screen, options.folder or settings.STARTER, folder)
    grading = run_plan(plan, options.device, screen, plain)
    show_exercises(screen, grading, with_points=shape is None)
    if shape is None and any(exercise.graded for exercise in chosen):
        show(screen, total_lines(grading.score))
        if options.seed is not None:
            screen.print(f"Seed: {seed}")
    log = output_folder.log(RESULTS, grading.log) if grading.log else None
    show_end(screen, grading, log)
    show(screen, next_lines(grading.score, plan))
    return exit_status(grading)


def grade(options: argparse.Namespace) -> int:
    """A teacher's grading: drawn seed, all shapes, results.json on every ending."""
    plain = is_plain(options.plain)
    if options.solutions == (options.folder is not None):
        raise GraderFault(
            "Give either a folder to grade or --solutions, for example: grade starter"
        )
    chosen = exercises(options.exercise, graded=True)
    folder = None if options.solutions else existing(options.folder)
    entries = folder_entries(chosen, folder) if folder else solution_entries(chosen)
    record.check_writable(options.output)
    seed = seeds.draw() if options.seed is None else options.seed
    plan = Plan(entries, seed)
    screen = console(plain)
    if folder:
        show_ignored(screen, folder, entries, load_all(PROJECT))
        show_place(screen, options.folder, folder)
    grader = record.identity()
    with output_folder.reserved(options.output), interruption.held():
        grading = run_plan(plan, options.device, screen, plain)
        composed = record.compose(grading.score, plan, grading.ledger, grader)
        kept = output_folder.keep(options.output, composed, grading.log)
    show_exercises(screen, grading, with_points=True)
    show(screen, total_lines(grading.score))
    if folder:
        show(screen, [line(f"Graded: {folder}")])
    screen.print(f"Seed: {seed} (the same seed draws the same shapes and numbers again)")
    if kept.record is not None:
        screen.print(f"Record: {kept.record}")
    show_end(screen, grading, kept.log)
    if kept.problem:
        raise record.RecordError(kept.problem)
    if folder and is_own(folder):
        show(screen, next_lines(grading.score, plan, graded=True))
    return exit_status(grading)


def run_plan(plan: Plan, word: str, screen: Console, plain: bool) -> Grading:
    with interruption.allowed():  # a driver may take its time
        chosen = devices.choose(word)
    if chosen.note:
        screen.print(chosen.note)
    with progress(screen, plain) as listener:
        return grade_plan(plan, chosen.kinds, course.load(PROJECT).target, listener)


def show_exercises(screen: Console, grading: Grading, with_points: bool) -> None:
    entries = {entry.exercise.name: entry for entry in grading.plan.entries}
    for score in grading.score.exercises:
        arguments = case_arguments(grading.plan, entries[score.exercise.name])
        show(screen, exercise_lines(score, with_points, arguments))
        show(screen, note_lines(grading.ledger.builds.get((score.exercise.name, "nvcc"), {})))


def show_ignored(
    screen: Console, folder: Path, entries: Sequence[Entry], known: Sequence[Exercise]
) -> None:
    """What is not looked at, and whether it was meant to be: a misnamed file scores 0."""
    missing = [entry.path.name for entry in entries if entry.state == "missing"]
    if len(missing) == len(entries):
        which = "none of the files that are graded" if len(missing) > 1 else "no file to grade"
        show(screen, [line(f"{folder} holds {which}: {', '.join(missing)}")])
    ignored = ignored_files(folder, known)
    for name in ignored:
        if near := settings.nearest(name, missing, _LIKE_A_NAME):
            show(screen, [line(f"{name} is not graded: did you mean {near}?")])
    if ignored:
        more = f" and {len(ignored) - 10} more" if len(ignored) > 10 else ""
        show(screen, [line(f"Ignored in {folder}: {', '.join(ignored[:10])}{more}")])


def show_place(screen: Console, given: Path, folder: Path) -> None:
    """Where the files are if not in the folder that was given. In a hand-out: what of the grader
    itself was edited, since it counts for nothing."""
    if folder != given:
        show(screen, [line(f"{given} holds none of the files itself: those in {folder} are meant")])
    if told := protection.note(protection.changed_outside(folder)):
        show(screen, [line(told)])


def show_end(screen: Console, grading: Grading, log: Path | None) -> None:
    """What the reader must know when not everything went as it should."""
    if grading.ended_early:
        show(screen, [line(), line((grading.ended_early, "bold magenta"))])
    if log is not None:
        show(screen, [line(f"Details of the grader's error: {log}")])


def exit_status(grading: Grading) -> int:
    if grading.ended_early or grading.score.grader_error:
        return ERROR
    return FAILED if grading.score.failed else OK


def exercises(word: str | None, graded: bool = False) -> tuple[Exercise, ...]:
    """The exercise that was named, or all that give points."""
    known = load_all(PROJECT)
    graded_ones = tuple(exercise for exercise in known if exercise.graded)
    if word is None:
        return graded_ones
    return (find(graded_ones if graded else known, word),)


def parse_shape(text: str | None) -> Shape | None:
    try:
        return Shape.parse(text) if text else None
    except ValueError as fault:
        raise GraderFault(f"{fault}.") from None


def existing(folder: Path) -> Path:
    """The folder with the files: this one or, where a whole hand-out was given, its starter/.

    Raises GraderFault for none.
    """
    try:
        found = folder.stat()
    except OSError:  # also for a name that no file can have
        found = None
    if found is None or not stat.S_ISDIR(found.st_mode):
        if found is None and folder.absolute() == settings.STARTER:
            raise GraderFault("starter/ does not exist. Next: make starter")
        kind = "is not a folder" if found else "does not exist"
        raise GraderFault(f"{folder} {kind}. Give the folder that holds the .cu files.")
    inner = folder / settings.STARTER.name
    linked = inner.is_symlink()  # it may lead to somebody else's files
    return inner if not linked and _holds_any(inner) and not _holds_any(folder) else folder


def _holds_any(folder: Path) -> bool:
    return any(os.path.lexists(folder / f"{one.name}.cu") for one in load_all(PROJECT))
