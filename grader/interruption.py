"""Ctrl-C, SIGTERM and a closed terminal: they end a grading, never the writing of its record.

Outside of `held`, a signal raises KeyboardInterrupt at once. Within, it waits for a place where
that is `allowed`, and raises once: who presses Ctrl-C twice must not lose the record, nor leave
processes behind.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

# The last one is what a closed terminal sends.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Those that a terminal sends to all its processes. Ours are ended by their parent, in order.
_OF_TERMINALS = {signal.SIGINT, signal.SIGHUP}


class _Watch:
    """Signals belong to the process, so there is one."""

    def __init__(self) -> None:
        self.depth = 0  # of `held`
        self.allowed = False
        self.waiting = False  # one came and has not raised

    def hear(self, number: int, frame: FrameType | None) -> None:
        if self.depth and not self.allowed:
            self.waiting = True
            return
        self.allowed = False
        raise KeyboardInterrupt


_watch = _Watch()


def install() -> None:
    """Listen to all three; one that is ignored already (nohup) stays ignored."""
    for number in _SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _watch.hear)


@contextmanager
def held() -> Iterator[None]:
    """Signals wait in here, except where they are `allowed`. One that still waits at the end came
    when everything was done, and is forgotten."""
    if _watch.depth == 0:
        _watch.waiting = False
    _watch.depth += 1
    try:
        yield
    finally:
        _watch.depth -= 1


@contextmanager
def allowed() -> Iterator[None]:
    """The first signal, also one that waited, raises KeyboardInterrupt in here."""
    if _watch.waiting:
        _watch.waiting = False
        raise KeyboardInterrupt
    _watch.allowed = True
    try:
        yield
    finally:
        _watch.allowed = False


@contextmanager
def kept_from_children() -> Iterator[None]:
    """Processes started in here do not hear what a terminal sends, not even while they start."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _OF_TERMINALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
