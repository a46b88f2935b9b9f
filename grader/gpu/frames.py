"""Frames between the grader and its GPU worker: a JSON header and raw bytes on a pipe.

On the pipe a frame is two little-endian 64-bit lengths, the header, the payload. A decoder tells
where the next bytes go, so that a large matrix is read straight to where it stays, and the same
decoder serves the worker, which blocks, and the grader, which must not.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_PREFIX = struct.Struct("<QQ")
# A header names a cubin and a few operands; anything larger is not one of ours.
_MAX_HEADER = 1 << 20
# No GPU of today holds more; a length beyond it is a stream out of step.
_MAX_PAYLOAD = 1 << 40


class FrameError(Exception):
    """The stream does not hold frames: something else wrote to the pipe."""


@dataclass(frozen=True)
class Frame:
    """One message; `payload` is writable and nobody else keeps it."""

    header: Mapping[str, Any]
    payload: memoryview


def encode(header: Mapping[str, Any], parts: Sequence[memoryview] = ()) -> list[memoryview]:
    """The pieces to write, in order; `parts` are not copied."""
    text = json.dumps(header).encode()
    size = sum(part.nbytes for part in parts)
    return [memoryview(_PREFIX.pack(len(text), size) + text), *parts]


class Decoder:
    """Turns a stream of bytes into frames: read into `room()`, then tell `advance()` how much."""

    def __init__(self) -> None:
        self._header: Mapping[str, Any] | None = None
        self._lengths: tuple[int, int] | None = None
        self._begin(_PREFIX.size)

    def room(self) -> memoryview:
        """Where the next bytes go; never empty."""
        return self._view[self._filled :]

    def advance(self, count: int) -> Frame | None:
        """`count` bytes were read into `room()`. Returns the frame that they complete, if any."""
        self._filled += count
        if self._filled < len(self._view):
            return None
        if self._lengths is None:
            self._take_prefix()
            return None
        if self._header is None:
            return self._take_header(self._lengths[1])
        return self._finish(self._view)

    def _take_prefix(self) -> None:
        header, payload = _PREFIX.unpack(self._view)
        if not 2 <= header <= _MAX_HEADER or payload > _MAX_PAYLOAD:
            raise FrameError(f"lengths {header} and {payload}")
        self._lengths = (header, payload)
        self._begin(header)

    def _take_header(self, payload: int) -> Frame | None:
        try:
            header = json.loads(bytes(self._view))
        except ValueError as error:
            raise FrameError(str(error)) from None
        if not isinstance(header, dict):
            raise FrameError("the header is no object")
        self._header = header
        if payload == 0:
            return self._finish(memoryview(bytearray()))
        self._begin(payload)
        return None

    def _finish(self, payload: memoryview) -> Frame:
        assert self._header is not None
        frame = Frame(self._header, payload)
        self._header = None
        self._lengths = None
        self._begin(_PREFIX.size)
        return frame

    def _begin(self, size: int) -> None:
        self._view = memoryview(bytearray(size))
        self._filled = 0
