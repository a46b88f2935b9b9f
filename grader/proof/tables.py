"""The tables of the proof, in Markdown, and their places in README.md."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from grader.proof.comparison import Cell, ComparedKernel

README = Path(__file__).with_name("README.md")

_GLOBAL = (
    "global load requests",
    "global load sectors",
    "global store requests",
    "global store sectors",
)
_STORES = ("shared store wavefronts", "shared store conflicts")
_LOADS = ("shared load wavefronts", "shared load conflicts")


def taken(about: Mapping[str, str]) -> str:
    """When and with what: "2026-11-29, NVIDIA H200, driver 580.159.04, nvcc V13.0.88, ..."."""
    first = [about[key] for key in ("date", "gpu")]
    rest = [f"{key.replace('_', '-')} {about[key]}" for key in about if key not in ("date", "gpu")]
    return ", ".join([*first, *rest])


def counters(rows: Sequence[ComparedKernel]) -> str:
    """Two tables, global and shared memory, then the reasons for what differs."""
    touching = [row for row in rows if any(row.cells[name].hardware for name in _STORES + _LOADS)]
    head = ("kernel", "shape", "load requests", "load sectors", "store requests", "store sectors")
    parts = [
        "Global memory, simulator and hardware:",
        _table(head, ((_name(row), str(row.kernel.shape), *_cells(row, _GLOBAL)) for row in rows)),
        "Shared memory, simulator and hardware. Loads are compared as written, or, where nvcc made"
        " fewer of them than the source has, as merged:",
        _table(
            (
                "kernel",
                "store wavefronts",
                "of these conflicts",
                "loads",
                "load wavefronts",
                "of these conflicts",
            ),
            (
                (
                    _name(row),
                    *_cells(row, _STORES),
                    "merged" if row.merges else "as written",
                    *_cells(row, _LOADS),
                )
                for row in touching
            ),
        ),
        *_remarks(rows),
    ]
    return "\n\n".join(parts)


def _name(row: ComparedKernel) -> str:
    return row.kernel.name + (" (changed since)" if row.stale else "")


def _cells(row: ComparedKernel, names: Iterable[str]) -> Iterator[str]:
    return (_cell(row.cells[name]) for name in names)


def _cell(cell: Cell) -> str:
    sign = "=" if cell.equal else "≠"
    most = f" to {cell.highest:,}" if cell.highest != cell.hardware else ""
    return f"{cell.simulator:,} {sign} {cell.hardware:,}{most}"


def _remarks(rows: Sequence[ComparedKernel]) -> Iterator[str]:
    cells = [cell for row in rows for cell in row.cells.values()]
    equal = sum(cell.equal for cell in cells)
    yield f"Equal: {equal} of {len(cells)} counters of {len(rows)} kernels."
    reasons = [
        f"- {row.kernel.name}, {name}: {reason}."
        for row in rows
        for name, reason in row.kernel.differs.items()
        if not row.cells[name].equal
    ]
    missing = [
        f"- {row.kernel.name}, {name}: no reason." for row in rows for name in row.unexplained
    ]
    if reasons or missing:
        yield "Why the others differ:"
        yield "\n".join([*reasons, *missing])


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def found(rows: Iterable[Sequence[str]], tools: Sequence[str]) -> str:
    """Who finds what: a fixture a row, then what each tool and the simulator say."""
    return _table(("fixture", *tools, "the simulator"), rows)


def put(text: str, name: str, part: str) -> str:
    """`text` with `part` between the marks of that name."""
    begin, end = f"<!-- BEGIN {name} -->", f"<!-- END {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"{begin} and {end} stand once in the text, in this order")
    return pattern.sub(lambda _: f"{begin}\n{part}\n{end}", text)


def inside(text: str, name: str) -> str:
    """What stands between the marks of that name."""
    return text.split(f"<!-- BEGIN {name} -->\n")[1].split(f"\n<!-- END {name} -->")[0]


def write(name: str, part: str, path: Path = README) -> None:
    path.write_text(put(path.read_text(encoding="utf-8"), name, part), encoding="utf-8")
