"""Workers that end without an answer: whose doing it was, and the answer that stands for it."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from grader.finding import NOT_YOURS, GraderFault
from grader.simulator.protocol import Answer, Kind, RawFinding, Response, Status

# What a kernel can bring upon its process: its instructions raise these, or the filter of system
# calls. It can send itself no signal, so all others come from the system or from somebody else.
_RAISED = frozenset(
    {
        signal.SIGABRT,
        signal.SIGBUS,
        signal.SIGFPE,
        signal.SIGILL,
        signal.SIGSEGV,
        signal.SIGSYS,
        signal.SIGTRAP,
    }
)
_AGAIN = "run it again; if it stays, "
_REPORT = f"{_AGAIN}report it with your file"
# What happened and the next step, by exit status (those of machine/platform.hpp that speak of the
# machine or of the simulator) or, negative, by signal.
_TOLD = {
    3: (
        "could not get the memory that it needs",
        "free memory (free -h) or raise a limit (ulimit -v), then run it again",
    ),
    4: ("failed (exit status 4)", _REPORT),
    5: ("failed (exit status 5)", _REPORT),
    6: ("was sent a signal by another process", f"{_AGAIN}see what ends processes here"),
    -signal.SIGKILL: (
        "was ended by the system (SIGKILL), which does that when memory is full",
        "free memory (free -h), then run it again",
    ),
    -signal.SIGXCPU: (
        "used up the processor time that this machine allows (SIGXCPU)",
        "raise the limit (ulimit -t), then run it again",
    ),
}
_NOWHERE = (0, 0, 0)


@dataclass(eq=False)  # not frozen: Python notes on an exception where it went by
class NoAnswer(Exception):
    """`exit_status` is that of a process that ended by itself, negative for a signal; None of one
    that we ended. `started`: it came as far as the kernel.

    `forged`: something came, but no answer to what was asked. `busy`: it used more processor time
    than it was given.
    """

    why: str
    exit_status: int | None = None
    forged: bool = False
    busy: bool = False
    started: bool = True

    @property
    def by_kernel(self) -> bool:
        """Whether the kernel did this, if it happens again."""
        if self.exit_status is None:
            return self.forged or self.busy
        if not self.started:
            return False
        if self.exit_status < 0:
            return -self.exit_status in _RAISED
        return self.exit_status not in _TOLD

    @property
    def may_pass(self) -> bool:
        """Whether it is worth asking again: who ended may have been ended by chance."""
        return not self.forged and (self.busy or self.exit_status is not None)


def stand_in(ending: NoAnswer) -> Answer:
    """What the worker could not say. Raises GraderFault where the kernel is not to blame."""
    if not ending.by_kernel:
        what, step = _machine_s(ending)
        raise GraderFault(f"The simulator's worker {what}. {NOT_YOURS} Next: {step}.") from ending
    if ending.busy:
        return Answer(_head(Status.TIMED_OUT))
    kind = Kind.FORGED_ANSWER if ending.forged else Kind.PROCESS_LOST
    return Answer(_head(Status.CRASHED), findings=(_finding(kind, _name(ending.exit_status)),))


def _machine_s(ending: NoAnswer) -> tuple[str, str]:
    """What the machine did, and what to do about it."""
    if ending.exit_status is None:
        return f"gave no answer ({ending.why})", _REPORT
    told = _TOLD.get(ending.exit_status)
    if told is None and not ending.started:
        told = (f"did not start ({_name(ending.exit_status)})", _TOLD[3][1])
    name = _name(ending.exit_status)
    return told or (f"was ended from outside ({name})", f"{_AGAIN}see what ends processes here")


def _name(exit_status: int | None) -> str:
    if exit_status is None:
        return ""
    if exit_status >= 0:
        return f"exit status {exit_status}"
    try:
        return signal.Signals(-exit_status).name
    except ValueError:  # one of those without a name
        return f"signal {-exit_status}"


def _head(status: Status) -> Response:
    return Response(
        status=status,
        finding_count=0,
        output_bytes=0,
        output_cut=False,
        counter_count=0,
        barriers=0,
        uncounted=0,
        stored=0,
        loaded=0,
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
        overwriting=False,
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
