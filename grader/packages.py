"""Packages that a plain `pip install` cannot decide on: PyCUDA, and wheels for another machine.

`make setup` calls `python -m grader.packages pycuda`, `make wheelhouse` the other verb. PyCUDA has
no wheels: it is built against this machine's CUDA toolkit and driver, where both are found. That
step never fails the set-up, since everything but the GPU works without it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader import toolchain
from grader.driver import Driver, find_driver
from grader.finding import GraderFault
from grader.settings import PROJECT

REQUIREMENTS = PROJECT / "requirements"
WHEELS = ("base.txt", "dev.txt", "gpu.txt", "class.txt")
# These have no wheels. They are pure Python, so each stays what its hash is about, a source: pip
# makes the wheel on the other machine, with the setuptools of gpu.txt.
SOURCES = ("connection-pool",)
PYCUDA = "pycuda.txt"
# What is shown beside a kernel's time; see `install_timing`.
TIMING = "timing.txt"
TIMING_MODULES = ("pynvml", "nvmath")
# The wheels run with this glibc and newer: RHEL 8, Debian 10 and Ubuntu 18.10 have it.
GLIBC_MINOR = 28
# The glibc of the oldest wheel platform tag of the form manylinux_2_N.
OLDEST_GLIBC_MINOR = 5
OLDEST_PYTHON = (3, 11)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader.packages")
    verbs = parser.add_subparsers(dest="verb", required=True)
    pycuda = verbs.add_parser("pycuda", help="build PyCUDA where nvcc and a driver are found")
    pycuda.add_argument("--wheelhouse", type=Path, help="install from this folder only")
    wheels = verbs.add_parser("wheelhouse", help="download what a machine without network needs")
    wheels.add_argument("--python-version", default=".".join(map(str, sys.version_info[:2])))
    wheels.add_argument("--machine", choices=("x86_64", "aarch64"), default="x86_64")
    wheels.add_argument("--output", type=Path, default=Path("wheelhouse"))
    chosen = parser.parse_args(arguments)
    try:
        if chosen.verb == "pycuda":
            print(f"PyCUDA: {install_pycuda(chosen.wheelhouse)}")
            if _found("pycuda"):
                print(f"cuBLAS and NVML: {install_timing(chosen.wheelhouse)}")
        else:
            download(chosen.output, chosen.python_version, chosen.machine)
            print(f"Next, on that machine: {_offline_command(chosen)}")
    except GraderFault as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0


def _offline_command(chosen: argparse.Namespace) -> str:
    python = f"python{chosen.python_version}"
    return f'make setup WHEELHOUSE="{chosen.output}" PYTHON={python}'


def install_pycuda(wheelhouse: Path | None) -> str:
    """Build and install PyCUDA if this machine can use it; a sentence on what happened."""
    if _found("pycuda"):
        return "installed."
    driver = find_driver()
    compiler = toolchain.find_nvcc()
    if not driver.gpus:
        without = "The simulator grades everything but speed."
        return f"not needed, {driver.problem}. {without}"
    if compiler is None:
        return f"not built, nvcc not found. Next: {toolchain.NVCC_MEND}, then: make setup"
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        mend = f"{toolchain.install_command('python3-dev')}, then: make setup"
        return f"not built, the headers of {sys.executable} are missing. Next: {mend}"
    print(f"PyCUDA: building for {compiler} and {driver.gpus[0]}, some minutes ...", flush=True)
    try:
        _build(compiler, driver, wheelhouse)
    except GraderFault as fault:
        return f"not built. {fault} Everything else is set up; the simulator works."
    return "built."


def install_timing(wheelhouse: Path | None) -> str:
    """Install what shows cuBLAS's speed and the GPU's clocks; a sentence on what happened.

    Their wheels exist for fewer machines than PyCUDA's source, and no grade depends on them.
    """
    if all(map(_found, TIMING_MODULES)):
        return "installed."
    source = _source(wheelhouse)
    try:
        _pip("install", "--require-hashes", *source, "-r", str(REQUIREMENTS / TIMING))
    except GraderFault as fault:
        return f"not installed. {fault} Speed is graded without them."
    return "installed."


def _found(module: str) -> bool:
    """Whether it can be imported, also if it was installed a moment ago."""
    importlib.invalidate_caches()
    return importlib.util.find_spec(module) is not None


def _build(compiler: toolchain.Nvcc, driver: Driver, wheelhouse: Path | None) -> None:
    toolchain.host_compiler()  # a clear word if there is none, before pip's many
    source = _source(wheelhouse)
    _pip("install", "--require-hashes", *source, "-r", str(REQUIREMENTS / "gpu.txt"))
    if kept := built_wheel(wheelhouse):
        _pip("install", "--no-deps", "--no-index", str(kept))
        return
    with tempfile.TemporaryDirectory(prefix="pycuda-") as folder:
        home = Path(folder)
        settings = home / ".aksetup-defaults.py"  # PyCUDA's set-up reads this file in HOME
        settings.write_text(build_settings(compiler, _link_folder(driver, home)), encoding="utf-8")
        options = ("--no-build-isolation", "--no-deps", "--require-hashes")
        package = ("-r", str(REQUIREMENTS / PYCUDA))
        path = f"{compiler.path.parent}{os.pathsep}{os.environ.get('PATH', '')}"
        cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
        environment = {"HOME": folder, "PATH": path, "PIP_CACHE_DIR": cache}
        made = home / "wheels"
        _pip("wheel", *options, *source, *package, "-w", str(made), environment=environment)
        (wheel,) = made.glob("*.whl")
        _pip("install", "--no-deps", "--no-index", str(wheel))
        if wheelhouse is not None:
            with contextlib.suppress(OSError):  # a read-only folder: the next node builds again
                shutil.copy(wheel, wheelhouse)


def built_wheel(wheelhouse: Path | None) -> Path | None:
    """PyCUDA as an earlier `make setup` of a node like this one left it in the wheelhouse."""
    if wheelhouse is None:
        return None
    python = "cp{}{}".format(*sys.version_info[:2])
    release = re.search(r"pycuda==([^ ]+)", (REQUIREMENTS / PYCUDA).read_text(encoding="utf-8"))
    pattern = f"pycuda-{release[1] if release else '*'}-{python}-*_{platform.machine()}.whl"
    return next(iter(sorted(wheelhouse.glob(pattern))), None)


def build_settings(compiler: toolchain.Nvcc, link_folders: Sequence[str]) -> str:
    """PyCUDA's build options. Without cuRAND: the grader draws its inputs on the host, and smaller
    toolkits (the packages on PyPI, some containers) lack its header."""
    return (
        f"CUDA_ROOT = {str(compiler.root)!r}\n"
        f"CUDA_INC_DIR = {[str(compiler.root / 'include')]!r}\n"
        f"CUDADRV_LIB_DIR = {list(link_folders)!r}\n"
        "CUDA_ENABLE_CURAND = False\n"
    )


def _link_folder(driver: Driver, home: Path) -> list[str]:
    """A folder in which the linker finds `-lcuda`.

    Containers often have libcuda.so.1, which programs load, without libcuda.so, which the linker
    asks for; so the library that was loaded a moment ago gets that name here.
    """
    folder = home / "lib"
    folder.mkdir()
    (folder / "libcuda.so").symlink_to(_loaded(driver.library))
    return [str(folder)]


def _loaded(library: str) -> Path:
    """The file of a library that this process has loaded."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        path = Path(line.split(maxsplit=5)[-1])
        if path.name.startswith(library.removesuffix(".1")):
            return path
    raise GraderFault(f"{library} is loaded, but its file is not to be found.")


def download(output: Path, python_version: str, machine: str) -> None:
    """Fill `output` with every wheel for that Python on Linux, and PyCUDA's source."""
    _check_python_version(python_version)
    output.mkdir(parents=True, exist_ok=True)
    common = ("download", "--no-deps", "--require-hashes", "--dest", str(output))
    target = ["--only-binary=:all:", "--implementation=cp", f"--python-version={python_version}"]
    target += (f"--platform={name}" for name in platform_tags(machine))
    sources = tuple(f"--no-binary={name}" for name in SOURCES)
    for name in WHEELS:
        print(f"{name}: wheels for Python {python_version} on Linux {machine} ...", flush=True)
        _pip(*common, *target, *sources, "-r", str(REQUIREMENTS / name))
    print(f"{PYCUDA}: source ...", flush=True)
    _pip(*common, "--no-binary=pycuda", "-r", str(REQUIREMENTS / PYCUDA))
    print(f"{TIMING}: wheels ...", flush=True)
    try:
        _pip(*common, *target, "-r", str(REQUIREMENTS / TIMING))
    except GraderFault as fault:  # no grade depends on them
        print(f"{fault} Speed will be graded without cuBLAS and NVML there.")


def _check_python_version(python_version: str) -> None:
    try:
        release = tuple(int(part) for part in python_version.split("."))
    except ValueError:
        release = ()
    if len(release) < 2 or release < OLDEST_PYTHON:
        oldest = ".".join(map(str, OLDEST_PYTHON))
        raise GraderFault(
            f"PYTHON_VERSION={python_version} is no Python {oldest} or newer. "
            f"Next: make wheelhouse PYTHON_VERSION=3.12"
        )


def platform_tags(machine: str) -> Iterator[str]:
    """pip matches these tags literally, so every glibc that the target can serve is named."""
    for minor in range(GLIBC_MINOR, OLDEST_GLIBC_MINOR - 1, -1):
        yield f"manylinux_2_{minor}_{machine}"
    for name in ("manylinux2014", "manylinux2010", "manylinux1"):
        yield f"{name}_{machine}"


def _source(wheelhouse: Path | None) -> tuple[str, ...]:
    if wheelhouse is None:
        return ()
    return ("--no-index", "--find-links", str(wheelhouse))


def _pip(*arguments: str, environment: dict[str, str] | None = None) -> None:
    """Run pip quietly; its last lines are the reason when it fails."""
    command = (sys.executable, "-m", "pip", *arguments, "--quiet", "--no-input")
    done = subprocess.run(
        (*command, "--disable-pip-version-check"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **(environment or {})},
        check=False,
    )
    if done.returncode == 0:
        return
    lines = done.stdout.decode(errors="replace").strip().splitlines()
    reasons = [line.strip() for line in lines if "error" in line.lower()] or lines
    raise GraderFault("pip failed:\n  " + "\n  ".join(reasons[-6:]) + "\n")


if __name__ == "__main__":
    sys.exit(main())
