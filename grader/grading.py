"""Grades a plan: runs the checks, keeps what is known at any moment, and scores it."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from dataclasses import dataclass

from grader import interruption, machine_fault
from grader.checks.crew import Crew
from grader.checks.listener import Everyone, Ledger, Listener
from grader.checks.merge import merge
from grader.checks.plan import Plan
from grader.checks.survey import Surveyor
from grader.course import Target
from grader.score import Score, score_exercise


@dataclass(frozen=True)
class Grading:
    """What came of a plan. `ended_early` says why not everything was checked; else ""."""

    plan: Plan
    score: Score
    ledger: Ledger
    ended_early: str = ""
    log: tuple[str, ...] = ()


def grade(plan: Plan, kinds: Sequence[str], target: Target, listener: Listener) -> Grading:
    """Never raises: an interruption or a fault of ours ends the grading, not its record."""
    ledger = Ledger()
    ended_early, log, interrupted = "", "", False
    # Of one shape somebody wants to know one thing, and soon.
    surveyor = Surveyor(plan.entries if plan.shape is None else (), target)
    with interruption.held():
        try:
            Crew(plan, kinds, target).run(Everyone((ledger, listener)))
            with interruption.allowed():  # nvcc may take a while
                surveyor.results()
        except KeyboardInterrupt:
            interrupted = True
            ended_early = "Interrupted: what was known by then is recorded."
        except Exception as fault:
            ended_early = machine_fault.told(fault, "The grader failed")
            log = "".join(traceback.format_exception(fault))
        for name, facts in surveyor.stop().items():
            ledger.built(name, "nvcc", facts)
    logs = (*(outcome.log for outcome in ledger.outcomes), log)
    scored = score(plan, ledger, interrupted)
    return Grading(plan, scored, ledger, ended_early, tuple(filter(None, logs)))


def score(plan: Plan, ledger: Ledger, interrupted: bool = False) -> Score:
    """The score of what the ledger knows; checks that never ran cost nothing."""
    merged = ((entry, merge(ledger.of(entry.exercise.name))) for entry in plan.entries)
    return Score(
        tuple(
            score_exercise(entry.exercise, entry.state, outcomes, interrupted)
            for entry, outcomes in merged
        )
    )
