"""What a compiled submission says about itself: is it what the contract asks for?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader import mangling
from grader.device import DEVICE_VARIABLES_LIMIT_BYTES, LaunchConfig
from grader.exercise import Exercise
from grader.finding import Finding, Location
from grader.gpu import cubin as cubins
from grader.gpu import ptx, sass
from grader.limits import check_bounds
from grader.problems import matmul
from grader.submission import Submission
from grader.toolchain import Nvcc
from grader.verdict import Verdict

# The types alone, as in a demangled name: "const float*, const float*, float*, int, int, int".
_TYPES = ", ".join(re.sub(r"\s*(\**)\w+$", r"\1", one) for one in matmul.PARAMETERS.split(", "))

_SPILL = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_REGISTERS = re.compile(r"Used (\d+) registers")
_SHARED = re.compile(r"(\d+) bytes smem")


@dataclass(frozen=True)
class Inspected:
    """`config` is None when the submission has none; `findings` then says so."""

    findings: tuple[Finding, ...]
    config: LaunchConfig | None
    resources: Mapping[str, int]


def inspect(
    exercise: Exercise, submission: Submission, cubin: Path, ptx_text: str, log: str
) -> Inspected:
    """Look for tensor cores, device variables, the kernel, and the launch configuration."""
    config = cubins.read_config(cubin)
    findings = [
        *tensor_cores(ptx_text, submission),
        *_variables(cubin),
        *_kernel(exercise.kernel, ptx_text, submission),
    ]
    if config is None:
        end = len(submission.lines)
        place = _places(submission, end)
        findings.append(Finding(Verdict.MISSING_KERNEL, "missing_config", {}, place))
    else:
        findings += _bounds(exercise.kernel, config, ptx_text, submission)
    return Inspected(tuple(findings), config, resources(log, exercise.kernel))


def tensor_cores(ptx_text: str, submission: Submission) -> tuple[Finding, ...]:
    """Exercises ask for single precision; tensor cores compute in less."""
    found = ptx.tensor_instruction(ptx_text)
    if found is None:
        return ()
    what, line = found
    places = _places(submission, ptx.source_line(ptx_text, line, submission.name))
    return (Finding(Verdict.REJECTED, "tensor_cores", {"what": what}, places),)


def tensor_code(cubin: Path, compiler: Nvcc, submission: Submission) -> tuple[Finding, ...]:
    """The same of the machine code, where the toolkit of `compiler` has a disassembler."""
    found = sass.tensor_instruction(sass.listing(cubin, compiler), submission.name)
    if found is None:
        return ()
    what, line = found
    places = _places(submission, line)
    return (Finding(Verdict.REJECTED, "tensor_cores", {"what": what}, places),)


def resources(log: str, kernel: str) -> dict[str, int]:
    """What ptxas reported for the kernel: registers of a thread, bytes for the others."""
    for block in log.split("Compiling entry function '")[1:]:
        if block.partition("'")[0] != kernel:
            continue
        spill, registers, shared = (p.search(block) for p in (_SPILL, _REGISTERS, _SHARED))
        return {
            "registers": int(registers[1]) if registers else 0,
            "static_shared": int(shared[1]) if shared else 0,
            "spill": int(spill[2]) + int(spill[3]) if spill else 0,
            "stack": int(spill[1]) if spill else 0,
        }
    return {}


def _variables(cubin: Path) -> tuple[Finding, ...]:
    size = cubins.variable_bytes(cubin)
    if size <= DEVICE_VARIABLES_LIMIT_BYTES:
        return ()
    facts = {"bytes": size, "limit": DEVICE_VARIABLES_LIMIT_BYTES}
    return (Finding(Verdict.REJECTED, "device_variables", facts),)


def _kernel(kernel: str, ptx_text: str, submission: Submission) -> tuple[Finding, ...]:
    """Is the kernel there under its plain name, which the header gives to the right signature?"""
    symbols = ptx.entries(ptx_text)
    if kernel in symbols:
        return ()
    expected = f"{kernel}({_TYPES})"
    names = {symbol: mangling.demangle(symbol) for symbol in symbols}
    for symbol, found in names.items():
        if mangling.base_name(found) == kernel and found != expected:
            line = ptx.source_line(ptx_text, ptx.entry_line(ptx_text, symbol), submission.name)
            facts = {"kernel": kernel, "found": found, "expected": expected}
            return (
                Finding(
                    Verdict.WRONG_SIGNATURE, "wrong_signature", facts, _places(submission, line)
                ),
            )
    present = sorted({mangling.base_name(found) for found in names.values()})
    absent: dict[str, object] = {"kernel": kernel, "found": present}
    places = submission.place_of(present[0]) if present else ()
    return (Finding(Verdict.MISSING_KERNEL, "missing_kernel", absent, places),)


def _bounds(
    kernel: str, config: LaunchConfig, ptx_text: str, submission: Submission
) -> tuple[Finding, ...]:
    """A GPU refuses to launch more threads than the kernel's own `__launch_bounds__`."""
    most = ptx.most_threads(ptx_text, kernel)
    if not most:
        return ()
    begin = ptx.source_line(ptx_text, ptx.entry_line(ptx_text, kernel), submission.name)
    head = enumerate(submission.lines[: begin or None], 1)
    lines = [number for number, line in head if "__launch_bounds__" in line]
    return check_bounds(config, most, _places(submission, lines[-1] if lines else 0))


def _places(submission: Submission, line: int) -> tuple[Location, ...]:
    return (Location(submission.name, line, "error"),) if line else ()
