"""The simulator device: the student's own file, run on the CPU and watched at every access."""

from __future__ import annotations

import dataclasses
import hashlib
import re
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader import limits, source, toolchain
from grader.counters import Counters, LineCounter
from grader.course import Target
from grader.device import Build, Launch, Run
from grader.exercise import Exercise
from grader.finding import Finding, GraderFault, Location
from grader.problems import matmul
from grader.simulator import compiler as compilers
from grader.simulator import contract, elf, program, runtime
from grader.simulator.debug import DebugInfo
from grader.simulator.explain import explain
from grader.simulator.process import Answer, Worker
from grader.simulator.protocol import Status
from grader.simulator.scene import Scene, line_counter
from grader.submission import Submission
from grader.toolchain import HostCompiler
from grader.verdict import Verdict

# As the GPU device's: what a kernel may print in one launch.
OUTPUT_LIMIT_BYTES = 64 * 1024
# Reading a shared word that nothing wrote harms nobody when the value is then thrown away.
SUSPICIONS = ("unset_shared",)
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
        self._runner = runner
        self._target = target
        self._compiler = compiler or toolchain.host_compiler()
        self._cache = cache
        major, minor = target.compute_capability.split(".")
        self._capability = (int(major), int(minor))
        self._workers: dict[Path, Worker] = {}
        self._debug: dict[Path, DebugInfo] = {}

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
        folder = self._cache / f"kernel-{self._key(exercise, submission)}"
        if not folder.is_dir():
            findings = self._make(exercise, submission, folder)
            if findings:
                return dataclasses.replace(build, findings=findings)
        return self._check_launch(build, folder)

    def launch(self, build: Build, launch: Launch) -> Run:
        """See Device.launch."""
        worker = self._worker(build)
        assert build.config is not None
        lines = self._debug_info(build).lines() if launch.count else ()
        answer = worker.ask(build.config, launch, lines)
        return self._run(build, launch, answer)

    def probe_block(self, build: Build, launch: Launch, block: int) -> tuple[Finding, ...]:
        """Run one block of a launch alone, on zeroed memory that exists only where touched.

        For shapes too large to store: only the faults of the accesses are reported.
        """
        worker = self._worker(build)
        assert build.config is not None
        answer = worker.ask(build.config, launch, only_block=block, sparse=True)
        return self._run(build, launch, answer).findings

    def close(self) -> None:
        """See Device.close."""
        for worker in self._workers.values():
            worker.close()
        self._workers.clear()

    def _key(self, exercise: Exercise, submission: Submission) -> str:
        contract_text = (compilers.CONTRACT / "launch.cuh").read_bytes()
        flags = compilers.flags(self._compiler, self._capability)
        parts = [runtime.digest(), str(self._compiler), str(flags), exercise.kernel]
        parts.append(submission.text)
        digest = hashlib.sha256(contract_text)
        for part in parts:
            digest.update(b"\0" + part.encode())
        return digest.hexdigest()[:24]

    def _make(
        self, exercise: Exercise, submission: Submission, folder: Path
    ) -> tuple[Finding, ...]:
        """Compile and link into `folder`, or say why the submission cannot be."""
        folder.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(prefix="kernel-", dir=folder.parent))
        try:
            object_file = compilers.compile_kernel(
                self._compiler, self._capability, submission.text, making
            )
            findings = contract.check_contract(exercise, submission, object_file, matmul.PARAMETERS)
            if findings:
                return findings
            machine = runtime.object_files(self._compiler, self._cache)
            program.link(self._compiler, exercise.kernel, KERNEL_TYPES, object_file, machine)
            runtime.install(making, folder)
            return ()
        except compilers.CompileFailure as failure:
            return (_compile_error(self._compiler, submission, failure),)
        finally:
            shutil.rmtree(making, ignore_errors=True)

    def _check_launch(self, build: Build, folder: Path) -> Build:
        object_file = folder / "kernel.o"
        config = contract.read_config(object_file)
        if config is None:
            raise GraderFault(f"{folder} is damaged. Next: delete it and run again.")
        shared = sum(
            s.size for s in elf.read_symbols(object_file) if s.kind == "shared" and s.defined
        )
        findings = limits.check_launch(
            build.exercise, config, shared, self._target, _config_place(build.submission)
        )
        if findings:
            return dataclasses.replace(build, findings=findings, config=config)
        return dataclasses.replace(
            build,
            artifact=folder / "worker",
            config=config,
            resources={"static_shared": shared},
        )

    def _worker(self, build: Build) -> Worker:
        if build.artifact is None or build.config is None:
            raise ValueError("only a successful build can be launched")
        if build.artifact not in self._workers:
            object_file = build.artifact.with_name("kernel.o")
            made = program.describe(build.artifact, object_file, build.config.dynamic_shared)
            self._workers[build.artifact] = Worker(made, self._runner)
        return self._workers[build.artifact]

    def _debug_info(self, build: Build) -> DebugInfo:
        path = self._worker(build).program.path
        if path not in self._debug:
            self._debug[path] = DebugInfo(path, compilers.SOURCE)
        return self._debug[path]

    def _scene(self, build: Build, launch: Launch) -> Scene:
        worker = self._worker(build)
        assert build.config is not None
        name, text = build.submission.name, build.submission.text
        return Scene(worker.program, self._debug_info(build), name, text, launch, build.config)

    def _run(self, build: Build, launch: Launch, answer: Answer) -> Run:
        head = answer.head
        findings: list[Finding] = []
        if answer.findings or head.status == Status.TIMED_OUT:
            scene = self._scene(build, launch)
            found = (explain(raw, scene) for raw in answer.findings)
            findings += [finding for finding in found if finding is not None]
            if head.status == Status.TIMED_OUT:
                line = scene.debug.line(head.pc + 1) or scene.debug.line(head.last_pc)
                findings.append(_timeout(build, launch, answer, line))
        if head.output_cut:
            facts = {"limit_bytes": OUTPUT_LIMIT_BYTES}
            findings.append(Finding(Verdict.OUTPUT_LIMIT, "output_limit", facts))
        named = tuple(dataclasses.replace(f, device=self.kind) for f in findings)
        suspicions = tuple(f for f in named if f.kind in SUSPICIONS)
        faults = tuple(f for f in named if f.kind not in SUSPICIONS)
        counters = self._counters(build, launch, answer) if launch.count else None
        return Run(answer.images, faults, suspicions, answer.output, counters)

    def _counters(self, build: Build, launch: Launch, answer: Answer) -> Counters:
        scene = self._scene(build, launch)
        lines = (line_counter(row, scene) for row in answer.counters)
        return Counters(tuple(sorted(lines, key=_by_line)), answer.head.barriers)


def _by_line(counter: LineCounter) -> tuple[int, str, str, str]:
    return counter.line, counter.space, counter.access, counter.name


def _timeout(build: Build, launch: Launch, answer: Answer, line: int) -> Finding:
    facts = {
        "limit_s": launch.timeout_s,
        "thread": list(answer.head.thread),
        "block": list(answer.head.block),
    }
    places = (Location(build.submission.name, line, "runs"),) if line else ()
    return Finding(Verdict.TIMEOUT, "timeout", facts, places)


def _compile_error(
    compiler: HostCompiler, submission: Submission, failure: compilers.CompileFailure
) -> Finding:
    facts = {"compiler": compiler.family, "message": failure.message, "count": failure.count}
    places = (Location(submission.name, failure.line, "error"),) if failure.line else ()
    return Finding(Verdict.COMPILE_ERROR, "compile_error", facts, places, device="simulator")


def _config_place(submission: Submission) -> tuple[Location, ...]:
    for number, line in enumerate(submission.text.splitlines(), 1):
        if "LAUNCH_CONFIG" in line:
            return (Location(submission.name, number, "error"),)
    return ()
