"""The frames between the grader and the GPU worker."""

from __future__ import annotations

import pytest

from grader.gpu.frames import Decoder, Frame, FrameError, encode


def feed(stream: bytes, step: int) -> list[Frame]:
    decoder, frames, start = Decoder(), [], 0
    while start < len(stream):
        room = decoder.room()
        piece = stream[start : start + min(step, len(room))]
        room[: len(piece)] = piece
        frame = decoder.advance(len(piece))
        start += len(piece)
        if frame is not None:
            frames.append(frame)
    return frames


def stream_of(header: dict[str, object], *parts: bytes) -> bytes:
    return b"".join(encode(header, [memoryview(part) for part in parts]))


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_frames_survive_any_splitting_of_the_stream(step: int) -> None:
    stream = stream_of({"event": "result", "n": 3}, b"abc", b"", b"defg") + stream_of({"e": ""})
    first, second = feed(stream, step)
    assert first.header == {"event": "result", "n": 3}
    assert bytes(first.payload) == b"abcdefg"
    assert second.header == {"e": ""}
    assert bytes(second.payload) == b""


def test_a_payload_is_writable_and_not_shared_with_the_next_frame() -> None:
    first, second = feed(stream_of({}, b"1234") + stream_of({}, b"5678"), 64)
    first.payload[0] = 0
    assert bytes(second.payload) == b"5678"


@pytest.mark.parametrize(
    "stream",
    [
        b"printf wrote here instead of a frame",
        b"\x00" * 16,
        stream_of({})[:16] + b"[]",
        stream_of({})[:16] + b"{]",
    ],
)
def test_a_stream_without_frames_is_an_error(stream: bytes) -> None:
    with pytest.raises(FrameError):
        feed(stream, 64)
