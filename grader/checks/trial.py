"""A trial: every launch that one shape gets on one device, and what they show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from grader.checks.plan import derived_seed
from grader.counters import Counters
from grader.device import Build, Device, Launch, Run
from grader.finding import Finding, KernelFault, NotGraded
from grader.judge import judge, same_bits
from grader.problems.matmul import (
    FINITE_FILL,
    Case,
    Inputs,
    Shape,
    fresh_poison,
    prepare,
    shared_poison,
)
from grader.verdict import Verdict

# The oracle's bound for rounding errors is only meant up to this depth.
REAL_PASS_MAX_K = 4096


# Takes what is no fault and still worth telling.
Note = Callable[[Finding], None]


def try_shape(
    device: Device,
    build: Build,
    shape: Shape,
    seed: int,
    watch: bool = False,
    note: Note = lambda finding: None,
    integers: Sequence[Inputs] = ("exact",),
) -> tuple[Finding, ...]:
    """A pass with each kind of `integers`, then the real pass, and that again; stops at the first
    fault.

    The second real launch must give the same bits. The simulator runs the launches with different
    orders of threads, and follows every access of the exact one if `watch` is set. Raises
    GraderFault.
    """
    seed = derived_seed(seed, "inputs", build.exercise.name, shape)
    orders = (0, seed % 0xFFFF_FFFE + 1, (seed >> 32) % 0xFFFF_FFFE + 1)
    # Where there is one pass alone, a race that the usual order hides must not do so there.
    first = orders[0] if shape.k <= REAL_PASS_MAX_K else orders[1]
    for inputs in integers:
        exact = Case(shape, inputs, seed, first)
        findings = _with_integers(device, build, exact, watch and inputs == "exact", note)
        if findings and inputs != "exact":
            usual = _with_integers(device, build, replace(exact, inputs="exact"), watch, note)
            return usual or only_with(inputs, findings)
        if findings:
            return findings
    if shape.k > REAL_PASS_MAX_K:
        return ()
    real = Case(shape, "real", seed, orders[1])
    findings, launch, run = _attempt(device, build, real, 1)
    if findings:
        return findings
    again = replace(real, order=orders[2])
    findings, _, rerun = _attempt(device, build, again, 2)
    return findings or same_bits(build, real, launch, run, rerun)


def _with_integers(
    device: Device, build: Build, case: Case, watch: bool, note: Note
) -> tuple[Finding, ...]:
    findings, launch, run = _attempt(device, build, case, 0, watch)
    if run.suspicions:
        findings = (*_faults(device, build, launch, run, note), *findings)
    if any(finding.kind == "nan_everywhere" for finding in findings):
        findings = _with_finite_fill(device, build, case) or findings
    return findings


def only_with(special: str, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """A wrong C where other numbers, or other sizes, gave a right one: what is special about these
    explains it."""
    first, *_ = findings
    if first.verdict is not Verdict.WRONG_ANSWER:
        return findings
    return (replace(first, kind=f"wrong_with_{special}"),)


def _faults(
    device: Device, build: Build, launch: Launch, run: Run, note: Note
) -> tuple[Finding, ...]:
    """Those of a run's suspicions that are faults.

    Two blocks store one element: a fault where C is made of whole tiles, as each block then has a
    tile of its own. At the edges, a kernel may move the last tiles inwards and compute some twice.
    """
    shape = Shape(*launch.scalars)
    suspected = [replace(s, shape=shape) for s in run.suspicions]
    unset = [s for s in suspected if s.verdict is Verdict.UNINITIALISED]
    whole = shape.m % build.launch_config.tile_m == 0 and shape.n % build.launch_config.tile_n == 0
    found = [s for s in suspected if s.kind == "repeated_store" and whole]
    if unset and _depends_on_unset(device, build, launch, run):
        return (*found, *unset)
    for finding in unset:
        note(replace(finding, facts={**finding.facts, "output": ""}))
    return tuple(found)


def _with_finite_fill(device: Device, build: Build, case: Case) -> tuple[Finding, ...]:
    """Where a C of NaNs comes from: with a finite fill, a kernel that adds to C shows itself."""
    launch = prepare(build.exercise, build.launch_config, case, FINITE_FILL)
    return judge(build, case, launch, device.launch(build, launch))


def count_shape(device: Device, build: Build, shape: Shape, seed: int) -> Counters:
    """The counters of one launch. Raises KernelFault when it goes wrong, NotGraded when the device
    does not count, GraderFault."""
    seed = derived_seed(seed, "inputs", build.exercise.name, shape)
    case = Case(shape, "exact", seed)
    launch = prepare(build.exercise, build.launch_config, case, fresh_poison(seed, 0))
    run = device.launch(build, replace(launch, count=True))
    if run.counters is None:  # before judging: the answer is then up to the devices that count
        raise NotGraded("feature", f"the {device.kind} does not count")
    if findings := judge(build, case, launch, run):
        raise KernelFault(findings)
    return run.counters


def _depends_on_unset(device: Device, build: Build, launch: Launch, run: Run) -> bool:
    """Whether C changes with what shared memory holds when a block starts, or with what comes from
    a lane that brings nothing."""
    finite = replace(launch, poison=shared_poison(FINITE_FILL), watch=False)
    again = device.launch(build, finite)
    return bool(run.images and again.images and (run.images[-1] != again.images[-1]).any())


def _attempt(
    device: Device, build: Build, case: Case, number: int, watch: bool = False
) -> tuple[tuple[Finding, ...], Launch, Run]:
    launch = prepare(build.exercise, build.launch_config, case, fresh_poison(case.seed, number))
    launch = replace(launch, watch=watch)
    run = device.launch(build, launch)
    return judge(build, case, launch, run), launch, run
