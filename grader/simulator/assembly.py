"""Changes to the compiler's assembly that no flag can make."""

from __future__ import annotations

import re
from collections.abc import Collection

# The array behind every `extern __shared__`.
DYNAMIC = "sim_dynamic_shared"

# An index just past an array must not land in the next one. At least this much free space follows
# each shared array, and at least as much as the array is long.
LEAST_GAP_BYTES = 4096
_ALIGNMENT = 256  # keeps every array on the banks it would have at the start of shared memory

_ZERO = re.compile(r"^\s*\.(?:zero|skip|space)\s+(?P<bytes>\d+)")
# The C library's versions are not instrumented; ours are (machine/instrumentation.cpp).
_MEMORY_FUNCTION = re.compile(r"(?<![\w.$\"])(memcpy|memmove|memset)(?![\w.$\"])")

# Bytes that g++ fills variables without a first value with. As a float they are a number, which a
# zero hides when it is multiplied by it; what stands here for them is a NaN in each word.
_FILL = re.compile(
    r"(?<=[\s$])(?:-16843010|0xfefefefe)(?!\w)|(?<=[\s$])-72340172838076674(?!\w)"
    r"|\bmovi\t(v\d+)\.(?:16b|(8b)), 0xfffffffffffffffe"
    r"|(?:^\t\.byte\t-2\n){16}",
    re.MULTILINE,
)
# What names a thread-local variable, on either processor.
_SHARED = re.compile(
    r'(?P<before>:(?:got)?tprel\w*:)(?P<of_arm>"[^"]+"|[\w.][\w.$]*)'
    r'|(?P<name>"[^"]+"|[\w.][\w.$]*)(?P<after>@(?:got)?tpoff)',
    re.IGNORECASE,
)
_LABEL = re.compile(r'^("[^"\n]+"|[\w.$]+):', re.MULTILINE)
_FUNCTION = re.compile(r"^\s*\.type\s+(\w+)\s*,\s*[@%]function", re.MULTILINE)
_VISIBLE = re.compile(r"^\s*\.(?:globl|global|weak)\s+(\w+)", re.MULTILINE)


def gap_bytes(array_bytes: int) -> int:
    """The free space after an array of this size; array and gap are a multiple of 256 bytes."""
    end = array_bytes + max(LEAST_GAP_BYTES, array_bytes)
    return -(-end // _ALIGNMENT) * _ALIGNMENT - array_bytes


def patch(assembly: str) -> str:
    """Gaps after shared arrays (they are thread-local), checked memcpy, memmove and memset, NaNs in
    variables without a first value, one array for all that are `extern __shared__`, and internal
    functions made visible: a `static` kernel is called from another object file."""
    assembly = _FILL.sub(_unset, assembly)
    lines = [f"\t.globl\t{name}" for name in _internal_functions(assembly)]
    own = frozenset(_LABEL.findall(assembly))
    in_shared = False
    for line in assembly.split("\n"):
        stripped = line.lstrip()
        if stripped.startswith((".section", ".text", ".data", ".bss", ".pushsection")):
            in_shared = ".tbss" in stripped or ".tdata" in stripped
        if not stripped.startswith((".string", ".ascii", ".asciz")):
            line = _MEMORY_FUNCTION.sub(r"sim_\1", line)
            line = _SHARED.sub(lambda found: _dynamic(found, own), line)
        lines.append(line)
        if in_shared and (zero := _ZERO.match(line)):
            lines.append(f"\t.zero\t{gap_bytes(int(zero['bytes']))}")
    return "\n".join(lines)


def _unset(fill: re.Match[str]) -> str:
    if fill[1]:  # aarch64
        return f"mvni\t{fill[1]}.{'2s' if fill[2] else '4s'}, 0x1, lsl 16"
    if fill[0].startswith("\t.byte"):
        return "\t.long\t-65537\n" * 4
    return "-281474976776193" if fill[0].startswith("-7") else "-65537"


def _dynamic(found: re.Match[str], own: Collection[str]) -> str:
    """For an array that the file does not define: its name may be one of the C library's, too."""
    if (found["name"] or found["of_arm"]) in own:
        return found[0]
    return f"{found['before'] or ''}{DYNAMIC}{found['after'] or ''}"


def _internal_functions(assembly: str) -> list[str]:
    return sorted(set(_FUNCTION.findall(assembly)) - set(_VISIBLE.findall(assembly)))
