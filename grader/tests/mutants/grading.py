"""Grades a mutant with the checks of a student, one after the other until the first that fails."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader.checks.outcome import Outcome, Status
from grader.checks.plan import Entry, Plan
from grader.checks.subject import Subject, Surroundings
from grader.course import Target
from grader.device import Build, Launch, Run
from grader.exercise import CHECKS, Exercise
from grader.finding import GraderFault, KernelFault
from grader.simulator.device import SimulatorDevice
from grader.submission import Submission
from grader.tests.mutants.equivalence import Original, compare
from grader.tests.mutants.harmless import harmless
from grader.tests.mutants.mutant import Mutant
from grader.verdict import Verdict
from tests import test_checks

# `fast` needs a GPU. The others in the order of a grading; `safe` begins with the smallest shapes.
SIMULATED = tuple(check for check in CHECKS if check != "fast")
# Shapes drawn for `any shape`, as many as in a grading.
EXAMPLES = 100
# A launch of the solutions takes a fraction of this; many mutants never end.
LAUNCH_LIMIT_S = 2.0


@dataclass(frozen=True)
class Grade:
    """What became of a mutant: "caught" (by which check, with which verdict and kind), "missed",
    "same_program", "equivalent", "harmless" (`kind` says why), "not_compiled" or "grader_error"
    (`kind` says what happened)."""

    mutant: Mutant
    fate: str
    check: str = ""
    verdict: str = ""
    kind: str = ""


class HastyDevice(SimulatorDevice):
    """The simulator, with less patience for a launch that does not end."""

    def launch(self, build: Build, launch: Launch) -> Run:
        return super().launch(build, replace(launch, timeout_s=LAUNCH_LIMIT_S))


def grade(mutant: Mutant, original: Original, exercise: Exercise, target: Target) -> Grade:
    """Run the checks; what passes them all is compared with the original."""
    with _device(target, original.cache) as device:
        subject = _subject(mutant, exercise, device, target)
        try:
            failed = _first_failure(subject)
        except GraderFault as fault:
            return Grade(mutant, "grader_error", kind=str(fault))
        if failed is not None:
            return replace(failed, mutant=mutant)
        build = subject.build()
        assert build is not None, "what passed has a build"
        if original.is_same_program(mutant.text):
            return Grade(mutant, "same_program")
        return _uncaught(mutant, compare(original, build, device))


def _uncaught(mutant: Mutant, relation: str) -> Grade:
    if relation == "same":
        return Grade(mutant, "equivalent")
    if relation == "right" and (reason := harmless(mutant)):
        return Grade(mutant, "harmless", kind=reason)
    return Grade(mutant, "missed")


def _subject(mutant: Mutant, exercise: Exercise, device: HastyDevice, target: Target) -> Subject:
    path = Path(f"{exercise.name}.cu")
    submission = Submission(path.name, path, mutant.text, sha256="")
    plan = Plan((Entry(exercise, path, "started", submission),), seed=1, examples=EXAMPLES)
    # Without nvcc, so that what compiles is the same everywhere; a first failing shape is enough.
    return Subject(plan.entries[0], device, plan, Surroundings(target, None, shrink_limit_s=0.0))


def _first_failure(subject: Subject) -> Grade | None:
    for check in SIMULATED:
        try:
            getattr(test_checks, f"test_{check}")(subject)
        except KernelFault as fault:
            first = fault.findings[0]
            # A text that is no program tests the compiler, not the checks.
            fate = "not_compiled" if first.verdict is Verdict.COMPILE_ERROR else "caught"
            return Grade(_NOBODY, fate, check, first.verdict.value, first.kind)
        passed = Outcome(subject.exercise.name, "simulator", check, "", Status.PASS)
        subject.outcomes[check] = passed
    return None


_NOBODY = Mutant("", 0, "", "", "", "")


@contextmanager
def _device(target: Target, cache: Path) -> Iterator[HastyDevice]:
    """A device of its own, so that no worker of an earlier mutant stays."""
    device = HastyDevice(target, cache=cache)
    try:
        yield device
    finally:
        device.close()
