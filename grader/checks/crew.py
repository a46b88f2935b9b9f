"""Spreads a plan over worker processes and passes their events on."""

from __future__ import annotations

import multiprocessing
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import cast

from grader import cores, interruption, machine_fault
from grader.checks.events import Event
from grader.checks.listener import Listener
from grader.checks.outcome import Outcome, Status
from grader.checks.plan import Plan
from grader.checks.session import CHECK_LIMIT_S
from grader.checks.worker import work
from grader.course import Target
from grader.exercise import CHECKS
from grader.finding import NOT_YOURS

# The belt around the belt: pytest-timeout cannot interrupt a call that never returns to Python.
# Who waits for a GPU says so every now and then, and is not silent.
SILENCE_LIMIT_S = CHECK_LIMIT_S["simulator"] + 60.0

# More simulators than this gain nothing: there are four exercises, and memory is shared.
MOST_SIMULATORS = 4

_ENDED = (
    "The grader's own process for {exercise} on the {device} ended early ({why}). "
    f"{NOT_YOURS} Next: {{next}}"
)
_SILENT = "it stopped answering"
# What systems do to a process when memory is full.
_KILLED = "look whether memory is full, then run it again"

# What a member's process runs: `work`, unless a test has another idea.
Job = Callable[[Connection, Plan, str, Target, Path], None]


class Member:
    """One worker process and the entry it is busy with."""

    def __init__(self, plan: Plan, kind: str, target: Target, log: Path, job: Job) -> None:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self.pipe: Connection = ours
        self.kind = kind
        self.log = log
        self.entry: int | None = None
        self.done: set[str] = set()
        self.process: BaseProcess = context.Process(
            target=job, args=(theirs, plan, kind, target, log), name=f"grader-{kind}"
        )
        resource_tracker.ensure_running()  # its own start would let the signals through again
        with interruption.kept_from_children():
            self.process.start()
        theirs.close()

    def begin(self, entry: int) -> None:
        self.entry = entry
        self.done = set()
        with suppress(OSError):  # a process that is gone shows when we listen to it
            self.pipe.send(entry)

    def end(self) -> None:
        """End the process, whatever it does; it closes its device."""
        self.pipe.close()
        self.process.terminate()
        self.process.join(5.0)
        if self.process.exitcode is None:
            self.process.kill()
            self.process.join()


class Crew:
    """Runs a plan: every entry on every kind of device."""

    def __init__(
        self,
        plan: Plan,
        kinds: Sequence[str],
        target: Target,
        job: Job = work,
        silence_limit_s: float = SILENCE_LIMIT_S,
    ) -> None:
        self._plan = plan
        self._target = target
        self._job = job
        self._silence_limit_s = silence_limit_s
        self._waiting = {kind: deque(range(len(plan.entries))) for kind in kinds}
        self._members: list[Member] = []

    def run(self, listener: Listener) -> None:
        """Returns when every check has an outcome; ends all processes also when interrupted."""
        with tempfile.TemporaryDirectory(prefix="matmul-grader-") as folder:
            try:
                with interruption.allowed():
                    for number, kind in enumerate(self._crew_list()):
                        self._hire(kind, Path(folder) / f"{number}.log")
                    while any(member.entry is not None for member in self._members):
                        self._listen(listener)
            finally:
                for member in self._members:
                    member.end()

    def _crew_list(self) -> list[str]:
        """One worker for the GPU, and as many simulators as there are cores to use."""
        kinds = list(self._waiting)
        busy = sum(entry.state == "started" for entry in self._plan.entries)
        spare = min(cores.usable(), MOST_SIMULATORS, busy) - 1
        return kinds + ["simulator"] * (spare if "simulator" in kinds else 0)

    def _hire(self, kind: str, log: Path) -> None:
        if self._waiting[kind]:
            member = Member(self._plan, kind, self._target, log, self._job)
            self._members.append(member)
            self._next(member)

    def _next(self, member: Member) -> None:
        member.entry = None
        if self._waiting[member.kind]:
            member.begin(self._waiting[member.kind].popleft())

    def _listen(self, listener: Listener) -> None:
        busy = {member.pipe: member for member in self._members if member.entry is not None}
        ready = wait(list(busy), self._silence_limit_s)
        if not ready:
            for member in busy.values():
                self._lose(member, listener, _SILENT)
        for pipe in ready:
            member = busy[cast(Connection, pipe)]
            try:
                event: Event = member.pipe.recv()
            except (EOFError, OSError):
                member.process.join(5.0)
                self._lose(member, listener, _ending(member.process.exitcode))
            else:
                self._pass_on(event, member, listener)

    def _pass_on(self, event: Event, member: Member, listener: Listener) -> None:
        if event.method == "finished":
            self._next(member)
        elif event.method == "failed":
            self._give_up(member, listener, str(event.arguments[0]))
        else:
            if event.method == "outcome":
                member.done.add(event.arguments[0].check)
            getattr(listener, event.method)(*event.arguments)

    def _lose(self, member: Member, listener: Listener, why: str) -> None:
        """Costs the checks of one exercise on one device; a new process takes the next one."""
        member.end()
        self._members.remove(member)
        exercise = self._exercise(member)
        killed = member.process.exitcode == -signal.SIGKILL and why != _SILENT
        step = _KILLED if killed else machine_fault.OTHERWISE
        text = _ENDED.format(exercise=exercise, device=member.kind, why=why, next=step)
        self._give_up(member, listener, text)
        self._hire(member.kind, member.log.with_suffix(".next.log"))

    def _give_up(self, member: Member, listener: Listener, text: str) -> None:
        printed = member.log.read_text(errors="replace")[-20_000:] if member.log.exists() else ""
        for check in CHECKS:
            if check not in member.done:
                listener.outcome(
                    Outcome(
                        exercise=self._exercise(member),
                        device=member.kind,
                        check=check,
                        description=check,
                        status=Status.GRADER_ERROR,
                        detail=text,
                        log=f"{text}\n{printed}",
                    )
                )

    def _exercise(self, member: Member) -> str:
        assert member.entry is not None, "only a busy member can be lost"
        return self._plan.entries[member.entry].exercise.name


def _ending(exit_code: int | None) -> str:
    """`killed by SIGKILL`, or `exit status 3`."""
    if exit_code is not None and exit_code < 0:
        with suppress(ValueError):
            return f"killed by {signal.Signals(-exit_code).name}"
    return f"exit status {exit_code}"
