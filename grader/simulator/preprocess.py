"""What the compiler would see of a kernel, looked through before anything is compiled.

The preprocessor runs alone first: what it opened must be ours, and what it wrote, the very tokens
that are compiled next, must hold nothing that a kernel has no use for.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader import confined
from grader.simulator.failure import (
    CONTRACT,
    HERE,
    INCLUDE,
    SOURCE,
    CompileFailure,
    is_ours,
)
from grader.source import expanded
from grader.source.directives import Line, items_of
from grader.source.tokens import Kind, tokens
from grader.verdict import Verdict

# A kernel with all our headers has 0.1 MB.
LIMITS = confined.Limits(
    cpu_s=20, wall_s=120.0, memory_bytes=2048 * 1024 * 1024, file_bytes=8 * 1024 * 1024
)
_NAME = re.compile(rb"\b(?:sim|SIM)_\w+")
_FOLDERS = (HERE, HERE / "machine", HERE / "observers", INCLUDE)


def check(command: Sequence[str], folder: Path) -> confined.Completed:
    """Preprocess folder/kernel.cu with the compiler and flags of `command`; how that ended.

    Raises CompileFailure for what must not be there, OSError when the compiler does not run.
    """
    output = folder / "kernel.ii"
    listing = folder / "kernel.d"
    asked = [*command, "-E", "-MD", "-MF", listing.name, SOURCE, "-o", output.name]
    done = confined.run(asked, folder, LIMITS)
    _check_opened(listing, folder)
    if done.status != 0:
        return done
    text = output.read_text(encoding="utf-8", errors="replace")
    output.unlink()  # the folder is kept in the cache
    listing.unlink(missing_ok=True)
    found = expanded.scan(text, SOURCE, reserved_names())
    if found:
        line, kind, facts = found[0]
        size = kind in ("nested_too_deep", "compile_too_large")
        verdict = Verdict.COMPILE_ERROR if size else Verdict.REJECTED
        raise CompileFailure("", line, len(found), kind, facts, verdict)
    return done


def _check_opened(listing: Path, folder: Path) -> None:
    """Every file that the preprocessor opened must be the student's or one of our headers."""
    if not listing.is_file():
        return  # it ended before it opened anything
    for path in confined.files_opened(listing):
        opened = folder.absolute() / path
        if not is_ours(opened) and opened.resolve() != (folder / SOURCE).resolve():
            facts = {"header": opened.name, "allowed": [], "form": "opened", "nearest": ""}
            raise CompileFailure("", 0, 1, "forbidden_include", facts, Verdict.REJECTED)


@functools.cache
def reserved_names() -> frozenset[str]:
    """The names of the simulator's own that no kernel can come by: those of its C++, but not what
    the macros of the headers stand for (`threadIdx` is a call of `sim_thread_index`)."""
    paths = [path for folder in _FOLDERS for path in folder.iterdir() if path.is_file()]
    names = {name.decode() for path in paths for name in _NAME.findall(path.read_bytes())}
    return frozenset(names) - frozenset(_of_macros())


def _of_macros() -> Iterator[str]:
    for path in (*INCLUDE.iterdir(), *CONTRACT.iterdir()):
        if not path.is_file():
            continue
        for item in items_of(tokens(path.read_text(encoding="utf-8"))):
            if isinstance(item, Line) and item.name == "define":
                yield from (token.text for token in item.rest if token.kind is Kind.NAME)
