"""An exercise: the folder exercises/NN_name with its exercise.toml."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from grader import settings
from grader.finding import GraderFault
from grader.messages import TEXTS
from grader.problems.matmul import Layout
from grader.verdict import Verdict

PROJECT = settings.PROJECT  # the repository's root

# A check -> the check it needs, in the order they run. A failed `safe` skips nothing.
NEEDS: Mapping[str, str] = MappingProxyType(
    {
        "compiles": "",
        "safe": "compiles",
        "whole_tiles": "compiles",
        "any_shape": "whole_tiles",
        "efficient": "whole_tiles",
        "fast": "whole_tiles",
    }
)
CHECKS = tuple(NEEDS)

# What [limits] may hold, with the least and the greatest value that make sense.
LIMITS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "min_tile_m": (1, 65536),  # rows of C that one block must at least compute
        "min_tile_n": (1, 65536),  # columns of C, likewise
        "max_sector_ratio": (1, 32),  # sectors touched / sectors that the same words need
        "max_word_ratio": (1, 65536),  # words loaded / M*K*ceil(N/tile_n) + K*N*ceil(M/tile_m)
        "max_output_ratio": (1, 65536),  # words of C stored, or loaded / M*N
        "max_tile_stores": (1, 65536),  # words stored in shared tiles / max_word_ratio's
        "max_conflict_share": (0, 1),  # bank conflicts / wavefronts of shared memory
        "max_shared_wavefronts": (0.01, 65536),  # wavefronts of shared memory / (M*N*K / 32)
    }
)

_KEYS = ("title", "kernel", "b_layout", "graded", "points", "limits", "speed", "hints")
_EARNING = CHECKS[1:]  # that it compiles is worth nothing by itself
_FOLDER = re.compile(r"[0-9]{2}_[a-z][a-z0-9_]*")
_KERNEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class ExerciseError(GraderFault):
    """An exercise folder or file is wrong; the text names file, key and what is allowed."""


@dataclass(frozen=True)
class Exercise:
    """What exercise.toml says. `points` has a key for every name of CHECKS (compiles: 0)."""

    name: str  # "02_tiled"
    title: str
    kernel: str  # "matmul_tiled"
    b_layout: Layout
    graded: bool  # false for the warm-up
    points: Mapping[str, int]
    limits: Mapping[str, float]
    hints: Mapping[str, str]  # verdict or finding kind -> hint
    folder: Path
    speed_sizes: tuple[int, ...] = ()  # M = N = K that may be timed, rising; () for no timing

    @property
    def total(self) -> int:
        return sum(self.points.values())

    @property
    def short(self) -> str:
        """`tiled` for `02_tiled`: what a student types after EX=."""
        return self.name.split("_", 1)[1]


def load(folder: Path) -> Exercise:
    """Read exercises/NN_name/exercise.toml; raises ExerciseError with file and key."""
    if not _FOLDER.fullmatch(folder.name):
        raise ExerciseError(
            f'{settings.shown(folder)}: "{folder.name}" is not a name of an exercise. '
            "Name the folder with two digits, an underscore and lower-case letters: 05_name."
        )
    top = settings.read(folder / "exercise.toml", ExerciseError)
    top.only(_KEYS)
    graded = top.flag("graded")
    points = _points(top.table("points"), graded)
    return Exercise(
        name=folder.name,
        title=top.text("title"),
        kernel=_kernel(top),
        b_layout=Layout(top.choice("b_layout", [layout.value for layout in Layout])),
        graded=graded,
        points=points,
        limits=_limits(top.table("limits")),
        hints=_hints(top.table("hints")),
        folder=folder,
        speed_sizes=_speed_sizes(top, points["fast"]),
    )


def load_all(root: Path) -> tuple[Exercise, ...]:
    """The exercises of the project at `root`, in the order of their numbers.

    A folder of exercises/ that starts with a digit or holds an exercise.toml is an exercise.
    Raises ExerciseError, also for two exercises of one number, name or kernel.
    """
    parent = root / "exercises"
    try:
        folders = sorted(entry for entry in parent.iterdir() if entry.is_dir())
    except OSError as fault:
        raise ExerciseError(
            f"{settings.shown(parent)}: cannot be read: {fault.strerror}. "
            "It holds one folder for each exercise; restore it from the course's repository."
        ) from fault
    found = tuple(
        load(folder)
        for folder in folders
        if folder.name[0].isdigit() or (folder / "exercise.toml").exists()
    )
    if not found:
        raise ExerciseError(f"{settings.shown(parent)}: no folder in it is named like 01_name.")
    for what in ("number", "name", "kernel"):
        _distinct(found, what)
    return found


def find(exercises: Iterable[Exercise], word: str) -> Exercise:
    """The exercise that `word` names: `02_tiled`, `02`, `2` or `tiled`."""
    known = tuple(exercises)
    for exercise in known:
        number = exercise.name[:2]
        if word in (exercise.name, exercise.short, number, number.removeprefix("0")):
            return exercise
    words = [spelling for entry in known for spelling in (entry.short, entry.name)]
    raise ExerciseError(
        f'There is no exercise "{word}". {settings.did_you_mean(Path(word).name, words)}'
        f"Exercises: {', '.join(exercise.name for exercise in known)}."
    )


def _kernel(top: settings.Table) -> str:
    name = top.text("kernel")
    if not _KERNEL.fullmatch(name):
        raise top.fault("kernel", f'is "{name}"; it must be a C++ name such as "matmul_tiled".')
    return name


def _points(table: settings.Table, graded: bool) -> Mapping[str, int]:
    table.only(_EARNING)
    required = graded or bool(table.entries)
    earned = {check: table.count(check) if required else 0 for check in _EARNING}
    if not graded and any(earned.values()):
        raise table.error(
            f"{settings.shown(table.path)}: [points] gives points to an exercise with "
            "graded = false. Set them to 0 or remove [points]."
        )
    return MappingProxyType({"compiles": 0, **earned})


def _limits(table: settings.Table) -> Mapping[str, float]:
    table.only(tuple(LIMITS))
    return MappingProxyType({key: table.number(key, *LIMITS[key]) for key in table.entries})


def _speed_sizes(top: settings.Table, points: int) -> tuple[int, ...]:
    table = top.table("speed")
    table.only(("sizes",))
    if points and not table.entries:
        raise table.fault("sizes", f"is missing, but fast gives {points} points; name the sizes.")
    return table.counts("sizes") if table.entries else ()


def _hints(table: settings.Table) -> Mapping[str, str]:
    known = {*Verdict, *TEXTS}
    for key in table.entries:
        if key not in known:  # a hundred: too many to list
            raise table.error(
                f'{settings.shown(table.path)}: unknown key "{table.prefix}{key}". '
                f"{settings.did_you_mean(key, known)}Known are the verdicts of grader/verdict.py, "
                "such as wrong_answer, and the kinds of finding, the keys in grader/messages/."
            )
    return MappingProxyType({key: table.text(key) for key in table.entries})


def _distinct(exercises: tuple[Exercise, ...], what: str) -> None:
    seen: dict[str, Exercise] = {}
    for exercise in exercises:
        key = {"number": exercise.name[:2], "name": exercise.short, "kernel": exercise.kernel}[what]
        if key in seen:
            raise ExerciseError(
                f'{settings.shown(exercise.folder / "exercise.toml")}: {what} "{key}" is also that '
                f"of {seen[key].name}. Each exercise needs its own."
            )
        seen[key] = exercise
