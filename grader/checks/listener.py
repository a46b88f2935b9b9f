"""Who hears what happens while checks run: the ledger keeps it, a progress display shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from grader.checks.outcome import Outcome


class Listener:
    """Told in the order of events; devices interleave, the checks of one subject do not. What a
    listener does not care about, it does not define."""

    def device(self, description: Mapping[str, Any]) -> None:
        """A device is in use; the entry of `devices` in results.json."""

    def note(self, text: str) -> None:
        """Something that the reader should know while waiting ("2 before you")."""

    def check(self, exercise: str, device: str, check: str) -> None:
        """A check starts."""

    def case(self, exercise: str, device: str) -> None:
        """One more shape is done."""

    def built(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        """A submission compiled; the entry of `build` in results.json."""

    def counted(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        """A launch was counted; the entry of `counters` in results.json."""

    def outcome(self, outcome: Outcome) -> None:
        """A check ended."""


@dataclass
class Ledger(Listener):
    """Keeps everything, so that a record can be written at any moment."""

    outcomes: list[Outcome] = field(default_factory=list)
    devices: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    builds: dict[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    counters: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def device(self, description: Mapping[str, Any]) -> None:
        self.devices[str(description["kind"])] = description

    def built(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        self.builds[exercise, device] = facts

    def counted(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        self.counters[exercise] = facts

    def outcome(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)

    def of(self, exercise: str) -> list[Outcome]:
        """The outcomes of one exercise, simulator first, in the order of the checks."""
        found = [outcome for outcome in self.outcomes if outcome.exercise == exercise]
        return sorted(found, key=lambda outcome: outcome.device != "simulator")


@dataclass(frozen=True)
class Everyone(Listener):
    """Passes every event on to several listeners."""

    listeners: Sequence[Listener]

    def device(self, description: Mapping[str, Any]) -> None:
        for listener in self.listeners:
            listener.device(description)

    def note(self, text: str) -> None:
        for listener in self.listeners:
            listener.note(text)

    def check(self, exercise: str, device: str, check: str) -> None:
        for listener in self.listeners:
            listener.check(exercise, device, check)

    def case(self, exercise: str, device: str) -> None:
        for listener in self.listeners:
            listener.case(exercise, device)

    def built(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        for listener in self.listeners:
            listener.built(exercise, device, facts)

    def counted(self, exercise: str, device: str, facts: Mapping[str, Any]) -> None:
        for listener in self.listeners:
            listener.counted(exercise, device, facts)

    def outcome(self, outcome: Outcome) -> None:
        for listener in self.listeners:
            listener.outcome(outcome)
