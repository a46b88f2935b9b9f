"""The simulator device: the student's own file, run on the CPU and watched at every access."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader import limits, source, toolchain
from grader.course import Target
from grader.device import Build, Launch, LaunchConfig, Probe, Run
from grader.exercise import Exercise
from grader.finding import Finding, GraderFault, KernelFault, Location
from grader.problems import matmul
from grader.simulator import compiler as compilers
from grader.simulator import contract, sparse
from grader.simulator.bounds import read_bounds
from grader.simulator.debug import DebugInfo
from grader.simulator.outcome import needs_scene, read_run
from grader.simulator.process import Worker
from grader.simulator.program import Entry
from grader.simulator.protocol import Answer, Block
from grader.simulator.scene import Scene
from grader.simulator.unseen import unseen_access
from grader.simulator.workshop import (
    Workshop,
    has_too_many,
    read_debug_info,
    static_shared_bytes,
)
from grader.submission import Submission
from grader.toolchain import HostCompiler

# More shared memory than any GPU has, and than a linker can place.
_MOST_LINKED_BYTES = 1 << 24
_ONLY_IN_CUDA = (
    "{where}what CUDA's headers take and the simulator's do not: a vector in a union, among values "
    "without braces of its own or copied while compiling, or another variable named threadIdx. "
    "Next: say that in another way"
)

KERNEL_TYPES = tuple(
    re.sub(r"\w+$", "", parameter).strip() for parameter in matmul.PARAMETERS.split(",")
)


class SimulatorDevice:
    """Runs kernels on the CPU. `cache` keeps compiled machines and kernels between gradings.

    `runner` is a command that runs the workers when `compiler` compiles for another processor.
    """

    kind = "simulator"

    def __init__(
        self,
        target: Target,
        compiler: HostCompiler | None = None,
        *,
        cache: Path,
        runner: tuple[str, ...] = (),
    ) -> None:
        self._target = target
        self._compiler = compiler or toolchain.host_compiler()
        self._workshop = Workshop(self._compiler, target.capability, cache, runner)
        self._strict = dataclasses.replace(self._workshop, extra_flags=compilers.CHECK_OVERFLOW)
        self._workers: dict[Path, Worker] = {}
        self._debug: dict[Path, DebugInfo] = {}
        self.confined: bool | None = None  # whether the kernel of the last launch was

    def describe(self) -> Mapping[str, Any]:
        """See Device.describe."""
        return {
            "kind": self.kind,
            "name": f"simulator of {self._target.name}",
            "compiler": f"{self._compiler.family} {'.'.join(map(str, self._compiler.version))}",
            "target": self._target.name,
        }

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        """See Device.build."""
        build = Build(exercise, submission, self.kind)
        if feature := source.uses_unsupported(submission):
            return dataclasses.replace(build, unsupported=feature)

        try:
            folder = self._make(self._workshop, build)
        except KernelFault as fault:
            return dataclasses.replace(build, findings=fault.findings)
        except compilers.CompileFailure as failure:
            if failure.kind == compilers.ONLY_IN_CUDA:
                where = f"in line {failure.line} " if failure.line else ""
                return dataclasses.replace(build, unsupported=_ONLY_IN_CUDA.format(where=where))
            finding = compile_error(self._compiler, submission, failure)
            return dataclasses.replace(build, findings=(finding,))
        checked = self._check_launch(build, folder)
        if not checked.findings and (lacking := has_too_many(folder) or unseen_access(folder)):
            return dataclasses.replace(build, unsupported=lacking)
        return checked

    def launch(self, build: Build, launch: Launch) -> Run:
        """See Device.launch."""
        worker = self._worker(build)
        lines = self._debug_info(worker).lines() if launch.count else ()
        answer = worker.ask(_block(build.config), launch, lines)
        self.confined = answer.head.confined
        return self._run(build, launch, answer)

    def _make(self, workshop: Workshop, build: Build) -> Path:
        exercise, submission = build.exercise, build.submission

        def find_entry(object_file: Path) -> Entry:
            parameters = matmul.PARAMETERS
            findings = contract.check_contract(exercise, submission, object_file, parameters)
            if not findings and static_shared_bytes(object_file.parent) > _MOST_LINKED_BYTES:
                findings = self._launch_findings(submission, object_file)
            if findings:
                raise KernelFault(findings)
            return Entry(exercise.kernel, KERNEL_TYPES)

        return workshop.make(submission.text, exercise.kernel, find_entry)

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        """See Device.probe_block."""
        folder = self._make(self._strict, build)
        build = dataclasses.replace(build, artifact=folder / "worker")
        worker = self._worker(build)
        answer = worker.ask(_block(build.config), launch, only_block=block, sparse=True)
        findings = self._run(build, launch, answer).findings

        def place(pc: int, action: str) -> tuple[Location, ...]:
            line = self._debug_info(worker).line(pc)
            return (Location(build.submission.name, line, action),) if line else ()

        return sparse.read_probe(answer, findings, place)

    def close(self) -> None:
        """See Device.close."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def _check_launch(self, build: Build, folder: Path) -> Build:
        config = contract.read_config(folder / "kernel.o")
        if config is None:
            raise GraderFault(f"{folder} is damaged. Next: delete it and run again.")
        shared = static_shared_bytes(folder)
        place = build.submission.place_of("LAUNCH_CONFIG")
        findings = self._launch_findings(build.submission, folder / "kernel.o")
        if not findings and (bounds := read_bounds(folder / "worker", build.exercise.kernel)):
            place = (Location(build.submission.name, bounds.line, "error"), *place)
            findings = limits.check_bounds(config, bounds.threads, place)
        if findings:
            return dataclasses.replace(build, findings=findings, config=config)
        return dataclasses.replace(
            build,
            artifact=folder / "worker",
            config=config,
            resources={"static_shared": shared},
        )

    def _launch_findings(self, submission: Submission, object_file: Path) -> tuple[Finding, ...]:
        config = contract.read_config(object_file)
        assert config is not None, "checked with the contract"
        shared, place = (
            static_shared_bytes(object_file.parent),
            submission.place_of("LAUNCH_CONFIG"),
        )
        return limits.check_launch(config, shared, self._target, place)

    def _worker(self, build: Build) -> Worker:
        if build.artifact is None:
            raise ValueError("only a successful build can be launched")
        if build.artifact not in self._workers:
            self._workers[build.artifact] = self._workshop.start(build.artifact.parent)
        return self._workers[build.artifact]

    def _debug_info(self, worker: Worker) -> DebugInfo:
        path = worker.program.path
        if path not in self._debug:
            self._debug[path] = read_debug_info(worker)
        return self._debug[path]

    def _run(self, build: Build, launch: Launch, answer: Answer) -> Run:
        if not needs_scene(launch, answer):
            return read_run(answer, launch, None)
        worker = self._worker(build)
        name, text = build.submission.name, build.submission.text
        debug, block = self._debug_info(worker), _block(build.config)
        return read_run(answer, launch, Scene(worker.program, debug, name, text, launch, block))


def _block(config: LaunchConfig | None) -> Block:
    if config is None:
        raise ValueError("only a successful build can be launched")
    return Block((config.block_x, config.block_y, 1), config.dynamic_shared)


def compile_error(
    compiler: HostCompiler, submission: Submission, failure: compilers.CompileFailure
) -> Finding:
    """The finding for what the compiler says about a file."""
    facts = {
        "compiler": compiler.family,
        "message": failure.message,
        "count": failure.count,
        **failure.facts,
    }
    known = 0 < failure.line <= submission.text.count("\n") + 1  # `#line 900` is anywhere
    places = (Location(submission.name, failure.line, "error"),) if known else ()
    return Finding(failure.verdict, failure.kind, facts, places, device="simulator")
