"""What a worker process tells its parent: calls of a Listener's methods, sent through a pipe."""

from __future__ import annotations

import copyreg
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from types import MappingProxyType
from typing import Any

from grader.checks.listener import Listener
from grader.checks.outcome import Outcome


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
