"""The simulator's own speed: multiply-adds a second of processor time, and the time of a build."""

from __future__ import annotations

import resource
import statistics
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from grader import submission
from grader.checks.devices import CACHE
from grader.course import Target
from grader.device import Build, Launch
from grader.exercise import Exercise
from grader.finding import GraderFault
from grader.problems.matmul import Case, Shape, fresh_poison, prepare
from grader.simulator import runtime
from grader.simulator.device import SimulatorDevice
from grader.submission import Submission
from grader.toolchain import HostCompiler

# Large enough that a launch takes a tenth of a second, whole tiles of every solution.
SHAPE = Shape(256, 256, 128)
REPEATS = 3
# A slow machine with all observers on still ends within this.
_TIMEOUT_S = 120.0
_TILED = Path(__file__).with_name("tiled.cu")


@dataclass(frozen=True)
class Speed:
    """One kernel. `off`: observers off; `on`: all of them, with counters. `build_s`: compile and
    link, nothing of the kernel in the cache."""

    name: str
    off_per_s: float
    on_per_s: float
    build_s: float


@dataclass(frozen=True)
class Workload:
    """What is measured, and the exercise whose contract it follows."""

    name: str
    exercise: Exercise
    file: Submission


def is_measurable() -> bool:
    """Whether the kernels for that are here; a student's copy has none."""
    return _TILED.is_file()


def solutions(exercises: Sequence[Exercise]) -> tuple[Workload, ...]:
    """The reference solutions; a student's copy has none."""
    return tuple(
        Workload(one.name, one, submission.read(one.folder / "solution.cu", one, one.folder))
        for one in exercises
        if (one.folder / "solution.cu").is_file()
    )


def comparison(exercises: Sequence[Exercise]) -> Workload:
    """The kernel that Oclgrind runs, too; it follows the contract of 02_tiled."""
    (tiled,) = (one for one in exercises if one.kernel == "matmul_tiled")
    return Workload("tiled 16x16", tiled, submission.read(_TILED, tiled, _TILED.parent))


def measure(
    workload: Workload,
    compiler: HostCompiler,
    target: Target,
    shape: Shape = SHAPE,
    repeats: int = REPEATS,
) -> Speed:
    """Raises GraderFault when the kernel does not build or run as it should."""
    build_s = statistics.median(_build_s(workload, compiler, target) for _ in range(repeats))
    with closing(SimulatorDevice(target, compiler, cache=CACHE / "simulator")) as device:
        build = device.build(workload.exercise, workload.file)
        if build.config is None or build.artifact is None:
            raise GraderFault(f"{workload.file.path} does not build. Next: make doctor")
        case = Case(shape, timeout_s=_TIMEOUT_S)
        off = prepare(workload.exercise, build.config, case, fresh_poison(0, 0))
        on = replace(off, watch=True, count=True)
        off_s, on_s = (_median_s(device, build, launch, repeats) for launch in (off, on))
    work = shape.m * shape.n * shape.k
    return Speed(workload.name, work / off_s, work / on_s, build_s)


def _median_s(device: SimulatorDevice, build: Build, launch: Launch, repeats: int) -> float:
    """Processor time of a launch. The first one, which touches fresh memory, is not counted."""
    times = []
    for _ in range(repeats + 1):
        run = device.launch(build, launch)
        if run.findings or not run.images or run.seconds <= 0:
            raise GraderFault(f"{build.submission.path} does not run. Next: make doctor")
        times.append(run.seconds)
    return statistics.median(times[1:])


def _build_s(workload: Workload, compiler: HostCompiler, target: Target) -> float:
    with (
        _empty_cache(compiler) as cache,
        closing(SimulatorDevice(target, compiler, cache=cache)) as device,
    ):
        return cpu_s(lambda: device.build(workload.exercise, workload.file))


@contextmanager
def _empty_cache(compiler: HostCompiler) -> Iterator[Path]:
    """A cache with the machine, which every kernel shares, and without any kernel."""
    machine = runtime.object_files(compiler, CACHE / "simulator")[0].parent
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        (Path(folder) / machine.name).symlink_to(machine.resolve())
        yield Path(folder)


def cpu_s(work: Callable[[], object]) -> float:
    """Processor time of `work` in this process and in those it starts and waits for."""
    before = _used_s()
    work()
    return _used_s() - before


def _used_s() -> float:
    own = resource.getrusage(resource.RUSAGE_SELF)
    others = resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime
