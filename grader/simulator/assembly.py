"""Changes to the compiler's assembly that no flag can make."""

from __future__ import annotations

import re

# An index just past an array must not land in the next one. At least this much free space follows
# each shared array, and at least as much as the array is long.
LEAST_GAP_BYTES = 4096
_ALIGNMENT = 256  # keeps every array on the banks it would have at the start of shared memory

_ZERO = re.compile(r"^\s*\.(?:zero|skip|space)\s+(?P<bytes>\d+)")
# The C library's versions are not instrumented; ours are (machine/instrumentation.cpp).
_MEMORY_FUNCTION = re.compile(r"(?<![\w.$\"])(memcpy|memmove|memset)(?![\w.$\"])")


_FUNCTION = re.compile(r"^\s*\.type\s+(\w+)\s*,\s*[@%]function", re.MULTILINE)
_VISIBLE = re.compile(r"^\s*\.(?:globl|global|weak)\s+(\w+)", re.MULTILINE)


def gap_bytes(array_bytes: int) -> int:
    """The free space after an array of this size; array and gap are a multiple of 256 bytes."""
    end = array_bytes + max(LEAST_GAP_BYTES, array_bytes)
    return -(-end // _ALIGNMENT) * _ALIGNMENT - array_bytes


def patch(assembly: str) -> str:
    """Gaps after shared arrays (they are thread-local), checked memcpy, memmove and memset, and
    internal functions made visible: a `static` kernel is called from another object file."""
    lines = [f"\t.globl\t{name}" for name in _internal_functions(assembly)]
    in_shared = False
    for line in assembly.splitlines():
        stripped = line.lstrip()
        if stripped.startswith((".section", ".text", ".data", ".bss", ".pushsection")):
            in_shared = ".tbss" in stripped or ".tdata" in stripped
        if not stripped.startswith((".string", ".ascii", ".asciz")):
            line = _MEMORY_FUNCTION.sub(r"sim_\1", line)
        lines.append(line)
        if in_shared and (zero := _ZERO.match(line)):
            lines.append(f"\t.zero\t{gap_bytes(int(zero['bytes']))}")
    return "\n".join(lines) + "\n"


def _internal_functions(assembly: str) -> list[str]:
    return sorted(set(_FUNCTION.findall(assembly)) - set(_VISIBLE.findall(assembly)))
