"""The verdicts: every cause a check can give, in order of precedence."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """What is wrong with a kernel. When several apply, the first of this list is the verdict.

    The order goes from causes to consequences: a kernel with a race also gives a wrong answer, and
    the student must hear of the race. Folders of fixtures carry these names.
    """

    REJECTED = "rejected"
    COMPILE_ERROR = "compile_error"
    MISSING_KERNEL = "missing_kernel"
    WRONG_SIGNATURE = "wrong_signature"
    BAD_LAUNCH = "bad_launch"
    INDEX_OVERFLOW = "index_overflow"
    OUT_OF_BOUNDS = "out_of_bounds"
    MISALIGNED = "misaligned"
    INPUT_MODIFIED = "input_modified"
    DIVERGENT_BARRIER = "divergent_barrier"
    RACE = "race"
    UNINITIALISED = "uninitialised"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OUTPUT_LIMIT = "output_limit"
    WRONG_ANSWER = "wrong_answer"
    REDUCED_PRECISION = "reduced_precision"
    NOT_DETERMINISTIC = "not_deterministic"
    UNCOALESCED = "uncoalesced"
    TOO_MUCH_TRAFFIC = "too_much_traffic"
    BANK_CONFLICTS = "bank_conflicts"
    REPLAY = "replay"
    TOO_SLOW = "too_slow"


PRECEDENCE = {verdict: rank for rank, verdict in enumerate(Verdict)}


def by_precedence(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The distinct verdicts, the one to tell the student first."""
    return sorted(set(verdicts), key=PRECEDENCE.__getitem__)
