"""What the PTX that nvcc kept says: kernels, tensor-core instructions, lines of the source."""

from __future__ import annotations

import re

# mma.sync, wmma.load, wgmma.mma_async, tcgen05.mma, ...: every family that runs on tensor cores.
_TENSOR = re.compile(r"(?<![\w.$%])((?:wmma|wgmma|mma|tcgen05)\.[a-z_0-9]+)")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*[(\n{]")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s")
_FUNCTION = re.compile(
    r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?([\w$]+)\s*\([^)]*\)(?:\s*\.[^{;]*)?\s*\{"
)
_CALL = re.compile(r"\bcall(?:\.uni)?\s*(?:\([^)]*\)\s*,)?\s*([\w$]+)")
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:[^"\\\n]|\\.)*"', re.DOTALL)


def entries(ptx: str) -> list[str]:
    """The symbols of the kernels, in the order of the text."""
    return _ENTRY.findall(_code(ptx))


def tensor_instruction(ptx: str) -> tuple[str, int] | None:
    """The first tensor-core instruction ("mma.sync") and its line of the PTX, or None."""
    code = _code(ptx)
    match = _TENSOR.search(code)
    if match is None:
        return None
    return match[1], code.count("\n", 0, match.start()) + 1


def recursive(ptx: str) -> bool:
    """Whether a function calls itself, directly or through others."""
    code = _code(ptx)
    starts = list(_FUNCTION.finditer(code))
    ends = [match.start() for match in starts[1:]] + [len(code)]
    calls = {
        match[1]: set(_CALL.findall(code, match.end(), end))
        for match, end in zip(starts, ends, strict=True)
    }
    return any(name in _reached(calls, name) for name in calls)


def _reached(calls: dict[str, set[str]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        fresh = calls.get(waiting.pop(), set()) - reached
        reached |= fresh
        waiting.extend(fresh)
    return reached


def entry_line(ptx: str, symbol: str) -> int:
    """The line of the PTX on which the kernel's body begins; 0 for an unknown kernel."""
    code = _code(ptx)
    match = re.search(rf"\.entry\s+{re.escape(symbol)}\b[^{{]*\{{", code)
    if match is None:
        return 0
    following = code.find("\t.loc", match.end())
    return code.count("\n", 0, following if following > 0 else match.end()) + 2


def source_line(ptx: str, line: int, file: str) -> int:
    """The line of `file` from which line `line` of the PTX was made; 0 when unknown."""
    numbers = {number for number, name in _FILE.findall(ptx) if _same_file(name, file)}
    for text in reversed(ptx.split("\n")[: max(line - 1, 0)]):
        match = _LOC.match(text)
        if match and match[1] in numbers:
            return int(match[2])
        if ".entry" in text or ".func" in text:
            break
    return 0


def _same_file(name: str, file: str) -> bool:
    return name == file or name.endswith("/" + file)


def _code(ptx: str) -> str:
    """The text without comments and strings, every line in its place."""
    return _NO_CODE.sub(lambda match: "\n" * match[0].count("\n"), ptx)
