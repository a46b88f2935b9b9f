"""What `--args` says: arrays with their contents, and scalars, for a kernel's parameters."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.device import Operand, Role, Words
from grader.finding import GraderFault
from grader.inspect.expression import evaluate
from grader.inspect.options import EXAMPLE
from grader.simulator.protocol import MAX_OPERANDS, MAX_SCALARS
from grader.simulator.signature import Parameter, Signature

KINDS = ("f32", "f64", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
# What the simulator watches for races (observers/order.cpp); more takes minutes to follow anyway.
LARGEST_ARRAY_BYTES = 64 << 20

# Integers are often indices, bins or sizes of something: small ones rarely lead outside.
_INTEGERS_BELOW = 16
# Around each array: a signalling NaN as in the contract's guards, and a second fill for bytes.
_GUARD_WORD = 0x7F8DDDDD
_SMALLEST_GUARD, _LARGEST_GUARD, _GUARD_STEP = 1024, 1 << 16, 64  # words

_ARGUMENT = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)\s*=\s*)?"
    r"(?:(?P<kind>[a-z]+\d+)\s*(?P<dims>(?:\[[^\]]*\]\s*)+)(?:=\s*(?P<fill>\S+))?|(?P<value>\S+))"
    r"(?=\s|$)"
)
_FLOAT = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eEfF]))(?:[eE][-+]?\d+)?[fF]?")
_NUMPY = {kind: np.dtype(f"<{kind[0]}{int(kind[1:]) // 8}") for kind in KINDS}


@dataclass(frozen=True)
class Argument:
    """One argument. An array has a `kind` and one or two dimensions, and a `fill` if all elements
    are the same; a scalar has a `value` as it was written."""

    name: str
    kind: str = ""
    dims: tuple[int, ...] = ()
    fill: str = ""
    value: str = ""


def parse(text: str) -> tuple[Argument, ...]:
    """The arguments of `--args`. Raises GraderFault with one sentence."""
    matches, end = [], 0
    while text[end:].strip():
        match = _ARGUMENT.match(text, end)
        if match is None:
            raise GraderFault(f'--args: cannot read "{text[end:].strip()}"; {EXAMPLE}.')
        matches.append(match)
        end = match.end()
    # Scalars first: sizes may be given in terms of them.
    names: dict[str, int] = {}
    for match in matches:
        value = match["value"]
        if value and match["name"] and value not in KINDS and not _FLOAT.fullmatch(value):
            names[match["name"]] = evaluate(value, names)
    return tuple(_argument(match, names) for match in matches)


def _argument(match: re.Match[str], names: Mapping[str, int]) -> Argument:
    name = match["name"] or ""
    if match["value"]:
        value = match["value"]
        if value in KINDS:
            raise GraderFault(f"--args: {value} needs a size, {EXAMPLE}.")
        if not _FLOAT.fullmatch(value):
            value = str(evaluate(value, names))
        return Argument(name, value=value)
    shown, kind = match[0].strip(), match["kind"]
    if kind not in KINDS:
        raise GraderFault(f'--args: "{shown}": "{kind}" is no kind; kinds are {", ".join(KINDS)}.')
    dims = tuple(evaluate(size, names) for size in re.findall(r"\[([^\]]*)\]", match["dims"]))
    if len(dims) > 2:
        raise GraderFault(f'--args: "{shown}" has {len(dims)} dimensions; give one or two.')
    if min(dims) < 1:
        raise GraderFault(f'--args: "{shown}" has a size of {min(dims)}; sizes are at least 1.')
    if math.prod(dims) * _NUMPY[kind].itemsize > LARGEST_ARRAY_BYTES:
        limit = LARGEST_ARRAY_BYTES >> 20
        raise GraderFault(f'--args: "{shown}" is too large: an array has at most {limit} MiB here.')
    return Argument(name, kind, dims, match["fill"] or "")


def bind(
    arguments: Sequence[Argument], signature: Signature, seed: int
) -> tuple[tuple[Operand, ...], tuple[int, ...]]:
    """Operands and scalars of a launch, in the order of the kernel's parameters.

    Contents depend on `seed` and on nothing else but kind and place. Scalars of floating-point
    type are their bits. Raises GraderFault with one sentence where an argument does not fit.
    """
    parameters = signature.parameters
    if len(arguments) != len(parameters):
        raise GraderFault(
            f"{signature} takes {len(parameters)} argument{'s' * (len(parameters) != 1)}, "
            f"--args gives {len(arguments)}."
        )
    operands: list[Operand] = []
    scalars: list[int] = []
    for number, (argument, parameter) in enumerate(zip(arguments, parameters, strict=True)):
        _check(number, argument, parameter, signature)
        if parameter.pointer:
            operands.append(_operand(argument, parameter, np.random.SeedSequence([seed, number])))
        else:
            scalars.append(_bits(number, argument, parameter))
    if len(operands) > MAX_OPERANDS or len(scalars) > MAX_SCALARS:
        raise GraderFault(
            f"{signature} has more than {MAX_OPERANDS} arrays or {MAX_SCALARS} scalars, "
            "which is the most that can be inspected."
        )
    return tuple(operands), tuple(scalars)


def _check(number: int, argument: Argument, parameter: Parameter, signature: Signature) -> None:
    where = _where(number, parameter)
    if parameter.pointer and not argument.kind:
        raise GraderFault(f"{where} is an array: give kind and size, {EXAMPLE}.")
    if argument.kind and not parameter.pointer:
        raise GraderFault(f"{where} is one number, --args gives an array of {argument.kind}.")
    if argument.kind and parameter.kind not in ("", argument.kind):
        raise GraderFault(f"{where} has elements of {parameter.kind}, not {argument.kind}.")
    others = {p.name for p in signature.parameters} - {parameter.name}
    if argument.name in others:
        raise GraderFault(f"{where} gets {argument.name}: arguments stand in the kernel's order.")


def _where(number: int, parameter: Parameter) -> str:
    spelt = f"{parameter.type} {parameter.name}".replace("* ", "*").strip()
    return f"Argument {number + 1} ({spelt})"


def _operand(argument: Argument, parameter: Parameter, key: np.random.SeedSequence) -> Operand:
    *rows, cols = argument.dims
    data = _contents(argument, math.prod(argument.dims), key).tobytes()
    words = np.frombuffer(data + bytes(-len(data) % 4), dtype=np.uint32)
    guard = _guard_words(len(data) // 4, cols if rows else 0)
    image: Words = np.full(len(words) + 2 * guard, _GUARD_WORD, dtype=np.uint32)
    image[guard : guard + len(words)] = words
    image.flags.writeable = False
    return Operand(
        name=argument.name or parameter.name or "an array",
        rows=rows[0] if rows else 0,
        cols=cols,
        guard=guard,
        image=image,
        role=Role.INPUT if parameter.constant else Role.BOTH,
        element_bytes=_NUMPY[argument.kind].itemsize,
    )


def _guard_words(words: int, row_words: int) -> int:
    """Some rows of a matrix, or a quarter of an array: what an index too large by a little reaches,
    so that the launch goes on and shows the rest."""
    wanted = min(max(32 * row_words, words // 4, _SMALLEST_GUARD), _LARGEST_GUARD)
    return -(-wanted // _GUARD_STEP) * _GUARD_STEP


def _contents(
    argument: Argument, size: int, key: np.random.SeedSequence
) -> np.ndarray[tuple[int, ...], np.dtype[np.generic]]:
    kind = _NUMPY[argument.kind]
    rng = np.random.Generator(np.random.Philox(key))
    if argument.fill:
        return np.full(size, _fill(argument), dtype=kind)
    if argument.kind.startswith("f"):
        return rng.uniform(-1.0, 1.0, size).astype(kind)
    return rng.integers(0, _INTEGERS_BELOW, size).astype(kind)


def _fill(argument: Argument) -> float | int:
    if argument.kind.startswith("f"):
        return _float(argument.fill, f"{argument.name}={argument.fill}")
    value = evaluate(argument.fill)
    _in_range(value, argument.kind, f"{argument.name or 'the array'} is filled with {value}, which")
    return value


def _bits(number: int, argument: Argument, parameter: Parameter) -> int:
    where = _where(number, parameter)
    if parameter.kind.startswith("f"):
        value = _float(argument.value, where)
        double = parameter.kind == "f64"
        code = ("<d", "<q") if double else ("<f", "<i")
        return int(struct.unpack(code[1], struct.pack(code[0], value))[0])
    if _FLOAT.fullmatch(argument.value):
        raise GraderFault(f"{where} is an integer, --args gives {argument.value}.")
    whole = int(argument.value)
    _in_range(whole, parameter.kind, f"{where} gets {whole}, which")
    return whole if whole < 1 << 63 else whole - (1 << 64)


def _in_range(value: int, kind: str, what: str) -> None:
    limits = np.iinfo(_NUMPY[kind])
    if not limits.min <= value <= limits.max:
        raise GraderFault(f"{what} does not fit into {kind}.")


def _float(text: str, where: str) -> float:
    try:
        return float(text.rstrip("fF"))
    except ValueError:
        raise GraderFault(f"{where}: {text} is not a number.") from None
