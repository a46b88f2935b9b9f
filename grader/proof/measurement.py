"""A measurement: Nsight Compute's raw page as CSV, with where and when it was taken on top."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.finding import GraderFault

# What tells the launches apart. ncu adds three hundred columns about the GPU, the same in each row.
_KEPT = ("ID", "Kernel Name", "Block Size", "Grid Size", "CC")
_START = '"ID",'


class MeasurementError(GraderFault):
    """A CSV file is not what Nsight Compute wrote for this table; says which and why."""


@dataclass(frozen=True)
class Launches:
    """All launches of one kernel. `fingerprint` is that of the kernel then."""

    fingerprint: str
    launches: tuple[Mapping[str, int], ...]  # metric -> value

    def lowest(self, metric: str) -> int:
        return min(launch[metric] for launch in self.launches)

    def highest(self, metric: str) -> int:
        return max(launch[metric] for launch in self.launches)


@dataclass(frozen=True)
class Profile:
    """`about`: date, gpu, driver, nvcc, ncu. `kernels`: by name, in the order of the launches."""

    about: Mapping[str, str]
    kernels: Mapping[str, Launches]


def write(
    path: Path,
    about: Mapping[str, str],
    launches: Iterable[tuple[str, str]],
    page: str,
    metrics: Sequence[str],
) -> None:
    """The raw page's columns for `metrics`, under comment lines with the names and fingerprints of
    the kernels, in the order of their launches."""
    names, *rows = csv.reader(io.StringIO(page[page.index(_START) :]))
    kept = [names.index(name) for name in (*_KEPT, *metrics)]
    lines = [f"# {key}: {value}\n" for key, value in about.items()]
    lines += [f"# kernel: {name} | {fingerprint}\n" for name, fingerprint in launches]
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(lines)
        writer = csv.writer(stream, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerows([row[at] for at in kept] for row in (names, *rows) if row)


def read(path: Path) -> Profile:
    """Raises MeasurementError when the file holds other launches than its heading says."""
    text = path.read_text(encoding="utf-8")
    comments = re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE)
    kernels = [value.rpartition(" | ") for key, value in comments if key == "kernel"]
    rows = raw_page(text)
    each, rest = divmod(len(rows), max(len(kernels), 1))
    if rest or not each:
        raise MeasurementError(f"{path.name}: {len(rows)} rows for {len(kernels)} kernels")
    return Profile(
        {key: value for key, value in comments if key != "kernel"},
        {
            name: Launches(fingerprint, tuple(rows[number * each : (number + 1) * each]))
            for number, (name, _, fingerprint) in enumerate(kernels)
        },
    )


def raw_page(text: str) -> list[dict[str, int]]:
    """The metrics of each launch, in order, of `ncu --csv --page raw`.

    Lines of ncu itself ("==PROF== ...") and comments may stand before; a row of units follows the
    row of names.
    """
    start = text.find(_START)
    if start < 0:
        return []
    names, _units, *rows = csv.reader(io.StringIO(text[start:]))
    return [_metrics(dict(zip(names, row, strict=True))) for row in rows if row]


def _metrics(row: Mapping[str, str]) -> dict[str, int]:
    """The columns that are sums of a counter; ncu writes 75,272 with or without the comma."""
    return {
        name: int(float(value.replace(",", "")))
        for name, value in row.items()
        if "__" in name and name.endswith(".sum") and value
    }
