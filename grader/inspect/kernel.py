"""Any kernel of a file: found by its name, compiled, and launched on the simulator."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from grader import source
from grader.course import Target
from grader.device import Launch, Run
from grader.finding import Finding, GraderFault, KernelFault
from grader.inspect.geometry import check_shared
from grader.simulator import compiler as compilers
from grader.simulator.device import compile_error
from grader.simulator.outcome import read_run
from grader.simulator.program import Entry, link_alone
from grader.simulator.protocol import Block
from grader.simulator.scene import Scene
from grader.simulator.signature import Signature, read_signatures
from grader.simulator.workshop import Workshop, read_debug_info, static_shared_bytes
from grader.source import slips
from grader.submission import Submission

_NAME = re.compile(r"(?P<path>(?:\w+::)*[A-Za-z_]\w*)\s*(?P<arguments><[\w\s,:*]*>)?")
_C_TYPE = {
    "f32": "float", "f64": "double", "i8": "signed char", "u8": "unsigned char", "i16": "short",
    "u16": "unsigned short", "i32": "int", "u32": "unsigned int", "i64": "long",
    "u64": "unsigned long",
}  # fmt: skip


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel: its parameters, the folder that `Workshop.make` made for it, and the bytes
    of its `__shared__` arrays (0 in a file of several kernels: whose they are is not known)."""

    file: Submission
    signature: Signature
    folder: Path
    static_shared: int


def make(file: Submission, name: str, workshop: Workshop) -> Kernel:
    """Compile a file and find its kernel `name`, or its only one where `name` is empty.

    A name with template arguments (`sum<256>`) makes that instance of the template. Raises
    KernelFault for what the compiler refuses and GraderFault for a name that fits none or several.
    """
    if feature := source.uses_unsupported(file):
        raise GraderFault(f"{file.name} uses {feature}, which the simulator does not have.")
    text = _with_instance(file.text, name)

    def find_entry(object_file: Path) -> Entry:
        alone = link_alone(workshop.compiler, object_file)
        return _entry(choose(_kernels(alone, file), name, file))

    try:
        folder = workshop.make(text, f"inspect {name}", find_entry)
    except compilers.CompileFailure as failure:
        raise KernelFault(_compile_findings(file, workshop, failure)) from None
    known = _kernels(folder / "alone", file)
    shared = static_shared_bytes(folder) if len(known) == 1 else 0
    return Kernel(file, choose(known, name, file), folder, shared)


def _entry(signature: Signature) -> Entry:
    types = []
    for parameter in signature.parameters:
        if not parameter.pointer and parameter.kind not in _C_TYPE:
            raise GraderFault(
                f"{signature}: {parameter.name} is a {parameter.type}; "
                "only arrays and numbers can be given."
            )
        types.append("void *" if parameter.pointer else _C_TYPE[parameter.kind])
    return Entry(signature.symbol, tuple(types))


def _kernels(program: Path, file: Submission) -> tuple[Signature, ...]:
    found = read_signatures(program, compilers.SOURCE)
    return tuple(s for s in found if _is_kernel(_base(s.name), file.text))


def _compile_findings(
    file: Submission, workshop: Workshop, failure: compilers.CompileFailure
) -> tuple[Finding, ...]:
    """Host code is the usual reason, and the compiler's words for `<<<` help nobody."""
    hosts = [f for f in source.inspect(file) if f.kind == "host_code"]
    if hosts:
        name, form = hosts[0].facts["name"], hosts[0].facts["form"]
        what = f"the launch of {name}" if form == "launch" else name
        raise GraderFault(
            f"{file.name}:{hosts[0].locations[0].line}: {what} is host code. Give a file of device "
            "code alone: kernels, and the __device__ functions that they call."
        )
    last = file.text.count("\n") + 1
    known = replace(failure, line=failure.line if failure.line <= last else 0)
    return slips.reworded((compile_error(workshop.compiler, file, known),), file)


def _with_instance(text: str, name: str) -> str:
    """The text, and after it a use of the template that `name` gives arguments for."""
    if not name:
        return text
    match = _NAME.fullmatch(name)
    if match is None:
        raise GraderFault(f'--kernel "{name}" is not a name of a function.')
    if match["arguments"] is None:
        return text
    return f"{text}\nstatic __global__ void *sim_instance() {{ return (void *)&{name}; }}\n"


def choose(kernels: Sequence[Signature], name: str, file: Submission) -> Signature:
    """The kernel of that name; GraderFault names what there is."""
    wanted = kernels if not name else [s for s in kernels if _fits(s, name)]
    if len(wanted) == 1:
        return wanted[0]
    if not kernels:
        raise GraderFault(
            f"{file.name} has no kernel: no function with __global__, or only templates that are "
            'never used; --kernel "name<16>" uses one.'
        )
    listed = "; ".join(map(str, wanted or kernels))
    if len(wanted) > 1:
        what = f"has several kernels named {name}" if name else "has several kernels"
        raise GraderFault(f"{file.name} {what}: {listed}. Choose one with --kernel.")
    raise GraderFault(f"{file.name} has no kernel named {name}. Its kernels: {listed}.")


def _base(name: str) -> str:
    return name.split("<", 1)[0]


def _is_kernel(name: str, text: str) -> bool:
    return re.search(rf"__global__[^;{{}}]*\b{re.escape(name)}\s*\(", text) is not None


def _fits(signature: Signature, name: str) -> bool:
    """Whether `name`, perhaps with namespaces and template arguments, means this function."""
    plain = name.rsplit("::", 1)[-1] if "<" not in name else re.sub(r"^(\w+::)+", "", name)
    if "<" not in plain:
        return _base(signature.name) == plain
    return _spelt(signature.name) == _spelt(plain)


def _spelt(name: str) -> str:
    """Compilers write `k<16u, true>` in different ways."""
    return re.sub(r"(?<=\d)[uUlL]+\b|\s+|\((?:\w|\s)+\)", "", name)


def launch(kernel: Kernel, workshop: Workshop, block: Block, made: Launch, target: Target) -> Run:
    """Launch once. Raises GraderFault, also where a block does not fit the GPU."""
    check_shared(kernel.static_shared, block.dynamic_shared, target)
    with closing(workshop.start(kernel.folder)) as worker:
        debug = read_debug_info(worker)
        lines = debug.lines() if made.count else ()
        answer = worker.ask(block, made, lines)
        file = kernel.file
        return read_run(
            answer, made, Scene(worker.program, debug, file.name, file.text, made, block)
        )
