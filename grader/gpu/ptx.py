"""What the PTX that nvcc kept says: kernels, tensor-core instructions, lines of the source."""

from __future__ import annotations

import math
import re
from pathlib import Path

# mma.sync, wmma.load, wgmma.mma_async, tcgen05.mma, ...: every family that runs on tensor cores.
# ptxas also takes white space and comments between a name and its modifiers, but not inside them.
_TENSOR = re.compile(r"(?<![\w.$%])(wmma|wgmma|mma|tcgen05)\s*(\.[a-z_0-9]+)")
_ENTRY = re.compile(r"\.entry\s+([\w$]+)\s*[(\n{]")
_FILE = re.compile(r'^\s*\.file\s+(\d+)\s+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_LOC = re.compile(r"^\s*\.loc\s+(\d+)\s+(\d+)\s")
_FUNCTION = re.compile(
    r"\.(?:entry|func)\s*(?:\([^)]*\)\s*)?([\w$]+)\s*\([^)]*\)(?:\s*\.[^{;]*)?\s*\{"
)
_CALL = re.compile(r"\bcall(?:\.uni)?\s*(?:\([^)]*\)\s*,)?\s*([\w$]+)")
# As ptxas reads them: a comment ends with its line, at "\n" alone; a string goes on over lines and
# to the next quote, whatever stands before that.
_NO_CODE = re.compile(r'//[^\n]*|/\*.*?(?:\*/|\Z)|"[^"]*"', re.DOTALL)


def read(path: Path) -> str:
    """The text as it is: Python's usual translation of "\\r" would end a comment that ptxas reads
    on."""
    return path.read_bytes().decode(errors="replace")


def entries(ptx: str) -> list[str]:
    """The symbols of the kernels, in the order of the text."""
    return _ENTRY.findall(_code(ptx))


def tensor_instruction(ptx: str) -> tuple[str, int] | None:
    """The first tensor-core instruction ("mma.sync") and its line of the PTX, or None."""
    code = _code(ptx)
    match = _TENSOR.search(code)
    if match is None:
        return None
    return match[1] + match[2], code.count("\n", 0, match.start()) + 1


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


def most_threads(ptx: str, symbol: str) -> int:
    """The threads of a block that the kernel's `__launch_bounds__` allows; 0 where it has none."""
    match = re.search(rf"\.entry\s+{re.escape(symbol)}\b(?P<head>[^{{]*)\{{", _code(ptx))
    bounds = re.search(r"\.maxntid\s+([\d\s,]+)", match["head"]) if match else None
    return math.prod(map(int, re.findall(r"\d+", bounds[1]))) if bounds else 0


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
    return _NO_CODE.sub(lambda match: "\n" * match[0].count("\n") or " ", ptx)
