"""The speed of Oclgrind, a simulator of OpenCL kernels, where it is installed."""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = "oclgrind and python3-pyopencl (Debian's names)"
CHECKS = ("--data-races", "--uninitialized")

_PROGRAM = Path(__file__).with_name("opencl_launch.py")
# The smaller size is one block: what it takes is start-up, and is taken off.
SIZE, START_UP_SIZE = 64, 16
_REPEATS = 3
# A launch takes two seconds; one that takes a minute will not end.
_LIMIT_S = 60.0


@dataclass(frozen=True)
class Oclgrind:
    """Where Oclgrind is, and a Python that has pyopencl."""

    path: str
    python: str


@dataclass(frozen=True)
class Speeds:
    """Multiply-adds a second of processor time, without and with the checks."""

    plain_per_s: float
    checked_per_s: float


def find() -> Oclgrind | None:
    """None where Oclgrind or pyopencl is not installed, or does not work."""
    path = shutil.which("oclgrind")
    if path is None:
        return None
    question = "import pyopencl; pyopencl.get_platforms()[0].get_devices()[0]"
    for python in dict.fromkeys(_pythons()):
        if _cpu_s((path, python, "-c", question)) is not None:
            return Oclgrind(path, python)
    return None


def _pythons() -> Iterator[str]:
    """Debian's package is for the system's Python, which a virtual environment hides."""
    yield sys.executable
    for folder in (None, os.defpath, "/usr/bin"):
        found = shutil.which("python3", path=folder)
        if found:
            yield found


def measure(tool: Oclgrind, repeats: int = _REPEATS) -> Speeds | None:
    """None when a launch fails."""
    plain = _per_s(tool, (), repeats)
    checked = _per_s(tool, CHECKS, repeats)
    return Speeds(plain, checked) if plain and checked else None


def _per_s(tool: Oclgrind, options: Sequence[str], repeats: int) -> float | None:
    small = _median_s(tool, options, START_UP_SIZE, repeats)
    large = _median_s(tool, options, SIZE, repeats)
    if small is None or large is None or large <= small:
        return None
    return float(SIZE**3 - START_UP_SIZE**3) / (large - small)


def _median_s(tool: Oclgrind, options: Sequence[str], size: int, repeats: int) -> float | None:
    # One thread, as our simulator has: threads that wait for one another would count as work.
    command = (tool.path, "--num-threads", "1", *options, tool.python, str(_PROGRAM), str(size))
    times = [_cpu_s(command) for _ in range(repeats)]
    known = [seconds for seconds in times if seconds is not None]
    return statistics.median(known) if len(known) == repeats else None


def _cpu_s(command: Sequence[str]) -> float | None:
    """Processor time of a command and what it starts; None when it fails."""
    before = _children_s()
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_LIMIT_S,
            # A compiled kernel in pyopencl's cache would make the first launch unlike the others.
            env={**os.environ, "PYOPENCL_NO_CACHE": "1"},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _children_s() - before if done.returncode == 0 else None


def _children_s() -> float:
    times = resource.getrusage(resource.RUSAGE_CHILDREN)
    return times.ru_utime + times.ru_stime
