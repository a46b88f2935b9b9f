"""results.json as values, for the writers. Nothing in the file is trusted: a worker on which a
student's code ran may have written it."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from grader.checks.outcome import Status
from grader.finding import GraderFault
from grader.record import SCHEMA
from grader.score import exercise_status

# A grading with all counters takes 100 KB; what is larger was not written by this grader.
LARGEST_RECORD_BYTES = 4 << 20

# A race has two, a barrier that threads miss a few.
_PLACES_SHOWN = 4

_NEXT = "Next: grade again, or give the results.json that `make grade` wrote."
# An exercise's status where the file is not there, or is the starter.
_WITHOUT_WORK = ("missing", "not_started")

_T = TypeVar("_T")


class RecordProblem(GraderFault):
    """The file is no record of a grading; the text says where and why."""


@dataclass(frozen=True)
class Place:
    file: str
    line: int
    role: str


@dataclass(frozen=True)
class Check:
    """One check. `possible` is what it could have earned here: nothing where it was not graded.
    `also` are the verdicts after the first one; `shape` is () where the message is about none."""

    exercise: str
    name: str
    description: str
    status: str
    reason: str
    verdict: str
    also: tuple[str, ...]
    earned: int
    points: int
    message: str
    hint: str
    shape: tuple[int, ...]
    places: tuple[Place, ...]
    command: str
    seconds: float

    @property
    def possible(self) -> int:
        return 0 if self.undecided else self.points

    @property
    def undecided(self) -> bool:
        return self.status in ("not_graded", "grader_error")

    @property
    def passed(self) -> bool:
        return self.status == "pass"

    @property
    def title(self) -> str:
        """`02_tiled: any shape`."""
        return f"{self.exercise}: {self.name.replace('_', ' ')}"

    @property
    def why(self) -> str:
        """What a reader is told of a check that did not pass; "" where nothing is said."""
        return "\n".join(part for part in (self.message, self.hint, self.command) if part)

    @property
    def at(self) -> str:
        """`At: starter/02_tiled.cu:28 (read)`; "" without a place."""
        shown = (f"{one.file}:{one.line} ({one.role})" for one in self.places[:_PLACES_SHOWN])
        return f"At: {', '.join(shown)}" if self.places else ""

    @property
    def why_and_where(self) -> str:
        """As `why`, for a page that does not show the place by itself."""
        parts = (self.message, self.hint, self.at if self.message else "", self.command)
        return "\n".join(part for part in parts if part)


@dataclass(frozen=True)
class Exercise:
    """`sha256` is "" where no file could be read, `quarters` None where nothing was timed."""

    name: str
    status: str
    sha256: str
    quarters: int | None
    checks: tuple[Check, ...]

    @property
    def earned(self) -> int:
        return sum(check.earned for check in self.checks)

    @property
    def possible(self) -> int:
        return sum(check.possible for check in self.checks)

    @property
    def points(self) -> int:
        return sum(check.points for check in self.checks)


@dataclass(frozen=True)
class Record:
    """One grading; `created` is ISO 8601, `devices` are their kinds."""

    seed: int
    created: str
    version: str
    tree_sha256: str
    devices: tuple[str, ...]
    exercises: tuple[Exercise, ...]

    @property
    def checks(self) -> tuple[Check, ...]:
        return tuple(check for exercise in self.exercises for check in exercise.checks)

    @property
    def earned(self) -> int:
        return sum(exercise.earned for exercise in self.exercises)

    @property
    def possible(self) -> int:
        return sum(exercise.possible for exercise in self.exercises)

    @property
    def points(self) -> int:
        return sum(exercise.points for exercise in self.exercises)

    @property
    def seconds(self) -> float:
        return sum(check.seconds for check in self.checks)

    @property
    def failed_by_grader(self) -> bool:
        return any(exercise.status == "grader_error" for exercise in self.exercises)

    @property
    def complete(self) -> bool:
        """Every exercise passes: nothing failed, nothing is missing or as it was handed out."""
        return bool(self.exercises) and all(one.status == "pass" for one in self.exercises)

    @property
    def untouched(self) -> bool:
        """Nothing was handed in: every exercise is missing or as it was handed out."""
        return all(one.status in _WITHOUT_WORK for one in self.exercises)

    @property
    def total_line(self) -> str:
        """`61 of 75 gradable points (25 not graded)`."""
        if self.possible == self.points:
            return f"{self.earned} of {self.points} points"
        rest = self.points - self.possible
        return f"{self.earned} of {self.possible} gradable points ({rest} not graded)"


def read(path: Path) -> Record:
    """The record in `path`; raises RecordProblem for anything but a consistent one."""
    data = load(path)
    try:
        return parse(data)
    except RecordProblem as problem:
        raise RecordProblem(f"{path}: {problem} {_NEXT}") from None


def load(path: Path) -> Any:
    """The JSON in `path`, whatever it says; raises RecordProblem for none and for too much."""
    try:
        with path.open("rb") as file:
            raw = file.read(LARGEST_RECORD_BYTES + 1)
    except OSError as fault:
        raise RecordProblem(f"{path} cannot be read: {fault.strerror}. {_NEXT}") from None
    if len(raw) > LARGEST_RECORD_BYTES:
        limit = f"{LARGEST_RECORD_BYTES >> 20} MiB"
        raise RecordProblem(f"{path} is larger than {limit}: no record of a grading. {_NEXT}")
    try:
        return json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as fault:
        raise RecordProblem(f"{path} is not JSON: {fault}. {_NEXT}") from None


def parse(data: Any) -> Record:
    """The values of a record; raises RecordProblem with the place of what is wrong."""
    top = _Node(data, "the record")
    if top.text("schema") != SCHEMA:
        raise RecordProblem(f"the schema is {top.text('schema')!r}, this reads {SCHEMA}.")
    grader = top.node("grader")
    record = Record(
        seed=top.count("seed"),
        created=top.text("created"),
        version=grader.text("version"),
        tree_sha256=grader.text("tree_sha256"),
        devices=tuple(one.text("kind") for one in top.nodes("devices")),
        exercises=tuple(_exercise(one) for one in top.nodes("exercises")),
    )
    names = [exercise.name for exercise in record.exercises]
    if len(set(names)) != len(names):
        raise RecordProblem("an exercise appears twice.")
    _agree(top.node("score"), record)
    return record


def _agree(told: _Node, record: Record) -> None:
    """The totals of the file are those of its parts."""
    expected = {
        "earned": record.earned,
        "points": record.points,
        "not_graded": record.points - record.possible,
    }
    for key, value in expected.items():
        if told.count(key) != value:
            raise RecordProblem(f"score.{key} is {told.count(key)}, the checks add up to {value}.")


def _exercise(node: _Node) -> Exercise:
    name = node.text("name")
    checks = tuple(_check(one, name) for one in node.nodes("checks"))
    quarters = _quarters(node.node("timing"), name)
    exercise = Exercise(name, node.text("status"), node.text("sha256"), quarters, checks)
    for key, value in (("earned", exercise.earned), ("points", exercise.points)):
        if node.count(key) != value:
            raise RecordProblem(
                f"{name}: {key} is {node.count(key)}, its checks add up to {value}."
            )
    if exercise.status != (expected := _status(exercise)):
        raise RecordProblem(f"{name}: status {exercise.status!r}, its checks say {expected}.")
    return exercise


def _status(told: Exercise) -> str:
    """What follows from the checks: without any work all that were decided are skipped for that."""
    decided = {(one.status, one.reason) for one in told.checks if not one.undecided}
    if told.status in _WITHOUT_WORK and decided <= {("skipped", told.status)}:
        return told.status
    return exercise_status([(one.name, Status(one.status)) for one in told.checks])


def _quarters(timing: _Node, exercise: str) -> int | None:
    """Of the points of `fast`; None where nothing was timed."""
    told = timing.optional("quarters")
    if told is None or (type(told) is int and 0 <= told <= 4):
        return told
    raise RecordProblem(f"{exercise}: timing.quarters is no count up to 4.")


def _check(node: _Node, exercise: str) -> Check:
    check = Check(
        exercise=exercise,
        name=node.text("name"),
        description=node.text("description"),
        status=node.text("status"),
        reason=node.text("reason"),
        verdict=node.text("verdict"),
        also=node.values("also", str),
        earned=node.count("earned"),
        points=node.count("points"),
        message=node.text("message"),
        hint=node.text("hint"),
        shape=() if node.optional("shape") is None else node.values("shape", int),
        places=tuple(
            Place(one.text("file"), one.count("line"), one.text("role"))
            for one in node.nodes("locations")
        ),
        command=_for_students(node.text("command")),
        seconds=node.seconds("seconds"),
    )
    if check.status not in frozenset(Status):
        raise RecordProblem(f"{check.title}: {check.status!r} is no status.")
    if check.earned > (check.points if check.passed else 0):
        raise RecordProblem(f"{check.title}: {check.earned} points for {check.status!r}.")
    return check


def _for_students(command: str) -> str:
    """The command without the folder in which the grading machine kept the files: a student types
    it where the files are their own."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    kept = [word for word in words if not word.startswith("SUBMISSION=")]
    return command if len(kept) == len(words) else shlex.join(kept)


class _Node:
    """A JSON object with its place; every getter checks the type."""

    def __init__(self, data: Any, place: str) -> None:
        if not isinstance(data, dict):
            raise RecordProblem(f"{place} is no object.")
        self._data = data
        self._place = place

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str):
            raise RecordProblem(f"{self._place}: {key} is no text.")
        return value

    def count(self, key: str) -> int:
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise RecordProblem(f"{self._place}: {key} is no count.")
        return value

    def seconds(self, key: str) -> float:
        value = self._get(key)
        if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < 1e9:
            raise RecordProblem(f"{self._place}: {key} is no time in seconds.")
        return float(value)

    def node(self, key: str) -> _Node:
        return _Node(self._get(key), key)

    def nodes(self, key: str) -> list[_Node]:
        found = self.values(key, object)
        return [_Node(one, f"{key}[{rank}]") for rank, one in enumerate(found)]

    def values(self, key: str, kind: type[_T]) -> tuple[_T, ...]:
        value = self._get(key)
        if not isinstance(value, list) or not all(isinstance(one, kind) for one in value):
            raise RecordProblem(f"{self._place}: {key} is no list, or of other things.")
        return tuple(value)

    def optional(self, key: str) -> Any:
        return self._data.get(key)

    def _get(self, key: str) -> Any:
        if key not in self._data:
            raise RecordProblem(f"{self._place}: {key} is missing.")
        return self._data[key]
