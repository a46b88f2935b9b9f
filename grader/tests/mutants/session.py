"""Grades many mutants at once, one process a core."""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, lru_cache

from hypothesis.errors import HypothesisDeprecationWarning

from grader.exercise import Exercise, find, load_all
from grader.settings import PROJECT
from grader.simulator.device import SimulatorDevice
from grader.tests import simulated
from grader.tests.mutants import source
from grader.tests.mutants.collection import solutions
from grader.tests.mutants.equivalence import Original
from grader.tests.mutants.grading import Grade, grade
from grader.tests.mutants.mutant import Mutant

Told = Callable[[int, Grade], None]


def grade_all(
    mutants: Sequence[Mutant], jobs: int, told: Told = lambda done, one: None
) -> list[Grade]:
    """The grades in the order of the mutants; `told` hears of each as it is done."""
    if jobs == 1:
        return [_told(told, done, grade_one(one)) for done, one in enumerate(mutants, 1)]
    # `spawn`: a forked copy of a process that runs threads may hang.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=_be_quiet) as pool:
        waiting = {pool.submit(grade_one, one): number for number, one in enumerate(mutants)}
        grades: dict[int, Grade] = {}
        for done, future in enumerate(as_completed(waiting), 1):
            grades[waiting[future]] = _told(told, done, future.result())
    return [grades[number] for number in sorted(grades)]


def _be_quiet() -> None:
    """hypothesis warns of draws in inner functions, on a terminal that shows the progress."""
    warnings.simplefilter("ignore", HypothesisDeprecationWarning)


def _told(told: Told, done: int, one: Grade) -> Grade:
    told(done, one)
    return one


def grade_one(mutant: Mutant) -> Grade:
    exercise, original = original_of(mutant.exercise)
    return grade(mutant, original, exercise, simulated.TARGET)


@cache
def _exercises() -> tuple[Exercise, ...]:
    return tuple(load_all(PROJECT))


@lru_cache(maxsize=1)  # mutants come exercise by exercise, and what is remembered is large
def original_of(name: str) -> tuple[Exercise, Original]:
    """An exercise and its solution, as mutants are compared with it."""
    exercise = find(_exercises(), name)
    text = source.read(name, solutions([exercise])[name]).text()
    device = SimulatorDevice(simulated.TARGET, cache=simulated.CACHE)
    return exercise, Original(exercise, text, device, simulated.CACHE)
