"""One GPU worker at a time, started when it is needed, and the lock on the GPU it uses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader import machine_fault
from grader.exercise import PROJECT
from grader.finding import NOT_YOURS, GraderFault, KernelFault
from grader.gpu import errors
from grader.gpu.connection import Connection, WorkerEnded, WorkerTimeout
from grader.gpu.hardware import Gpu, greet
from grader.gpu.lock import GpuLock, default_folder

# Starting the driver and creating a context takes a second, minutes on a machine with many GPUs;
# copying the largest operands takes a second as well. None of this is the kernel's time.
SETUP_LIMIT_S = 120.0


class WorkerHost:
    """The GPU is locked from the first exchange to `close`."""

    def __init__(
        self, command: Sequence[str], lock_folder: Path | None, on_wait: Callable[[str], None]
    ) -> None:
        self._command = tuple(command)
        self._lock_folder = lock_folder
        self._on_wait = on_wait
        self._lock: GpuLock | None = None
        self._connection: Connection | None = None
        self._gpu: Gpu | None = None

    @property
    def gpu(self) -> Gpu:
        """What the worker says of its GPU; asks without locking it."""
        if self._gpu is None:
            self._connect()
        assert self._gpu is not None
        return self._gpu

    @contextmanager
    def exchange(self) -> Iterator[Connection]:
        """The worker, for one request and its answers; what it printed before is forgotten.

        A worker that ends, stalls or is interrupted is our fault and costs it; only a KernelFault
        leaves the pipes in step.
        """
        worker = self._connect()
        if self._lock is None:
            lock = GpuLock(self._lock_folder or default_folder(self.gpu.uuid), self._on_wait)
            lock.acquire()
            self._lock = lock
        worker.forget_prints()
        try:
            yield worker
        except KernelFault:
            raise
        except WorkerEnded as ended:
            self.end_worker()
            raise _lost(f"The GPU worker ended: {ended}") from None
        except WorkerTimeout:
            self.end_worker()
            raise _no_answer() from None
        except BaseException:  # Ctrl-C, or a fault of the machine: the pipes are out of step
            self.end_worker()
            raise

    def free_bytes(self) -> int:
        """The GPU's memory that is free now."""
        with self.exchange() as worker:
            worker.send({"action": "memory"}, (), SETUP_LIMIT_S)
            answer = worker.receive(SETUP_LIMIT_S)
            if answer.header["event"] == "error":
                raise errors.machine_fault(errors.read(answer.header))
        return int(answer.header["free_bytes"])

    def replace_worker(self) -> None:
        """After what looks like a kernel's crash or hang: a GPU that was lost looks the same, but
        serves no other worker either. Raises GraderFault then, and nobody is blamed."""
        self.end_worker()
        self.free_bytes()

    def runs(self, worker: Connection) -> bool:
        """Whether this worker, and all that it holds, is still there."""
        return self._connection is worker

    def end_worker(self) -> None:
        """The next exchange starts another one."""
        if self._connection is not None:
            self._connection.end()
            self._connection = None

    def close(self) -> None:
        """End the worker and give the GPU to the next grading; may be called twice."""
        self.end_worker()
        if self._lock is not None:
            self._lock.release()
            self._lock = None

    def _connect(self) -> Connection:
        """The worker; it takes the GPU's memory only at its first request."""
        if self._connection is not None:
            return self._connection
        try:
            connection = Connection(self._command, PROJECT)
        except OSError as error:
            told = "The GPU worker cannot be started"
            raise GraderFault(machine_fault.told(error, told)) from None
        try:
            self._gpu = greet(connection.receive(SETUP_LIMIT_S))
        except WorkerEnded as ended:
            connection.end()
            raise _lost(f"The GPU worker did not start: {ended}") from None
        except WorkerTimeout:
            connection.end()
            raise _no_answer() from None
        except BaseException:
            connection.end()
            raise
        self._connection = connection
        return connection


def _lost(what: str) -> GraderFault:
    return GraderFault(f"{what}. {NOT_YOURS} Next: {machine_fault.OTHERWISE}")


def _no_answer() -> GraderFault:
    return GraderFault(
        f"The GPU did not answer within {SETUP_LIMIT_S:g} s. {NOT_YOURS} Next: nvidia-smi"
    )
