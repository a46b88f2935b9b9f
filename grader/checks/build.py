"""Decides whether a submission compiles, and gives the build that the checks launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grader import source
from grader.checks.plan import Entry
from grader.course import Target
from grader.device import Build, Device
from grader.exercise import Exercise
from grader.finding import Finding, GraderFault, KernelFault, NotGraded
from grader.limits import check_launch
from grader.source import slips
from grader.submission import Submission

# Asks nvcc: findings of the student's file; empty when it compiles.
CompilerCheck = Callable[[Exercise, Submission], tuple[Finding, ...]]


@dataclass(frozen=True)
class Compiled:
    """The answer of the compilers. `unsupported` says why this device cannot launch it."""

    build: Build | None
    unsupported: str = ""
    accepted_by_nvcc: bool = False

    def launchable(self) -> Build:
        """The build; raises NotGraded where this device lacks a feature that it uses."""
        if self.build is None:
            raise NotGraded("feature", f"uses {self.unsupported}")
        return self.build


def compile_entry(
    entry: Entry, device: Device, target: Target, nvcc: CompilerCheck | None
) -> Compiled:
    """Raises KernelFault for the student's errors, GraderFault for ours.

    What the text alone shows comes first, on every device. Where there is an `nvcc`, it decides;
    what only the simulator's compiler rejects is then a limit of the simulator, not a fault.
    """
    submission = _readable(entry)
    asked = nvcc if device.kind == "simulator" else None
    if asked is not None:
        _raise(slips.reworded(asked(entry.exercise, submission), submission))
    if device.kind == "simulator" and (feature := source.uses_unsupported(submission)):
        return Compiled(None, f"{feature}, which the simulator does not run", asked is not None)
    build = device.build(entry.exercise, submission)
    if asked is not None and (message := _only_here(build)):
        return Compiled(None, message, True)
    _raise(slips.reworded(build.findings, submission))
    if asked is None and device.kind == "simulator":
        _raise(slips.only_for_nvcc(submission))
    if build.unsupported:
        return Compiled(None, build.unsupported, asked is not None)
    _raise(_launch_findings(build, target))
    return Compiled(build, "", asked is not None)


def _readable(entry: Entry) -> Submission:
    _raise(entry.problem)
    if entry.fault:
        raise GraderFault(entry.fault)
    assert entry.submission is not None, "a started entry has a text or a problem"
    _raise(source.inspect(entry.submission))
    return entry.submission


def _raise(findings: tuple[Finding, ...]) -> None:
    if findings:
        raise KernelFault(findings)


def _only_here(build: Build) -> str:
    """What the simulator's compiler rejects although nvcc took it; "" where both agree."""
    # What is too much for a compiler, or what a program cannot be linked with, is no such matter.
    rejected = [f for f in build.findings if f.kind == "compile_error"]
    if not rejected:
        return ""
    message = rejected[0].facts.get("message", "")
    return f'something that nvcc accepts and the simulator\'s compiler does not ("{message}")'


def _launch_findings(build: Build, target: Target) -> tuple[Finding, ...]:
    location = build.submission.place_of("LAUNCH_CONFIG")
    static_shared = int(build.resources.get("static_shared", 0))
    found = check_launch(build.launch_config, static_shared, target, location)
    return tuple(replace(finding, device=build.device) for finding in found)
