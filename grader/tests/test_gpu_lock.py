"""One grading at a time on a GPU."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from grader.exercise import PROJECT
from grader.gpu.lock import GpuLock, waiting_message

HOLDER = """
import sys, time
from pathlib import Path
from grader.gpu.lock import GpuLock
with GpuLock(Path(sys.argv[1]), lambda message: print(message, flush=True)):
    print("locked", flush=True)
    time.sleep(60)
"""


class _Enough(Exception):
    pass


@contextmanager
def other_process(folder: Path) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)], cwd=PROJECT, stdout=subprocess.PIPE, text=True
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def give_up_on(wanted: str) -> Callable[[str], None]:
    def hear(message: str) -> None:
        if message == wanted:
            raise _Enough

    return hear


def test_a_free_gpu_is_locked_at_once_and_silently(tmp_path: Path) -> None:
    said: list[str] = []
    with GpuLock(tmp_path / "lock", said.append):
        pass
    assert said == []


def test_a_process_that_crashes_gives_the_gpu_back(tmp_path: Path) -> None:
    said: list[str] = []
    with other_process(tmp_path) as holder:
        assert read_line(holder) == "locked"

        def kill_holder(message: str) -> None:
            said.append(message)
            holder.kill()

        with GpuLock(tmp_path, kill_holder):
            assert said[0] == waiting_message(1) == "waiting for the GPU, 1 before you"


def test_who_waits_hears_how_many_are_before(tmp_path: Path) -> None:
    with other_process(tmp_path) as first:
        assert read_line(first) == "locked"
        with other_process(tmp_path) as second:
            assert read_line(second) == "waiting for the GPU, 1 before you"
            with pytest.raises(_Enough):
                GpuLock(tmp_path, give_up_on("waiting for the GPU, 2 before you")).acquire()
            first.kill()
            assert read_line(second) == "locked"


def test_who_gives_up_leaves_the_queue(tmp_path: Path) -> None:
    with other_process(tmp_path) as holder:
        assert read_line(holder) == "locked"
        with pytest.raises(_Enough):
            GpuLock(tmp_path, give_up_on("waiting for the GPU, 1 before you")).acquire()
        assert len(list(tmp_path.glob("ticket-*"))) == 1
    with GpuLock(tmp_path):
        assert len(list(tmp_path.glob("ticket-*"))) == 1


def test_releasing_twice_is_harmless_and_the_lock_can_be_taken_again(tmp_path: Path) -> None:
    lock = GpuLock(tmp_path)
    lock.acquire()
    lock.release()
    lock.release()
    started = time.monotonic()
    with lock:
        assert time.monotonic() - started < 5.0
