"""What a sparse launch tells of its one block: what it stored, and the first words it loaded."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from grader.device import Elements, Loads, Probe
from grader.finding import Finding, Location
from grader.simulator.protocol import Answer, Pieces, Status

# Of a return address and "load" or "store"; reads the debug information, which takes a while.
FindPlace = Callable[[int, str], tuple[Location, ...]]


def read_probe(answer: Answer, findings: tuple[Finding, ...], place: FindPlace) -> Probe:
    """The answer to a sparse launch; without what was stored where the block did not end or stored
    more than the worker keeps."""
    if answer.head.status != Status.FINISHED or len(answer.stored) != answer.head.stored:
        return Probe(findings)

    def where(pc: int | None) -> tuple[Location, ...]:
        if pc is not None:
            return place(pc, "load")
        return place(int(answer.stored["pc"][0]), "store") if len(answer.stored) else ()

    elements, values = _stored(answer.stored)
    return Probe(findings, elements, values, _loads(answer.loaded), where)


def _stored(pieces: Pieces) -> tuple[Elements, npt.NDArray[np.float32]]:
    """The words of all pieces, ascending, each once, with their values; a store of less than a
    word counts for it."""
    offsets, sizes = pieces["offset"].astype(np.int64), pieces["bytes"].astype(np.int64)
    words = offsets[:, None] // 4 + np.arange(pieces["words"].shape[-1])
    inside = words <= (offsets + sizes - 1)[:, None] // 4
    elements, first = np.unique(words[inside], return_index=True)
    return elements, pieces["words"][inside][first]


def _loads(pieces: Pieces) -> Loads:
    offsets = pieces["offset"].astype(np.int64)
    return Loads(pieces["operand"].astype(np.int64), offsets // 4, pieces["pc"])
