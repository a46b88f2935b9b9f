"""What a student handed in, taken once: snapshot.json and submission/ of the student's folder."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path, PurePath
from typing import Any

from grader.classroom import folder as folders
from grader.classroom import history
from grader.classroom.folder import Class
from grader.classroom.gradebook import STATUS
from grader.classroom.history import COMING, PARTIAL, SNAPSHOT, SUBMISSION
from grader.classroom.places import ADDRESS, like
from grader.classroom.roster import Student, as_written
from grader.classroom.snapshot import MISSING, OK, UNREACHABLE, Snapshot, take, wanted
from grader.messages.wording import counted

# What lies in SUBMISSIONS, each with when it was seen first.
_SEEN = "submissions.json"
# What was taken, compared with what is there now.
SAME, OTHER, GONE = "same", "other", "gone"
# What a later look may not take back: a broken archive was there, though nothing is there now.
_RANKS = ("", UNREACHABLE, MISSING)
# A server answers in a second, mostly; more at once look like an attack to some.
_AT_ONCE = 8


def take_all(one: Class) -> Counter[str]:
    """Take what everybody handed in, before anybody is graded; how many have which status.

    It counts from the begin: whoever is late in the queue is not late.
    """
    begin = datetime.now(UTC)
    _see(one, begin)

    def take_one(student: Student) -> str:
        with folders.locked(one.of(student) / ".lock", wait=True):
            return take_once(one, student, begin)

    known = {student: status(one.of(student)) for student in one.graded}
    others = [
        student
        for student, found in known.items()
        if found != OK
        or _is_of_another_source(one.of(student), student)
        or (one.of(student) / COMING).exists()
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
    history.finish(place)
    known, moved = status(place), _is_of_another_source(place, student)
    if known == OK and not moved:
        return OK
    taken = look(one, student)
    if moved:
        source = _known(place)["source"]
        history.archive(place, f"the roster's source changed from {source}")
    elif _rank(taken.status) < _rank(known):
        return known
    settle(one, student, taken, begin)
    return taken.status


def status(place: Path) -> str:
    """Of what was taken; "" where nobody has looked yet."""
    return str(_known(place).get("status", ""))


def look(one: Class, student: Student) -> Snapshot:
    """Take what is there now, beside what was taken before; `settle` lets it count."""
    partial = one.of(student) / PARTIAL
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    others = [other.source for other in one.students if other.source != student.source]
    theirs = [other.name for other in one.students if other.source == student.source]
    return _look(student.source, one.submissions, partial, others, theirs)


def _look(
    source: str,
    submissions: Path,
    output: Path,
    others: Sequence[str] = (),
    students: Sequence[str] = (),
) -> Snapshot:
    try:
        return take(source, submissions, wanted(), output, others, students)
    except Exception as fault:  # of this one source: everybody else is taken
        return Snapshot("unreadable", f"{type(fault).__name__}: {fault}")


def compared(folder: Path, submissions: Path) -> dict[str, str]:
    """Whether what was taken for the class in `folder` is in `submissions`: SAME, OTHER or GONE.

    By the key of the student, and of folders and zips only: the address of a repository means the
    same everywhere, and what it holds may change.
    """
    found = {}
    for place in sorted(folder.glob("students/*")):
        known = _known(place)
        if known.get("status") == OK and not known.get("fetched"):
            with tempfile.TemporaryDirectory(prefix="class-") as temporary:
                there = _look(source_of(place), submissions, Path(temporary)).status
                same = _contents(Path(temporary)) == _contents(place / SUBMISSION)
            found[place.name] = SAME if same else OTHER if there == OK else GONE
    return found


def source_of(place: Path) -> str:
    """Where it came from what was taken for the student whose folder this is."""
    return str(_known(place).get("source", place.name))


def unclaimed(one: Class) -> list[str]:
    """What lies in SUBMISSIONS and is called like no source of the roster.

    Nothing where all sources are addresses: the folder may then hold anything.
    """
    sources = [student.source for student in one.students if not ADDRESS.match(student.source)]
    if not sources or not one.submissions.is_dir():
        return []
    found = {path.name for path in entries(one.submissions, one.folder)}
    return sorted(found.difference(*(like(_first(source), found) for source in sources)))


def entries(submissions: Path, folder: Path) -> list[Path]:
    """What lies in SUBMISSIONS, but for what is hidden and the class's own folder."""
    return [
        path for path in submissions.iterdir() if path != folder and not path.name.startswith(".")
    ]


def forget(one: Class, source: str) -> None:
    """Let nothing tell when this source was seen first; what is called like it may be another's."""
    seen = folders.read_json(one.folder / _SEEN) or {}
    others = (student.source for student in one.students if student.source != source)
    if gone := set(like(_first(source), seen)).difference(*map(_names, others)):
        rest = {name: when for name, when in seen.items() if name not in gone}
        folders.write_json(one.folder / _SEEN, rest)


def _see(one: Class, begin: datetime) -> None:
    known = folders.read_json(one.folder / _SEEN) or {}
    there = {as_written(path.name) for path in entries(one.submissions, one.folder)}
    if new := sorted(there - known.keys()):
        now = begin.isoformat(timespec="seconds")
        folders.write_json(one.folder / _SEEN, {**known, **dict.fromkeys(new, now)})


def _was_there(one: Class, source: str, then: str) -> bool:
    """Whether what that source names was in SUBMISSIONS already."""
    seen = folders.read_json(one.folder / _SEEN) or {}
    return any(name in seen and seen[name] <= then for name in _names(source))


def _names(source: str) -> set[str]:
    """What a source is called in SUBMISSIONS."""
    return {as_written(f"{_first(source)}{end}") for end in ("", ".zip")}


def _first(source: str) -> str:
    return next(iter(PurePath(source).parts), "")


def settle(one: Class, student: Student, taken: Snapshot, begin: datetime) -> None:
    """Let what was looked at count. The same files as before came in when they did before."""
    place = one.of(student)
    known = _known(place)
    data = _dated(taken, one, student, known, begin)
    same = _contents(place / PARTIAL) == _contents(place / SUBMISSION)
    if taken.status == known.get("status") == OK and same:
        data |= {key: known.get(key) for key in ("detail", "dated", "taken", "received")}
    folders.write_json(place / COMING, data)
    history.finish(place)


def _contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*")}


def _is_of_another_source(place: Path, student: Student) -> bool:
    """Whether what was taken came from elsewhere than the roster says now."""
    return bool(_known(place).get("source", student.source) != student.source)


def _known(place: Path) -> Mapping[str, Any]:
    """snapshot.json; empty where nobody has looked yet."""
    return folders.read_json(place / SNAPSHOT) or {}


def _rank(found: str) -> int:
    return _RANKS.index(found) if found in _RANKS else len(_RANKS)


def _dated(
    taken: Snapshot,
    one: Class,
    student: Student,
    known: Mapping[str, Any],
    begin: datetime,
) -> dict[str, Any]:
    """What snapshot.json says. `received` is what counts where the roster names no time, and
    `dated` why.

    What was not there at first came later, and so did other files than those that were taken at
    first, unless it is the teacher who looks elsewhere now, at what was there already.
    """
    now = begin.isoformat(timespec="seconds")
    where = {"source": student.source, "submissions": str(one.submissions)}
    when = {"taken": now, "received": now if taken.fetched else None, "dated": ""}
    data = {**asdict(taken), **where, **when}
    moved = known.get("submissions") != where["submissions"] and not taken.fetched
    if not known or (moved and known["status"] != OK):
        return data
    if taken.status != OK:
        return data | {"taken": known["taken"]}  # the first look
    elsewhere = known.get("source", student.source) != student.source and not taken.fetched
    if elsewhere and _was_there(one, student.source, known["taken"]):
        return data | {"received": known["received"]}
    earlier = "other files were taken" if known["status"] == OK else STATUS[known["status"]]
    told = (
        f"{earlier} at {known['taken']}, so what came later counts from when it was taken; "
        "the roster's column received overrides that"
    )
    return data | {"received": now, "dated": told}
