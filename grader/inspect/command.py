"""The verb `inspect`: from its options to what it prints."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace

from grader import course, submission
from grader.bench.subject import checked_entry
from grader.caller import is_make
from grader.checks.devices import CACHE
from grader.checks.plan import Entry, folder_entries
from grader.checks.survey import Surveyor
from grader.cli import FAILED, OK
from grader.commands import existing, parse_shape
from grader.counters import Counters
from grader.course import Target
from grader.exercise import PROJECT, find, load_all
from grader.finding import GraderFault, KernelFault
from grader.inspect import listing, picture, record
from grader.inspect.arguments import parse
from grader.inspect.expression import evaluate
from grader.inspect.geometry import read_block, read_grid
from grader.inspect.inspection import (
    Conditions,
    Inspection,
    Wanted,
    inspect_exercise,
    inspect_kernel,
)
from grader.machine_fault import unwritable
from grader.messages import say
from grader.report.line import console, is_plain, show
from grader.settings import STARTER
from grader.simulator.device import SimulatorDevice
from grader.simulator.protocol import Block
from grader.simulator.workshop import Workshop
from grader.toolchain import HostCompiler, host_compiler

_SIMULATOR = CACHE / "simulator"


def main(options: argparse.Namespace) -> int:
    """Exit status 1 when a fault was found. Raises GraderFault for wrong usage."""
    target = course.load(PROJECT).target
    compiler = host_compiler(options.compiler)
    inspect = _exercise if options.exercise else _kernel
    seen = inspect(options, target, compiler)
    if options.line is not None and seen.counters is not None:
        _check_line(options.line, seen.counters)
    if options.svg:
        _draw(seen, options)
    if options.json:
        print(json.dumps(record.compose(seen), indent=1))
    else:
        show(console(is_plain(options.plain)), listing.lines(seen, options.line or 0))
    if options.svg:
        print(f"Wrote {options.svg}.", file=sys.stderr if options.json else sys.stdout)
    return FAILED if seen.findings else OK


def _exercise(options: argparse.Namespace, target: Target, compiler: HostCompiler) -> Inspection:
    _refuse(options, ("kernel", "grid", "block", "args", "shared"), "is known for an exercise")
    exercise = find(load_all(PROJECT), options.exercise)
    path, shape = options.file, parse_shape(options.shape)
    if path is None or path.is_dir():
        (entry,) = folder_entries((exercise,), existing(path or STARTER))
        path = checked_entry(entry).path
    try:
        file = submission.read(path, exercise, path.parent)
    except KernelFault as fault:
        raise GraderFault(say(fault.findings[0])) from None
    device = SimulatorDevice(target, compiler, cache=_SIMULATOR)
    surveyor = Surveyor((Entry(exercise, path, "started", file),), target)
    with closing(device), surveyor:
        seen = inspect_exercise(exercise, file, shape, device, _conditions(options))
        return replace(seen, survey=surveyor.results().get(exercise.name, {}))


def _kernel(options: argparse.Namespace, target: Target, compiler: HostCompiler) -> Inspection:
    if options.file is None:
        if is_make():
            what = "make inspect EX=naive, or FILE=... KERNEL=... GRID=... BLOCK=... ARGS=..."
        else:
            what = "inspect --exercise EX, or inspect FILE.cu with what --help lists"
        raise GraderFault(f"Inspect what? For example: {what}")
    if options.file.is_dir():
        raise GraderFault(f"{options.file} is a folder. Name the exercise, too: --exercise EX")
    _refuse(options, ("shape",), "belongs to --exercise")
    try:
        file = submission.read_any(options.file)
    except KernelFault as fault:
        raise GraderFault(say(fault.findings[0])) from None
    for name in ("grid", "block", "args"):
        if getattr(options, name) is None:
            raise GraderFault(f"--{name} is missing. See: python -m grader inspect --help")
    block = Block(
        read_block(options.block, target),
        evaluate(options.shared) if options.shared else 0,
    )
    grid, arguments = read_grid(options.grid, target), parse(options.args)
    wanted = Wanted(options.kernel or "", grid, block, arguments)
    workshop = Workshop(compiler, target.capability, _SIMULATOR)
    return inspect_kernel(file, wanted, workshop, target, _conditions(options))


def _conditions(options: argparse.Namespace) -> Conditions:
    return Conditions(options.seed, options.timeout)


def _refuse(options: argparse.Namespace, names: Sequence[str], why: str) -> None:
    for name in names:
        if getattr(options, name) is not None:
            raise GraderFault(f"--{name} {why}. See: python -m grader inspect --help")


def _check_line(number: int, counters: Counters) -> None:
    known = sorted({c.line for c in counters.lines} | {a.line for a in counters.atomics})
    if number not in known:
        lines = f"Lines that do: {', '.join(map(str, known))}." if known else "No line does."
        raise GraderFault(f"Line {number} touches no memory. {lines}")


def _draw(seen: Inspection, options: argparse.Namespace) -> None:
    if seen.counters is None:
        raise GraderFault("There is no picture: the launch did not end. Without --svg it says why.")
    request = picture.choose(seen.counters, options.line or 0, options.array or "")
    text = picture.draw(request, seen.file)
    try:
        options.svg.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise unwritable(options.svg, fault, "--svg FILE") from None
