"""The last block of shapes of a usual size: every access is followed, and no type is blamed."""

from __future__ import annotations

import pytest

from grader.checks.probing import Blocks, probe_large, usual_blocks, wrong_tiles
from grader.tests.simulated import FINISH, PRELUDE, build, device
from grader.verdict import Verdict

# A right kernel has another way to number its tiles, or moves the last ones inwards.
INDICES = PRELUDE.splitlines(keepends=True)[-1]
BACKWARDS = INDICES.replace("blockIdx.x", "(gridDim.x - 1 - blockIdx.x)")
INWARDS = INDICES.replace("blockIdx.x * 16", "min((int)blockIdx.x * 16, max(N - 16, 0))")


def usual(text: str) -> tuple[Blocks, ...]:
    return usual_blocks(device("g++"), build("g++", text))


@pytest.mark.parametrize("indices", [INDICES, BACKWARDS, INWARDS])
def test_a_right_kernel_is_right_there_in_any_order_of_tiles(indices: str) -> None:
    blocks = usual(PRELUDE.replace(INDICES, indices) + FINISH)
    assert probe_large(blocks) == wrong_tiles(blocks) == ()


@pytest.mark.parametrize(
    ("changed", "kind", "least_rows"),
    [
        (("row < M", "row < min(M, 1024)"), "tile_missed_usual", 1025),
        (("row < M", "row < M && M < 500"), "tile_missed_usual", 500),
        (("< K;", "< K - (K > 1000);"), "wrong_when_large_usual", 1),
    ],
)
def test_a_tile_that_is_missing_or_wrong_is_told_as_a_wrong_answer(
    changed: tuple[str, str], kind: str, least_rows: int
) -> None:
    blocks = usual(PRELUDE + FINISH.replace(*changed))
    assert probe_large(blocks) == ()
    found = wrong_tiles(blocks)
    assert {(one.verdict, one.kind) for one in found} == {(Verdict.WRONG_ANSWER, kind)}
    assert [one.shape for one in found] == [
        s for s in (one.shape for one in blocks) if s.m >= least_rows
    ]


def test_races_and_stray_accesses_are_seen_and_fail_both_checks() -> None:
    shared = (
        "    __shared__ float first[16];\n    if (M > 1024) first[tx] = A[row * K];\n"
        "    __syncthreads();\n"
    )
    blocks = usual(PRELUDE + shared + FINISH)
    found = probe_large(blocks)
    assert {(one.verdict, one.kind) for one in found} == {
        (Verdict.OUT_OF_BOUNDS, "global_access_usual"),
        (Verdict.RACE, "two_writers"),
    }
    assert wrong_tiles(blocks) == found
