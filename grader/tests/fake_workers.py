"""Worker processes that fail in known ways; a module, since other processes must import them."""

from __future__ import annotations

import os
import signal
import time
from multiprocessing.connection import Connection
from pathlib import Path

from grader.checks.events import Sender
from grader.checks.outcome import Outcome, Status
from grader.checks.plan import Plan
from grader.course import Target
from grader.exercise import CHECKS


def passes(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Passes every check of every exercise."""
    while (number := pipe.recv()) is not None:
        _pass(Sender(pipe), plan, number, kind, CHECKS)


def dies(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Ends in the middle of the first exercise and passes the others."""
    while (number := pipe.recv()) is not None:
        if number == 0:
            log.write_text("last words")
            _pass(Sender(pipe), plan, number, kind, CHECKS[:2], finished=False)
            os._exit(3)
        _pass(Sender(pipe), plan, number, kind, CHECKS)


def hangs(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Never answers for the first exercise and passes the others."""
    while (number := pipe.recv()) is not None:
        if number == 0:
            time.sleep(600)
        _pass(Sender(pipe), plan, number, kind, CHECKS)


def hangs_later(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Starts a check, and never says how it ended."""
    while (number := pipe.recv()) is not None:
        Sender(pipe).check(plan.entries[number].exercise.name, kind, CHECKS[0])
        time.sleep(600)


def gives_up(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Reports that the checks could not be run."""
    while pipe.recv() is not None:
        Sender(pipe).send("failed", "pytest is missing.")
        Sender(pipe).send("finished")


def killed_at_once(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Is killed before it says hello, whenever the first exercise waits."""
    if pipe.poll(10.0) and (number := pipe.recv()) is not None:
        if number == 0:
            _kill_me()
        _pass(Sender(pipe), plan, number, kind, CHECKS)
        passes(pipe, plan, kind, target, log)


def killed_in_a_check(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Is killed while the third check of the first exercise runs."""
    while (number := pipe.recv()) is not None:
        if number == 0:
            _pass(Sender(pipe), plan, number, kind, CHECKS[:2], finished=False)
            Sender(pipe).check(plan.entries[0].exercise.name, kind, CHECKS[2])
            _kill_me()
        _pass(Sender(pipe), plan, number, kind, CHECKS)


def killed_in_an_answer(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Is killed when half an outcome of the first exercise is in the pipe."""
    while (number := pipe.recv()) is not None:
        if number == 0:
            _pass(Sender(pipe), plan, number, kind, CHECKS[:2], finished=False)
            os.write(pipe.fileno(), (1000).to_bytes(4, "big") + b"half an outcome")
            _kill_me()
        _pass(Sender(pipe), plan, number, kind, CHECKS)


def always_killed(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """No process lives long enough to answer anything."""
    _kill_me()


def _kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _pass(
    sender: Sender,
    plan: Plan,
    number: int,
    kind: str,
    checks: tuple[str, ...],
    finished: bool = True,
) -> None:
    exercise = plan.entries[number].exercise.name
    for check in checks:
        sender.check(exercise, kind, check)
        sender.outcome(Outcome(exercise, kind, check, f"{check}.", Status.PASS))
    if finished:
        sender.send("finished")
