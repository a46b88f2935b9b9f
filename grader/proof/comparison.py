"""The simulator's counters of the proof's kernels beside those of the hardware."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.counters import Counters, total
from grader.finding import GraderFault
from grader.problems.matmul import Case, fresh_poison, prepare
from grader.proof.kernels import ProofKernel
from grader.proof.measurement import Launches
from grader.simulator.device import SimulatorDevice

# Our counter -> Nsight Compute's.
METRICS: Mapping[str, str] = {
    "global load requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global load sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global store requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global store sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared store wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared store conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "shared load wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared load conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
}
# Warp instructions that load from shared memory in at least one lane: fewer of them than the source
# has loads shows that nvcc merged some.
INSTRUCTIONS = "smsp__inst_executed_op_shared_ld_pred_on_any.sum"
# The source of a copy that goes to shared memory without a register in between. Its write is no
# store instruction, and the hardware counts it apart.
_COPY = "memcpy_async"


@dataclass(frozen=True)
class Counts:
    """Counter -> value; `merged` has the shared loads as a compiler may merge them.

    `copy_conflicts` are those of the writes of asynchronous copies, which are not among the stores.
    """

    values: Mapping[str, int]
    merged: Mapping[str, int]
    load_requests: int
    copy_conflicts: int


@dataclass(frozen=True)
class Cell:
    """One counter of one kernel. `hardware` is the lowest of the launches, `highest` the highest:
    events that depend on time, which no two launches share, only add to a counter."""

    simulator: int
    hardware: int
    highest: int

    @property
    def equal(self) -> bool:
        return self.simulator == self.hardware


@dataclass(frozen=True)
class ComparedKernel:
    """One kernel. `merges`: nvcc made fewer shared loads than there are in the source, and the
    simulator's number for them is the merged one."""

    kernel: ProofKernel
    cells: Mapping[str, Cell]
    merges: bool
    stale: bool  # the kernel's code has changed since it was measured

    @property
    def unexplained(self) -> tuple[str, ...]:
        """The counters that differ without a reason."""
        return tuple(
            name
            for name, cell in self.cells.items()
            if not cell.equal and name not in self.kernel.differs
        )


def compare(kernel: ProofKernel, measured: Launches, device: SimulatorDevice) -> ComparedKernel:
    """Run the kernel in the simulator and set its counters beside the measured ones."""
    counts = simulate(kernel, device)
    merges = measured.lowest(INSTRUCTIONS) < counts.load_requests
    cells = {}
    for name, metric in METRICS.items():
        value = counts.merged[name] if merges and name in counts.merged else counts.values[name]
        cells[name] = Cell(value, measured.lowest(metric), measured.highest(metric))
    return ComparedKernel(kernel, cells, merges, measured.fingerprint != kernel.fingerprint)


def simulate(kernel: ProofKernel, device: SimulatorDevice) -> Counts:
    """Launch once with all counters. Raises GraderFault when the kernel goes wrong."""
    build = device.build(kernel.exercise, kernel.submission)
    if build.config is None or build.artifact is None:
        raise GraderFault(f"{kernel.name} cannot be built: {build.findings or build.unsupported}")
    launch = prepare(kernel.exercise, build.config, Case(kernel.shape, seed=5), fresh_poison(5, 0))
    run = device.launch(build, dataclasses.replace(launch, count=True))
    if run.counters is None or run.findings:
        raise GraderFault(f"{kernel.name} went wrong: {run.findings}")
    return counts(run.counters, kernel.submission.lines)


def counts(counters: Counters, source: Sequence[str]) -> Counts:
    """A launch's counters as the hardware sums them up; `source` is the kernel's, line by line."""
    values: dict[str, int] = {}
    for access in ("load", "store"):
        lines = counters.select("global", access)
        values[f"global {access} requests"] = total(lines, "requests")
        values[f"global {access} sectors"] = total(lines, "sectors")
    loads = counters.select("shared", "load")
    writes = counters.select("shared", "store")
    copies = [line for line in writes if _COPY in source[line.line - 1]]
    stores = [line for line in writes if line not in copies]
    for access, chosen in (("store", stores), ("load", loads)):
        values[f"shared {access} wavefronts"] = total(chosen, "wavefronts")
        values[f"shared {access} conflicts"] = total(chosen, "bank_conflicts")
    merged = {
        "shared load wavefronts": total(loads, "merged_wavefronts"),
        "shared load conflicts": total(loads, "merged_bank_conflicts"),
    }
    return Counts(values, merged, total(loads, "requests"), total(copies, "bank_conflicts"))
