"""A process that runs the checks of one exercise after another on one device."""

from __future__ import annotations

import os
import signal
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType

from grader.checks.devices import compiler_check, open_device
from grader.checks.events import Sender
from grader.checks.plan import Plan
from grader.checks.session import run_checks
from grader.checks.subject import Subject, Surroundings
from grader.course import Target
from grader.device import Device
from grader.finding import GraderFault


def work(pipe: Connection, plan: Plan, kind: str, target: Target, log: Path) -> None:
    """Answer numbers of entries with the events of their checks, until the pipe's end."""
    # A terminal's signals (see kept_from_children) reach the parent, which ends us.
    signal.signal(signal.SIGTERM, _leave)
    _redirect_output(log)
    sender = Sender(pipe)
    device = open_device(kind, target, sender.note)
    try:
        sender.device(device.describe())
        while True:
            _run(plan, pipe.recv(), device, target, sender)
            sender.send("finished")
    except (EOFError, BrokenPipeError, KeyboardInterrupt):
        pass  # the parent is gone or wants us gone; nobody waits for the answers
    finally:
        device.close()


def _run(plan: Plan, number: int, device: Device, target: Target, sender: Sender) -> None:
    def case_done(subject: Subject) -> None:
        sender.case(subject.exercise.name, device.kind)

    around = Surroundings(target, compiler_check(target), case_done=case_done)
    subject = Subject(plan.entries[number], device, plan, around)
    try:
        run_checks((subject,), sender)
    except GraderFault as fault:
        sender.send("failed", str(fault))


def _leave(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt  # the only exception that pytest and hypothesis let through


def _redirect_output(log: Path) -> None:
    """What this process prints is nobody's result; it is kept in case the process dies."""
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os.close(descriptor)
