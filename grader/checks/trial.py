"""A trial: every launch that one shape gets on one device, and what they show."""

from __future__ import annotations

from dataclasses import replace

from grader.checks.plan import derived_seed
from grader.device import Build, Device, Launch, Run
from grader.finding import Finding
from grader.judge import judge, same_bits
from grader.problems.matmul import (
    FINITE_FILL,
    Case,
    Shape,
    fresh_poison,
    prepare,
    shared_poison,
)

# The oracle's bound for rounding errors is only meant up to this depth.
REAL_PASS_MAX_K = 4096


def try_shape(
    device: Device, build: Build, shape: Shape, seed: int, watch: bool = False
) -> tuple[Finding, ...]:
    """Exact pass, then real pass, then the real pass again; stops at the first fault.

    The second real launch must give the same bits. The simulator runs the three launches with
    different orders of threads, and follows every access of the first one if `watch` is set.
    Raises GraderFault.
    """
    seed = derived_seed(seed, "inputs", build.exercise.name, shape)
    orders = (0, seed % 0xFFFF_FFFE + 1, (seed >> 32) % 0xFFFF_FFFE + 1)
    exact = Case(shape, "exact", seed, orders[0])
    findings, launch, run = _attempt(device, build, exact, 0, watch)
    if run.suspicions and _depends_on_unset(device, build, launch, run):
        findings = (*(replace(s, shape=shape) for s in run.suspicions), *findings)
    if findings or shape.k > REAL_PASS_MAX_K:
        return findings
    real = Case(shape, "real", seed, orders[1])
    findings, launch, run = _attempt(device, build, real, 1)
    if findings:
        return findings
    again = replace(real, order=orders[2])
    findings, _, rerun = _attempt(device, build, again, 2)
    return findings or same_bits(build, real, launch, run, rerun)


def _depends_on_unset(device: Device, build: Build, launch: Launch, run: Run) -> bool:
    """Whether C changes with what shared memory holds when a block starts."""
    finite = replace(launch, poison=shared_poison(FINITE_FILL), watch=False)
    again = device.launch(build, finite)
    return bool(run.images and again.images and (run.images[-1] != again.images[-1]).any())


def _attempt(
    device: Device, build: Build, case: Case, number: int, watch: bool = False
) -> tuple[tuple[Finding, ...], Launch, Run]:
    assert build.config is not None, "only a complete build is launched"
    launch = prepare(build.exercise, build.config, case, fresh_poison(case.seed, number))
    launch = replace(launch, watch=watch)
    run = device.launch(build, launch)
    return judge(build, case, launch, run), launch, run
