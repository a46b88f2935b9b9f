"""`__launch_bounds__`: how many threads a kernel says that its blocks have at most."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from grader.simulator import elf
from grader.simulator.compiler import SOURCE
from grader.simulator.signature import read_signatures

# The variable that the header's macro makes of each use: line, then the numbers.
_RECORD = re.compile(r"_ZN17sim_launch_boundsILi(?P<line>\d+)ELi(?P<threads>\d+)E.*6recordE")


@dataclass(frozen=True)
class LaunchBounds:
    """Threads of a block at most, and the line that says so."""

    threads: int
    line: int


def is_record(symbol: str) -> bool:
    """Whether a variable is our header's own."""
    return _RECORD.fullmatch(symbol) is not None


def read_bounds(program: Path, kernel: str) -> LaunchBounds | None:
    """What the kernel with this symbol promises; None where it promises nothing.

    The bounds stand before the name of the kernel, so they belong to the next function.
    """
    found = [match for s in elf.read_symbols(program) if (match := _RECORD.fullmatch(s.name))]
    if not found:
        return None
    functions = read_signatures(program, SOURCE)
    for match in sorted(found, key=lambda match: int(match["line"]), reverse=True):
        line = int(match["line"])
        following = next((f for f in functions if f.line >= line), None)
        if following is not None and following.symbol == kernel:
            return LaunchBounds(int(match["threads"]), line)
    return None
