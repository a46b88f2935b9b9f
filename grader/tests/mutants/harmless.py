"""Mutants that are right for every shape and waste nothing that a limit of the course forbids.

Each kind is written down here with its reason; that such a mutant gives the original's bits, and
loads no word more from A and B, is measured all the same, on as many shapes as for an equivalent
one. A mutant that is not written down here is missed.
"""

from __future__ import annotations

from grader.tests.mutants.mutant import Mutant

_EMPTY_STEP = (
    "where K is a multiple of the tile, one step of zeros more: no word of A or B is loaded"
)
_IDLE_STORE = "after the last step a tile is stored once more, which nobody reads any longer"
_NO_VECTORS = "every matrix goes the way of those that float4 does not fit: `fast` judges that"

# Operator, before, after -> why it is no fault.
KINDS = {
    ("comparison", "0; k0 < K; k0", "0; k0 <= K; k0"): _EMPTY_STEP,
    ("comparison", "K - k0 <= TILE_K;", "K - k0 < TILE_K;"): _EMPTY_STEP,
    ("constant", "- k0 <= TILE_K;", "- k0 <= (TILE_K - 1);"): _EMPTY_STEP,
    ("comparison", "if (left > 0) {", "if (left >= 0) {"): _IDLE_STORE,
    ("guard", "if (left > 0) {", "{"): _IDLE_STORE,
    ("guard", "if (K % 4 == 0 && N % 4 == [...] , B, C, M, N, K); } else {", "{"): _NO_VECTORS,
}


def harmless(mutant: Mutant) -> str:
    """Why this mutant is no fault; "" for all that are not written down."""
    return KINDS.get((mutant.operator, mutant.before, mutant.after), "")
