"""One launch that was watched and counted: of an exercise's file, or of any kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from grader.counted_shapes import aligned_shape
from grader.counters import Counters
from grader.course import Target
from grader.device import Launch, Operand, Run
from grader.exercise import Exercise
from grader.finding import Finding, GraderFault, KernelFault
from grader.inspect import kernel as kernels
from grader.inspect.arguments import LARGEST_ARRAY_BYTES, Argument, bind
from grader.problems.matmul import (
    FINITE_FILL,
    LARGEST_EXACT_K,
    Case,
    Shape,
    fresh_poison,
    prepare,
    shared_poison,
)
from grader.simulator.device import SimulatorDevice
from grader.simulator.protocol import Block, Triple
from grader.simulator.workshop import Workshop
from grader.source import slips
from grader.submission import Submission
from grader.verdict import Verdict

# A signalling NaN, so that a value read before it was written shows in what is computed from it.
_POISON = 0x7FA5A5A5

_NO_BLOCK = Block((0, 0, 0))


@dataclass(frozen=True)
class Conditions:
    """`seed` decides what arrays hold; `timeout_s` is for one launch."""

    seed: int
    timeout_s: float


@dataclass(frozen=True)
class Wanted:
    """A launch as the command line gives it; `kernel` is "" for the only one of a file."""

    kernel: str
    grid: Triple
    block: Block
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Inspection:
    """What one launch showed. `counters` is None where it did not end, or was not begun.

    `notes` are findings that harm nobody here, such as a read of unset shared memory on which no
    result depends. `shape` and `exercise` are those of matrix multiplication, else None.
    `survey` is what nvcc says for several GPUs (`nvcc` of `build` in results.json), {} without it.
    """

    file: Submission
    kernel: str  # "matmul_tiled", "block_sums<256>(const float *in, float *out, int n)"
    compiler: str
    findings: tuple[Finding, ...] = ()
    grid: Triple = (0, 0, 0)
    block: Block = _NO_BLOCK
    arguments: tuple[str, ...] = ()
    notes: tuple[Finding, ...] = ()
    counters: Counters | None = None
    output: str = ""
    shape: Shape | None = None
    exercise: Exercise | None = None
    survey: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


def inspect_exercise(
    exercise: Exercise,
    file: Submission,
    shape: Shape | None,
    device: SimulatorDevice,
    conditions: Conditions,
) -> Inspection:
    """Launch a submission as the checks do; without a shape at one whose counters can be judged.

    Raises GraderFault.
    """
    build = device.build(exercise, file)
    if build.unsupported:
        raise GraderFault(f"{file.name} uses {build.unsupported}, which the simulator lacks.")
    compiler = str(device.describe()["compiler"])
    findings = slips.reworded(build.findings, file)
    blank = Inspection(file, exercise.kernel, compiler, findings, exercise=exercise)
    if build.config is None or build.findings:
        return blank
    config = build.config
    shape = shape or aligned_shape(config)
    _check_size(shape)
    case = Case(shape, "exact", conditions.seed, timeout_s=conditions.timeout_s)
    poison = fresh_poison(conditions.seed, 0)
    launch = replace(prepare(exercise, config, case, poison), watch=True, count=True)
    seen = replace(
        blank,
        grid=(*launch.grid, launch.grid_z),
        block=Block((config.block_x, config.block_y, 1), config.dynamic_shared),
        arguments=_arguments(launch),
        shape=shape,
    )
    return _filled(seen, launch, lambda made: device.launch(build, made))


def inspect_kernel(
    file: Submission, wanted: Wanted, workshop: Workshop, target: Target, conditions: Conditions
) -> Inspection:
    """Launch a kernel of any file. Raises GraderFault."""
    compiler = f"{workshop.compiler.family} {'.'.join(map(str, workshop.compiler.version))}"
    try:
        kernel = kernels.make(file, wanted.kernel, workshop)
    except KernelFault as fault:
        return Inspection(file, wanted.kernel, compiler, fault.findings)
    operands, scalars = bind(wanted.arguments, kernel.signature, conditions.seed)
    launch = Launch(
        operands,
        scalars,
        wanted.grid[:2],
        grid_z=wanted.grid[2],
        watch=True,
        count=True,
        poison=_POISON,
        timeout_s=conditions.timeout_s,
    )
    seen = Inspection(
        file,
        str(kernel.signature),
        compiler,
        grid=wanted.grid,
        block=wanted.block,
        arguments=_arguments(launch),
    )

    def run(made: Launch) -> Run:
        return kernels.launch(kernel, workshop, wanted.block, made, target)

    return _filled(seen, launch, run)


def _check_size(shape: Shape) -> None:
    elements = max(shape.m * shape.k, shape.k * shape.n, shape.m * shape.n)
    if 4 * elements > LARGEST_ARRAY_BYTES or shape.k > LARGEST_EXACT_K:
        raise GraderFault(f"{shape} is too large to follow access by access; take a smaller one.")


def _filled(seen: Inspection, launch: Launch, run: Callable[[Launch], Run]) -> Inspection:
    """The inspection with what a launch showed."""
    first = run(launch)
    unset = tuple(s for s in first.suspicions if s.verdict is Verdict.UNINITIALISED)
    first = replace(first, suspicions=unset)
    depending, notes = _unset(launch, first, run) if first.suspicions else ((), ())
    counted = first.counters if first.images else None  # of a launch that ended
    return replace(
        seen,
        findings=tuple(replace(f, shape=seen.shape) for f in (*depending, *first.findings)),
        notes=tuple(replace(f, shape=seen.shape) for f in notes),
        counters=counted,
        output=first.output,
    )


def _unset(
    launch: Launch, first: Run, run: Callable[[Launch], Run]
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Values that nobody set, as faults if a result changes with them."""
    finite = replace(launch, poison=shared_poison(FINITE_FILL), watch=False, count=False)
    again = run(finite)
    pairs = zip(launch.operands, first.images, again.images, strict=False)
    changed = [operand.name for operand, one, other in pairs if (one != other).any()]
    named = tuple(
        replace(f, facts={**f.facts, "output": changed[0] if changed else ""})
        for f in first.suspicions
    )
    return (named, ()) if changed else ((), named)


def _arguments(launch: Launch) -> tuple[str, ...]:
    return tuple(map(_size, launch.operands))


def _size(operand: Operand) -> str:
    """`A[97][97]`"""
    rows = f"[{operand.rows}]" if operand.rows else ""
    return f"{operand.name}{rows}[{operand.cols}]"
