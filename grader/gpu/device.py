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
from grader.device import (
    LAUNCH_LIMIT_S,
    Build,
    Launch,
    LaunchConfig,
    Operand,
    Probe,
    Run,
    Words,
)
from grader.exercise import Exercise
from grader.finding import Finding, KernelFault
from grader.gpu import errors, inspection, nvcc, own_kernels
from grader.gpu.connection import Connection, WorkerTimeout
from grader.gpu.frames import Frame
from grader.gpu.hardware import Gpu
from grader.gpu.host import SETUP_LIMIT_S, WorkerHost
from grader.gpu.stopwatch import GpuStopwatch, calls_itself, flood, needed_bytes
from grader.problems.matmul import Shape
from grader.submission import Submission
from grader.toolchain import Nvcc

WORKER = (sys.executable, "-m", "grader.gpu.worker")


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
        self._compiler = compiler
        self._host = WorkerHost(worker, lock_folder, on_wait)

    def describe(self) -> Mapping[str, Any]:
        """Name, driver, architecture, memory and peaks of the GPU, and the version of nvcc."""
        gpu = self._gpu
        known = {
            **dataclasses.asdict(gpu),
            "compute_capability": "{}.{}".format(*gpu.compute_capability),
            "peak_gflops": gpu.peak_gflops,
            "memory_gb_per_s": gpu.memory_gb_per_s,
            "nvcc": ".".join(map(str, self._nvcc.version)),
        }
        return MappingProxyType({"kind": self.kind, **known})

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
        with self._host.exchange() as worker:
            self._request(worker, build.artifact, build.exercise.kernel, build.config, launch)
            return self._await(worker, build, launch)

    def fits(self, shape: Shape) -> bool:
        """Whether a stopwatch for this shape finds memory now."""
        return needed_bytes(shape, self._gpu) <= self._host.free_bytes()

    def stopwatch(
        self,
        build: Build,
        shape: Shape,
        key: int,
        *,
        cublas: bool = False,
        timeout_s: float = LAUNCH_LIMIT_S,
    ) -> GpuStopwatch:
        """Load the kernel, the baseline and, where it is found, cuBLAS, to take times of them.

        What A and B hold depends on `key`; `timeout_s` is for one launch. Raises GraderFault.
        """
        tools = own_kernels.compile_all(self._nvcc, self._gpu.architecture, self._cache)
        toolkit = str(self._nvcc.root) if cublas else None
        return GpuStopwatch(
            self._host, build, shape, key, tools, cublas=toolkit, timeout_s=timeout_s
        )

    def probe_block(self, build: Build, launch: Launch, block: int) -> Probe:
        """See Device.probe_block: a GPU runs whole grids."""
        return Probe()

    def close(self) -> None:
        """End the worker and give the GPU to the next grading; may be called twice."""
        self._host.close()

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
        return self._host.gpu

    def _lacking(self, config: LaunchConfig, resources: Mapping[str, int]) -> str:
        """What the course's GPU has and this one does not: no fault of the student's."""
        shared = config.dynamic_shared + resources.get("static_shared", 0)
        here = self._gpu.shared_per_block_optin
        if not here < shared <= self._target.shared_per_block_optin:
            return ""  # more than the course's GPU has is a bad launch on every device
        return f"{shared} bytes of shared memory a block; {self._gpu.name} has {here}"

    def _request(
        self, worker: Connection, cubin: Path, kernel: str, config: LaunchConfig, launch: Launch
    ) -> None:
        header = {
            "action": "launch",
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
                self._host.replace_worker()
                return Run((), _on_gpu([errors.timeout(launch.timeout_s)]))
        seconds = float(answer.header.get("seconds", 0.0))
        if answer.header["event"] == "finished":
            answer = worker.receive(SETUP_LIMIT_S)
        if answer.header["event"] == "error":
            return self._failed(worker, answer, build, launch)
        printed = worker.prints()[0]
        found = [flood()] if printed.flooded else []
        images = _images(answer.payload, launch.operands)
        return Run(images, _on_gpu(found), output=printed.text, seconds=seconds)

    def _failed(self, worker: Connection, answer: Frame, build: Build, launch: Launch) -> Run:
        header = answer.header
        error = errors.read(header)
        printed, complaints = worker.prints()
        if header["sticky"]:
            self._host.end_worker()
        if header["stage"] == "setup":
            raise errors.machine_fault(error)
        found = errors.explain(
            error, complaints.text, build.submission.name, launch.timeout_s, calls_itself(build)
        )
        if header["sticky"]:
            self._host.replace_worker()
        return Run((), _on_gpu([found]), output=printed.text)


def _images(payload: memoryview, operands: Sequence[Operand]) -> tuple[Words, ...]:
    words: Words = np.frombuffer(payload, np.uint32)
    ends = np.cumsum([operand.image.size for operand in operands])
    return tuple(np.split(words, ends[:-1]))


def _on_gpu(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(dataclasses.replace(finding, device="gpu") for finding in findings)
