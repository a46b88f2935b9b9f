"""`python -m grader.proof`: the simulator's counters beside the hardware's.

On a machine with a GPU and Nsight Compute it measures first; elsewhere it takes the measurement
that comes with the project.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from grader.checks.devices import open_simulator
from grader.course import load as load_course
from grader.driver import find_driver
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.proof import comparison, kernels, measurement, nsight, tables
from grader.simulator.device import SimulatorDevice

HERE = Path(__file__).resolve().parent
COMMITTED = HERE / "h200.csv"


def main(arguments: Sequence[str] | None = None) -> int:
    """0: every counter is equal, or kernels.toml says why not; 1: one differs; 2: an error."""
    parser = argparse.ArgumentParser(prog="python -m grader.proof", description=__doc__)
    parser.add_argument("--measured", type=Path, help="compare with this file; measure nothing")
    parser.add_argument("--write", action="store_true", help="put the tables into README.md")
    options = parser.parse_args(arguments)
    try:
        path = options.measured or _measure() or COMMITTED
        rows = compare(measurement.read(path))
        part = counters_part(path, rows)
    except GraderFault as fault:
        print(fault, file=sys.stderr)
        return 2
    print(part)
    if options.write:
        tables.write("counters", part)
    return 1 if any(row.unexplained for row in rows) else 0


def _measure() -> Path | None:
    """The file of a new measurement; None where there is nothing to measure with."""
    if find_driver().problem or nsight.find_tool("ncu") is None:
        return None
    metrics = [*comparison.METRICS.values(), comparison.INSTRUCTIONS]
    return nsight.measure(kernels.load(), metrics, HERE)


def compare(
    measured: measurement.Profile, device: SimulatorDevice | None = None
) -> list[comparison.ComparedKernel]:
    """Every kernel of the table that was measured, in the simulator of the course's GPU."""
    device = device or open_simulator(load_course(PROJECT).target)
    try:
        return [
            comparison.compare(kernel, measured.kernels[kernel.name], device)
            for kernel in kernels.load()
            if kernel.name in measured.kernels
        ]
    finally:
        device.close()


def counters_part(path: Path, rows: Sequence[comparison.ComparedKernel]) -> str:
    """The tables under a line that says where the numbers are from."""
    about = measurement.read(path).about
    return f"From {path.name}: {tables.taken(about)}.\n\n{tables.counters(rows)}"


if __name__ == "__main__":
    sys.exit(main())
