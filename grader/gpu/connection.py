"""The grader's side of a GPU worker: a process, its frames, and what its kernels print.

One loop serves all pipes, so that neither a large matrix nor a kernel that prints without end can
block the other side. Frames come on a pipe of their own; the worker's stdout and stderr hold what
kernels and the driver print, and are never read as results.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.device import OUTPUT_LIMIT_BYTES
from grader.gpu.frames import Decoder, Frame, FrameError, encode

_CHUNK = 1 << 20
# The driver takes a while to clear up after a kernel that was killed.
_END_S = 30.0


class WorkerTimeout(Exception):
    """No answer within the limit; the worker is still there."""


class WorkerEnded(Exception):
    """The worker is gone; the text says how."""


class Capture:
    """The first bytes of a stream, and whether there were more."""

    def __init__(self) -> None:
        self._kept = bytearray()
        self.flooded = False

    def add(self, data: bytes) -> None:
        room = OUTPUT_LIMIT_BYTES - len(self._kept)
        self._kept += data[:room]
        self.flooded = self.flooded or len(data) > room

    @property
    def text(self) -> str:
        return self._kept.decode(errors="replace")


class Connection:
    """A running worker. `command` gets the number of the pipe for frames as its last word."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        results, theirs = os.pipe()
        try:
            self._process = subprocess.Popen(
                [*command, str(theirs)],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                pass_fds=(theirs,),
                bufsize=0,
                start_new_session=True,  # Ctrl-C is for the grader, which then ends the worker
            )
        except BaseException:
            os.close(results)
            raise
        finally:
            os.close(theirs)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._results = results
        self._requests = self._process.stdin.fileno()
        self._decoder = Decoder()
        self._frames: deque[Frame] = deque()
        self._unsent: deque[memoryview] = deque()
        self._problem = ""
        self._streams = {self._process.stdout.fileno(): "out", self._process.stderr.fileno(): "err"}
        self._selector = selectors.DefaultSelector()
        self._watch(results, selectors.EVENT_READ, self._read_frame)
        for stream in self._streams:
            self._watch(stream, selectors.EVENT_READ, self._read_print)
        os.set_blocking(self._requests, False)
        self.forget_prints()

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, header: Mapping[str, Any], parts: Sequence[memoryview], limit_s: float) -> None:
        """Write one frame; what the worker prints meanwhile is kept."""
        self._unsent.extend(part.cast("B") for part in encode(header, parts) if part.nbytes)
        self._watch(self._requests, selectors.EVENT_WRITE, self._write)
        self._serve(lambda: not self._unsent, limit_s)

    def receive(self, limit_s: float) -> Frame:
        """The next frame. Raises WorkerTimeout or WorkerEnded."""
        self._serve(lambda: bool(self._frames), limit_s)
        return self._frames.popleft()

    def forget_prints(self) -> None:
        """Begin anew with what is printed, for the next launch."""
        self._prints = {"out": Capture(), "err": Capture()}

    def prints(self) -> tuple[Capture, Capture]:
        """Everything printed up to now: stdout (kernels), stderr (the driver)."""
        for stream in tuple(self._streams):
            os.set_blocking(stream, False)
            while self._read_print(stream):
                pass
        return self._prints["out"], self._prints["err"]

    def end(self) -> None:
        """Kill the worker, and with it a kernel that still runs; may be called twice."""
        if self._process.poll() is None:
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # the driver may still clear up
            self._process.wait(_END_S)
        if self._results >= 0:
            self._selector.close()
            os.close(self._results)
            self._results = -1
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe:
                    pipe.close()

    def _serve(self, done: Callable[[], bool], limit_s: float) -> None:
        """Serve every pipe until `done`."""
        deadline = time.monotonic() + limit_s
        while not done():
            if self._problem:
                raise WorkerEnded(self._ending())
            left = deadline - time.monotonic()
            if left <= 0:
                raise WorkerTimeout
            for key, _ in self._selector.select(left):
                key.data(key.fd)

    def _ending(self) -> str:
        """How the worker ended, with the last line it printed as a hint."""
        try:
            status = self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            return self._problem
        how = f"signal {-status}" if status < 0 else f"exit status {status}"
        lines = self.prints()[1].text.strip().splitlines()
        return f"{how}{': ' + lines[-1].strip() if lines else ''}"

    def _read_frame(self, pipe: int) -> None:
        count = os.readv(pipe, [self._decoder.room()])
        if count == 0:
            self._selector.unregister(pipe)
            self._problem = self._problem or "closed its pipe"
            return
        try:
            frame = self._decoder.advance(count)
        except FrameError as error:
            self._selector.unregister(pipe)
            self._problem = f"sent no frame ({error})"
            return
        if frame is not None:
            self._frames.append(frame)

    def _read_print(self, stream: int) -> bool:
        """Read once; whether there may be more."""
        try:
            data = os.read(stream, _CHUNK)
        except BlockingIOError:
            return False
        if not data:
            if stream in self._streams:
                self._selector.unregister(stream)
                del self._streams[stream]
            return False
        self._prints[self._streams[stream]].add(data)
        return True

    def _write(self, pipe: int) -> None:
        try:
            while self._unsent:
                part = self._unsent[0]
                count = os.write(pipe, part[:_CHUNK])
                self._unsent[0] = part[count:]
                if count == len(part):
                    self._unsent.popleft()
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._unsent.clear()
            self._problem = self._problem or "closed its pipe"
        self._selector.unregister(pipe)

    def _watch(self, pipe: int, event: int, serve: Callable[[int], object]) -> None:
        if pipe not in self._selector.get_map():
            self._selector.register(pipe, event, serve)
