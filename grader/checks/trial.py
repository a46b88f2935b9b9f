"""A trial: every launch that one shape gets on one device, and what they show."""

from __future__ import annotations

from dataclasses import replace

from grader.checks.plan import derived_seed
from grader.device import Build, Device, Launch, Run
from grader.finding import Finding
from grader.judge import judge, same_bits
from grader.problems.matmul import Case, Shape, fresh_poison, prepare

# The oracle's bound for rounding errors is only meant up to this depth.
REAL_PASS_MAX_K = 4096


def try_shape(device: Device, build: Build, shape: Shape, seed: int) -> tuple[Finding, ...]:
    """Exact pass, then real pass, then the real pass again; stops at the first fault.

    The second real launch must give the same bits. The simulator runs the three launches with
    different orders of threads. Raises GraderFault.
    """
    seed = derived_seed(seed, "inputs", build.exercise.name, shape)
    orders = (0, seed % 0xFFFF_FFFE + 1, (seed >> 32) % 0xFFFF_FFFE + 1)
    exact = Case(shape, "exact", seed, orders[0])
    findings, _, _ = _attempt(device, build, exact, 0)
    if findings or shape.k > REAL_PASS_MAX_K:
        return findings
    real = Case(shape, "real", seed, orders[1])
    findings, launch, run = _attempt(device, build, real, 1)
    if findings:
        return findings
    again = replace(real, order=orders[2])
    findings, _, rerun = _attempt(device, build, again, 2)
    return findings or same_bits(build, real, launch, run, rerun)


def _attempt(
    device: Device, build: Build, case: Case, number: int
) -> tuple[tuple[Finding, ...], Launch, Run]:
    assert build.config is not None, "only a complete build is launched"
    launch = prepare(build.exercise, build.config, case, fresh_poison(case.seed, number))
    run = device.launch(build, launch)
    return judge(build, case, launch, run), launch, run
