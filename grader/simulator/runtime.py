"""The machine's C++ sources, compiled once for each compiler and kept in the cache."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader import cache_folder, cores
from grader.finding import NOT_YOURS, GraderFault
from grader.simulator.compiler import HERE, run
from grader.toolchain import HostCompiler

FLAGS = ("-std=c++17", "-O2", "-fno-pie", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra")


def sources(compiler: HostCompiler) -> tuple[Path, ...]:
    """What is compiled into the machine on this processor."""
    fibers = HERE / "machine" / f"fiber_{compiler.machine}.S"
    if not fibers.exists():
        raise GraderFault(
            f"The simulator does not run on this processor yet ({compiler.machine or 'unknown'}): "
            f"it knows x86_64 and aarch64. {NOT_YOURS} Next: grade on such a machine"
        )
    found = sorted([*(HERE / "machine").glob("*.cpp"), *(HERE / "observers").glob("*.cpp")])
    return (*found, fibers)


def digest() -> str:
    """A hash of everything that decides how a kernel runs in the simulator."""
    total = hashlib.sha256()
    for path in sorted(HERE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            total.update(path.relative_to(HERE).as_posix().encode() + b"\0")
            total.update(path.read_bytes())
    return total.hexdigest()


def object_files(compiler: HostCompiler, cache: Path) -> tuple[Path, ...]:
    """The machine's object files, compiled now unless the cache has them.

    Raises GraderFault when the compiler refuses our sources.
    """
    key = hashlib.sha256(f"{digest()} {compiler} {FLAGS}".encode()).hexdigest()[:16]
    folder = cache / f"machine-{key}"
    files = sources(compiler)
    if not cache_folder.is_whole(folder):
        with cache_folder.making(folder) as making, ThreadPoolExecutor(cores.usable()) as pool:
            list(pool.map(lambda path: _compile_one(compiler, path, making), files))
    return tuple(folder / f"{path.stem}.o" for path in files)


def _compile_one(compiler: HostCompiler, path: Path, folder: Path) -> None:
    done = run(
        [*compiler.command, *FLAGS, "-c", str(path), "-o", f"{path.stem}.o"],
        folder,
    )
    if done.returncode != 0:
        raise GraderFault(
            f"{compiler} could not compile the simulator's {path.name}: "
            f"{done.stderr.strip()[:500]}. {NOT_YOURS} Next: make doctor"
        )
