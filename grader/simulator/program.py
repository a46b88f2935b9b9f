"""Links a kernel's object file and the machine into one native program, the worker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from grader.finding import NOT_YOURS, GraderFault
from grader.simulator import elf
from grader.simulator.assembly import DYNAMIC, LEAST_GAP_BYTES
from grader.simulator.bounds import is_record
from grader.simulator.compiler import run
from grader.toolchain import HostCompiler

# Dynamic shared memory: more than any GPU offers one block (228 KiB), and a gap after it.
DYNAMIC_BYTES = 320 * 1024
# The tables through which libraries are called are filled in at the start, and then read-only.
LINK_FLAGS = ("-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack")
ANCHOR = "sim_shared_anchor"


@dataclass(frozen=True)
class Variable:
    """A shared array (offset in the shared block) or a device variable (address), with its size."""

    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class Entry:
    """The function to run: its symbol and the C types of its parameters in order.

    A type that ends in `*` takes the next operand, any other the next scalar: an integer, or the
    bits of a floating-point number.
    """

    symbol: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Program:
    """The worker's executable and where things lie in its memory."""

    path: Path
    shared: tuple[Variable, ...]
    device_variables: tuple[Variable, ...]
    shared_bytes: int
    anchor_offset: int
    dynamic_offset: int


def link(
    compiler: HostCompiler, entry: Entry, kernel_object: Path, machine: Sequence[Path]
) -> Path:
    """Link `worker` beside the object file."""
    folder = kernel_object.parent
    stub = folder / "stub.cpp"
    stub.write_text(_stub(entry), encoding="utf-8")
    # The stub comes first: its anchor is the gap before the student's first array.
    flags = ("-std=c++17", "-O1", "-fno-pie", "-no-pie")
    linked = (stub.name, kernel_object.name, *map(str, machine), "-o", "worker", "-lm")
    _link(compiler, [*flags, *linked, *LINK_FLAGS], folder, "the simulator's worker")
    return folder / "worker"


def link_alone(compiler: HostCompiler, kernel_object: Path) -> Path:
    """Link `alone` beside the object file: not to be run, only its debug information is read,
    which has no addresses in an object file."""
    loose = ("-nostdlib", "-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-Wl,--entry=0")
    arguments = [*loose, kernel_object.name, "-o", "alone"]
    _link(compiler, arguments, kernel_object.parent, "the kernel alone")
    return kernel_object.with_name("alone")


def _link(compiler: HostCompiler, arguments: Sequence[str], folder: Path, what: str) -> None:
    done = run([*compiler.command, *arguments], folder)
    if done.returncode != 0:
        raise GraderFault(
            f"{compiler} could not link {what}: {done.stderr.strip()[-400:]}. "
            f"{NOT_YOURS} Next: delete the folder .cache, then run it again"
        )


# The integer that holds the bits of a floating-point scalar.
_BITS = {"float": "int", "double": "long"}


def _arguments(parameters: Sequence[str]) -> Iterator[str]:
    operands, scalars = count(), count()
    for kind in parameters:
        if kind.endswith("*"):
            yield f"({kind})operands[{next(operands)}]"
        elif kind in _BITS:
            yield f"__builtin_bit_cast({kind}, ({_BITS[kind]})scalars[{next(scalars)}])"
        else:
            yield f"({kind})scalars[{next(scalars)}]"


def _stub(entry: Entry) -> str:
    """C++ that calls the kernel and defines the array behind `extern __shared__`."""
    return (
        "#define SHARED __attribute__((used, aligned(1024))) thread_local char\n"
        'extern "C" {\n'
        f'void sim_entry({", ".join(entry.parameters)}) __asm__("{entry.symbol}");\n'
        "void sim_kernel(void *const *operands, const long *scalars) {\n"
        f"    sim_entry({', '.join(_arguments(entry.parameters))});\n"
        "}\n"
        f"SHARED {ANCHOR}[{LEAST_GAP_BYTES}];\n"
        f"SHARED {DYNAMIC}[{DYNAMIC_BYTES}];\n"
        "}\n"
    )


def describe(path: Path, kernel_object: Path) -> Program:
    """Find the student's shared arrays and variables in a linked program."""
    own = {
        (symbol.name, symbol.kind)
        for symbol in elf.read_symbols(kernel_object)
        if symbol.defined and symbol.size > 0 and not is_record(symbol.name)
    }
    symbols = elf.read_symbols(path)
    shared = [s for s in symbols if s.kind == "shared" and (s.name, s.kind) in own]
    places = {s.name: s.value for s in symbols if s.name in (ANCHOR, DYNAMIC)}
    arrays = [Variable(s.name, s.value, s.size) for s in shared]
    arrays.append(Variable(DYNAMIC, places[DYNAMIC], DYNAMIC_BYTES))
    return Program(
        path=path,
        shared=tuple(sorted(arrays, key=lambda array: array.offset)),
        device_variables=tuple(
            Variable(s.name, s.value, s.size)
            for s in symbols
            if s.kind == "object" and (s.name, s.kind) in own
        ),
        shared_bytes=elf.shared_block_bytes(path),
        anchor_offset=places[ANCHOR],
        dynamic_offset=places[DYNAMIC],
    )
