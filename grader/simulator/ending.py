"""Workers that end without an answer: whose doing it was, and the answer that stands for it."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from grader.finding import GraderFault
from grader.simulator.protocol import Answer, Kind, RawFinding, Response, Status

# Of machine/worker.cpp, which then complains of its machine or of its parent.
_OURS = (3, 4, 5)
_NOWHERE = (0, 0, 0)


@dataclass(eq=False)  # not frozen: Python notes on an exception where it went by
class NoAnswer(Exception):
    """`exit_status` is that of a process that ended by itself, None of one that we ended.

    `forged`: something came, but no answer to what was asked. `busy`: it used more processor time
    than it was given.
    """

    why: str
    exit_status: int | None = None
    forged: bool = False
    busy: bool = False

    @property
    def by_kernel(self) -> bool:
        """Whether the kernel did this, if it happens again. Out of memory, systems kill; and who
        is killed from outside says nothing."""
        if self.exit_status is None:
            return self.forged or self.busy
        return self.exit_status not in (*_OURS, -signal.SIGKILL)


def stand_in(ending: NoAnswer) -> Answer:
    """What the worker could not say. Raises GraderFault where the kernel is not to blame."""
    if not ending.by_kernel:
        raise GraderFault(
            f"The simulator's worker ended without an answer ({ending.why}; "
            f"exit status {ending.exit_status}). This is not about your kernel. "
            "Next: run it again; if it stays, report it with your file."
        ) from ending
    if ending.busy:
        return Answer(_head(Status.TIMED_OUT))
    kind = Kind.FORGED_ANSWER if ending.forged else Kind.PROCESS_LOST
    return Answer(_head(Status.CRASHED), findings=(_finding(kind, _name(ending.exit_status)),))


def _name(exit_status: int | None) -> str:
    if exit_status is None:
        return ""
    try:
        return signal.Signals(-exit_status).name
    except ValueError:
        return f"exit status {exit_status}"


def _head(status: Status) -> Response:
    return Response(
        status=status,
        finding_count=0,
        output_bytes=0,
        output_cut=False,
        counter_count=0,
        barriers=0,
        confined=True,
        image_words=(),
        pc=0,
        last_pc=0,
        thread=_NOWHERE,
        block=_NOWHERE,
    )


def _finding(kind: Kind, text: str) -> RawFinding:
    return RawFinding(
        kind=kind,
        write=False,
        other_writes=False,
        asynchronous=False,
        same_warp=False,
        pc=0,
        pc_other=0,
        offset=0,
        where=0,
        bytes=0,
        line=0,
        count=1,
        thread=_NOWHERE,
        block=_NOWHERE,
        other=_NOWHERE,
        other_block=_NOWHERE,
        text=text,
    )
