"""What `bench` prints of one kernel: times on a GPU, counters on the simulator."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from grader.bench.clock import LeftOut, ShapeResult, ShapeTimes
from grader.bench.preparation import Counted, Prepared, Refusal
from grader.counters import total
from grader.device import LaunchConfig
from grader.messages import say
from grader.report.line import Line, line, paragraph, show
from grader.report.words import check_name
from grader.timing.roofline import Roof, naive_bytes

_TITLES = ("shape", "time", "GFLOP/s", "x naive", "x NumPy", "of cuBLAS", "of the roof")
_NONE = "-"


def refusal_lines(refusal: Refusal, short: str, arguments: str) -> Iterator[Line]:
    """Why a kernel is not measured, and the command that shows more."""
    finding = refusal.finding
    yield line(
        "Not measured: the check ",
        (check_name(refusal.check), "bold"),
        " fails: ",
        (finding.verdict.value, "bold red"),
    )
    yield from paragraph(say(finding), "  ")
    shape = f" SHAPE={finding.shape}" if finding.shape else ""
    yield line("  Next: ", (f"make test EX={short}{shape}{arguments}", "bold"))


def refused_line(name: str, refusal: Refusal) -> Line:
    """The same in one line, among others."""
    verdict = (refusal.finding.verdict.value, "bold red")
    return line(f"  {name:<12}not measured, {check_name(refusal.check)} fails: ", verdict)


def head_lines(prepared: Prepared, config: LaunchConfig | None, where: str) -> Iterator[Line]:
    """Which kernel, and for which shapes it is right."""
    entry = prepared.entry
    geometry = ""
    if config is not None:
        tiles = f"{config.tile_m} x {config.tile_n} x {config.tile_k}"
        geometry = f": block {config.block_x} x {config.block_y}, tile {tiles}"
    name = entry.submission.name if entry.submission else str(entry.path)
    yield line((f"{entry.exercise.name}  ", "bold"), f"{name}{geometry}")
    if prepared.lacking:
        yield line(f"No counters: the file uses {prepared.lacking}.")
    if prepared.edge is not None:
        command = f"make test EX={entry.exercise.short} SHAPE={prepared.edge.shape}"
        yield line(
            ("Right for whole tiles only", "yellow"),
            f" ({where}), so only those are measured. Next: {command}",
        )
    else:
        yield line(("Right", "green"), f" for whole tiles and for ragged shapes ({where}).")


def gpu_line(name: str, roof: Roof | None, rows: Sequence[ShapeResult]) -> Line:
    """Its peak, and clocks and heat while the last shape was measured."""
    peak = f": {roof.peak_gflops:,.0f} GFLOP/s at most" if roof else ""
    known = [row.conditions for row in rows if isinstance(row, ShapeTimes) and row.conditions]
    if not known:
        return line((name, "bold"), peak)
    last = known[-1]
    held = f", held back by {', '.join(last.throttle)}" if last.throttle else ""
    state = f"; {last.sm_clock_mhz} MHz, {last.temperature_c} C, {last.power_w:.0f} W{held}"
    return line((name, "bold"), peak, state)


def print_times(rows: Sequence[ShapeResult], screen: Console, plain: bool) -> None:
    """The table of times; with `plain`, lines."""
    timed = [row for row in rows if isinstance(row, ShapeTimes)]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for title in _TITLES:
        table.add_column(title, justify="right", no_wrap=True)
    for row in timed:
        table.add_row(*_cells(row))
    if plain or is_too_wide(table, screen):
        show(screen, (line(f"{row.shape}: {told(row)}") for row in timed))
    else:
        screen.print(table, soft_wrap=False)
    show(screen, _notes(rows))


def is_too_wide(table: Table, screen: Console) -> bool:
    """Whether cells would be cut off; plain lines are then easier to read."""
    endless = screen.options.update_width(1000)
    return screen.measure(table, options=endless).maximum > screen.width


def told(row: ShapeResult) -> str:
    """One row as plain words."""
    if isinstance(row, LeftOut):
        return f"left out, {row.reason}"
    pairs = zip(_TITLES[1:], _cells(row)[1:], strict=True)
    return ", ".join(f"{title} {cell}" for title, cell in pairs if cell != _NONE)


def _cells(row: ShapeTimes) -> tuple[str, ...]:
    about = "" if row.numpy_measured else "~"
    return (
        str(row.shape),
        duration(row.student_s),
        f"{row.gflops:,.0f}",
        f"{row.speedup:.2f}",
        f"{about}{row.numpy_s / row.student_s:,.3g}" if row.numpy_s else _NONE,
        f"{row.cublas_s / row.student_s:.0%}" if row.cublas_s else _NONE,
        f"{row.roof_share:.0%}" if row.bound_s else _NONE,
    )


def _notes(rows: Sequence[ShapeResult]) -> Iterator[Line]:
    for row in rows:
        if isinstance(row, LeftOut):
            yield line(f"{row.shape}: left out, {row.reason}.")
        elif row.note:
            yield line(f"{row.shape}: disturbed, {row.note}")
    timed = [row for row in rows if isinstance(row, ShapeTimes)]
    yield line("naive: the grader's own kernel, 16 x 16 threads, no shared memory, A * B.")
    if any(row.numpy_s for row in timed):
        about = (
            " (~: told from a smaller shape)" if any(not r.numpy_measured for r in timed) else ""
        )
        yield line(f"NumPy: float32 on all cores of this machine's processor{about}.")
    if not any(row.cublas_s for row in timed):
        yield line("cuBLAS was not found, so there is nothing to compare with.")


def duration(seconds: float) -> str:
    """`0.184 ms`, `23.5 ms`, `1.2 s`"""
    return f"{seconds:.3g} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


def counter_lines(counted: Counted, roof: Roof | None) -> Iterator[Line]:
    """Counters instead of times, beside those of the naive kernel where they follow from theory."""
    shape, counters = counted.shape, counted.counters
    yield line((f"Counted by the simulator at {shape}", "bold"))
    for what, value in _counts(counted):
        yield line(f"  {what:<24}{value}")
    if roof is not None:
        yield line()
        yield from _position(counters.arithmetic_intensity(shape), roof)


def _counts(counted: Counted) -> Iterator[tuple[str, str]]:
    shape, counters = counted.shape, counted.counters
    memory, shared = counters.select("global"), counters.select("shared")
    requests, sectors = total(memory, "requests"), total(memory, "sectors")
    ideal = total(memory, "ideal_sectors")
    yield "global requests", f"{requests:,}"
    if requests:
        yield "sectors per request", f"{sectors / requests:.2f} ({ideal / requests:.2f} would do)"
    fewer = naive_bytes(shape) / counters.bytes_moved if counters.bytes_moved else 0.0
    yield "bytes moved", f"{counters.bytes_moved:,} (naive, 16 x 16 threads: {fewer:.1f} times)"
    yield "arithmetic intensity", f"{counters.arithmetic_intensity(shape):.2f} operations a byte"
    if shared:
        wavefronts = total(shared, "wavefronts")
        each = 32 * wavefronts / shape.multiply_adds
        yield "shared wavefronts", f"{wavefronts:,} ({each:.2f} for 32 multiply-adds)"
        share = f"{counters.conflict_share:.0%} of the wavefronts"
        yield "bank conflicts", f"{total(shared, 'bank_conflicts'):,} ({share})"


def _position(intensity: float, roof: Roof) -> Iterator[Line]:
    yield line(("Roofline", "bold"), f" of {roof}")
    most = roof.attainable_gflops(intensity)
    if intensity >= roof.ridge:
        told = f"arithmetic is the limit: at most {most:,.0f} GFLOP/s"
    else:
        told = (
            f"memory is the limit unless caches help: at most {most:,.0f} GFLOP/s, "
            f"{most / roof.peak_gflops:.0%} of the peak, which takes {roof.ridge:.0f} a byte"
        )
    yield from paragraph(f"{intensity:.2f} operations a byte: {told}.", "  ")
