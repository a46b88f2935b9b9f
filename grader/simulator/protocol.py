"""The frames between the simulator's parent and worker; machine/protocol.hpp is the other half."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from grader.device import Launch, LaunchConfig
from grader.simulator.program import Program

VERSION = 2
MAX_OPERANDS = 8
MAX_SCALARS = 8
MAX_VARIABLES = 64
MAX_GLOBALS = 256
MAX_LINES = 1 << 16

_HELLO = struct.Struct(f"<4I3Q{2 * MAX_VARIABLES}Q{2 * MAX_GLOBALS}Q")
_REQUEST = struct.Struct(f"<4I4iIIIIqQd{MAX_OPERANDS}Q{MAX_OPERANDS}Q{MAX_SCALARS}q")
_FINDING = struct.Struct("<IIQQqIIII8i64s")
_RESPONSE = struct.Struct(f"<8IQ{MAX_OPERANDS}Q2Q4i")
_COUNTER = struct.Struct("<6I9Q")
_LINE = struct.Struct("<2Q")
COUNTER_BYTES = _COUNTER.size
RESPONSE_BYTES = _RESPONSE.size
FINDING_BYTES = _FINDING.size


class Status(IntEnum):
    """How a launch ended."""

    FINISHED = 0
    ABORTED = 1
    TIMED_OUT = 2
    CRASHED = 3


class Kind(IntEnum):
    """What the machine saw."""

    GLOBAL_ACCESS = 1
    SHARED_ACCESS = 2
    ARRAY_INDEX = 3
    WILD_ACCESS = 4
    MISALIGNED_ACCESS = 5
    INPUT_WRITTEN = 6
    ASSERTION = 7
    TRAP = 8
    STACK_OVERFLOW = 9
    FATAL_SIGNAL = 10
    DEADLOCK = 11
    DIVERGENT_BARRIER = 12
    ASYNC_COPY = 13
    UNALIGNED_ACCESS = 14
    SHARED_RACE = 15
    GLOBAL_RACE = 16
    UNSET_SHARED = 17
    UNSET_OUTPUT = 18


@dataclass(frozen=True)
class RawFinding:
    """A finding as the machine knows it: addresses and numbers (see protocol.hpp)."""

    kind: Kind
    write: bool
    other_writes: bool
    asynchronous: bool
    same_warp: bool
    pc: int
    pc_other: int
    offset: int
    where: int
    bytes: int
    line: int
    count: int
    thread: tuple[int, int]
    block: tuple[int, int]
    other: tuple[int, int]
    other_block: tuple[int, int]
    text: str


@dataclass(frozen=True)
class Response:
    """The head of an answer; findings, output and images follow it."""

    status: Status
    finding_count: int
    output_bytes: int
    output_cut: bool
    counter_count: int
    barriers: int
    image_words: tuple[int, ...]
    pc: int
    last_pc: int
    thread: tuple[int, int]
    block: tuple[int, int]


def _padded(values: Sequence[int], length: int) -> list[int]:
    return [*values, *[0] * (length - len(values))]


def hello(program: Program) -> bytes:
    """The first frame: where the student's arrays and variables lie."""
    shared = program.shared[:MAX_VARIABLES]
    variables = program.device_variables[:MAX_GLOBALS]
    flat = [number for array in shared for number in (array.offset, array.size)]
    flat_globals = [number for item in variables for number in (item.offset, item.size)]
    return _HELLO.pack(
        VERSION,
        len(shared),
        len(variables),
        0,
        program.anchor_offset,
        program.shared_bytes,
        program.dynamic_offset,
        *_padded(flat, 2 * MAX_VARIABLES),
        *_padded(flat_globals, 2 * MAX_GLOBALS),
    )


def request(
    config: LaunchConfig,
    launch: Launch,
    lines: Sequence[tuple[int, int]] = (),
    only_block: int = -1,
    sparse: bool = False,
) -> bytes:
    """The head of a request and the program's lines (address, line), which counting needs; the
    operands' images follow unless the request is sparse."""
    rows = lines[:MAX_LINES] if launch.count else ()
    head = _REQUEST.pack(
        VERSION,
        len(launch.operands),
        len(launch.scalars),
        launch.poison,
        *launch.grid,
        config.block_x,
        config.block_y,
        config.dynamic_shared,
        sparse,
        launch.watch | launch.count << 1,
        len(rows),
        only_block,
        launch.order,
        launch.timeout_s,
        *_padded([operand.size for operand in launch.operands], MAX_OPERANDS),
        *_padded([operand.guard for operand in launch.operands], MAX_OPERANDS),
        *_padded(launch.scalars, MAX_SCALARS),
    )
    return head + b"".join(_LINE.pack(*row) for row in rows)


def read_response(frame: bytes) -> Response:
    """Raises ValueError when the frame is not one of this version."""
    version, status, findings, output, cut, operands, counters, _, barriers, *rest = _RESPONSE.unpack(frame)
    if version != VERSION or operands > MAX_OPERANDS:
        raise ValueError(f"answer of version {version}, expected {VERSION}")
    words, places = rest[:MAX_OPERANDS], rest[MAX_OPERANDS:]
    return Response(
        status=Status(status),
        finding_count=findings,
        output_bytes=output,
        output_cut=bool(cut),
        counter_count=counters,
        barriers=barriers,
        image_words=tuple(words[:operands]),
        pc=places[0],
        last_pc=places[1],
        thread=(places[2], places[3]),
        block=(places[4], places[5]),
    )


def read_counter(frame: bytes) -> tuple[int, ...]:
    """One CounterRow of protocol.hpp, field by field."""
    return _COUNTER.unpack(frame)


def read_finding(frame: bytes) -> RawFinding:
    """One finding. Raises ValueError for an unknown kind."""
    kind, access, pc, pc_other, offset, where, size, line, count, *rest = _FINDING.unpack(frame)
    return RawFinding(
        kind=Kind(kind),
        write=bool(access & 1),
        other_writes=bool(access & 2),
        asynchronous=bool(access & 4),
        same_warp=bool(access & 8),
        pc=pc,
        pc_other=pc_other,
        offset=offset,
        where=where,
        bytes=size,
        line=line,
        count=count,
        thread=(rest[0], rest[1]),
        block=(rest[2], rest[3]),
        other=(rest[4], rest[5]),
        other_block=(rest[6], rest[7]),
        text=rest[8].split(b"\0", 1)[0].decode("utf-8", "replace"),
    )
