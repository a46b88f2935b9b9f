"""What a kernel's object file may bring to the program, and what it may want from it.

A text that passed every look at its words is still only trusted as far as its object file goes: it
must call nothing but what CUDA offers, replace nothing of the machine's, and run nothing before
the machine does. Findings, compile errors where nvcc has them, too:

- undefined_name {name}: neither the file nor CUDA has it
- runs_before {}: code that would run before the kernel, or when the process ends
- reserved_name {name}: the machine or the C library uses that name itself (rejected)
- strange_section {name}: a part of a file that no kernel needs (rejected)
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile

from grader.mangling import base_name, demangle
from grader.simulator import elf
from grader.simulator.failure import SOURCE, CompileFailure
from grader.source.tokens import tokens
from grader.verdict import Verdict

_VERDICTS = {
    "undefined_name": Verdict.COMPILE_ERROR,
    "runs_before": Verdict.COMPILE_ERROR,
    "reserved_name": Verdict.REJECTED,
    "strange_section": Verdict.REJECTED,
}

# What compilers put into a file of C++ without exceptions.
_SECTIONS = re.compile(
    r"|\.(?:text|data|bss|rodata|tbss|tdata)(?:\..+)?|\.data\.rel\.ro(?:\..+)?|\.init_array(?:\.\d+)?"
    r"|\.rela?\..+|\.eh_frame|\.gcc_except_table(?:\..+)?|\.note\.(?:GNU-stack|gnu\.property)"
    r"|\.group|\.debug_\w+|\.zdebug_\w+|\.comment|\.(?:sym|str|shstr)tab(?:_shndx)?|\.llvm_addrsig"
)
# One pointer: what -fsanitize=thread adds to every file, which here does nothing.
_SANITIZERS_ENTRY_BYTES = 8
# Of thread-local variables: defined where one has a first value that must be computed, else only
# asked for, in vain.
_INITIALISER = re.compile(r"_ZTH\w+|__tls_init")

# Of libm: what include/sim_arithmetic.h asks the compiler for.
_MATH = frozenset(
    f"{name}{suffix}"
    for name in (
        "sqrt fabs floor ceil round trunc rint nearbyint exp exp2 log log2 log10 sin cos tan tanh "
        "pow fmin fmax fmod fma sincos sinh cosh asin acos atan atan2 asinh acosh atanh cbrt "
        "copysign erf erfc expm1 log1p hypot ldexp lgamma tgamma remainder nextafter lrint lround "
        "llrint llround logb modf frexp scalbn scalbln fdim exp10 roundeven"
    ).split()
    for suffix in ("", "f", "l")
)
# Arithmetic that a processor has no instruction for (libgcc, compiler-rt).
_SUPPORT = re.compile(
    r"__(?:u?div|u?mod|mul|u?divmod|ash[lr]|lshr|neg|ucmp|cmp|clz|ctz|ffs|parity|popcount|bswap)"
    r"(?:mod)?[sdt]i[234]|__mul[sdtxh]c3|__div[sdtxh]c3|__powi[sdtx]f2|__(?:fix|fixuns)[hsdxt]f[sdt]i"
    r"|__float(?:un)?[sdt]i[hsdxtb]f|__(?:trunc|extend)[hsdxtb]f[hsdxtb]f2"
    r"|__(?:add|sub|mul|div|neg|eq|ne|lt|le|gt|ge|unord)[sdth]f[23]|_GLOBAL_OFFSET_TABLE_"
)
# Of the machine itself: no kernel calls these.
_MACHINERY = re.compile(r"_ZN3sim|_ZNK3sim|_ZN12_GLOBAL__N|_ZZ|_ZL|main$|sim_switch$|sim_kernel$")
# Where programs begin and end, and what the C library looks for under fixed names.
_RESERVED = re.compile(
    r"_start|main|_init|_fini|environ|_edata|edata|_end|end|_etext|etext|__bss_start|data_start"
    r"|sim_\w+|__(?:libc|dl|tsan|ubsan|asan|cxa|gmon|data|dso|TMC|environ)\w*"
    r"|_(?:dl|IO|ITM|Unwind|DYNAMIC|GLOBAL_OFFSET)_?\w*"
)


def check(object_file: Path, entry: str, machine: Iterable[Path]) -> None:
    """Raise CompileFailure for what must not be linked; `entry` is the kernel's symbol.

    The student's text lies beside the object file.
    """
    symbols = elf.read_symbols(object_file)
    words = _words(object_file.with_name(SOURCE))
    found = [*_of_symbols(symbols, entry, machine, words), *_of_sections(object_file)]
    if found:
        kind, name = found[0]
        verdict = _VERDICTS[kind]
        facts = {"name": name} if name else {}
        line = words.get(name, 0)
        raise CompileFailure(f"{kind} {name}".strip(), line, len(found), kind, facts, verdict)


def _of_symbols(
    symbols: Iterable[elf.Symbol], entry: str, machine: Iterable[Path], words: Collection[str]
) -> Iterator[tuple[str, str]]:
    offered, used = _machine_names(machine)
    for symbol in symbols:
        if not symbol.defined:
            # Support is for what the compiler makes of a text: CUDA has none of it by name.
            named = symbol.name in words and _SUPPORT.fullmatch(symbol.name)
            if symbol.kind != "shared" and (named or not _may_want(symbol.name, offered)):
                yield "undefined_name", _plain(symbol.name)
        elif symbol.kind == "resolved" or _INITIALISER.fullmatch(symbol.name):
            yield "runs_before", ""
        elif symbol.external and symbol.name != entry and _is_reserved(symbol.name, used):
            yield "reserved_name", _plain(symbol.name)


def _machine_names(machine: Iterable[Path]) -> tuple[frozenset[str], frozenset[str]]:
    """What kernels may call, and all names that the machine defines or wants."""
    found = [symbol for path in machine for symbol in elf.read_symbols(path) if symbol.external]
    offered = (s.name for s in found if s.defined and not _MACHINERY.match(s.name))
    return frozenset(offered), frozenset(s.name for s in found)


def _may_want(name: str, offered: Collection[str]) -> bool:
    known = name in offered or name in _MATH
    return known or any(pattern.fullmatch(name) for pattern in (_SUPPORT, _INITIALISER))


def _is_reserved(name: str, used: Collection[str]) -> bool:
    return name in used or _RESERVED.fullmatch(name) is not None


def _of_sections(object_file: Path) -> Iterator[tuple[str, str]]:
    start_bytes = 0
    with object_file.open("rb") as stream:
        for section in ELFFile(stream).iter_sections():
            name: str = section.name
            if name.startswith(".init_array"):
                start_bytes += section["sh_size"]
            elif name.startswith((".preinit", ".init", ".fini", ".ctors", ".dtors")):
                yield "runs_before", ""
            elif not _SECTIONS.fullmatch(name):
                yield "strange_section", name
    if start_bytes > _SANITIZERS_ENTRY_BYTES:
        yield "runs_before", ""


def _plain(symbol: str) -> str:
    return base_name(demangle(symbol))


def _words(source: Path) -> dict[str, int]:
    """The words of the file, each with its first line."""
    text = source.read_text(encoding="utf-8", errors="replace")
    return {token.text: token.line for token in reversed(tokens(text))}
