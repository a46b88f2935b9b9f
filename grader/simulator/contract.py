"""What an object file must hold to be a submission: the kernel, its signature, LAUNCH_CONFIG."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

from grader.device import (
    CONFIG_FORM,
    CONFIG_SYMBOL,
    DEVICE_VARIABLES_LIMIT_BYTES,
    LaunchConfig,
)
from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.mangling import base_name, demangle
from grader.simulator import elf
from grader.simulator.bounds import is_record
from grader.source.tokens import tokens
from grader.submission import Submission
from grader.verdict import Verdict


def read_config(object_file: Path) -> LaunchConfig | None:
    """The submission's launch configuration; None when it has none."""
    data = elf.initial_bytes(object_file, CONFIG_SYMBOL)
    if data is None or len(data) != CONFIG_FORM.size:
        return None
    return LaunchConfig(*CONFIG_FORM.unpack(data))


def check_contract(
    exercise: Exercise, submission: Submission, object_file: Path, parameters: str
) -> tuple[Finding, ...]:
    """What is missing or wrong in the object file, from its symbols."""
    symbols = elf.read_symbols(object_file)
    functions = [s.name for s in symbols if s.kind == "function" and s.defined]
    if exercise.kernel not in functions:
        return (_no_kernel(exercise, submission, functions, parameters),)
    if read_config(object_file) is None:
        return (Finding(Verdict.MISSING_KERNEL, "missing_config", {}, _file_end(submission)),)
    variables = sum(
        s.size
        for s in symbols
        if s.kind == "object" and s.defined and s.name != CONFIG_SYMBOL and not is_record(s.name)
    )
    if variables > DEVICE_VARIABLES_LIMIT_BYTES:
        facts = {"bytes": variables, "limit": DEVICE_VARIABLES_LIMIT_BYTES}
        return (Finding(Verdict.REJECTED, "device_variables", facts),)
    return ()


def _no_kernel(
    exercise: Exercise, submission: Submission, functions: list[str], parameters: str
) -> Finding:
    # Local symbols and fragments of functions (`helper.part.0`) are no kernels.
    names = sorted(demangle(name) for name in functions if re.fullmatch(r"\w+", name))
    for name in names:
        if name.split("(", 1)[0] == exercise.kernel:
            expected = f"{exercise.kernel}({parameters})"
            facts = {"kernel": exercise.kernel, "found": name, "expected": expected}
            places = submission.place_of(exercise.kernel)
            return Finding(Verdict.WRONG_SIGNATURE, "wrong_signature", facts, places)
    called = [base_name(name) for name in names]
    defined = _after_global(submission.text)
    kernels = [name for name in called if name in defined]
    facts_missing = {"kernel": exercise.kernel, "found": kernels[:5]}
    # Where there is another kernel, the misspelt name is likely to be its own.
    places = submission.place_of(kernels[0]) if kernels else ()
    return Finding(Verdict.MISSING_KERNEL, "missing_kernel", facts_missing, places)


def _after_global(text: str) -> set[str]:
    """The names before a parenthesis in each head with `__global__`."""
    found: set[str] = set()
    is_global = False
    for token, after in pairwise(tokens(text)):
        if token.text in (";", "{"):
            is_global = False
        elif token.text == "__global__":
            is_global = True
        elif is_global and after.text == "(":
            found.add(token.text)
    return found


def _file_end(submission: Submission) -> tuple[Location, ...]:
    return (Location(submission.name, len(submission.lines), "error"),)
