"""What a student handed in, taken once: snapshot.json and submission/ of the student's folder."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from grader.classroom import folder as folders
from grader.classroom import history
from grader.classroom.folder import Class
from grader.classroom.gradebook import STATUS
from grader.classroom.places import ADDRESS, like
from grader.classroom.roster import Student
from grader.classroom.snapshot import MISSING, OK, UNREACHABLE, Snapshot, take, wanted
from grader.messages.wording import counted

_SNAPSHOT, _SUBMISSION, _PARTIAL = "snapshot.json", "submission", "submission.partial"
# What a later look may not take back: a broken archive was there, though nothing is there now.
_RANKS = ("", UNREACHABLE, MISSING)
# A server answers in a second, mostly; more at once look like an attack to some.
_AT_ONCE = 8


def take_all(one: Class) -> Counter[str]:
    """Take what everybody handed in, before anybody is graded; how many have which status.

    It counts from the begin: whoever is late in the queue is not late.
    """
    begin = datetime.now(UTC)

    def take_one(student: Student) -> str:
        with folders.locked(one.of(student) / ".lock", wait=True):
            return take_once(one, student, begin)

    known = {student: status(one.of(student)) for student in one.graded}
    others = [
        student
        for student, found in known.items()
        if found != OK or _is_of_another_source(one.of(student), student)
    ]
    if others:
        print(f"Looking for what {counted(len(others), 'student')} handed in ...", flush=True)
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        known.update(zip(others, pool.map(take_one, others), strict=True))
    finally:
        pool.shutdown(cancel_futures=True)  # Ctrl-C waits for those that are on their way
    return Counter(known.values())


def take_once(one: Class, student: Student, begin: datetime) -> str:
    """Take what was handed in, once: a later run grades the same files. Returns its status.

    What could not be taken is looked at again, and so is another source in the roster.
    """
    place = one.of(student)
    if _is_of_another_source(place, student):
        source = _known(place)["source"]
        history.archive(place, f"the roster's source changed from {source}", anew=True)
    known = status(place)
    if known == OK:
        return OK
    taken = look(one, student)
    if _rank(taken.status) < _rank(known):
        return known
    settle(one, student, taken, begin)
    return taken.status


def status(place: Path) -> str:
    """Of what was taken; "" where nobody has looked yet."""
    return str(_known(place).get("status", ""))


def look(one: Class, student: Student) -> Snapshot:
    """Take what is there now, beside what was taken before; `settle` lets it count."""
    partial = one.of(student) / _PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    return _look(student.source, one.submissions, partial)


def _look(source: str, submissions: Path, output: Path) -> Snapshot:
    try:
        return take(source, submissions, wanted(), output)
    except Exception as fault:  # of this one source: everybody else is taken
        return Snapshot("unreadable", f"{type(fault).__name__}: {fault}")


def of_another_class(folder: Path, submissions: Path) -> list[str]:
    """The sources of what was taken for the class in `folder` and is not the same in `submissions`.

    Of folders and zips only: the address of a repository means the same everywhere.
    """
    found = []
    for place in sorted(folder.glob("students/*")):
        known = _known(place)
        if known.get("status") == OK and not known.get("fetched"):
            source = str(known.get("source", place.name))
            with tempfile.TemporaryDirectory(prefix="class-") as temporary:
                _look(source, submissions, Path(temporary))
                if _contents(Path(temporary)) != _contents(place / _SUBMISSION):
                    found.append(source)
    return found


def unclaimed(one: Class) -> list[str]:
    """What lies in SUBMISSIONS and is called like no source of the roster.

    Nothing where all sources are addresses: the folder may then hold anything.
    """
    sources = [student.source for student in one.graded if not ADDRESS.match(student.source)]
    if not sources or not one.submissions.is_dir():
        return []
    paths = (path for path in one.submissions.iterdir() if path != one.folder)
    found = {path.name for path in paths if not path.name.startswith(".")}
    firsts = {first for source in sources for first in PurePath(source).parts[:1]}
    return sorted(found.difference(*(like(first, found) for first in firsts)))


def settle(one: Class, student: Student, taken: Snapshot, begin: datetime) -> None:
    """Let what was looked at count. The same files as before came in when they did before."""
    place = one.of(student)
    known = _known(place)
    same = taken.status == OK and _contents(place / _PARTIAL) == _contents(place / _SUBMISSION)
    if not (known and same):
        folders.write_json(place / _SNAPSHOT, _dated(taken, one, student, known, begin))
    shutil.rmtree(place / _SUBMISSION, ignore_errors=True)
    (place / _PARTIAL).rename(place / _SUBMISSION)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


def _is_of_another_source(place: Path, student: Student) -> bool:
    """Whether what was taken came from elsewhere than the roster says now."""
    return bool(_known(place).get("source", student.source) != student.source)


def _known(place: Path) -> Mapping[str, Any]:
    """snapshot.json; empty where nobody has looked yet."""
    return folders.read_json(place / _SNAPSHOT) or {}


def _rank(found: str) -> int:
    return _RANKS.index(found) if found in _RANKS else len(_RANKS)


def _dated(
    taken: Snapshot,
    one: Class,
    student: Student,
    known: Mapping[str, Any],
    begin: datetime,
) -> dict[str, Any]:
    """What snapshot.json says. `received` is what counts where the roster names no time.

    What was not there at first came later, and so did other files than those that were taken at
    first, unless it is the teacher who looks elsewhere now.
    """
    now = begin.isoformat(timespec="seconds")
    where = {"source": student.source, "submissions": str(one.submissions)}
    data = {**asdict(taken), **where, "taken": now, "received": now if taken.fetched else None}
    moved = known.get("submissions") != where["submissions"] and not taken.fetched
    if not known or (moved and known["status"] != OK):
        return data
    if taken.status != OK:
        return data | {"taken": known["taken"]}  # the first look
    earlier = "other files" if known["status"] == OK else STATUS[known["status"]]
    told = (
        f"{earlier} at {known['taken']}, so it counts from when it was taken; "
        "the roster's column received overrides that"
    )
    return data | {"received": now, "detail": "; ".join(filter(None, (taken.detail, told)))}
