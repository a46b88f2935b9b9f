"""What a teacher sees while a class is graded: how many there are to be, and each who is done."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace

from grader.classroom import gradebook
from grader.classroom.folder import Class
from grader.classroom.gradebook import Row
from grader.classroom.roster import Student
from grader.messages.wording import counted
from grader.report.words import visible

# Often enough for a reader, and seldom enough for a network's file system and a large class.
_LOOK_S = 2.0


@contextmanager
def told(one: Class) -> Iterator[None]:
    """Meanwhile a line for each student whose job ended, wherever it ran; none where all are done.

    job.json is written last, so it alone tells: nothing is asked of Snakemake or of a cluster.
    """
    waiting = [student for student in one.graded if not _is_done(one, student)]
    if not waiting:
        yield
        return
    print(
        f"{len(waiting)} of {counted(len(one.students), 'student')} to be graded. Logs: "
        f"{one.folder / 'snakemake.log'}, {one.folder / 'students' / '*' / 'grading.log'}",
        flush=True,
    )
    ended = threading.Event()
    watching = threading.Thread(target=_watch, args=(one, waiting, ended), daemon=True)
    watching.start()
    try:
        yield
    finally:
        ended.set()
        watching.join()


def _watch(one: Class, waiting: list[Student], ended: threading.Event) -> None:
    """Look until the end and once more; silent where nobody reads any longer."""
    count, last = len(waiting), False
    with suppress(OSError):
        while waiting and not last:
            last = ended.wait(_LOOK_S)
            done = [student for student in waiting if _is_done(one, student)]
            waiting = [student for student in waiting if student not in done]
            number = count - len(waiting) - len(done)
            for row in gradebook.rows(replace(one, students=tuple(done)), None):
                number += 1
                print(f"{number} of {count}: {_result(row)}", flush=True)


def _is_done(one: Class, student: Student) -> bool:
    return (one.of(student) / "job.json").exists()


def _result(row: Row) -> str:
    """`ada: graded`; no points, because logs have other readers than grade books."""
    return f"{visible(row.student.name)}: {gradebook.outcome(row)}"
