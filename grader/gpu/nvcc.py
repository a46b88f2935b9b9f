"""Compile a submission with nvcc: to a cubin for one architecture, or to findings.

Works on a machine without a GPU too, where nvcc then decides whether a submission compiles.
"""

from __future__ import annotations

import functools
import hashlib
import math
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from grader import cache_folder, confined, machine_fault, toolchain, tree
from grader.exercise import PROJECT, Exercise
from grader.finding import Finding, GraderFault, KernelFault, Location
from grader.gpu import diagnostics, inspection, opened, ptx
from grader.source import expanded, extensions
from grader.source.directives import items_of
from grader.source.tokens import tokens
from grader.submission import Submission
from grader.toolchain import Nvcc
from grader.verdict import Verdict

INCLUDE = PROJECT / "grader" / "include"
FIND_HEADERS = ("-I", ".")  # in the folder of the text
CACHE = PROJECT / ".cache" / "gpu"

_FLAGS = (
    "-cubin",
    "-std=c++17",
    "--expt-relaxed-constexpr",  # std::min and std::max in kernels
    "-lineinfo",  # places for messages
    *("-Xptxas", "-v"),  # registers, spills
)
# A file of a dozen kernels takes 1.3 s; this is for templates that never end.
LIMIT_S = 60.0
# On a busy machine its programs, one after the other, take longer than they use the processor.
_WALL_FACTOR = 3.0
# nvcc's programs stay under 2 GB of address space; more is a template bomb.
_MEMORY_BYTES = 4 * 1024 * 1024 * 1024
_FILE_BYTES = 24 * 1024 * 1024  # a preprocessed kernel has 1.3 MB
_FILES = ("kernel.cubin", "kernel.ptx", "kernel.log")


@dataclass(frozen=True)
class Compiled:
    """An entry of the cache: the cubin, the PTX it was made from, and what ptxas reported."""

    folder: Path

    @property
    def cubin(self) -> Path:
        return self.folder / "kernel.cubin"

    @property
    def ptx(self) -> str:
        return ptx.read(self.folder / "kernel.ptx")

    @property
    def log(self) -> str:
        return (self.folder / "kernel.log").read_text(errors="replace")


def decides(architecture: str) -> bool:
    """Whether this machine has an nvcc that can say if a submission compiles for `sm_90`."""
    compiler = toolchain.find_nvcc()
    return compiler is not None and compiler.knows(capability(architecture))


def check_compiles(
    exercise: Exercise, submission: Submission, architecture: str, cache: Path = CACHE
) -> tuple[Finding, ...]:
    """What nvcc and the contract say about the submission; needs no GPU. Empty: it compiles.

    Raises GraderFault when nvcc is missing or does not know `architecture` ("sm_90").
    """
    try:
        compiled = compile_submission(submission, toolchain.nvcc(), architecture, cache)
    except KernelFault as fault:
        return fault.findings
    seen = inspection.inspect(exercise, submission, compiled.cubin, compiled.ptx, compiled.log)
    return seen.findings


def compile_submission(
    submission: Submission,
    compiler: Nvcc,
    architecture: str,
    cache: Path = CACHE,
    limit_s: float = LIMIT_S,
) -> Compiled:
    """Compile, or take from the cache what was compiled before from the same text.

    Raises KernelFault for an error of the student's, GraderFault for one of the machine's.
    """
    toolchain.check_architecture(compiler, capability(architecture))
    entry = cache / key(submission, compiler, (f"-arch={architecture}", *_FLAGS))
    if not cache_folder.is_whole(entry):
        with cache_folder.making(entry) as folder:
            _compile(submission, compiler, architecture, folder, limit_s)
            for path in folder.iterdir():
                if path.name not in _FILES:
                    path.unlink()
    return Compiled(entry)


def capability(architecture: str) -> tuple[int, int]:
    """(9, 0) of "sm_90"."""
    digits = architecture.removeprefix("sm_")
    return int(digits[:-1]), int(digits[-1])


def _compile(
    submission: Submission, compiler: Nvcc, architecture: str, folder: Path, limit_s: float
) -> None:
    """Leave the files of a cache entry in `folder`."""
    source = write_source(submission, folder)
    # Names without a folder: `__BASE_FILE__` tells a kernel the name that nvcc was given.
    command = [
        *(str(compiler.path), f"-arch={architecture}", *_FLAGS, *FIND_HEADERS),
        *("-MD", "-MF", "kernel.d", "--keep", "--keep-dir", ".", "-o", "kernel.cubin", source.name),
    ]
    told = f"nvcc {compiler.version[0]}.{compiler.version[1]}"
    _look_at_pragmas(submission, compiler, architecture, source, told, limit_s)
    output, status = run(command, folder, told, limit_s)
    if stray := opened.foreign(folder / "kernel.d", compiler):
        raise KernelFault((stray,))
    (folder / "kernel.log").write_text(output)
    kept = folder / "kernel.ptx"
    ptx_text = ptx.read(kept) if kept.is_file() else ""
    # ptxas refuses some of these instructions; that they are there is the better message.
    rejected = inspection.tensor_cores(ptx_text, submission)
    if rejected:
        raise KernelFault(rejected)
    if status != 0:
        finding = diagnostics.explain(
            output,
            submission.name,
            told,
            compiler.root,
            ptx_text,
            lambda: is_sound(command, folder, limit_s),
        )
        raise KernelFault((finding,))
    if seen := inspection.tensor_code(folder / "kernel.cubin", compiler, submission):
        raise KernelFault(seen)


def _look_at_pragmas(
    submission: Submission,
    compiler: Nvcc,
    architecture: str,
    source: Path,
    told: str,
    limit_s: float,
) -> None:
    """Raise KernelFault for one that macros put together, before a preprocessor executes it."""
    if not extensions.may_hide_pragmas(list(items_of(tokens(submission.text)))):
        return
    output = source.with_suffix(".ii")
    command = [
        *(str(compiler.path), f"-arch={architecture}", "-std=c++17", "-E", *FIND_HEADERS),
        *(expanded.PRAGMAS_STAY, "-o", output.name, source.name),
    ]
    _, status = run(command, source.parent, told, limit_s)
    if status != 0:
        return  # the compilation says why
    text = output.read_text(encoding="utf-8", errors="replace")
    for line, kind, facts in expanded.pragmas(text, submission.name):
        places = (Location(submission.name, line, "error"),) if line else ()
        raise KernelFault((Finding(Verdict.REJECTED, kind, facts, places),))


def write_source(submission: Submission, folder: Path) -> Path:
    """The text that was read, not the file, which may have changed; #line names it as messages
    do. The grader's headers come with it: nvcc takes paths apart at commas and quotes."""
    for header in INCLUDE.glob("*.cuh"):
        shutil.copyfile(header, folder / header.name)
    source = folder / "kernel.cu"
    name = submission.name.replace("\\", "\\\\").replace('"', '\\"')
    source.write_text(f'#line 1 "{name}"\n{submission.text}', encoding="utf-8", newline="")
    return source


def run(
    command: Sequence[str], folder: Path, told: str, limit_s: float, stop: Event | None = None
) -> tuple[str, int]:
    """nvcc's output and exit status, run in `folder` under limits; `told` is how messages call it.

    Once `stop` is set it is ended, and the answer is a status that is not 0. Raises KernelFault for
    a text that meets a limit, GraderFault for a machine that does not let nvcc run.
    """
    limits = _limits(limit_s)
    try:
        done = confined.run(command, folder, limits, stop, untrusted="kernel.cu")
    except OSError as error:
        raise GraderFault(machine_fault.told(error, f"{told} does not start")) from None
    if stop is not None and stop.is_set():
        return "", done.status or 1
    if done.cause == "time":
        raise KernelFault((diagnostics.too_slow(told, limit_s),))
    if done.cause == "size":
        raise KernelFault((diagnostics.too_large(told),))
    if done.cause in confined.MACHINES:
        raise confined.machine_fault(told, done.cause)
    if done.cause == "crash" and confined.is_sound(command, folder, "kernel.cu", limits):
        raise KernelFault((diagnostics.gave_up(told),))
    return done.output, done.status


def is_sound(command: Sequence[str], folder: Path, limit_s: float) -> bool:
    """Whether nvcc, called like that in `folder`, compiles a file in which nothing stands."""
    return confined.is_sound(command, folder, "kernel.cu", _limits(limit_s))


def _limits(limit_s: float) -> confined.Limits:
    return confined.Limits(
        cpu_s=math.ceil(limit_s),
        wall_s=_WALL_FACTOR * limit_s,
        memory_bytes=_MEMORY_BYTES,
        file_bytes=_FILE_BYTES,
    )


def key(submission: Submission, compiler: Nvcc, asked: Sequence[str]) -> str:
    """Everything that the result depends on, as a name. `asked` is what nvcc is told and what is
    wanted of it."""
    seen = confined.environment(os.environ, Path())
    told = [f"{name}={seen[name]}" for name in sorted(seen) if name.startswith("NVCC_")]
    parts = [
        *(str(compiler), *asked, *told, tree.digest(INCLUDE), _rules()),
        *(submission.name, submission.text),
    ]
    whole = "".join(f"{len(part)}:{part}" for part in parts)
    return hashlib.sha256(whole.encode(errors="surrogateescape")).hexdigest()[:40]


@functools.cache  # this process runs the rules as they were when it began
def _rules() -> str:
    """Of what decides which texts are refused: those are not in the cache."""
    return tree.digest(Path(expanded.__file__).parent, Path(__file__).parent)
