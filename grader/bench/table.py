"""The outcome of `bench` as a table, or as plain lines."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.table import Table

from grader.bench.oclgrind import CHECKS, PACKAGES, SIZE
from grader.bench.outcome import BenchOutcome, Goal, goals
from grader.report.line import Line, line, show

_UNIT = "million multiply-adds/s"
_KERNELS = "How fast a kernel of yours is: make bench EX=tiled"


def print_outcome(outcome: BenchOutcome, screen: Console, plain: bool) -> None:
    show(screen, [line(f"Simulator, {outcome.compiler}, one core, {outcome.shape}")])
    if plain:
        show(screen, plain_rows(outcome))
    else:
        screen.print(table(outcome), soft_wrap=False)
    show(screen, closing_lines(outcome))


def plain_rows(outcome: BenchOutcome) -> Iterator[Line]:
    for name, off, on, build in _rows(outcome):
        built = f", build {build}" if build else ""
        yield line(f"{name}: {off} {_UNIT} without observers, {on} with all{built}")


def table(outcome: BenchOutcome) -> Table:
    made = Table(box=box.SIMPLE, caption=_UNIT)
    made.add_column("kernel")
    for title in ("observers off", "observers on", "build"):
        made.add_column(title, justify="right", no_wrap=True)
    for row in _rows(outcome):
        made.add_row(*row)
    return made


def _rows(outcome: BenchOutcome) -> Iterator[tuple[str, str, str, str]]:
    other = outcome.oclgrind
    unit = other.checked_per_s if other else None
    for kernel in outcome.kernels:
        off, on = (_speed(per_s, unit) for per_s in (kernel.off_per_s, kernel.on_per_s))
        yield kernel.name, off, on, f"{kernel.build_s:.2f} s"
    if other:
        name = f"{outcome.kernels[-1].name} in Oclgrind"
        yield name, _speed(other.plain_per_s, unit), _speed(other.checked_per_s, unit), ""


def _speed(per_s: float, unit: float | None) -> str:
    text = f"{per_s / 1e6:.3g}"
    return text if unit is None else f"{text} ({_times(per_s / unit)} x)"


def _times(ratio: float) -> str:
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}"


def closing_lines(outcome: BenchOutcome) -> Iterator[Line]:
    for goal in goals(outcome):
        yield line(f"{goal.text}: {goal.value}, target {goal.target}: ", _word(goal))
    if outcome.oclgrind:
        options = " ".join(CHECKS)
        ran = f"Oclgrind ran {SIZE}x{SIZE}x{SIZE}; its observers on: {options}"
        yield line(f"{ran}; (2 x): twice as fast as that.")
    else:
        yield line(f"Oclgrind cannot be compared with here. It needs the packages {PACKAGES}.")
    yield line(_KERNELS)


def _word(goal: Goal) -> tuple[str, str]:
    if goal.reached is None:
        return "not measured", "yellow"
    return ("reached", "green") if goal.reached else ("not reached", "bold red")
