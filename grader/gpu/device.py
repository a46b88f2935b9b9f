"""The device `gpu`: submissions run on the first NVIDIA GPU that CUDA_VISIBLE_DEVICES leaves.

Building needs nvcc and the GPU's architecture; launching happens in a worker process, which is
replaced whenever a kernel hangs or leaves the GPU's context unusable.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any

import numpy as np

from grader import toolchain
from grader.course import Target
from grader.device import OUTPUT_LIMIT_BYTES, Build, Launch, LaunchConfig, Operand, Run, Words
from grader.exercise import PROJECT, Exercise
from grader.finding import Finding, GraderFault, KernelFault
from grader.gpu import errors, inspection, nvcc, ptx
from grader.gpu.connection import Connection, WorkerEnded, WorkerTimeout
from grader.gpu.frames import Frame
from grader.gpu.hardware import Gpu, greet
from grader.gpu.lock import GpuLock, default_folder
from grader.submission import Submission
from grader.toolchain import NOT_YOURS, Nvcc
from grader.verdict import Verdict

WORKER = (sys.executable, "-m", "grader.gpu.worker")
# Starting the driver and creating a context takes a second, minutes on a machine with many GPUs;
# copying the largest operands takes a second as well. None of this is the kernel's time.
SETUP_LIMIT_S = 120.0


class GpuDevice:
    """Implements `grader.device.Device`; the GPU is locked from the first launch to `close`."""

    kind = "gpu"

    def __init__(
        self,
        target: Target,
        cache: Path = nvcc.CACHE,
        *,
        on_wait: Callable[[str], None] = lambda message: None,
        compiler: Nvcc | None = None,
        worker: Sequence[str] = WORKER,
        lock_folder: Path | None = None,
    ) -> None:
        """`on_wait` gets "waiting for the GPU, 2 before you" while others use the GPU.

        The last three are found when not given: nvcc, the worker's command, the lock's folder.
        """
        self._target = target
        self._cache = cache
        self._on_wait = on_wait
        self._compiler = compiler
        self._worker = tuple(worker)
        self._lock_folder = lock_folder
        self._lock: GpuLock | None = None
        self._connection: Connection | None = None
        self._known: Gpu | None = None

    def describe(self) -> Mapping[str, Any]:
        """Name, driver, architecture and memory of the GPU, and the version of nvcc."""
        known = dataclasses.asdict(self._gpu)
        major, minor = self._gpu.compute_capability
        known["compute_capability"] = f"{major}.{minor}"
        version = ".".join(map(str, self._nvcc.version))
        return MappingProxyType({"kind": self.kind, **known, "nvcc": version})

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        """Compile for this GPU's architecture and check the contract; needs no launch."""
        empty = Build(exercise, submission, self.kind)
        try:
            compiled = nvcc.compile_submission(
                submission, self._nvcc, self._gpu.architecture, self._cache
            )
        except KernelFault as fault:
            return dataclasses.replace(empty, findings=_on_gpu(fault.findings))
        seen = inspection.inspect(exercise, submission, compiled.cubin, compiled.ptx, compiled.log)
        built = dataclasses.replace(empty, config=seen.config, resources=seen.resources)
        if seen.findings or seen.config is None:
            return dataclasses.replace(built, findings=_on_gpu(seen.findings))
        lacking = self._lacking(seen.config, seen.resources)
        if lacking:
            return dataclasses.replace(built, unsupported=lacking)
        return dataclasses.replace(built, artifact=compiled.cubin)

    def launch(self, build: Build, launch: Launch) -> Run:
        """Launch once, on fresh memory and a freshly loaded module."""
        if build.artifact is None or build.config is None:
            raise ValueError("only a build with an artifact can be launched")
        worker = self._start()
        worker.forget_prints()
        try:
            self._request(worker, build.artifact, build.exercise.kernel, build.config, launch)
            return self._await(worker, build, launch)
        except WorkerEnded as ended:
            self._end_worker()
            raise GraderFault(f"The GPU worker ended: {ended}. {NOT_YOURS}") from None
        except WorkerTimeout:
            self._end_worker()
            raise GraderFault(
                f"The GPU did not answer within {SETUP_LIMIT_S:g} s. {NOT_YOURS} Next: nvidia-smi"
            ) from None
        except BaseException:  # Ctrl-C, or a fault of the machine: the pipes are out of step
            self._end_worker()
            raise

    def probe_block(self, build: Build, launch: Launch, block: int) -> tuple[Finding, ...]:
        """See Device.probe_block: a GPU runs whole grids."""
        return ()

    def close(self) -> None:
        """End the worker and give the GPU to the next grading; may be called twice."""
        self._end_worker()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def __enter__(self) -> GpuDevice:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def _nvcc(self) -> Nvcc:
        if self._compiler is None:
            self._compiler = toolchain.nvcc()
        return self._compiler

    @property
    def _gpu(self) -> Gpu:
        if self._known is None:
            self._connect()
        assert self._known is not None
        return self._known

    def _lacking(self, config: LaunchConfig, resources: Mapping[str, int]) -> str:
        """What the course's GPU has and this one does not: no fault of the student's."""
        shared = config.dynamic_shared + resources.get("static_shared", 0)
        here = self._gpu.shared_per_block_optin
        if not here < shared <= self._target.shared_per_block_optin:
            return ""  # more than the course's GPU has is a bad launch on every device
        return f"{shared} bytes of shared memory a block; {self._gpu.name} has {here}"

    def _start(self) -> Connection:
        """The worker, with the GPU locked for this grading."""
        connection = self._connect()
        if self._lock is None:
            lock = GpuLock(self._lock_folder or default_folder(self._gpu.uuid), self._on_wait)
            lock.acquire()
            self._lock = lock
        return connection

    def _connect(self) -> Connection:
        """The worker; it takes the GPU's memory only at its first launch."""
        if self._connection is not None:
            return self._connection
        try:
            connection = Connection(self._worker, PROJECT)
        except OSError as error:
            raise GraderFault(f"cannot start {self._worker[0]}: {error.strerror}.") from None
        try:
            self._known = greet(connection.receive(SETUP_LIMIT_S))
        except WorkerEnded as ended:
            connection.end()
            raise GraderFault(f"The GPU worker did not start: {ended}. {NOT_YOURS}") from None
        except WorkerTimeout:
            connection.end()
            raise GraderFault(
                f"The GPU did not answer within {SETUP_LIMIT_S:g} s. {NOT_YOURS} Next: nvidia-smi"
            ) from None
        except BaseException:
            connection.end()
            raise
        self._connection = connection
        return connection

    def _end_worker(self) -> None:
        if self._connection is not None:
            self._connection.end()
            self._connection = None

    def _request(
        self, worker: Connection, cubin: Path, kernel: str, config: LaunchConfig, launch: Launch
    ) -> None:
        header = {
            "cubin": str(cubin),
            "kernel": kernel,
            "block": [config.block_x, config.block_y],
            "grid": list(launch.grid),
            "dynamic_shared": config.dynamic_shared,
            "scalars": list(launch.scalars),
            "operands": [{"words": o.image.size, "guard": o.guard} for o in launch.operands],
        }
        images = [np.ascontiguousarray(operand.image).data for operand in launch.operands]
        worker.send(header, images, SETUP_LIMIT_S)

    def _await(self, worker: Connection, build: Build, launch: Launch) -> Run:
        """Follow the launch through its stages; only the kernel's own time is limited."""
        answer = worker.receive(SETUP_LIMIT_S)
        if answer.header["event"] == "launching":
            try:
                answer = worker.receive(launch.timeout_s)
            except WorkerTimeout:
                self._end_worker()
                return Run((), _on_gpu([errors.timeout(launch.timeout_s)]))
        seconds = float(answer.header.get("seconds", 0.0))
        if answer.header["event"] == "finished":
            answer = worker.receive(SETUP_LIMIT_S)
        if answer.header["event"] == "error":
            return self._failed(worker, answer, build, launch)
        printed = worker.prints()[0]
        found = [_flood()] if printed.flooded else []
        images = _images(answer.payload, launch.operands)
        return Run(images, _on_gpu(found), output=printed.text, seconds=seconds)

    def _failed(self, worker: Connection, answer: Frame, build: Build, launch: Launch) -> Run:
        header = answer.header
        error = errors.CudaError(header["code"], header["name"], header["call"])
        printed, complaints = worker.prints()
        if header["sticky"]:
            self._end_worker()
        if header["stage"] == "setup":
            raise errors.machine_fault(error)
        found = errors.explain(
            error, complaints.text, build.submission.name, launch.timeout_s, _recursive(build)
        )
        return Run((), _on_gpu([found]), output=printed.text)


def _recursive(build: Build) -> bool:
    kept = nvcc.Compiled(build.artifact.parent) if build.artifact else None
    return kept is not None and kept.cubin.is_file() and ptx.recursive(kept.ptx)


def _images(payload: memoryview, operands: Sequence[Operand]) -> tuple[Words, ...]:
    words: Words = np.frombuffer(payload, np.uint32)
    ends = np.cumsum([operand.image.size for operand in operands])
    return tuple(np.split(words, ends[:-1]))


def _flood() -> Finding:
    facts = {"limit_bytes": OUTPUT_LIMIT_BYTES}
    return Finding(Verdict.OUTPUT_LIMIT, "output_limit", facts)


def _on_gpu(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(dataclasses.replace(finding, device="gpu") for finding in findings)
