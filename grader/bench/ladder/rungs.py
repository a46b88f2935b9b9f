"""The rungs of the ladder: which kernel each one is, and what it changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.exercise import PROJECT, Exercise, find
from grader.finding import GraderFault
from grader.kernel_table import edited
from grader.submission import Submission

_HERE = Path(__file__).resolve().parent
_EXERCISES = PROJECT / "exercises"
_TUNED = _EXERCISES / "04_tuned" / "solution.cu"
_INNER_LOOP = "\n        for (int k = 0; k < TILE_K; k += 2) {"

# What makes the tuned kernel's multiply-adds wait less for registers, undone.
_ANY_BANK = (
    ("sum[i][j] + 0.0f, sum[i][j + 1] + 0.0f", "sum[i][j], sum[i][j + 1]"),
    ("sum[i][j + 2] + 0.0f, sum[i][j + 3] + 0.0f", "sum[i][j + 2], sum[i][j + 3]"),
    ("i % 2 == 0 ? step : COLS - 1 - step", "step"),
)
_UNROLLED = (("#pragma unroll 1" + _INNER_LOOP, "#pragma unroll" + _INNER_LOOP),)


@dataclass(frozen=True)
class Rung:
    """One kernel; `edits` are those of a table of kernels."""

    name: str
    change: str  # against the rung before
    exercise: str
    path: Path
    edits: tuple[tuple[str, str], ...] = ()


def _tuned(name: str, change: str, path: Path, *edits: tuple[str, str]) -> Rung:
    return Rung(name, change, "04_tuned", path, edits)


RUNGS = (
    Rung(
        "naive",
        "a thread computes one element, a warp a row of 32",
        "01_naive",
        _EXERCISES / "01_naive" / "solution.cu",
    ),
    Rung(
        "tiled",
        "tiles of 32 x 32 in shared memory",
        "02_tiled",
        _EXERCISES / "02_tiled" / "solution.cu",
    ),
    Rung(
        "padded",
        "the same for A * B^T, one spare word in a row",
        "03_padded",
        _EXERCISES / "03_padded" / "solution.cu",
    ),
    _tuned(
        "register tile",
        "128 x 128 x 8, 8 x 8 elements a thread, in registers",
        _HERE / "register_tile.cu",
    ),
    _tuned(
        "no conflicts",
        "As padded by 4, a thread's rows and columns split",
        _HERE / "no_conflicts.cu",
    ),
    _tuned("vectorised", "float4 in global and shared memory", _HERE / "vectorised.cu"),
    _tuned(
        "double-buffered",
        "loads run while the step before is multiplied",
        _HERE / "double_buffered.cu",
    ),
    _tuned(
        "warp tiles",
        "depth 16, 64 x 64 a warp, 8 x 16 a thread, fragments read ahead",
        _TUNED,
        *_ANY_BANK,
        *_UNROLLED,
    ),
    _tuned("tuned", "a short loop, and sums in the other register bank", _TUNED),
)


def submission(rung: Rung, exercises: Sequence[Exercise]) -> tuple[Exercise, Submission]:
    """The kernel as a file of its exercise. Raises GraderFault where an edit does not fit."""
    exercise = find(exercises, rung.exercise)
    try:
        return exercise, edited(rung.path, exercise, rung.edits)
    except ValueError as misfit:
        raise GraderFault(
            f'{rung.path}: the rung "{rung.name}" {misfit}. Next: mend grader/bench/ladder/rungs.py'
        ) from None
