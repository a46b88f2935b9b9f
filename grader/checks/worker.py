"""A process that runs the checks of one exercise after another on one device."""

from __future__ import annotations

import copyreg
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import FrameType, MappingProxyType
from typing import Any

from grader.checks.devices import compiler_check, open_device
from grader.checks.listener import Listener
from grader.checks.outcome import Outcome
from grader.checks.plan import Plan
from grader.checks.session import run_checks
from grader.checks.subject import Subject, Surroundings
from grader.course import Target
from grader.device import Device
from grader.finding import GraderFault


def _proxy(entries: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(entries)


def _reduce_proxy(proxy: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    return _proxy, (dict(proxy),)


# Plans, findings and outcomes hold read-only mappings, which pickle does not know by itself.
copyreg.pickle(MappingProxyType, _reduce_proxy)


@dataclass(frozen=True)
class Event:
    """A call of a Listener's method, sent to the parent; `method` "finished" ends an exercise."""

    method: str
    arguments: tuple[Any, ...] = ()


class Sender(Listener):
    """Sends every event to the parent."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def send(self, method: str, *arguments: Any) -> None:
        self._pipe.send(Event(method, arguments))

    def device(self, description: Mapping[str, Any]) -> None:
        self.send("device", dict(description))

    def note(self, text: str) -> None:
        self.send("note", text)

    def check(self, exercise: str, device: str, check: str) -> None:
        self.send("check", exercise, device, check)

    def case(self, exercise: str, device: str) -> None:
        self.send("case", exercise, device)

    def built(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        self.send("built", exercise, device, dict(facts))

    def counted(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        self.send("counted", exercise, device, dict(facts))

    def outcome(self, outcome: Outcome) -> None:
        self.send("outcome", outcome)


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
