"""Compiles a kernel's own source for the CPU, with every memory access instrumented.

Why each flag is there stands beside it: several obvious choices give wrong counts.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from grader.finding import GraderFault
from grader.simulator.assembly import patch
from grader.toolchain import HostCompiler

HERE = Path(__file__).resolve().parent
INCLUDE = HERE / "include"
CONTRACT = HERE.parent / "include"
# A student's file compiles in 0.1 s; templates that need longer than this will not end.
COMPILE_LIMIT_S = 60.0

COMMON = (
    "-std=c++17",
    "-O1",  # keeps one access a source access; -O2 merges some
    "-g",  # lines and array types for messages
    "-fno-pie",  # addresses in findings are then those of the debug information
    "-nostdinc",  # kernels see our headers, never the system's
    "-nostdinc++",
    "-fno-exceptions",
    "-fno-rtti",
    "-fno-math-errno",
    "-fno-delete-null-pointer-checks",  # an access through a null pointer must stay
    "-fno-strict-aliasing",  # nvcc does not use it: float4 casts are common
    "-ffp-contract=off",  # the same bits from every compiler and processor
    "-fno-builtin-printf",  # ours, not puts
    "-fno-builtin-memcpy",  # calls, which are checked, rather than copies nobody sees
    "-fno-builtin-memmove",
    "-fno-builtin-memset",
    "-fsanitize=thread",
    "-Wno-unknown-pragmas",
    "-Wno-attributes",
)
FAMILY = {
    "g++": (
        "-fno-section-anchors",  # arrays addressed from one another would ignore their gaps
        "-fno-extern-tls-init",  # `extern __shared__` is plain memory
        "--param=tsan-instrument-func-entry-exit=0",
        "-fsanitize=bounds",
        "-fdiagnostics-color=never",
    ),
    "clang++": (
        "-fno-vectorize",
        "-fno-slp-vectorize",
        "-fno-unroll-loops",
        "-mllvm",
        "-tsan-instrument-read-before-write",  # else the read of `C[i] += x` is missed
        "-mllvm",
        "-simplifycfg-sink-common=false",  # else the stores of two branches become one line's
        "-mllvm",
        "-tsan-instrument-func-entry-exit=0",
        "-fsanitize=array-bounds",
        "-fno-color-diagnostics",
    ),
}
# What the compilers and the debug information call the student's file, whatever its real name.
SOURCE = "kernel.cu"
_ERROR = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.+)$", re.MULTILINE
)


@dataclass(frozen=True)
class CompileFailure(Exception):
    """The compiler's first error in the student's file: message and line (0: none known)."""

    message: str
    line: int
    count: int


# Slows index arithmetic down, so only the runs that look for overflow are compiled with it.
CHECK_OVERFLOW = ("-fsanitize=signed-integer-overflow",)


def flags(compiler: HostCompiler, capability: tuple[int, int]) -> tuple[str, ...]:
    """The flags for kernels; `capability` is what `__CUDA_ARCH__` says."""
    architecture = capability[0] * 100 + capability[1] * 10
    return (
        *COMMON,
        *FAMILY[compiler.family],
        "-D__CUDACC__",
        f"-D__CUDA_ARCH__={architecture}",
        "-isystem",
        str(INCLUDE),
        "-isystem",
        str(CONTRACT),
        "-include",
        "cuda_runtime.h",
    )


def compile_kernel(
    compiler: HostCompiler,
    capability: tuple[int, int],
    text: str,
    folder: Path,
    extra_flags: tuple[str, ...] = (),
) -> Path:
    """Compile the student's `text` to folder/kernel.o.

    Raises CompileFailure for the student's errors and GraderFault when the compiler cannot run.
    """
    (folder / SOURCE).write_text(text, encoding="utf-8", newline="")
    assembly = folder / "kernel.s"
    command = [*compiler.command, "-x", "c++", *flags(compiler, capability), *extra_flags]
    done = run([*command, "-S", SOURCE, "-o", assembly.name], folder)
    if done.returncode != 0:
        raise _failure(done.stderr)
    assembly.write_text(patch(assembly.read_text(encoding="utf-8")), encoding="utf-8")
    object_file = folder / "kernel.o"
    done = run([*compiler.command, "-c", assembly.name, "-o", object_file.name], folder)
    if done.returncode != 0:
        raise GraderFault(
            f"{compiler} could not assemble its own output: {done.stderr.strip()[:300]}. "
            "This is not about your kernel."
        )
    return object_file


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a compiler in `folder`; GraderFault when it is not there or does not end."""
    try:
        return subprocess.run(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=COMPILE_LIMIT_S,
        )
    except subprocess.TimeoutExpired:
        text = f"error: the compiler did not end within {COMPILE_LIMIT_S:.0f} s"
        return subprocess.CompletedProcess(command, 1, "", text)
    except OSError as error:
        raise GraderFault(
            f"{command[0]} could not be started: {error.strerror}. This is not about your kernel. "
            "Next: make doctor"
        ) from error


def _failure(output: str) -> CompileFailure:
    errors = list(_ERROR.finditer(output))
    own = [error for error in errors if error["file"] == SOURCE]
    if own:
        return CompileFailure(own[0]["text"].strip(), int(own[0]["line"]), len(errors))
    # Errors in our headers come from what the student's file does before including them.
    text = errors[0]["text"] if errors else next(iter(output.strip().splitlines()), "no message")
    return CompileFailure(text.strip(), 0, max(len(errors), 1))
