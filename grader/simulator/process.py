"""The worker process: started on the first launch, ended by a crash, replaced on the next."""

from __future__ import annotations

import contextlib
import os
import secrets
import select
import subprocess
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import IO

import numpy as np

from grader.device import Launch
from grader.finding import NOT_YOURS, GraderFault
from grader.simulator import protocol
from grader.simulator.ending import NoAnswer, stand_in
from grader.simulator.program import Program
from grader.simulator.protocol import Answer, Block, Request, Status

# The worker counts CPU seconds itself; this wall-clock limit only ends a worker that is stuck.
WALL_FACTOR = 6.0
WALL_EXTRA_S = 20.0
# Between the end of a worker's pipe and that of the worker.
LAST_WORDS_S = 2.0


class Worker:
    """One program's worker. Not safe for use from several threads at once.

    `runner` is a command that runs programs of another processor (`qemu-aarch64`), or empty.
    """

    def __init__(self, program: Program, runner: tuple[str, ...] = ()) -> None:
        self.program = program
        self._runner = runner
        self._process: subprocess.Popen[bytes] | None = None
        self._greeted = self._ready = False

    def ask(
        self,
        block: Block,
        launch: Launch,
        lines: Sequence[tuple[int, int]] = (),
        only_block: int = -1,
        sparse: bool = False,
    ) -> Answer:
        """Launch once; `lines` are needed to count.

        A worker that ends without an answer gets a second chance: what a kernel can do and what
        happens again is the kernel's doing. Raises GraderFault where it is not.
        """
        request = Request(block, launch, lines, only_block, sparse)
        try:
            return self._ask(request)
        except NoAnswer as first:
            if not first.may_pass:
                return stand_in(first)
            ending = first
        try:
            return self._ask(request)
        except NoAnswer as again:
            return stand_in(again if ending.by_kernel else ending)

    def _ask(self, request: Request) -> Answer:
        process = self._running()
        limit_s = request.launch.timeout_s
        deadline_s = time.monotonic() + limit_s * WALL_FACTOR + WALL_EXTRA_S
        begin_s = _cpu_s(process)
        ticket = secrets.randbits(64)
        try:
            if not self._greeted:
                _send(process, protocol.hello(self.program))
                self._greeted = True
            _send(process, request.head(ticket))
            for image in request.images():
                _send(process, image)
            reader = _Reader(_open(process.stdout), deadline_s)
            if not self._ready:
                self._ready = reader.read(len(protocol.READY)) == protocol.READY
                if not self._ready:
                    raise OSError("another protocol")
            answer = _receive(reader, ticket)
        except ValueError as error:
            self.close()
            raise NoAnswer(str(error), forged=True) from error
        except TimeoutError as error:
            busy = _cpu_s(process) - begin_s > limit_s
            self.close()
            raise NoAnswer(str(error), busy=busy) from error
        except (OSError, EOFError) as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LAST_WORDS_S)
            status = process.returncode
            started = self._ready
            self.close()
            raise NoAnswer(str(error) or "end of file", status, started=started) from error
        except BaseException:  # Ctrl-C: half an answer may be in the pipe
            self.close()
            raise
        if answer.head.status in (Status.TIMED_OUT, Status.CRASHED):
            self.close()
            return answer
        return replace(answer, cpu_s=max(0.0, _cpu_s(process) - begin_s))

    def close(self) -> None:
        """End the worker; the next `ask` starts a new one."""
        if self._process is None:
            return
        process, self._process = self._process, None
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        self._greeted = self._ready = False
        try:
            self._process = subprocess.Popen(
                [*self._runner, str(self.program.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env={},  # nothing of ours for a kernel to read
                cwd=self.program.path.parent,
                bufsize=0,
                start_new_session=True,  # signals to its group reach nobody else
            )
        except OSError as error:
            self.close()
            raise GraderFault(
                f"The simulator's worker could not be started: {error.strerror}. "
                f"{NOT_YOURS} Next: make doctor"
            ) from error
        return self._process


def _cpu_s(process: subprocess.Popen[bytes]) -> float:
    """Processor time of a running process so far: unlike the wall clock it does not depend on what
    else the machine does."""
    clock = ~process.pid << 3 | 2  # as clock_getcpuclockid(3) names it on Linux
    try:
        return time.clock_gettime(clock)
    except (OSError, OverflowError):
        return 0.0


def _send(process: subprocess.Popen[bytes], data: bytes | memoryview) -> None:
    pipe = _open(process.stdin)
    view = memoryview(data)
    while view:
        view = view[os.write(pipe.fileno(), view) :]


def _open(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise OSError("closed pipe")
    return pipe


def _receive(reader: _Reader, ticket: int) -> Answer:
    """Raises ValueError for what is no answer to the request with this ticket."""
    head = protocol.read_response(reader.read(protocol.RESPONSE_BYTES), ticket)
    findings = tuple(
        protocol.read_finding(reader.read(protocol.FINDING_BYTES))
        for _ in range(head.finding_count)
    )
    output = reader.read(head.output_bytes).decode("utf-8", "replace")
    counters = tuple(
        protocol.read_counter(reader.read(protocol.COUNTER_BYTES))
        for _ in range(head.counter_count)
    )
    stored = reader.pieces(min(head.stored, protocol.MAX_STORED))
    loaded = reader.pieces(min(head.loaded, protocol.MAX_LOADED))
    images = tuple(
        np.frombuffer(reader.read(4 * words), dtype=np.uint32) for words in head.image_words
    )
    return Answer(head, findings, output, images, counters, stored=stored, loaded=loaded)


class _Reader:
    """Reads exact amounts from a pipe until a deadline."""

    def __init__(self, pipe: IO[bytes], deadline_s: float) -> None:
        self._descriptor = pipe.fileno()
        self._deadline_s = deadline_s
        self._poll = select.poll()
        self._poll.register(self._descriptor, select.POLLIN)

    def pieces(self, count: int) -> protocol.Pieces:
        return np.frombuffer(self.read(protocol.PIECE.itemsize * count), protocol.PIECE)

    def read(self, size: int) -> bytes:
        data = bytearray(size)
        view = memoryview(data)
        while view:
            left_s = max(0.0, self._deadline_s - time.monotonic())
            if not self._poll.poll(left_s * 1000):
                raise TimeoutError("no answer in time")
            got = os.readv(self._descriptor, [view])
            if got == 0:
                raise EOFError
            view = view[got:]
        return bytes(data)
