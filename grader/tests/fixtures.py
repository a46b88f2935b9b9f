"""The fixtures: small submissions in `submissions/`, each with what a device must say of it.

The head of every file is checked strictly, so that a slip in it cannot make a test vacuous.
`submissions/README.md` describes it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from grader.verdict import Verdict

SUBMISSIONS = Path(__file__).with_name("submissions")
# A whole submission: the naive kernel in each of the four files. Not among `load_all()`.
PASTED_NAIVE = SUBMISSIONS / "pasted_naive"

EXERCISES = ("01_naive", "02_tiled", "03_padded", "04_tuned")
DEVICES = ("simulator", "gpu")
ACCEPTED = "accepted"  # stands where a verdict does: nothing is wrong
NOT_GRADED = "not_graded"  # stands where a verdict does: the device cannot decide
MARK = "// EXPECT-LINE"
NOT_EFFICIENT = "// efficient: no"

_FOLDERS = {verdict.value: verdict.value for verdict in Verdict} | {
    ACCEPTED: ACCEPTED,
    "not_graded_feature": NOT_GRADED,
}
_EXPECT = re.compile(
    r"// EXPECT verdict=(?P<verdict>\w+) kind=(?P<kind>\w+|-) line=(?P<line>marked|-)"
    r" devices=(?P<devices>[a-z,]+)"
)


class FixtureError(ValueError):
    """A file in `submissions/` that is not a fixture; says which and why."""


@dataclass(frozen=True)
class Expectation:
    """What `devices` must say. `kind` "" leaves the finding's kind open; `line` 0 its place.

    `verdict` is a Verdict's value, ACCEPTED, or NOT_GRADED (then `kind` is the reason).
    """

    verdict: str
    kind: str
    line: int
    devices: tuple[str, ...]


@dataclass(frozen=True)
class Fixture:
    """One file. The first of `expectations` is the one that its folder names."""

    exercise: str  # "02_tiled"
    verdict: str  # the folder: a Verdict's value, ACCEPTED, or "not_graded_feature"
    name: str  # "k_tail_dropped"
    path: Path
    expectations: tuple[Expectation, ...]
    efficient: bool  # false: right, but not to pass `efficient`

    @property
    def kind(self) -> str:
        return self.expectations[0].kind

    @property
    def line(self) -> int:
        return self.expectations[0].line

    @property
    def devices(self) -> tuple[str, ...]:
        return self.expectations[0].devices

    def on(self, device: str) -> Expectation | None:
        """What this device must say; None where the file promises nothing."""
        return next((e for e in self.expectations if device in e.devices), None)

    def __str__(self) -> str:
        return f"{self.exercise}/{self.verdict}/{self.name}"


@cache
def load_all() -> tuple[Fixture, ...]:
    """Every fixture, sorted by path; raises FixtureError for a file or folder that is none."""
    strays = [entry for entry in SUBMISSIONS.rglob("*") if _is_stray(entry)]
    if strays:
        raise FixtureError(f"{strays[0]} is not at <exercise>/<verdict>/<what>.cu")
    return tuple(read(path) for path in sorted(SUBMISSIONS.rglob("*.cu")) if not _is_pasted(path))


def read(path: Path) -> Fixture:
    """The fixture at SUBMISSIONS/<exercise>/<verdict>/<what>.cu."""
    folder = path.parent.name
    text = path.read_bytes().decode("utf-8")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    expectations, rest = _expectations(path, lines, _marked_line(path, lines))
    if expectations[0].verdict != _FOLDERS[folder]:
        raise FixtureError(f"{path}: line 2 says {expectations[0].verdict}, the folder {folder}")
    return Fixture(
        exercise=path.parent.parent.name,
        verdict=folder,
        name=path.stem,
        path=path,
        expectations=expectations,
        efficient=_efficient(path, rest, folder),
    )


def _expectations(
    path: Path, lines: list[str], marked: int
) -> tuple[tuple[Expectation, ...], list[str]]:
    """The EXPECT lines, from line 2 on, and the lines after them."""
    if not re.fullmatch(r"// \S.*\.", lines[0]):
        raise FixtureError(f"{path}: line 1 is not a sentence that says what the kernel does")
    found: list[Expectation] = []
    rest = lines[1:]
    while rest and rest[0].startswith("// EXPECT "):
        found.append(_expectation(path, rest.pop(0), marked))
    if not found:
        raise FixtureError(f"{path}: line 2 is not an EXPECT line")
    devices = [device for expectation in found for device in expectation.devices]
    if len(set(devices)) != len(devices):
        raise FixtureError(f"{path}: two EXPECT lines for one device")
    if marked and not any(expectation.line for expectation in found):
        raise FixtureError(f"{path}: {MARK} stands there, but no EXPECT line says line=marked")
    return tuple(found), rest


def _expectation(path: Path, line: str, marked: int) -> Expectation:
    match = _EXPECT.fullmatch(line)
    if match is None:
        raise FixtureError(f"{path}: cannot read {line!r}")
    devices = tuple(match["devices"].split(","))
    verdict, kind = match["verdict"], match["kind"].replace("-", "")
    if not set(devices) <= set(DEVICES):
        raise FixtureError(f"{path}: a device is one of {', '.join(DEVICES)}")
    if verdict not in _FOLDERS.values():
        raise FixtureError(f"{path}: {verdict} is no verdict")
    if match["line"] == "marked" and not marked:
        raise FixtureError(f"{path}: line=marked, but no line ends in {MARK}")
    if verdict == ACCEPTED and (kind or match["line"] != "-"):
        raise FixtureError(f"{path}: an accepted kernel has no finding")
    if verdict == NOT_GRADED and kind != "feature":
        raise FixtureError(f"{path}: the kind of {NOT_GRADED} is its reason, `feature`")
    return Expectation(verdict, kind, marked if match["line"] == "marked" else 0, devices)


def _marked_line(path: Path, lines: list[str]) -> int:
    marked = [number for number, line in enumerate(lines, 1) if line.endswith(MARK)]
    if len(marked) > 1 or sum(MARK in line for line in lines) != len(marked):
        raise FixtureError(f"{path}: {MARK} stands once, at the end of a line")
    return marked[0] if marked else 0


def _efficient(path: Path, rest: list[str], folder: str) -> bool:
    if rest and rest[0] == NOT_EFFICIENT:
        if folder != ACCEPTED:
            raise FixtureError(f"{path}: `{NOT_EFFICIENT}` is for accepted kernels")
        return False
    return True


def _is_pasted(path: Path) -> bool:
    return PASTED_NAIVE in path.parents


def _is_stray(path: Path) -> bool:
    if path.is_dir() or _is_pasted(path) or path.parent == SUBMISSIONS:
        return False
    parts = path.relative_to(SUBMISSIONS).parts
    return (
        len(parts) != 3
        or parts[0] not in EXERCISES
        or parts[1] not in _FOLDERS
        or (path.suffix != ".cu")
    )
