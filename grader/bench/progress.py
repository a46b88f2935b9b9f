"""A bar while something is measured; a line where nobody watches a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

# Called when a step begins, with what it is about.
Step = Callable[[str], None]


def silent(text: str) -> None:
    """A Step that shows nothing."""


@contextmanager
def steps(screen: Console | None, plain: bool, title: str, count: int) -> Iterator[Step]:
    """`count` is how many steps there will be; without a screen nothing is shown."""
    if screen is None:
        yield silent
        return
    if plain:
        screen.print(f"{title} ...")
        yield silent
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=30))
    bar = Progress(
        *columns, MofNCompleteColumn(), TimeElapsedColumn(), console=screen, transient=True
    )
    with bar:
        task = bar.add_task(title, total=count)
        begun = False

        def step(text: str) -> None:
            nonlocal begun
            bar.update(task, advance=int(begun), description=f"{title}: {text}")
            begun = True

        yield step
