"""The verb `run`: one launch with everything it read, wrote and printed."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from grader import course
from grader.bench.subject import checked_entry
from grader.checks import devices
from grader.checks.build import compile_entry
from grader.checks.plan import PRACTICE_SEED, Entry, folder_entries
from grader.cli import FAILED, OK
from grader.commands import exercises, existing, parse_shape
from grader.device import Build, Device, Launch, Operand, Run, Words
from grader.exercise import PROJECT, Exercise
from grader.finding import Finding, GraderFault, KernelFault, NotGraded, ordered
from grader.judge import judge
from grader.problems.matmul import Case, Matrix, Shape, fresh_poison, prepare, product
from grader.report.line import Line, console, is_plain, line, paragraph, show
from grader.report.summary import places
from grader.report.words import told
from grader.settings import STARTER

# M, N and K differ, so that a kernel that mixes them up shows it.
DEFAULT_SHAPE = Shape(4, 5, 3)

# What fits side by side in a terminal, with a second step of tiles that are 32 deep. For more,
# `make test` names one element that is wrong.
LARGEST = Shape(16, 16, 40)

_UNWRITTEN = "?"
_WRONG = "!"


def main(options: argparse.Namespace) -> int:
    """Exit status 1 when the kernel is at fault."""
    if not options.exercise:
        raise GraderFault("Which exercise? For example: make run EX=tiled SHAPE=3x3x3")
    (exercise,) = exercises(options.exercise)
    shape = _printable(parse_shape(options.shape) or DEFAULT_SHAPE, exercise)
    folder = existing(options.folder or STARTER)
    (entry,) = map(checked_entry, folder_entries((exercise,), folder))
    seed = PRACTICE_SEED if options.seed is None else options.seed
    screen = console(is_plain(options.plain))
    lines, findings = run_entry(entry, options.device, shape, seed)
    show(screen, lines)
    return FAILED if findings else OK


def run_entry(
    entry: Entry, word: str, shape: Shape, seed: int
) -> tuple[list[Line], tuple[Finding, ...]]:
    """Build and launch once; the lines to print and what is wrong. `auto` is the simulator."""
    kind = "gpu" if word == "gpu" and "gpu" in devices.choose(word).kinds else "simulator"
    target = course.load(PROJECT).target
    with closing(devices.open_device(kind, target, print)) as device:
        try:
            nvcc = devices.compiler_check(target)
            build = compile_entry(entry, device, target, nvcc).launchable()
        except KernelFault as fault:
            return list(_told(fault.findings, entry.exercise)), fault.findings
        except NotGraded as lacking:
            raise GraderFault(f"Cannot run {entry.path.name} here: it uses {lacking}.") from None
        return _launch(device, build, shape, seed)


def _launch(
    device: Device, build: Build, shape: Shape, seed: int
) -> tuple[list[Line], tuple[Finding, ...]]:
    case = Case(shape, "exact", seed)
    launch = prepare(build.exercise, build.launch_config, case, fresh_poison(seed, 0))
    run = device.launch(build, launch)
    findings = ordered(judge(build, case, launch, run))
    shown = [*_matrices(build, launch, run), *_printed(run), *_told(findings, build.exercise)]
    if not findings:
        tried = f" Tried: {shape}, whole numbers, {device.kind}; make test tries fractions, too."
        shown += [line(), line(("C is right.", "green"), tried)]
    return shown, findings


def _matrices(build: Build, launch: Launch, run: Run) -> Iterator[Line]:
    a, b, c = launch.operands
    expected = product(build.exercise, launch)
    yield from _matrix(_title(a, "M x K"), _cells(a, a.image))
    yield from _matrix(
        _title(b, " x ".join(build.exercise.b_layout.value.split("x"))), _cells(b, b.image)
    )
    if run.images:
        yield from _matrix(_title(c, "M x N"), _marked(c, run.images[2], expected))
    yield from _matrix("C should be", [[f"{value:g} " for value in row] for row in expected])


def _title(operand: Operand, dimensions: str) -> str:
    return f"{operand.name} ({dimensions} = {operand.rows} x {operand.cols})"


def _cells(operand: Operand, image: Words) -> list[list[str]]:
    return [[f"{value:g} " for value in row] for row in operand.values(image)]


def _marked(c: Operand, image: Words, expected: Matrix) -> list[list[str]]:
    """C with a sign behind each wrong element, because colours do not reach everyone."""
    words = image[c.guard : c.guard + c.size].reshape(c.rows, c.cols)
    poison = c.image[c.guard]
    with np.errstate(invalid="ignore"):
        values = c.values(image).astype(np.float64)
    return [
        [
            f"{_UNWRITTEN if word == poison else format(value, 'g')}"
            f"{' ' if value == right else _WRONG}"
            for word, value, right in zip(*row, strict=True)
        ]
        for row in zip(words, values, expected, strict=True)
    ]


def _matrix(title: str, cells: list[list[str]]) -> Iterator[Line]:
    yield line()
    yield line((title, "bold"))
    width = max(len(cell) for row in cells for cell in row)
    for row in cells:
        pieces = (
            (f" {cell:>{width}}", "bold red" if cell.endswith(_WRONG) else "") for cell in row
        )
        yield line("  ", *pieces)
    signs = {_WRONG: "wrong", _UNWRITTEN: "never written"}
    used = [
        f"{sign} {what}" for sign, what in signs.items() if any(sign in c for r in cells for c in r)
    ]
    if used:
        yield line(f"  {', '.join(used)}")


def _printed(run: Run) -> Iterator[Line]:
    if run.output:
        yield line()
        yield line(("The kernel printed", "bold"))
        yield from paragraph(run.output, "  ")


def _told(findings: tuple[Finding, ...], exercise: Exercise) -> Iterator[Line]:
    for finding in findings:
        message = told(finding, exercise)
        yield line()
        yield from paragraph(message.text, "  ", first=f"{finding.verdict.value}: ")
        if message.hint and "make run" not in message.hint:  # which is what prints this
            yield from paragraph(message.hint, "  ", "italic", first="Hint: ")
        if finding.locations:
            yield from paragraph(places(finding.locations), "  ", first="At: ")


def _printable(shape: Shape, exercise: Exercise) -> Shape:
    if any(size > most for size, most in zip(shape, LARGEST, strict=True)):
        raise GraderFault(
            f"{shape} is too large to print: M and N are at most {LARGEST.m} here, and K at most "
            f"{LARGEST.k}. "
            f"To check it: make test EX={exercise.short} SHAPE={shape}"
        )
    return shape
