"""What this machine can grade, what is missing, and the command that mends it: `make doctor`.

Nothing is believed that can be tried: the compiler builds and runs a program, and each device
launches a kernel and its product is compared.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader import course, fence, machine, toolchain
from grader.driver import Driver, find_driver
from grader.exercise import PROJECT, load_all
from grader.finding import NOT_YOURS, GraderFault
from grader.timing import calibration

OK, MISSING, OPTIONAL = "ok", "missing", "optional"
COLOURS = {OK: "green", MISSING: "red", OPTIONAL: "yellow"}
# What grading without a GPU cannot do without.
REQUIRED = ("Python", "packages", "C++ compiler", "simulator")
MAKE_SETUP = "make setup"
FENCE = "bubblewrap"  # the Debian package's name


@dataclass(frozen=True)
class Item:
    """One thing that grading uses. `mend` is a command or a short instruction; "" if ok."""

    name: str
    state: str  # "ok", "missing" (needed here) or "optional" (absent, and fine)
    detail: str
    mend: str = ""


def main(options: argparse.Namespace) -> int:
    """Print what was found. 0 when the simulator works here, else 2."""
    items = examine()
    console = Console(no_color=options.plain or None, highlight=False, soft_wrap=True)
    for item in items:
        line = Text.assemble(item.name, ": ", (item.state, COLOURS[item.state]), ": ", item.detail)
        console.print(line)
        if item.mend:
            console.print(Text(f"    Next: {item.mend}"))
    console.print(Text(verdict(items)))
    return 0 if simulator_works(items) else 2


def examine() -> tuple[Item, ...]:
    """Look at everything; never raises for what is merely missing."""
    compiler = _compiler()
    return (
        _python(),
        _packages(),
        compiler,
        _simulator(compiler),
        *_fence(),  # after what compiles behind it
        *_gpu_items(find_driver()),
    )


def simulator_works(items: tuple[Item, ...]) -> bool:
    return all(item.state == OK for item in items if item.name in REQUIRED)


def verdict(items: tuple[Item, ...]) -> str:
    """The sentence that a student looks for."""
    if not simulator_works(items):
        missing = [item for item in items if item.name in REQUIRED and item.state != OK]
        names = ", ".join(item.name for item in missing)
        return f"This machine cannot grade yet: {names}. Next: {missing[0].mend}"
    if all(item.state == OK for item in items if item.name != FENCE):
        return "This machine grades everything."
    exercises = load_all(PROJECT)
    speed = sum(exercise.points["fast"] for exercise in exercises)
    points = sum(exercise.total for exercise in exercises)
    return (
        f"This machine grades everything but speed ({speed} of {points} points), which takes an "
        "NVIDIA GPU that can be used, and its calibration."
    )


def _python() -> Item:
    # An older one than 3.11 does not get here: the Makefile refuses it.
    return Item("Python", OK, f"{platform.python_version()} ({sys.executable})")


def _packages() -> Item:
    """Whether what requirements/base.txt pins is what would be imported."""
    wrong = list(_wrong_packages())
    if wrong:
        return Item("packages", MISSING, "; ".join(wrong), MAKE_SETUP)
    return Item("packages", OK, "as pinned in requirements/base.txt")


def _wrong_packages() -> Iterator[str]:
    text = (PROJECT / "requirements" / "base.txt").read_text(encoding="utf-8")
    for name, pinned in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE):
        if name == "pip":  # installs, grades nothing
            continue
        try:
            found = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            yield f"{name} is not installed"
            continue
        if found != pinned:
            yield f"{name} is {found}, pinned is {pinned}"


def _compiler() -> Item:
    name = "C++ compiler"
    try:
        compiler = toolchain.host_compiler()
    except GraderFault as fault:
        return Item(name, MISSING, *_parts(fault))
    problem = machine.compiler_problem(compiler)
    if problem:
        other = "g++" if compiler.family == "clang++" else compiler.family
        return Item(name, MISSING, f"{compiler} {problem}", toolchain.install_command(other))
    return Item(name, OK, str(compiler))


def _simulator(compiler: Item) -> Item:
    if compiler.state != OK:
        return Item("simulator", MISSING, "needs the C++ compiler", compiler.mend)
    from grader.simulator.device import SimulatorDevice  # only once there is a compiler

    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        try:
            target = course.load(PROJECT).target
            simulator = SimulatorDevice(target, cache=Path(folder))
            problem = machine.device_problem(simulator)
        except GraderFault as fault:
            return Item("simulator", MISSING, *_parts(fault))
    if problem:
        return Item("simulator", MISSING, problem, "CXX=clang++ make doctor, or report this")
    fence = "kernels can make no system calls"
    if not simulator.confined:
        fence = "system calls of kernels cannot be forbidden here, so run nobody else's"
    return Item("simulator", OK, f"ran a kernel; checks the limits of {target.name}; {fence}")


def _fence() -> Iterator[Item]:
    """The wall around compilers, which only Linux can have and nothing depends on."""
    if not sys.platform.startswith("linux"):
        return
    more = "it matters where you grade files of others"
    if why := fence.problem():
        mend = f"{toolchain.install_command(FENCE)}; {more}"
        if fence.installed():
            mend = f"allow user namespaces to bwrap, or grade in a virtual machine; {more}"
        yield Item(FENCE, OPTIONAL, f"{why}, so compilers may see all files that you may", mend)
    elif names := ", ".join(fence.unsuited()):
        mend = f"CXX=/usr/bin/g++ make doctor; {more}"
        yield Item(FENCE, OPTIONAL, f"{names} does not work behind it, so runs without", mend)
    else:
        yield Item(FENCE, OK, "compilers see no files but their own and the one they compile")


def _gpu_items(driver: Driver) -> Iterator[Item]:
    """The GPU's chain. Without a GPU nothing of it is needed."""
    absent = MISSING if driver.gpus else OPTIONAL
    if driver.gpus:
        version = ".".join(map(str, driver.cuda_version or ()))
        names = ", ".join(str(gpu) for gpu in driver.gpus)
        yield Item("GPU", OK, f"{names}; the driver supports CUDA {version}")
    else:
        mend = "use a machine with an NVIDIA GPU and its driver, for the points of speed"
        yield Item("GPU", OPTIONAL, driver.problem, mend)
    nvcc = _nvcc(driver, absent)
    pycuda = _pycuda(absent)
    yield nvcc
    yield pycuda
    if driver.gpus and nvcc.state == pycuda.state == OK:
        yield _kernel_on_gpu()
        yield _calibration(driver.gpus[0].name)


def _nvcc(driver: Driver, absent: str) -> Item:
    compiler = toolchain.find_nvcc()
    if compiler is None:
        return Item("nvcc", absent, "not found", toolchain.NVCC_MEND)
    try:
        for gpu in driver.gpus:
            toolchain.check_architecture(compiler, gpu.compute_capability)
    except GraderFault as fault:
        return Item("nvcc", MISSING, *_parts(fault))
    return Item("nvcc", OK, str(compiler))


def _pycuda(absent: str) -> Item:
    if importlib.util.find_spec("pycuda") is None:
        return Item("PyCUDA", absent, "not installed", MAKE_SETUP if absent == MISSING else "")
    if problem := machine.pycuda_problem():
        return Item("PyCUDA", absent, problem, MAKE_SETUP)
    return Item("PyCUDA", OK, importlib.metadata.version("pycuda"))


def _kernel_on_gpu() -> Item:
    from grader.gpu.device import GpuDevice  # only where there is one

    with tempfile.TemporaryDirectory(prefix="doctor-") as folder:
        try:
            problem = machine.device_problem(
                GpuDevice(course.load(PROJECT).target, cache=Path(folder))
            )
        except GraderFault as fault:
            return Item("kernel on the GPU", MISSING, *_parts(fault))
    if problem:
        return Item("kernel on the GPU", MISSING, problem, "look at `nvidia-smi`, then report this")
    return Item("kernel on the GPU", OK, "ran, and its product is right")


def _calibration(gpu: str) -> Item:
    try:
        found = calibration.find(gpu)
    except GraderFault as fault:
        return Item("calibration", MISSING, *_parts(fault))
    if found is None:
        return Item("calibration", OPTIONAL, f"none of a {gpu}: speed is shown", "make calibrate")
    return Item("calibration", OK, f"of a {gpu}")


def _parts(fault: GraderFault) -> tuple[str, str]:
    """What happened and what mends it: a fault's text holds both around "Next:"."""
    before, _, after = str(fault).partition("Next: ")
    detail = before.replace(NOT_YOURS, "").strip()
    return detail, after.replace(NOT_YOURS, "").strip().rstrip(".")
