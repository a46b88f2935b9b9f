"""Turns outcomes into points: whole numbers, rounded once, here."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction

from grader.checks.outcome import Outcome, Status
from grader.exercise import CHECKS, Exercise
from grader.finding import NOT_YOURS

# Without a right answer for any shape, efficiency and speed are worth this much.
WITHOUT_ANY_SHAPE = Fraction(1, 2)


@dataclass(frozen=True)
class CheckScore:
    """One check, merged over devices, and what it earned out of `points`."""

    outcome: Outcome
    earned: int
    points: int


@dataclass(frozen=True)
class ExerciseScore:
    """One exercise. `status`: pass, fail, not_started, missing, not_graded or grader_error.

    `not_graded` counts the points of checks that could not be decided.
    """

    exercise: Exercise
    status: str
    checks: tuple[CheckScore, ...]

    @property
    def earned(self) -> int:
        return sum(check.earned for check in self.checks)

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)

    @property
    def not_graded(self) -> int:
        return sum(check.points for check in self.checks if check.outcome.status.undecided)

    @property
    def interrupted(self) -> bool:
        """True when nothing but an interruption keeps the exercise from being decided."""
        errors = [c.outcome for c in self.checks if c.outcome.status is Status.GRADER_ERROR]
        return bool(errors) and all(outcome.interrupted for outcome in errors)


@dataclass(frozen=True)
class Score:
    """All exercises. The grade is `earned` out of `gradable`; both numbers are always shown."""

    exercises: tuple[ExerciseScore, ...]

    @property
    def earned(self) -> int:
        return sum(exercise.earned for exercise in self.exercises)

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def not_graded(self) -> int:
        return sum(exercise.not_graded for exercise in self.exercises)

    @property
    def gradable(self) -> int:
        return self.points - self.not_graded

    @property
    def failed(self) -> bool:
        return any(exercise.status == "fail" for exercise in self.exercises)

    @property
    def grader_error(self) -> bool:
        return any(exercise.status == "grader_error" for exercise in self.exercises)


def score_exercise(
    exercise: Exercise, state: str, outcomes: Sequence[Outcome], interrupted: bool = False
) -> ExerciseScore:
    """`state` is that of the file: "missing", "not_started" or "started"; `outcomes` are merged.

    A check that never ran is a grader error and costs nothing; `interrupted` says why it did not.
    """
    found = {outcome.check: outcome for outcome in outcomes}
    complete = {
        check: found.get(check) or _never_ran(exercise, state, check, interrupted)
        for check in CHECKS
    }
    points = _points(exercise, complete["fast"])
    checks = tuple(
        CheckScore(outcome, _earned(check, points[check], complete), points[check])
        for check, outcome in complete.items()
    )
    decided = exercise_status([(check, outcome.status) for check, outcome in complete.items()])
    status = decided if state == "started" else state
    return ExerciseScore(exercise, status, checks)


def _points(exercise: Exercise, fast: Outcome) -> dict[str, int]:
    """The points of each check. Where no speed tells a good kernel from the next-worse one on this
    GPU, those of `fast` are given for `efficient`."""
    points = dict(exercise.points)
    if fast.reason == "no_gap":
        points["efficient"] += points["fast"]
        points["fast"] = 0
    return points


def _never_ran(exercise: Exercise, state: str, check: str, interrupted: bool) -> Outcome:
    if state != "started":
        return Outcome(exercise.name, "", check, check, Status.SKIPPED, reason=state)
    ended = "was interrupted" if interrupted else "ended"
    detail = f"The grading {ended} before this check. {NOT_YOURS}"
    error = Status.GRADER_ERROR
    return Outcome(exercise.name, "", check, check, error, detail=detail, interrupted=interrupted)


def _earned(check: str, points: int, outcomes: dict[str, Outcome]) -> int:
    if outcomes[check].status is not Status.PASS:
        return 0
    if check == "safe" and _lost(outcomes["whole_tiles"]):
        return 0
    share = Fraction(outcomes[check].quarters, 4)
    if check in ("efficient", "fast") and _lost(outcomes["any_shape"]):
        share *= WITHOUT_ANY_SHAPE
    return rounded(points * share)


def _lost(outcome: Outcome) -> bool:
    """True when the check was decided against the kernel; an undecided one costs nothing."""
    return outcome.status in (Status.FAIL, Status.SKIPPED)


def rounded(points: Fraction) -> int:
    """To the nearest whole number, halves up: in doubt for the student."""
    return int(points + Fraction(1, 2))


def exercise_status(checks: Collection[tuple[str, Status]]) -> str:
    """What the checks, by name, make of a file that is more than a starter.

    Pass: none failed and one passed; that it compiles is not enough for that.
    """
    found = {status for _, status in checks}
    if Status.GRADER_ERROR in found:
        return "grader_error"
    if Status.FAIL in found:
        return "fail"
    passed = any(status is Status.PASS and check != "compiles" for check, status in checks)
    return "pass" if passed else "not_graded"
