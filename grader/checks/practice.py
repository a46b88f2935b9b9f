"""The subjects of a plain `pytest tests/`: what lies in starter/, on the simulator."""

from __future__ import annotations

from collections.abc import Callable

from grader import course, exercise
from grader.checks.devices import compiler_check, open_device
from grader.checks.plan import PRACTICE_EXAMPLES, PRACTICE_SEED, Plan, folder_entries
from grader.checks.session import subjects_of
from grader.checks.subject import Subject, Surroundings
from grader.settings import STARTER


def practice_subjects() -> tuple[tuple[Subject, ...], Callable[[], None]]:
    """The subjects, and what closes their device."""
    exercises = [one for one in exercise.load_all(exercise.PROJECT) if one.graded]
    entries = folder_entries(exercises, STARTER)
    plan = Plan(entries, PRACTICE_SEED, PRACTICE_EXAMPLES)
    target = course.load(exercise.PROJECT).target
    device = open_device("simulator", target, print)
    around = Surroundings(target, compiler_check(target))
    return subjects_of(plan, (device,), around), device.close
