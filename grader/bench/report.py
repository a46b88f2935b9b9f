"""Measures one kernel with all that this machine has, and keeps what was found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from grader.bench.clock import RAGGED_SIZES, SIZES, Clock, LeftOut, ShapeResult, usual_shapes
from grader.bench.cpu import Processor
from grader.bench.preparation import Counted, Prepared, Refusal, count, prepare
from grader.bench.progress import Step
from grader.checks.build import CompilerCheck
from grader.checks.plan import PRACTICE_SEED, Entry
from grader.counted_shapes import aligned_shape
from grader.course import Target
from grader.device import Device
from grader.finding import GraderFault, KernelFault
from grader.problems.matmul import Shape
from grader.timing.device import TimingDevice
from grader.timing.roofline import Roof, of_device, of_model

# What a bar counts: preparing on the simulator and on the GPU, then every shape.
MOST_STEPS = 2 + len(SIZES) + len(RAGGED_SIZES)


@dataclass(frozen=True)
class Machine:
    """Where kernels are measured; `gpu` and `nvcc` are None where there is none."""

    target: Target
    simulator: Device
    gpu: TimingDevice | None = None
    nvcc: CompilerCheck | None = None


@dataclass(frozen=True)
class Report:
    """What was found of one kernel. `rows` is empty without a GPU, `gpu` its name."""

    prepared: Prepared
    counted: Counted | None
    roof: Roof | None
    gpu: str = ""
    rows: tuple[ShapeResult, ...] = ()


def measure(
    entry: Entry,
    machine: Machine,
    step: Step,
    shapes: Sequence[Shape] = (),
    processor: Processor | None = None,
    seed: int = PRACTICE_SEED,
) -> Report | Refusal:
    """Checks first, then counters, then times; without `shapes` at the usual ones.

    A kernel that is wrong is not measured. Raises GraderFault.
    """
    step("checking on the simulator")
    prepared = prepare(entry, machine.simulator, machine.target, machine.nvcc)
    if isinstance(prepared, Refusal):
        return prepared
    try:
        counted = _count(prepared, machine.simulator)
        if machine.gpu is None:
            return _without_gpu(prepared, counted, machine.target)
        step("checking on the GPU")
        checked = prepare(entry, machine.gpu, machine.target)
        if isinstance(checked, Refusal):
            return checked
        return _timed(prepared, checked, counted, machine.gpu, step, shapes, processor, seed)
    except KernelFault as fault:
        return Refusal("fast", fault.findings[0])


def _count(prepared: Prepared, simulator: Device) -> Counted | None:
    config = prepared.config
    return count(prepared, simulator, aligned_shape(config)) if config else None


def _without_gpu(prepared: Prepared, counted: Counted | None, target: Target) -> Report:
    if counted is None:
        raise GraderFault(
            f"{prepared.entry.path.name} uses {prepared.lacking}. It needs a GPU, and there is "
            "none here. Next: make doctor"
        )
    return Report(prepared, counted, of_model(target.name))


def _timed(
    prepared: Prepared,
    checked: Prepared,
    counted: Counted | None,
    gpu: TimingDevice,
    step: Step,
    shapes: Sequence[Shape],
    processor: Processor | None,
    seed: int,
) -> Report:
    if checked.build is None or checked.config is None:
        raise GraderFault(f"{prepared.entry.path.name} uses {checked.lacking}.")
    ragged = prepared.edge is None and checked.edge is None
    wanted = shapes or usual_shapes(checked.config, ragged)
    rows = tuple(Clock(gpu, checked.build, seed, processor).rows(wanted, step))
    known = gpu.describe()
    merged = Prepared(
        prepared.entry, checked.build, prepared.edge or checked.edge, prepared.lacking
    )
    roof = of_device(known)
    return Report(merged, counted, roof if roof.known else None, roof.name, rows)


def compose(report: Report) -> dict[str, Any]:
    """Everything as data; times in seconds, shares of 1."""
    entry, counted, roof = report.prepared.entry, report.counted, report.roof
    return {
        "exercise": entry.exercise.name,
        "file": entry.submission.name if entry.submission else str(entry.path),
        "gpu": report.gpu,
        "roof": asdict(roof) if roof else None,
        "shapes": [_row(row) for row in report.rows],
        "counters": counted
        and {
            "shape": str(counted.shape),
            "bytes_moved": counted.counters.bytes_moved,
            "arithmetic_intensity": round(counted.counters.arithmetic_intensity(counted.shape), 3),
            "lines": [asdict(line) for line in counted.counters.lines],
        },
    }


def _row(row: ShapeResult) -> dict[str, Any]:
    if isinstance(row, LeftOut):
        return {"shape": str(row.shape), "left_out": row.reason}
    return {
        "shape": str(row.shape),
        "seconds": row.student_s,
        "gflops": round(row.gflops, 1),
        "baseline_seconds": row.baseline_s,
        "cublas_seconds": row.cublas_s or None,
        "numpy_seconds": row.numpy_s or None,
        "numpy_measured": row.numpy_measured,
        "roof_share": round(row.roof_share, 4) or None,
        "disturbed": row.note,
        "conditions": asdict(row.conditions) if row.conditions else None,
    }
