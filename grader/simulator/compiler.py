"""Compiles a kernel's own source for the CPU, with every memory access instrumented.

Why each flag is there stands beside it: several obvious choices give wrong counts.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from grader import confined
from grader.finding import NOT_YOURS, GraderFault
from grader.simulator import instrumentation, preprocess, unseen
from grader.simulator.assembly import patch
from grader.simulator.failure import (
    CONTRACT,
    FIRST_HEADER,
    HERE,
    INCLUDE,
    SOURCE,
    CompileFailure,
    failure,
)
from grader.toolchain import HostCompiler

__all__ = ["CONTRACT", "HERE", "INCLUDE", "SOURCE", "CompileFailure", "compile_kernel", "flags"]

LIMITS = replace(preprocess.LIMITS, file_bytes=64 * 1024 * 1024)

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
    "-fno-ident",  # no text of a kernel's goes straight to the assembler
    "-fvisibility=hidden",  # a kernel's function must not stand in for one of the C library's
    "-fno-optimize-sibling-calls",  # where a call returns to says where it stands
    "-fno-stack-protector",  # its complaint is none of a kernel's
    "-fstack-clash-protection",  # a frame larger than the stack must meet the guard page
    "-Wno-unknown-pragmas",
    "-Wno-register",  # nvcc takes that word, too
    "-Wno-narrowing",  # nvcc takes `float4 v = {i, j, 0, 0}`
    "-Werror=vla",  # an array whose length a thread works out is none of CUDA's
    "-Wno-attributes",
)
FAMILY = {
    "g++": (
        "-fno-section-anchors",  # arrays addressed from one another would ignore their gaps
        "-fno-tree-fre",  # these two take what some threads set for the value that all have
        "-fno-tree-ccp",
        "-fno-extern-tls-init",  # `extern __shared__` is plain memory
        "--param=tsan-instrument-func-entry-exit=0",
        "--param=tsan-distinguish-volatile=1",  # no compiler merges volatile loads
        "-Werror=invalid-memory-model",  # of such atomics nothing would be seen
        "-fsanitize=bounds-strict",  # also of the last array of a struct
        "-fdiagnostics-color=never",
    ),
    "clang++": (
        "-fno-vectorize",
        "-fno-slp-vectorize",
        "-fno-unroll-loops",
        "-mllvm",
        "-tsan-instrument-read-before-write",  # else the read of `C[i] += x` is missed
        "-mllvm",
        "-disable-licm-promotion",  # a load in a loop is one in each iteration
        "-mllvm",
        "-simplifycfg-sink-common=false",  # else the stores of two branches become one line's
        "-mllvm",
        "-tsan-instrument-func-entry-exit=0",
        "-mllvm",
        "-tsan-distinguish-volatile",
        "-fsanitize=array-bounds",
        "-Werror=reorder-init-list",  # as nvcc: a field of LAUNCH_CONFIG is not where it belongs
        "-fno-color-diagnostics",
        "-fno-crash-diagnostics",  # which compile a second time
    ),
}
# Translates clang++'s intermediate form, which is instrumented and optimised already.
_INTERMEDIATE = "kernel.ll"
_TRANSLATE = (
    *("-Xclang", "-disable-llvm-passes"),
    "-Wno-unused-command-line-argument",
    *("-x", "ir", _INTERMEDIATE),
)
# Of a CompileFailure: right where vectors and indices are what they are in CUDA.
ONLY_IN_CUDA = "only_in_cuda"
PROCESSOR = {"x86_64": ("-fcf-protection=none",)}  # some systems mark every function's start
# Slows index arithmetic down, so only the runs that look for overflow are compiled with it.
CHECK_OVERFLOW = ("-fsanitize=signed-integer-overflow",)


# Variables without a first value hold a pattern, the same in every run, rather than what the stack
# held: mostly zeros, so that a sum without a first value would often be right. Floats become NaNs
# (g++'s pattern is none: assembly.py).
FILL_VARIABLES = "-ftrivial-auto-var-init=pattern"
_FILLING = {"g++": (12, 0, 0), "clang++": (14, 0, 0)}  # the first releases that know the flag
# From this clang++ on, the last array of a struct has no bounds unless it is told so.
_STRICT_ARRAYS = (16, 0, 0)


def flags(compiler: HostCompiler, capability: tuple[int, int]) -> tuple[str, ...]:
    """The flags for kernels; `capability` is what `__CUDA_ARCH__` says."""
    architecture = capability[0] * 100 + capability[1] * 10
    filling = compiler.version >= _FILLING[compiler.family]
    strict = compiler.family == "clang++" and compiler.version >= _STRICT_ARRAYS
    return (
        *COMMON,
        *FAMILY[compiler.family],
        *((FILL_VARIABLES,) if filling else ()),
        *(("-fstrict-flex-arrays=3",) if strict else ()),
        *PROCESSOR.get(compiler.machine, ()),
        "-D__CUDACC__",
        f"-D__CUDA_ARCH__={architecture}",
        # Searched before what a compiler takes for the system's, whatever it was set up to take.
        *("-I", str(INCLUDE), "-I", str(CONTRACT)),
        "-include",
        FIRST_HEADER,
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
    try:
        done, compiled = preprocess.check(command, folder)
        if done.status == 0:
            compiling = [*command, "-S", "-o", assembly.name]
            compile_once = _compile_listed if compiler.family == "g++" else _compile_completed
            done = compile_once(compiling, folder, compiled)
            if done.status != 0 and not done.cause:
                done = _as_in_cuda(command, folder, done)
    except OSError as error:
        raise _not_started(command, error) from error
    if done.status != 0:
        raise _failed(compiler, command, folder, done)
    # Byte for byte: clang writes constants as strings of any bytes.
    source = assembly.read_text(encoding="utf-8", errors="surrogateescape")
    assembly.write_text(patch(source), encoding="utf-8", errors="surrogateescape")
    object_file = folder / "kernel.o"
    assembling = [*compiler.command, "-c", assembly.name, "-o", object_file.name]
    done = confined.run(assembling, folder, LIMITS, untrusted=assembly.name)
    if done.cause in ("time", "size"):  # an array that fills the disk
        raise failure(done, LIMITS)
    if done.cause in confined.MACHINES:
        raise confined.machine_fault(str(compiler), done.cause)
    if done.status != 0 and confined.is_sound(assembling, folder, assembly.name, LIMITS):
        raise CompileFailure("the compiler gave up on this file", 0, 1, "compile_gave_up")
    if done.status != 0:
        raise GraderFault(
            f"{compiler} could not assemble its own output: {done.output.strip()[:300]}. "
            f"{NOT_YOURS} Next: delete the folder .cache, then run it again"
        )
    return object_file


def _compile_completed(
    command: list[str], folder: Path, compiled: Sequence[str]
) -> confined.Completed:
    """With clang++: by way of its intermediate form, where the calls that it left out are added."""
    path = folder / _INTERMEDIATE
    asked = [*command, "-emit-llvm", *compiled, "-o", path.name]
    done = confined.run(asked, folder, LIMITS, untrusted=compiled[-1])
    if done.status != 0:
        return done
    code = path.read_text(encoding="utf-8", errors="surrogateescape")
    path.write_text(instrumentation.complete(code), encoding="utf-8", errors="surrogateescape")
    done = confined.run([*command, *_TRANSLATE], folder, LIMITS, untrusted=path.name)
    if done.status != 0 and not done.cause:
        raise GraderFault(
            f"{command[0]} could not translate its own output: {done.output.strip()[:300]}. "
            f"{NOT_YOURS} Next: delete the folder .cache, then run it again"
        )
    path.unlink()  # the folder is kept in the cache
    return done


def _compile_listed(
    command: list[str], folder: Path, compiled: Sequence[str]
) -> confined.Completed:
    """With g++: once more where it would make copies, or read arrays, that nobody sees."""
    listing, extra = folder / unseen.LISTING, list[str]()
    while True:
        listing.unlink(missing_ok=True)
        asked = [*command, unseen.LIST, *extra, *compiled]
        done = confined.run(asked, folder, LIMITS, untrusted=compiled[-1])
        if done.status != 0 or not listing.is_file():
            return done
        rows = listing.read_text(encoding="utf-8", errors="replace")
        line = unseen.first_line(rows)
        if unseen.has_other_bounds(rows) and preprocess.SIZES not in extra:
            extra.append(preprocess.SIZES)
        elif line is not None and unseen.INLINE[0] not in extra:
            extra += unseen.INLINE
        else:
            break
    unseen.note(folder, line, unseen.first_part(rows))
    listing.unlink()  # the folder is kept in the cache
    return done


def _as_in_cuda(command: list[str], folder: Path, done: confined.Completed) -> confined.Completed:
    """What the compiler says of a text that it refused, where vectors are plain structs and
    threadIdx is a variable: only that is the student's."""
    asked = [*command, "-DSIM_AS_IN_CUDA", "-fsyntax-only", SOURCE]
    answer = confined.run(asked, folder, LIMITS, untrusted=SOURCE)
    if answer.status == 0:
        raise CompileFailure("", failure(done, LIMITS).line, 1, ONLY_IN_CUDA)
    return done if answer.cause else answer


def _failed(
    compiler: HostCompiler, command: list[str], folder: Path, done: confined.Completed
) -> Exception:
    """Whose fault it is: a compiler that the machine ends, or that always crashes, is ours."""
    broken = done.cause == "crash" and not confined.is_sound(
        [*command, "-S", SOURCE, "-o", "kernel.s"], folder, SOURCE, LIMITS
    )
    if broken:
        return GraderFault(f"{compiler} crashes. {NOT_YOURS} Next: make doctor")
    if done.cause in confined.MACHINES:
        return confined.machine_fault(str(compiler), done.cause)
    return failure(done, LIMITS)


def run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a compiler on sources of ours in `folder`; GraderFault when it is not there."""
    try:
        done = confined.run(command, folder)
    except OSError as error:
        raise _not_started(command, error) from error
    if done.cause in confined.MACHINES:
        raise confined.machine_fault(command[0], done.cause)
    return subprocess.CompletedProcess(command, done.status, "", done.output)


def _not_started(command: list[str], error: OSError) -> GraderFault:
    return GraderFault(
        f"{command[0]} could not be started: {error.strerror}. {NOT_YOURS} Next: make doctor"
    )
