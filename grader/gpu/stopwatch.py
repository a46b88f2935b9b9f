"""The grader's side of a stopwatch on the GPU (see `grader.timing.sample` and `timed`)."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.device import MAX_GRID_Y, OUTPUT_LIMIT_BYTES, Build
from grader.finding import NOT_YOURS, Finding, GraderFault, KernelFault
from grader.gpu import errors, nvcc, ptx
from grader.gpu.connection import Connection, WorkerTimeout
from grader.gpu.contents import amplitudes, contents
from grader.gpu.frames import Frame
from grader.gpu.hardware import Gpu
from grader.gpu.host import SETUP_LIMIT_S, WorkerHost
from grader.problems.matmul import GUARD_WORDS, Shape, grid
from grader.timing.sample import Conditions, Contestant, Sample
from grader.verdict import Verdict

# Words before and after each matrix: 256 KiB, several rows of tiles in every shape that is timed.
_GUARD = 1 << 16
_BASELINE_SIDE = 16  # kernels/baseline.cu
# What the driver, cuBLAS's workspace and the output of kernels take besides the buffers.
_RESERVE_BYTES = 256 << 20

# The fields of a sample that the worker's result holds.
_COUNTED = (
    *("wrong_rows", "first_wrong_row", "inputs_changed", "guards_written"),
    "longest_gap_s",
)

_numbers = itertools.count()  # of stopwatches; a worker keeps several apart by them


def needed_bytes(shape: Shape, gpu: Gpu) -> int:
    """The GPU memory that a stopwatch takes: matrices, guards, the buffer that flushes the L2."""
    m, n, k = shape
    words = m * k + k * n + m * n + 6 * _GUARD + 2 * (k + 2 * m)
    return 4 * words + 2 * gpu.l2_bytes + _RESERVE_BYTES


class GpuStopwatch:
    """Implements `grader.timing.sample.Stopwatch`.

    The kernels are loaded anew when it opens and then stay. A sample that costs the worker is
    followed by samples in another worker, where the kernels are loaded anew once more.
    """

    def __init__(
        self,
        host: WorkerHost,
        build: Build,
        shape: Shape,
        key: int,
        tools: Mapping[str, Path],
        *,
        cublas: str | None,
        timeout_s: float,
    ) -> None:
        """`tools` are the grader's own cubins, `cublas` is where CUDA lies, None for no cuBLAS.

        Raises GraderFault, also where memory is too small (see `needed_bytes`).
        """
        if build.artifact is None or build.config is None:
            raise ValueError("only a build with an artifact can be timed")
        if shape.m > MAX_GRID_Y * _BASELINE_SIDE:
            raise ValueError(f"{shape} has more rows than the baseline can compute")
        self.shape = shape
        self.contestants: tuple[Contestant, ...] = ()
        self._host = host
        self._build = build
        self._key = key
        self._timeout_s = timeout_s
        self._number = next(_numbers)
        self._request = self._open_request(tools, cublas)
        self._worker: Connection | None = None
        self._launched: set[Contestant] = set()
        with host.exchange() as worker:
            self._open(worker)

    def sample(self, contestant: Contestant, draw: int) -> Sample:
        """See Stopwatch.sample; GraderFault also for CUBLAS where it is not in `contestants`."""
        if contestant not in self.contestants:
            raise GraderFault(f"cuBLAS was not found on this machine. {NOT_YOURS}")
        with self._host.exchange() as worker:
            if worker is not self._worker:
                self._open(worker)
            worker.send(self._sample_request(contestant, draw), (), SETUP_LIMIT_S)
            facts = self._follow(worker, contestant)
        first = contestant not in self._launched
        self._launched.add(contestant)
        return Sample(contestant, first=first, **facts)

    def conditions(self) -> Conditions | None:
        """See Stopwatch.conditions."""
        with self._host.exchange() as worker:
            told = self._ask(worker, {"action": "conditions"})["conditions"]
        if told is None:
            return None
        return Conditions(**{**told, "throttle": tuple(told["throttle"])})

    def close(self) -> None:
        """Unload the kernels and free the buffers; may be called twice."""
        worker, self._worker = self._worker, None
        if worker is None or not self._host.runs(worker):
            return  # they went with their worker
        with self._host.exchange() as worker:
            self._ask(worker, {"action": "close_stopwatch", "stopwatch": self._number})

    def _open(self, worker: Connection) -> None:
        answer = self._ask(worker, self._request)
        self._worker = worker
        self._launched.clear()
        ours = (Contestant.STUDENT, Contestant.BASELINE)
        self.contestants = (*ours, Contestant.CUBLAS) if answer["cublas"] else ours

    def _ask(self, worker: Connection, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """What our own code on the GPU answers."""
        worker.send(request, (), SETUP_LIMIT_S)
        answer = worker.receive(SETUP_LIMIT_S)
        if answer.header["event"] == "error":
            raise errors.machine_fault(errors.read(answer.header))
        return answer.header

    def _follow(self, worker: Connection, contestant: Contestant) -> dict[str, Any]:
        """The fields of the sample; only the time between "launching" and "finished" is limited."""
        answer = worker.receive(SETUP_LIMIT_S)
        if answer.header["event"] == "launching":
            try:
                answer = worker.receive(self._timeout_s)
            except WorkerTimeout:
                self._host.replace_worker()
                raise self._fault(contestant, errors.timeout(self._timeout_s)) from None
        facts: dict[str, Any] = {}
        if answer.header["event"] == "finished":
            facts["seconds"] = float(answer.header["seconds"])
            answer = worker.receive(SETUP_LIMIT_S)
        if answer.header["event"] == "error":
            raise self._failed(worker, answer, contestant)
        if contestant is Contestant.STUDENT and worker.prints()[0].flooded:
            raise self._fault(contestant, flood())
        return {**facts, **{name: answer.header[name] for name in _COUNTED}}

    def _failed(
        self, worker: Connection, answer: Frame, contestant: Contestant
    ) -> KernelFault | GraderFault:
        error = errors.read(answer.header)
        complaints = worker.prints()[1].text
        if answer.header["sticky"]:
            self._host.end_worker()
        if contestant is not Contestant.STUDENT or answer.header["stage"] != "launching":
            return errors.machine_fault(error)
        name, recursive = self._build.submission.name, calls_itself(self._build)
        found = errors.explain(error, complaints, name, self._timeout_s, recursive)
        if answer.header["sticky"]:
            self._host.replace_worker()
        return self._fault(contestant, found)

    def _fault(self, contestant: Contestant, finding: Finding) -> KernelFault | GraderFault:
        if contestant is not Contestant.STUDENT:
            return GraderFault(
                f"The GPU did not finish the {contestant.value} kernel within "
                f"{self._timeout_s:g} s. {NOT_YOURS} Next: nvidia-smi"
            )
        return KernelFault((dataclasses.replace(finding, device="gpu", shape=self.shape),))

    def _open_request(self, tools: Mapping[str, Path], cublas: str | None) -> dict[str, Any]:
        reach = amplitudes(self.shape)
        return {
            "action": "open_stopwatch",
            "stopwatch": self._number,
            "shape": list(self.shape),
            "b_layout": self._build.exercise.b_layout.value,
            "guard": _GUARD,
            "guard_words": [GUARD_WORDS["A"], GUARD_WORDS["B"]],
            "amplitudes": [reach.wide, reach.narrow],
            "l2_bytes": self._host.gpu.l2_bytes,
            "student": self._student(),
            "baseline": self._baseline(tools["baseline"]),
            "tools": {name: str(cubin) for name, cubin in tools.items()},
            "cublas": cublas is not None,
            "toolkit": cublas or "",
        }

    def _student(self) -> dict[str, Any]:
        config = self._build.config
        assert config is not None
        return {
            "cubin": str(self._build.artifact),
            "kernel": self._build.exercise.kernel,
            "block": [config.block_x, config.block_y],
            "grid": list(grid(config, self.shape)),
            "dynamic_shared": config.dynamic_shared,
        }

    def _baseline(self, cubin: Path) -> dict[str, Any]:
        side = _BASELINE_SIDE
        return {
            "cubin": str(cubin),
            "kernel": "baseline",
            "block": [side, side],
            "grid": [-(-self.shape.n // side), -(-self.shape.m // side)],
            "dynamic_shared": 0,
        }

    def _sample_request(self, contestant: Contestant, draw: int) -> dict[str, Any]:
        return {
            "action": "sample",
            "stopwatch": self._number,
            "contestant": contestant.value,
            **dataclasses.asdict(contents(self._key, draw)),
        }


def flood() -> Finding:
    """The kernel printed more than is kept."""
    return Finding(Verdict.OUTPUT_LIMIT, "output_limit", {"limit_bytes": OUTPUT_LIMIT_BYTES})


def calls_itself(build: Build) -> bool:
    """Whether the kernel, or a function of it, is recursive."""
    kept = nvcc.Compiled(build.artifact.parent) if build.artifact else None
    return kept is not None and kept.cubin.is_file() and ptx.recursive(kept.ptx)
