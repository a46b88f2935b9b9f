"""A sweep as a table, as plain lines, or as data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from grader.bench.listing import duration, is_too_wide
from grader.bench.preparation import Counted
from grader.counters import total
from grader.problems.matmul import Shape
from grader.report.line import Line, line, paragraph, show
from grader.sweep.measurement import MeasuredVariant, best, memory_cycles, name

_NONE = "-"
_FASTEST, _FEWEST = "best", "fewest cycles"
# In a table a title takes two lines, so that the columns stay narrow.
_HEADINGS = {
    "registers": "regis-\nters",
    "spilled": "spilled\nbytes",
    "bytes a FMA": "bytes\na FMA",
    "sectors a request": "sectors\na request",
    "wavefronts": "wave-\nfronts",
    "conflicts": "con-\nflicts",
}


@dataclass(frozen=True)
class Sweep:
    """What was found. `unrolling`: whether anything here can tell loops unrolled from others."""

    file: str
    shape: Shape  # of the times
    rows: tuple[MeasuredVariant, ...]
    timed: bool
    unrolling: bool

    @property
    def constants(self) -> tuple[str, ...]:
        return tuple(self.rows[0].variant.values)


def print_sweep(sweep: Sweep, screen: Console, plain: bool) -> None:
    at = f", times at {sweep.shape}" if sweep.timed else ""
    show(screen, [line((sweep.file, "bold"), at)])
    table = _table(sweep)
    if plain or is_too_wide(table, screen):
        show(screen, _plain(sweep))
    else:
        screen.print(table, soft_wrap=False)
    show(screen, _notes(sweep))


def _titles(sweep: Sweep) -> list[str]:
    times = ["time", "GFLOP/s", "x naive"] if sweep.timed else []
    compiled = ["registers", "spilled"] if any(row.resources for row in sweep.rows) else []
    counted = ["bytes a FMA", "sectors a request", "wavefronts", "conflicts"]
    estimate = [] if sweep.timed else ["cycles"]
    return [*times, *compiled, *counted, *estimate]


def _cells(row: MeasuredVariant, sweep: Sweep) -> dict[str, str]:
    cells = {}
    if row.timed:
        cells["time"] = duration(row.timed.student_s)
        cells["GFLOP/s"] = f"{row.timed.gflops:,.0f}"
        cells["x naive"] = f"{row.timed.speedup:.2f}"
    if row.resources:
        cells["registers"] = str(row.resources.get("registers", ""))
        cells["spilled"] = f"{row.resources.get('spill', 0):,}"
    if row.counted:
        shape, counters = row.counted.shape, row.counted.counters
        memory, shared = counters.select("global"), counters.select("shared")
        requests = total(memory, "requests")
        cells["bytes a FMA"] = f"{counters.bytes_moved / shape.multiply_adds:.3f}"
        if requests:
            cells["sectors a request"] = f"{total(memory, 'sectors') / requests:.2f}"
        if shared:
            each = 32 * total(shared, "wavefronts") / shape.multiply_adds
            cells["wavefronts"] = f"{each:.2f}"
            cells["conflicts"] = f"{counters.conflict_share:.0%}"
        if not sweep.timed:
            cells["cycles"] = f"{memory_cycles(row.counted):.2f}"
    return cells


def _remark(row: MeasuredVariant, wins: bool) -> tuple[str, str]:
    """What stands behind a row, and its style."""
    words = [
        *([_FASTEST if row.timed else _FEWEST] if wins else []),
        *(["as it is now"] if row.variant.original else []),
        *([row.problem] if row.problem else []),
        *(["whole tiles only"] if not row.ragged else []),
    ]
    style = "bold green" if wins else "red" if row.problem else ""
    return ", ".join(words), style


def _table(sweep: Sweep) -> Table:
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for constant in sweep.constants:
        made.add_column(constant, justify="right", no_wrap=True)
    made.add_column("unroll", no_wrap=True)
    for title in _titles(sweep):
        made.add_column(_HEADINGS.get(title, title), justify="right", no_wrap=True)
    made.add_column("", no_wrap=True)
    winners = best(sweep.rows)
    for row in sweep.rows:
        cells = _cells(row, sweep)
        remark, style = _remark(row, row in winners)
        values = [str(row.variant.values.get(constant, "")) for constant in sweep.constants]
        shown = [cells.get(title, _NONE) for title in _titles(sweep)]
        made.add_row(*values, row.variant.unrolling, *shown, remark, style=style)
    return made


def _plain(sweep: Sweep) -> Iterator[Line]:
    winners = best(sweep.rows)
    for row in sweep.rows:
        cells = ", ".join(f"{title} {cell}" for title, cell in _cells(row, sweep).items())
        remark, style = _remark(row, row in winners)
        parts = "; ".join(part for part in (cells, remark) if part)
        yield line((f"{name(row.variant)}: {parts}", style))


def _notes(sweep: Sweep) -> Iterator[Line]:
    details = {row.detail: name(row.variant) for row in reversed(sweep.rows) if row.detail}
    for detail, variant in reversed(details.items()):
        yield from paragraph(detail, "", first=f"{variant}: ")
    if not sweep.timed:
        yield line("There is no GPU here to time them on: counters only.")
        if not sweep.unrolling:
            told = "Unrolling is left out: it changes no counter, only registers and time."
            yield line(f"{told} Next: make nvcc")
    shapes = list(dict.fromkeys(row.counted.shape for row in sweep.rows if row.counted))
    if not shapes:
        return
    at = str(shapes[0]) if len(shapes) == 1 else "shapes of whole tiles of their own"
    told = f"Counted by the simulator at {at}. FMA: a multiply-add; wavefronts: for 32 of them"
    if not sweep.timed:
        told += (
            "; cycles: what shared memory (a wavefront a cycle) and the way to L2 (64 bytes a "
            "cycle) need for 32 of them, an estimate: a GPU can time them in another order"
        )
    yield from paragraph(f"{told}.")


def compose(sweep: Sweep) -> dict[str, Any]:
    """Everything as data; times in seconds."""
    winners = best(sweep.rows)
    return {
        "file": sweep.file,
        "shape": str(sweep.shape),
        "variants": [
            {
                "values": dict(row.variant.values),
                "unroll": row.variant.unrolling,
                "original": row.variant.original,
                "best": row in winners,
                "problem": row.problem,
                "detail": row.detail,
                "whole_tiles_only": not row.ragged,
                "seconds": row.timed.student_s if row.timed else None,
                "baseline_seconds": row.timed.baseline_s if row.timed else None,
                "resources": dict(row.resources),
                "counters": _counters(row.counted) if row.counted else None,
            }
            for row in sweep.rows
        ],
    }


def _counters(counted: Counted) -> dict[str, Any]:
    counters = counted.counters
    memory, shared = counters.select("global"), counters.select("shared")
    return {
        "shape": str(counted.shape),
        "bytes_moved": counters.bytes_moved,
        "requests": total(memory, "requests"),
        "sectors": total(memory, "sectors"),
        "wavefronts": total(shared, "wavefronts"),
        "bank_conflicts": total(shared, "bank_conflicts"),
    }
