"""The frames between the simulator's parent and worker; machine/protocol.hpp is the other half."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from grader.device import Launch, Role, Words
from grader.simulator.program import Program

VERSION = 7
MAX_OPERANDS = 8
MAX_SCALARS = 8
MAX_VARIABLES = 1024
MAX_GLOBALS = 1024
MAX_LINES = 1 << 16
MAX_STORED, MAX_LOADED = 1 << 17, 1 << 14

_HELLO = struct.Struct(f"<4I3Q{2 * MAX_VARIABLES}Q{2 * MAX_GLOBALS}Q")
_REQUEST = struct.Struct(
    f"<4I6iIIIIqQd{MAX_OPERANDS}I{MAX_OPERANDS}Q{MAX_OPERANDS}Q{MAX_SCALARS}qQ"
)
_FINDING = struct.Struct("<IIQQqIIII12i64s")
_RESPONSE = struct.Struct(f"<8I4Q{MAX_OPERANDS}Q2Q6iQ")
_COUNTER = struct.Struct("<6I9Q4I3i33I")
_LINE = struct.Struct("<2Q")
READY = struct.pack("<I", VERSION)  # a worker's first word
HELLO_BYTES = _HELLO.size
COUNTER_BYTES = _COUNTER.size
RESPONSE_BYTES = _RESPONSE.size
FINDING_BYTES = _FINDING.size


Triple = tuple[int, int, int]

# A Piece of protocol.hpp.
PIECE = np.dtype(
    [
        ("offset", "<u8"),
        ("pc", "<u8"),
        ("operand", "<u4"),
        ("bytes", "<u4"),
        ("words", "<f4", 4),
    ]
)
Pieces = npt.NDArray[np.void]

_WRITABLE, _UNSET = 1, 2
_ROLES = {Role.INPUT: 0, Role.OUTPUT: _WRITABLE | _UNSET, Role.BOTH: _WRITABLE}


@dataclass(frozen=True)
class Block:
    """Threads of a block along x, y and z, and bytes of its dynamic shared memory."""

    threads: Triple
    dynamic_shared: int = 0


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
    INDEX_OVERFLOW = 19
    REPEATED_STORE = 20
    SYSTEM_CALL = 21
    FOREIGN_LOCAL = 22
    PRINT_FORMAT = 23
    UNSET_LANE = 24
    # Not the machine's: what stands for an answer that never came (see `ending`).
    PROCESS_LOST = 100
    FORGED_ANSWER = 101


@dataclass(frozen=True)
class RawFinding:
    """A finding as the machine knows it: addresses and numbers (see protocol.hpp)."""

    kind: Kind
    write: bool
    other_writes: bool
    asynchronous: bool
    same_warp: bool
    overwriting: bool
    pc: int
    pc_other: int
    offset: int
    where: int
    bytes: int
    line: int
    count: int
    thread: Triple
    block: Triple
    other: Triple
    other_block: Triple
    text: str
    met: bool = False


@dataclass(frozen=True)
class Response:
    """The head of an answer; findings, output and images follow it."""

    status: Status
    finding_count: int
    output_bytes: int
    output_cut: bool
    counter_count: int
    barriers: int
    uncounted: int
    stored: int
    loaded: int
    confined: bool
    image_words: tuple[int, ...]
    pc: int
    last_pc: int
    thread: Triple
    block: Triple


@dataclass(frozen=True)
class CounterRow:
    """A CounterRow of protocol.hpp. `counts` are its nine counters in order; `worst` describes its
    most expensive request: cost, ideal, lanes served together, warp; then the block, a bit for
    each active lane, and the lanes' offsets in bytes."""

    line: int
    space: int
    place: int
    bytes: int
    access: int
    approximate: bool
    counts: tuple[int, ...]
    worst: tuple[int, int, int, int]
    block: Triple
    active: int
    offsets: tuple[int, ...]


@dataclass(frozen=True)
class Answer:
    """A worker's whole answer to one launch. `stored` and `loaded` are the pieces of a sparse
    launch, at most MAX_STORED of `head.stored`, MAX_LOADED of `head.loaded`. `cpu_s` is the
    processor time the worker used for it, 0 where that is not known."""

    head: Response
    findings: tuple[RawFinding, ...] = ()
    output: str = ""
    images: tuple[Words, ...] = ()
    counters: tuple[CounterRow, ...] = ()
    cpu_s: float = 0.0
    stored: Pieces = field(default_factory=lambda: np.empty(0, PIECE))
    loaded: Pieces = field(default_factory=lambda: np.empty(0, PIECE))


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


@dataclass(frozen=True)
class Request:
    """One launch for a worker; `lines` are the program's (address, line), which counting needs."""

    block: Block
    launch: Launch
    lines: Sequence[tuple[int, int]] = ()
    only_block: int = -1
    sparse: bool = False

    def head(self, ticket: int) -> bytes:
        """All but the operands' images; the answer repeats the `ticket`."""
        launch = self.launch
        rows = self.lines[:MAX_LINES] if launch.count else ()
        head = _REQUEST.pack(
            VERSION,
            len(launch.operands),
            len(launch.scalars),
            launch.poison,
            *launch.grid,
            launch.grid_z,
            *self.block.threads,
            self.block.dynamic_shared,
            self.sparse,
            launch.watch | launch.count << 1 | self.sparse << 2,
            len(rows),
            self.only_block,
            launch.order,
            launch.timeout_s,
            *_padded([_ROLES[operand.role] for operand in launch.operands], MAX_OPERANDS),
            *_padded([operand.bytes for operand in launch.operands], MAX_OPERANDS),
            *_padded([operand.guard for operand in launch.operands], MAX_OPERANDS),
            *_padded(launch.scalars, MAX_SCALARS),
            ticket,
        )
        return head + b"".join(_LINE.pack(*row) for row in rows)

    def images(self) -> Iterator[memoryview]:
        """What follows the head: nothing of memory that is not there."""
        if not self.sparse:
            for operand in self.launch.operands:
                yield operand.image.data.cast("B")


def read_response(frame: bytes, ticket: int) -> Response:
    """Raises ValueError when the frame is no answer to the request with this ticket."""
    version, status, findings, output, cut, operands, counters, *rest = _RESPONSE.unpack(frame)
    confined, barriers, uncounted, stored, loaded, *rest = rest
    if version != VERSION or operands > MAX_OPERANDS or rest.pop() != ticket:
        raise ValueError(f"answer of version {version}, expected {VERSION}")
    words, places = rest[:MAX_OPERANDS], rest[MAX_OPERANDS:]
    return Response(
        status=Status(status),
        finding_count=findings,
        output_bytes=output,
        output_cut=bool(cut),
        counter_count=counters,
        barriers=barriers,
        uncounted=uncounted,
        stored=stored,
        loaded=loaded,
        confined=bool(confined),
        image_words=tuple(words[:operands]),
        pc=places[0],
        last_pc=places[1],
        thread=_triple(places, 2),
        block=_triple(places, 5),
    )


def _triple(numbers: Sequence[int], start: int) -> Triple:
    return numbers[start], numbers[start + 1], numbers[start + 2]


def read_counter(frame: bytes) -> CounterRow:
    """One row of counters."""
    fields = _COUNTER.unpack(frame)
    line, space, place, size, access, approximate = fields[:6]
    return CounterRow(
        line=line,
        space=space,
        place=place,
        bytes=size,
        access=access,
        approximate=bool(approximate),
        counts=fields[6:15],
        worst=fields[15:19],
        block=_triple(fields, 19),
        active=fields[22],
        offsets=fields[23:],
    )


def read_finding(frame: bytes) -> RawFinding:
    """One finding. Raises ValueError for an unknown kind."""
    kind, access, pc, pc_other, offset, where, size, line, count, *rest = _FINDING.unpack(frame)
    return RawFinding(
        kind=Kind(kind),
        write=bool(access & 1),
        other_writes=bool(access & 2),
        asynchronous=bool(access & 4),
        same_warp=bool(access & 8),
        overwriting=bool(access & 16),
        met=bool(access & 32),
        pc=pc,
        pc_other=pc_other,
        offset=offset,
        where=where,
        bytes=size,
        line=line,
        count=count,
        thread=_triple(rest, 0),
        block=_triple(rest, 3),
        other=_triple(rest, 6),
        other_block=_triple(rest, 9),
        text=rest[12].split(b"\0", 1)[0].decode("utf-8", "replace"),
    )
