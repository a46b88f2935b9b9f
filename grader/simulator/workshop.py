"""Makes programs of kernels, keeps them in the cache, and keeps their workers running."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from grader import cache_folder, source
from grader.simulator import compiler as compilers
from grader.simulator import elf, linkage, program, runtime
from grader.simulator.bounds import is_record
from grader.simulator.debug import DebugInfo
from grader.simulator.process import Worker
from grader.simulator.program import Entry
from grader.simulator.protocol import MAX_GLOBALS, MAX_VARIABLES
from grader.toolchain import HostCompiler

_RULES = Path(source.__file__).parent

# Looks into an object file and says what to run; may raise KernelFault or GraderFault.
FindEntry = Callable[[Path], Entry]


@dataclass(frozen=True)
class Workshop:
    """One compiler, one GPU to stand for (`capability`), one cache folder.

    `runner` is a command that runs the workers when `compiler` compiles for another processor.
    """

    compiler: HostCompiler
    capability: tuple[int, int]
    cache: Path
    runner: tuple[str, ...] = ()
    extra_flags: tuple[str, ...] = ()

    def make(self, text: str, entry: str, find_entry: FindEntry) -> Path:
        """The folder of a program that runs `entry` of a file: kernel.o and worker.

        Compiled now unless the cache has it. Raises CompileFailure, GraderFault, and what
        `find_entry` raises.
        """
        folder = self.cache / f"kernel-{self._key(text, entry)}"
        if not cache_folder.is_whole(folder):
            with cache_folder.making(folder) as making:
                self._make(text, find_entry, making)
        return folder

    def _key(self, text: str, entry: str) -> str:
        flags = (*compilers.flags(self.compiler, self.capability), *self.extra_flags)
        parts = (_rules_digest(), runtime.digest(), str(self.compiler), str(flags), entry, text)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]

    def _make(self, text: str, find_entry: FindEntry, making: Path) -> None:
        object_file = compilers.compile_kernel(
            self.compiler, self.capability, text, making, self.extra_flags
        )
        entry = find_entry(object_file)
        machine = runtime.object_files(self.compiler, self.cache)
        linkage.check(object_file, entry.symbol, machine)
        program.link(self.compiler, entry, object_file, machine)

    def start(self, folder: Path) -> Worker:
        """A worker of a program that `make` made; its process starts with the first launch."""
        made = program.describe(folder / "worker", folder / "kernel.o")
        return Worker(made, self.runner)


@functools.cache  # this process runs the rules as they were when it began
def _rules_digest() -> str:
    """Of what decides which texts are refused: those are not in the cache."""
    paths = (compilers.CONTRACT / "launch.cuh", *sorted(_RULES.glob("*.py")))
    return hashlib.sha256(b"\0".join(path.read_bytes() for path in paths)).hexdigest()


def static_shared_bytes(folder: Path) -> int:
    """The `__shared__` arrays of a program that `Workshop.make` made."""
    symbols = elf.read_symbols(folder / "kernel.o")
    return sum(s.size for s in symbols if s.kind == "shared" and s.defined)


def has_too_many(folder: Path) -> str:
    """What such a program has more of than the machine can keep apart; "" for nothing."""
    symbols = [s for s in elf.read_symbols(folder / "kernel.o") if s.defined and s.size > 0]
    own = {(s.name, s.kind) for s in symbols if not is_record(s.name)}
    limits = (
        ("shared", "shared arrays", MAX_VARIABLES - 1),  # one stands for `extern __shared__`
        ("object", "device variables", MAX_GLOBALS),
    )
    for kind, what, most in limits:
        count = sum(1 for _, other in own if other == kind)
        if count > most:
            return f"{count:,} {what}, where the simulator keeps at most {most:,} apart"
    return ""


def read_debug_info(worker: Worker) -> DebugInfo:
    return DebugInfo(worker.program.path, compilers.SOURCE)
