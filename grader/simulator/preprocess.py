"""What the compiler would see of a kernel, looked through before anything is compiled.

The preprocessor runs alone first: what it opened must be ours, and what it wrote, the very tokens
that are compiled next, must hold nothing that a kernel has no use for.
"""

from __future__ import annotations

import functools
import re
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

from grader import confined
from grader.finding import NOT_YOURS, GraderFault
from grader.simulator.failure import (
    CONTRACT,
    FIRST_HEADER,
    HERE,
    INCLUDE,
    MARKED,
    SOURCE,
    CompileFailure,
    is_ours,
)
from grader.source import expanded, extensions, loops, unions, zeros
from grader.source.directives import Line, items_of
from grader.source.open_arrays import has_open_array
from grader.source.tokens import Kind, tokens
from grader.verdict import Verdict

# A student's file compiles in 0.1 s and 0.1 GB; templates that need more than this will not end.
# With all our headers it has 0.1 MB.
LIMITS = confined.Limits(
    cpu_s=20, wall_s=120.0, memory_bytes=2048 * 1024 * 1024, file_bytes=8 * 1024 * 1024
)
_NAME = re.compile(rb"\b(?:sim|SIM)_\w+")
_FOLDERS = (HERE, HERE / "machine", HERE / "observers", INCLUDE)

# Where the type of an array does not say where it ends: its object does, at each access.
SIZES = "-fsanitize=object-size"

# Of include/sim_synchronisation.h.
_NEXT_ITERATION = "sim_next_iteration"


def check(command: Sequence[str], folder: Path) -> tuple[confined.Completed, Sequence[str]]:
    """Preprocess folder/kernel.cu with the compiler and flags of `command`: how that ended, and
    what is to be compiled (flags, language and file). That is the preprocessor's output where
    something in it is put in other words.

    Raises CompileFailure for what must not be there, GraderFault for a compiler that cannot be
    used, OSError for one that does not run.
    """
    looked = _look_at_pragmas(command, folder)
    output, done, stray = _preprocess(command, folder)
    if stray is not None:
        _blame(stray, command, folder)
    if done.status != 0:
        return done, (SOURCE,)
    if looked is not None and looked.status != 0:
        raise _not_looked_at(command, looked)
    text = output.read_text(encoding="utf-8", errors="replace")
    output.unlink()  # the folder is kept in the cache
    start = expanded.own_part(text, SOURCE, FIRST_HEADER)
    headers, text = text[:start], text[start:]  # nine tenths are headers: not read again each time
    _look_through(text, reserved_names())
    marked = zeros.drop(unions.mark(text) if "union" in text else text)
    marked = loops.mark(marked, _NEXT_ITERATION) if "unroll" in marked else marked
    flags = (SIZES,) if has_open_array(text, SOURCE) else ()
    if marked == text:
        return done, (*flags, SOURCE)
    if f"? {_NEXT_ITERATION}()" in marked:  # what pragmas said is code now
        _look_through(marked, reserved_names() - {_NEXT_ITERATION})
    output.write_text(headers + marked, encoding="utf-8", errors="replace")
    return done, (*flags, "-x", "c++-cpp-output", output.name)


def _look_through(text: str, reserved: frozenset[str]) -> None:
    _refuse(expanded.scan(text, SOURCE, reserved))


def _look_at_pragmas(command: Sequence[str], folder: Path) -> confined.Completed | None:
    """Refuse those that the preprocessor would execute, so that none is left in its output; how it
    ended when it was told not to. None where there can be no such pragma."""
    text = (folder / SOURCE).read_text(encoding="utf-8", errors="replace")
    if not extensions.may_hide_pragmas(list(items_of(tokens(text)))):
        return None
    output, done, _ = _preprocess([*command, expanded.PRAGMAS_STAY], folder)
    if done.status == 0:
        _refuse(expanded.pragmas(output.read_text(encoding="utf-8", errors="replace"), SOURCE))
    return done


def _not_looked_at(command: Sequence[str], done: confined.Completed) -> Exception:
    """For a text that can be preprocessed, but only where its pragmas are executed."""
    if done.cause in confined.MACHINES:
        return confined.machine_fault(command[0], done.cause)
    facts = {"form": "pragma", "name": "_Pragma"}
    return CompileFailure("", 0, 1, "forbidden_extension", facts, Verdict.REJECTED)


def _refuse(found: Sequence[expanded.Found]) -> None:
    if found:
        line, kind, facts = found[0]
        compilers = kind in ("nested_too_deep", "compile_too_large", "shared_first_value")
        verdict = Verdict.COMPILE_ERROR if compilers else Verdict.REJECTED
        raise CompileFailure("", line, len(found), kind, facts, verdict)


def _preprocess(
    command: Sequence[str], folder: Path
) -> tuple[Path, confined.Completed, Path | None]:
    """What came out, how it ended, and a file that was opened though it is neither the student's
    nor one of our headers."""
    output, listing = folder / MARKED, folder / "kernel.d"
    asked = [*command, "-E", "-MD", "-MF", listing.name, SOURCE, "-o", output.name]
    done = confined.run(asked, folder, LIMITS, untrusted=SOURCE)
    if not listing.is_file():
        return output, done, None  # it ended before it opened anything
    opened = [folder.absolute() / path for path in confined.files_opened(listing)]
    listing.unlink()
    own = (folder / SOURCE).resolve()
    strays = (path for path in opened if not is_ours(path) and path.resolve() != own)
    return output, done, next(strays, None)


def _blame(stray: Path, command: Sequence[str], folder: Path) -> NoReturn:
    """The student's text, unless this compiler takes a stray file into an empty text, too."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        (Path(name) / SOURCE).write_text("", encoding="utf-8")
        _, _, always = _preprocess(command, Path(name))
    if always is not None:
        raise GraderFault(
            f"{command[0]} takes {always}, in place of a header of the simulator. {NOT_YOURS} "
            "Next: name another compiler, CXX=/usr/bin/g++, or see what is set for this one "
            "(a wrapper, CPATH)"
        )
    facts = {"header": stray.name, "allowed": [], "form": "opened", "nearest": ""}
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
