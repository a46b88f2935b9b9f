"""Measures the variants of a kernel: checked, counted, compiled and, on a GPU, timed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from grader import toolchain
from grader.bench.clock import Clock, ShapeTimes
from grader.bench.preparation import Counted, Prepared, Refusal, count, prepare
from grader.bench.progress import Step, silent
from grader.bench.report import Machine
from grader.checks.plan import Entry
from grader.counted_shapes import aligned_shape
from grader.counters import total
from grader.device import Device, LaunchConfig
from grader.finding import Finding, GraderFault, KernelFault
from grader.gpu import inspection, nvcc
from grader.messages import say
from grader.problems.matmul import PINNED, Shape
from grader.sweep.variants import Variant
from grader.verdict import Verdict

# Compilers side by side: each takes a second and 300 MB.
_COMPILERS = 4
# Of one multiprocessor, on every GPU from Volta on.
_L2_BYTES_PER_CYCLE = 64
# A shape that suits every variant makes their bytes comparable; a larger one takes too long.
_LARGEST_COMMON = 16_000_000
# Two that are no multiple of anything: enough for a variant of a kernel that is right as it is.
_SHAPES = PINNED[2:4]


@dataclass(frozen=True)
class MeasuredVariant:
    """What became of one variant. `problem` says in two or three words why it was not measured, and
    `detail` in a sentence; else what was found.

    `resources` is what ptxas reported, {} without nvcc; `ragged`: it is right for all shapes.
    """

    variant: Variant
    problem: str = ""
    detail: str = ""
    ragged: bool = True
    counted: Counted | None = None
    resources: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    timed: ShapeTimes | None = None


def measure(
    entry: Entry, variants: Sequence[Variant], machine: Machine, shape: Shape, seed: int, step: Step
) -> tuple[MeasuredVariant, ...]:
    """One row for each variant, in their order. Raises GraderFault."""
    entries = [replace(entry, submission=variant.submission) for variant in variants]
    _build_all(machine, entries)
    prepared = []
    for one, variant in zip(entries, variants, strict=True):
        step(f"checking {name(variant)}")
        prepared.append(_prepare(one, machine))
    common = common_shape([p.config for p in prepared if isinstance(p, Prepared) and p.config])
    rows = []
    for variant, found in zip(variants, prepared, strict=True):
        step(f"{'timing' if machine.gpu else 'counting'} {name(variant)}")
        rows.append(_row(variant, found, machine, common, shape, seed))
    return tuple(rows)


def name(variant: Variant) -> str:
    """`TILE=16, unroll off`"""
    parts = [f"{constant}={value}" for constant, value in variant.values.items()]
    return ", ".join([*parts, f"unroll {variant.unrolling}"])


def common_shape(configs: Sequence[LaunchConfig]) -> Shape | None:
    """Whole tiles of every variant; None where that would be too large to count."""
    if not configs:
        return None
    tiles = (
        math.lcm(*(max(1, getattr(config, field)) for config in configs))
        for field in ("tile_m", "tile_n", "tile_k")
    )
    shape = aligned_shape(LaunchConfig(1, 1, *tiles))
    return shape if shape.multiply_adds <= _LARGEST_COMMON else None


def best(rows: Sequence[MeasuredVariant]) -> tuple[MeasuredVariant, ...]:
    """The fastest; without times all with the fewest `memory_cycles`. () where no variant could
    be measured."""
    timed = [row for row in rows if row.timed]
    if timed:
        return (min(timed, key=lambda row: row.timed.student_s if row.timed else 0.0),)
    counted = [row for row in rows if row.counted and not row.problem]
    least = min((memory_cycles(row.counted) for row in counted), default=0.0)
    return tuple(row for row in counted if memory_cycles(row.counted) == least)


def memory_cycles(counted: Counted | None) -> float:
    """An estimate for 32 multiply-adds: cycles of a multiprocessor's shared memory, which serves a
    wavefront in each, and of its way to L2, which carries 64 bytes in each."""
    if counted is None:
        return math.inf
    wavefronts = total(counted.counters.select("shared"), "wavefronts")
    cycles = wavefronts + counted.counters.bytes_moved / _L2_BYTES_PER_CYCLE
    return 32 * cycles / counted.shape.multiply_adds


def _build_all(machine: Machine, entries: Sequence[Entry]) -> None:
    """Fill the compilers' caches, several variants at a time; what fails is told later."""
    devices: list[Device] = [machine.simulator, *([machine.gpu] if machine.gpu else [])]
    with ThreadPoolExecutor(_COMPILERS) as pool:
        for device in devices:
            for entry in entries:
                assert entry.submission is not None, "a variant has a text"
                pool.submit(device.build, entry.exercise, entry.submission)


def _prepare(entry: Entry, machine: Machine) -> Prepared | Refusal:
    """On the simulator, and where there is a GPU, on both; the GPU's build is the one to time."""
    found = prepare(entry, machine.simulator, machine.target, machine.nvcc, _SHAPES)
    if machine.gpu is None or isinstance(found, Refusal):
        return found
    there = prepare(entry, machine.gpu, machine.target, shapes=_SHAPES)
    if isinstance(there, Refusal):
        return there
    return replace(found, edge=found.edge or there.edge)


def _row(
    variant: Variant,
    found: Prepared | Refusal,
    machine: Machine,
    common: Shape | None,
    shape: Shape,
    seed: int,
) -> MeasuredVariant:
    if isinstance(found, Refusal):
        return MeasuredVariant(variant, problem=_problem(found), detail=_detail(found.finding))
    row = MeasuredVariant(variant, ragged=found.edge is None)
    try:
        if found.config is not None:
            at = common or aligned_shape(found.config)
            row = replace(row, counted=count(found, machine.simulator, at))
        return _on_gpu(row, found, machine, shape, seed)
    except KernelFault as fault:
        finding = fault.findings[0]
        return replace(row, problem=f"wrong: {finding.verdict.value}", detail=_detail(finding))


def _on_gpu(
    row: MeasuredVariant, found: Prepared, machine: Machine, shape: Shape, seed: int
) -> MeasuredVariant:
    submission = row.variant.submission
    if machine.gpu is None:
        return replace(row, resources=_resources(found, machine) if machine.nvcc else {})
    build = machine.gpu.build(found.entry.exercise, submission)
    row = replace(row, resources=build.resources)
    if build.artifact is None:
        return replace(row, problem="not for this GPU", detail=f"Uses {build.unsupported}.")
    (timed,) = Clock(machine.gpu, build, seed).rows((shape,), silent)
    if isinstance(timed, ShapeTimes):
        return replace(row, timed=timed)
    return replace(row, problem="not timed", detail=f"{timed.shape}: {timed.reason}.")


def _resources(found: Prepared, machine: Machine) -> Mapping[str, int]:
    """Registers and spills by nvcc for the course's GPU; from the cache, since nvcc has decided."""
    assert found.entry.submission is not None, "a variant has a text"
    architecture = machine.target.architecture
    try:
        done = nvcc.compile_submission(found.entry.submission, toolchain.nvcc(), architecture)
    except (KernelFault, GraderFault):  # told by the check that this compiles
        return MappingProxyType({})
    return inspection.resources(done.log, found.entry.exercise.kernel)


def _problem(refusal: Refusal) -> str:
    """`does not compile`, `bad launch`, `wrong: race`"""
    verdict = refusal.finding.verdict
    if verdict is Verdict.COMPILE_ERROR:
        return "does not compile"
    words = verdict.value.replace("_", " ")
    return words if refusal.check == "compiles" else f"wrong: {words}"


def _detail(finding: Finding) -> str:
    line = f" (line {finding.locations[0].line})" if finding.locations else ""
    if "message" in finding.facts:
        return f"{finding.facts['message']}{line}"
    return say(finding)
