"""A class that never was: `python -m grader.proof.synthetic_class DIR [--students 200]`.

Writes DIR/roster.csv and DIR/submissions: right, wrong and hostile kernels from the grader's own
tests, missing, late and broken ones, in folders, zips and repositories, always the same for the
same number. `make class` grades it; `grader/classroom/README.md` says what was measured with it.
"""

from __future__ import annotations

import argparse
import csv
import random
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from grader.exercise import PROJECT, ExerciseError, find, load_all

_SUBMISSIONS = PROJECT / "grader" / "tests" / "submissions"
_RECEIVED = datetime(2026, 12, 18, 12, tzinfo=UTC)
# How students are: most are right somewhere, some are wrong, few are nasty.
_KINDS = ("right", "right", "right", "wrong", "wrong", "wrong", "mixed", "hostile", "late", "odd")
_ODD = ("missing", "twice", "broken_zip", "bomb", "outside", "empty")
_HOSTILE = ("rejected", "crash", "timeout", "output_limit")


@dataclass(frozen=True)
class Person:
    """One line of the roster and what it leads to."""

    name: str
    kind: str
    files: tuple[tuple[str, Path], ...]  # (name in the submission, source)
    received: datetime


def people(count: int, exercises: Sequence[str] = (), each: int | None = None) -> list[Person]:
    """The class; everybody hands in `each` of the `exercises` (of all), without it one or two."""
    draw = random.Random(count)
    pool = {name: _fixtures(name) for name in _names(exercises)}
    return [_person(number, draw, pool, each) for number in range(count)]


def _names(words: Sequence[str]) -> list[str]:
    """Of these exercises, as `find` reads them; of all without any. Raises ExerciseError."""
    known = [exercise for exercise in load_all(PROJECT) if exercise.graded]
    return [exercise.name for exercise in (map(partial(find, known), words) if words else known)]


def _fixtures(name: str) -> dict[str, list[Path]]:
    """Kernels of one exercise: right, wrong, hostile."""
    found: dict[str, list[Path]] = {"right": [PROJECT / "exercises" / name / "solution.cu"]}
    for path in sorted((_SUBMISSIONS / name).glob("*/*.cu")):
        verdict = path.parent.name
        kind = "right" if verdict == "accepted" else "hostile" if verdict in _HOSTILE else "wrong"
        found.setdefault(kind, []).append(path)
    return found


def _person(
    number: int, draw: random.Random, pool: dict[str, dict[str, list[Path]]], each: int | None
) -> Person:
    kind = draw.choice(_KINDS)
    names = draw.sample(list(pool), min(each or draw.randint(1, 2), len(pool)))
    files = []
    for name in names:
        source = {"mixed": draw.choice(("right", "wrong")), "wrong": "wrong", "hostile": "hostile"}
        chosen = pool[name].get(source.get(kind, "right")) or pool[name]["right"]
        files.append((f"{name}.cu", draw.choice(chosen)))
    late = timedelta(days=draw.choice((1, 3, 9))) if kind == "late" else timedelta()
    if kind == "odd":
        kind = _ODD[number % len(_ODD)]
    return Person(f"student{number:03d}", kind, tuple(files), _RECEIVED + late)


def write(folder: Path, everybody: Sequence[Person]) -> None:
    """Create the folder; raises FileExistsError where it is there."""
    submissions = folder / "submissions"
    submissions.mkdir(parents=True)
    with (folder / "roster.csv").open("w", newline="", encoding="utf-8") as file:
        roster = csv.writer(file, lineterminator="\n")
        roster.writerow(["student", "group", "source", "received"])
        for number, person in enumerate(everybody):
            source = _hand_in(submissions, person, number)
            row = [person.name, f"g{number // 2}", source, person.received.isoformat()]
            roster.writerows([row, row] if person.kind == "twice" else [row])


def _hand_in(submissions: Path, person: Person, number: int) -> str:
    path = submissions / person.name
    if person.kind == "missing":
        return person.name
    if person.kind == "broken_zip":
        path.with_suffix(".zip").write_bytes(b"PK\3\4 and then nothing")
    elif person.kind == "bomb":
        _zip(path, {"01_naive.cu": b" " * 60_000_000})
    elif person.kind == "outside":
        _zip(path, {"../../01_naive.cu": b"x", "/etc/02_tiled.cu": b"x"})
    elif person.kind == "empty":
        path.mkdir()
    else:
        how: Sequence[Callable[[Path, Person], str]] = (_folder, _folder, _archive, _repository)
        return how[number % len(how)](path, person)
    return person.name


def _folder(path: Path, person: Person) -> str:
    (path / "starter").mkdir(parents=True)
    for name, source in person.files:
        shutil.copy(source, path / "starter" / name)
    return person.name


def _archive(path: Path, person: Person) -> str:
    _zip(path, {f"repo/starter/{name}": source.read_bytes() for name, source in person.files})
    return person.name


def _repository(path: Path, person: Person) -> str:
    _folder(path, person)
    for arguments in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "-m", "work")):
        author = ("-c", "user.name=s", "-c", "user.email=s@localhost")
        subprocess.run(["git", "-C", str(path), *author, *arguments], check=True)
    return path.resolve().as_uri()


def _zip(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path.with_suffix(".zip"), "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader.proof.synthetic_class")
    parser.add_argument("folder", type=Path, metavar="DIR", help="a new folder")
    parser.add_argument("--students", type=int, default=200, metavar="N")
    parser.add_argument("--exercise", action="append", default=[], metavar="EX", help="only these")
    parser.add_argument("--each", type=int, metavar="N", help="exercises of each, else 1 or 2")
    options = parser.parse_args(arguments)
    try:
        write(options.folder, people(options.students, options.exercise, options.each))
    except FileExistsError:
        parser.error(f"{options.folder} is there already. Next: name a new folder")
    except ExerciseError as error:
        parser.error(str(error))
    roster, submissions = options.folder / "roster.csv", options.folder / "submissions"
    print(f"Next: make class ROSTER={roster} SUBMISSIONS={submissions}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
