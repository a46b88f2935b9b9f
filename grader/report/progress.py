"""What is seen while checks run: a moving line per exercise, or one plain line when it starts."""

from __future__ import annotations

from types import TracebackType

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from grader.checks.listener import Listener
from grader.checks.outcome import Outcome
from grader.exercise import CHECKS
from grader.messages.wording import counted
from grader.report.words import check_name


class PlainProgress(Listener):
    """Prints one line for each exercise and device."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._begun: set[tuple[str, str]] = set()

    def __enter__(self) -> PlainProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        pass

    def note(self, text: str) -> None:
        self._console.print(text)

    def check(self, exercise: str, device: str, check: str) -> None:
        if (exercise, device) not in self._begun:
            self._begun.add((exercise, device))
            self._console.print(f"Checking {exercise} on the {device} ...")


class LiveProgress(Listener):
    """Keeps a moving line for each exercise and device; it vanishes at the end."""

    def __init__(self, console: Console) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._tasks: dict[tuple[str, str], TaskID] = {}
        self._shapes: dict[tuple[str, str], int] = {}
        self._check: dict[tuple[str, str], str] = {}

    def __enter__(self) -> LiveProgress:
        self._progress.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._progress.stop()

    def note(self, text: str) -> None:
        self._progress.console.print(text)

    def check(self, exercise: str, device: str, check: str) -> None:
        key = exercise, device
        if key not in self._tasks:
            self._tasks[key] = self._progress.add_task("", total=None)
            self._shapes[key] = 0
        self._check[key] = check
        self._draw(key)

    def case(self, exercise: str, device: str) -> None:
        key = exercise, device
        self._shapes[key] = self._shapes.get(key, 0) + 1
        self._draw(key)

    def outcome(self, outcome: Outcome) -> None:
        if outcome.check == CHECKS[-1]:
            task = self._tasks.pop((outcome.exercise, outcome.device), None)
            if task is not None:
                self._progress.remove_task(task)

    def _draw(self, key: tuple[str, str]) -> None:
        exercise, device = key
        task = self._tasks.get(key)
        if task is not None:
            shapes = f", {counted(self._shapes[key], 'shape')}" if self._shapes[key] else ""
            words = f"{exercise} on the {device}: {check_name(self._check[key])}{shapes}"
            self._progress.update(task, description=words)


def progress(console: Console, plain: bool) -> PlainProgress | LiveProgress:
    return PlainProgress(console) if plain else LiveProgress(console)
