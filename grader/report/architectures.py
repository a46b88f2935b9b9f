"""What nvcc says of other GPUs, in a line where it is bad news, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from grader.report.line import Line, line, paragraph


def note_lines(facts: Mapping[str, Any]) -> Iterator[Line]:
    """Notes about the entry `nvcc` of `build`: spilled registers, and GPUs that cannot have it.

    Nothing where it does not compile for the course's GPU either: a check says so.
    """
    known: Mapping[str, Mapping[str, Any]] = facts.get("architectures", {})
    target = facts.get("target", "")
    if known.get(target, {}).get("problem"):
        return
    spills = {
        name: one["resources"].get("spill", 0) for name, one in known.items() if "resources" in one
    }
    if told := [f"{name} ({size:,} bytes)" for name, size in spills.items() if size]:
        yield line()
        yield from paragraph(
            f"registers spill on {', '.join(told)}: the kernel needs more than a thread has there, "
            "so values go to memory and back.",
            "  ",
            first="Note: ",
        )
    for name, one in known.items():
        if one.get("problem"):
            place = f" (line {one['line']})" if one.get("line") else ""
            yield line()
            yield from paragraph(
                f"does not compile for {name}: {one['problem']}{place}. This costs nothing: "
                f"the course's GPU is {target}.",
                "  ",
                first="Note: ",
            )


def table_lines(facts: Mapping[str, Any]) -> Iterator[Line]:
    """Registers, shared memory and spills by architecture; nothing where nvcc was not asked."""
    if not facts:
        return
    yield line()
    yield line((f"Compiled by {facts['compiler']}", "bold"))
    yield line(f"  {'GPU':<8}{'registers':>10}{'shared bytes':>14}{'spilled bytes':>15}")
    for name, one in facts["architectures"].items():
        if "resources" in one:
            numbers = one["resources"]
            spill = numbers.get("spill", 0)
            row = (
                f"  {name:<8}{numbers['registers']:>10}{numbers['static_shared']:>14,}{spill:>15,}"
            )
            yield line((row, "bold red" if spill else ""))
        else:
            yield line(f"  {name:<8}  does not compile: {one['problem']}")
