"""nvcc's output as data: the student's error with its place, or a fault of the machine.

nvcc is several programs, and each words its errors in its own way: the preprocessor (gcc), the
front end, and ptxas, which speaks of lines of PTX and of mangled names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader import mangling
from grader.finding import NOT_YOURS, Finding, GraderFault, Location
from grader.gpu import ptx
from grader.verdict import Verdict

# A message of the front end fits; what is longer is a template's name written out.
_MAX_MESSAGE = 300

_FRONT_END = re.compile(
    r"^(?P<file>.+?)\((?P<line>\d+)\): (?:\w+ )?error(?: #[\w-]+)?: (?P<text>.*)$"
)
_PREPROCESSOR = re.compile(
    r"^(?P<file>.+?):(?P<line>\d+)(?::\d+)?: (?:fatal )?error: (?P<text>.*)$"
)
_PTXAS = re.compile(
    r"^ptxas (?:(?P<file>.+?), line (?P<line>\d+); )?(?:error|fatal)\s*: (?P<text>.*)$"
)
# The front end, where the text ends too early: it names neither file nor line.
_AT_END = re.compile(r"^At end of source: (?:\w+ )?error(?: #[\w-]+)?: (?P<text>.*)$")
_AT_LINE = re.compile(r'^\s+.*\bat line (\d+)(?: of "?(.+?)"?)?$')
_SHARED = re.compile(
    r"'(\w+)' uses too much shared data \((0x[0-9a-f]+) bytes, (0x[0-9a-f]+) max\)"
)
# nvcc's code generator meets a type that it does not know (`_Float16`): it names no line.
_INTERNAL = re.compile(r'Internal Compiler Error[^:]*: "?(?P<text>[^"\n]+)"?')
_ABORTED = "Ptx assembly aborted"  # ptxas's last line after errors of its own; says nothing new
# Errors in these files are about the host compiler or the toolkit, whatever the student wrote.
_OF_THE_MACHINE = ("host_config.h", "host_defines.h")


@dataclass(frozen=True)
class _Error:
    file: str  # "" for ptxas errors without a place
    line: int
    text: str
    trace: tuple[tuple[str, int], ...] = ()  # where a template was instantiated


def explain(
    output: str,
    name: str,
    compiler: str,
    toolkit: Path,
    ptx_text: str = "",
    is_sound: Callable[[], bool] = lambda: False,
) -> Finding:
    """The finding for a compilation that failed.

    `name` is what the submission's file is called in the output; `toolkit` is where CUDA's headers
    lie, whose messages may be shown; messages about any other file are withheld. `is_sound` tries
    the same compiler on an empty file, and is asked where the output does not name the student's
    text. Raises GraderFault when the machine, not the submission, is at fault.
    """
    errors = [_placed(error, name, ptx_text) for error in _parse(output)]
    if not errors and (internal := _INTERNAL.search(output)):
        text = f"the compiler gave up on this file without naming a line: {internal['text']}"
        facts = {"compiler": compiler, "message": _tidy(text), "count": 1}
        return Finding(Verdict.COMPILE_ERROR, "compile_error", facts)
    suspect = not errors or any(error.file.endswith(_OF_THE_MACHINE) for error in errors)
    if suspect and not is_sound():
        raise GraderFault(f"{compiler} failed: {_first_line(output)} {NOT_YOURS} Next: make doctor")
    if not errors:
        return gave_up(compiler)
    shared = _SHARED.search(output)
    if shared is not None:
        line = ptx.source_line(ptx_text, ptx.entry_line(ptx_text, shared[1]), name)
        return _too_much_shared(shared, (Location(name, line, "error"),) if line else ())
    own = next((error for error in errors if error.file == name), None)
    error = own or errors[0]
    shown = own or not error.file or _inside(error.file, toolkit)
    text = error.text if shown else "an error in a file that is not yours"
    facts = {"compiler": compiler, "message": _tidy(text), "count": len(errors)}
    places = (Location(name, error.line, "error"),) if own else ()
    return Finding(Verdict.COMPILE_ERROR, "compile_error", facts, places)


def too_slow(compiler: str, limit_s: float) -> Finding:
    """The compiler was stopped: the submission makes it work without end."""
    text = f"still compiling after {limit_s:g} s"
    facts = {"compiler": compiler, "message": text, "count": 1, "limit_s": limit_s}
    return Finding(Verdict.COMPILE_ERROR, "compile_too_slow", facts)


def too_large(compiler: str) -> Finding:
    """The compiler met its limit of memory or of disk."""
    facts = {"compiler": compiler, "message": "too large to compile", "count": 1}
    return Finding(Verdict.COMPILE_ERROR, "compile_too_large", facts)


def gave_up(compiler: str) -> Finding:
    """The compiler crashed, and does not do so at other files."""
    facts = {"compiler": compiler, "message": "the compiler gave up on this file", "count": 1}
    return Finding(Verdict.COMPILE_ERROR, "compile_gave_up", facts)


def _parse(output: str) -> Iterator[_Error]:
    pending: _Error | None = None
    for line in output.splitlines():
        match = _FRONT_END.match(line) or _PREPROCESSOR.match(line) or _PTXAS.match(line)
        if end := _AT_END.match(line):
            if pending:
                yield pending
            pending = _Error("", 0, end["text"])
        elif match and _ABORTED not in line:
            if pending:
                yield pending
            pending = _Error(match["file"] or "", int(match["line"] or 0), match["text"])
        elif pending and (trace := _AT_LINE.match(line)):
            place = (trace[2] or pending.file, int(trace[1]))
            pending = _Error(pending.file, pending.line, pending.text, (*pending.trace, place))
    if pending:
        yield pending


def _placed(error: _Error, name: str, ptx_text: str) -> _Error:
    """The error moved to the line of the student's file that caused it, where that is known."""
    if error.file == name:
        return error
    if error.file.endswith(".ptx"):
        line = ptx.source_line(ptx_text, error.line, name)
        return _Error(name if line else "", line, error.text)
    for file, line in error.trace:
        if file == name:
            return _Error(name, line, error.text)
    return error


def _too_much_shared(match: re.Match[str], places: tuple[Location, ...]) -> Finding:
    """The same finding as from `grader.limits`, which never sees a kernel that nvcc refused."""
    facts = {"what": "static shared memory", "value": int(match[2], 16), "limit": int(match[3], 16)}
    return Finding(Verdict.BAD_LAUNCH, "too_much_static_shared", facts, places)


def _inside(file: str, folder: Path) -> bool:
    return Path(file).resolve().is_relative_to(folder)


def _tidy(text: str) -> str:
    text = " ".join(mangling.demangle_text(text).split())
    return text if len(text) <= _MAX_MESSAGE else text[: _MAX_MESSAGE - 4] + " ..."


def _first_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|fatal|not found|No such", line)]
    return _tidy((telling or lines or ["no message"])[0]).rstrip(".") + "."
