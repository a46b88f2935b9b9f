"""Why a kernel does not compile, as data: the compiler's own words, or the limit that it met."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from grader.confined import Completed, Limits
from grader.verdict import Verdict

HERE = Path(__file__).resolve().parent
INCLUDE = HERE / "include"
CONTRACT = HERE.parent / "include"
# What the compilers and the debug information call the student's file, whatever its real name.
SOURCE = "kernel.cu"
FIRST_HEADER = "cuda_runtime.h"  # what nvcc includes unasked, too
MARKED = "kernel.ii"  # beside it where that, and not the source, was compiled
_ERROR = re.compile(
    r"^(?P<file>[^\n:]+):(?P<line>\d+):(?:\d+:)? (?:fatal )?error: (?P<text>.+)$", re.MULTILINE
)
_KINDS = {
    "time": "compile_too_slow",
    "size": "compile_too_large",
    "crash": "compile_gave_up",
}  # not "killed": the machine does that
WITHHELD = "an error in a file that is not yours"


@dataclass(eq=False)  # not frozen: Python notes on an exception where it went by
class CompileFailure(Exception):
    """The compiler's first error in the student's file: message and line (0: none known).

    `kind` and `facts` are those of the finding; `facts` go beside message and count.
    """

    message: str
    line: int
    count: int
    kind: str = "compile_error"
    facts: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    verdict: Verdict = Verdict.COMPILE_ERROR


def failure(done: Completed, limits: Limits) -> CompileFailure:
    """What a compilation that failed says. Text of files that are not the student's is withheld:
    an error message quotes what stands there."""
    if done.cause:
        facts = {"limit_s": limits.cpu_s} if done.cause == "time" else {}
        return CompileFailure(_ended(done, limits), 0, 1, _KINDS[done.cause], facts)
    errors = list(_ERROR.finditer(done.output))
    own = [error for error in errors if error["file"] == SOURCE]
    if own:
        return CompileFailure(own[0]["text"].strip(), int(own[0]["line"]), len(errors))
    # Errors in our headers come from what the student's file does before including them.
    if not errors:
        return CompileFailure("no message", 0, 1)
    text = errors[0]["text"].strip() if is_ours(Path(errors[0]["file"])) else WITHHELD
    return CompileFailure(text, 0, len(errors))


def is_ours(path: Path) -> bool:
    """Whether an absolute path is that of a header which student code may see.

    By its name, too: a checkout may be made of links to files elsewhere. A student cannot put
    any into these folders.
    """
    named = Path(os.path.normpath(path))
    return any(
        place.is_relative_to(folder)
        for folder in (INCLUDE, CONTRACT)
        for place in (named, path.resolve())
    )


def _ended(done: Completed, limits: Limits) -> str:
    if done.cause == "time":
        return f"still compiling after {limits.cpu_s} s"
    return "too large to compile" if done.cause == "size" else "the compiler gave up on this file"
