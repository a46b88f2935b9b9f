"""The starters, generated from the reference solutions: `make starter`.

A solution is split by two markers, each a line of its own:

    // BEGIN SOLUTION
    //STARTER // TODO 1: what the student is to write here
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    // END SOLUTION

The starter holds everything outside the markers as it is. Of what lies between them it holds only
the lines that begin with `//STARTER `, without that word and at the same indentation; a bare
`//STARTER` is an empty line. Above the first marker, too, a `//STARTER` line is for the starter
alone. Every starter ever shipped stays known by its fingerprint in
exercises/NN_name/starter_fingerprints.txt, so that an untouched old one is still "not started".

A student's copy has no solutions: there the same command writes missing files from the history.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.exercise import PROJECT, Exercise, load_all
from grader.finding import GraderFault
from grader.handout import lost_starters
from grader.submission import FINGERPRINTS, fingerprint, is_shipped, shipped

BEGIN = "// BEGIN SOLUTION"
END = "// END SOLUTION"
# A marker that is almost right would hand the solution out, so anything like one is looked at.
_LIKE_A_MARKER = re.compile(r"(begin|end)[\s_-]*solution", re.IGNORECASE)
_STARTER_LINE = re.compile(r"(?P<indent>\s*)//STARTER(?: (?P<code>.*))?")
_LIKE_A_STARTER_LINE = re.compile(r"//\s*STARTER", re.IGNORECASE)


@dataclass(frozen=True)
class Starter:
    """One generated starter and where it belongs; paths are absolute."""

    exercise: Exercise
    path: Path
    text: str

    @property
    def ledger(self) -> Path:
        """The file with the fingerprints of all versions of this starter."""
        return self.exercise.folder / FINGERPRINTS

    def is_new(self) -> bool:
        """True when the ledger lacks this version."""
        return fingerprint(self.text) not in shipped(self.exercise)

    def in_step(self) -> bool:
        return self.path.exists() and self.path.read_bytes() == self.text.encode()

    def holds_work(self) -> bool:
        """True when the file on disk is no starter that was ever shipped: somebody's work."""
        if lost_starters.is_blank(self.path):
            return False
        return not is_shipped(self.path.read_bytes(), self.exercise)


def generate(solution_text: str, name: str) -> str:
    """The starter made from a solution; `name` is how errors call the file.

    Raises GraderFault, with file and line, for markers that do not pair up or are misspelt.
    """
    kept: list[str] = []
    begun = 0  # the line of the open BEGIN, 0 outside
    blocks = 0
    for number, line in enumerate(solution_text.splitlines(), start=1):
        marker = _marker(line, f"{name}:{number}")
        starter_line = _starter_line(line, f"{name}:{number}")
        if marker == BEGIN:
            if begun:
                raise GraderFault(
                    f'{name}:{number}: "{BEGIN}" inside the block begun in line {begun}.'
                )
            begun, blocks = number, blocks + 1
        elif marker == END:
            if not begun:
                raise GraderFault(f'{name}:{number}: "{END}" without a "{BEGIN}" before it.')
            begun = 0
        elif starter_line is not None:
            if blocks and not begun:
                raise GraderFault(f"{name}:{number}: a //STARTER line outside the markers.")
            kept.append(starter_line)
        elif not begun:
            kept.append(line)
    if begun:
        raise GraderFault(f'{name}:{begun}: "{BEGIN}" without an "{END}" after it.')
    if not blocks:
        raise GraderFault(
            f'{name}:1: no "{BEGIN}" in this file: the starter would be the solution.'
        )
    return "\n".join(kept) + "\n"


def solution_regions(solution_text: str) -> list[str]:
    """What lies between the markers of a solution, without the lines for the starter."""
    regions: list[list[str]] = []
    inside = False
    for line in solution_text.splitlines():
        marker = _marker(line, "solution.cu")
        if marker:
            inside = marker == BEGIN
            if inside:
                regions.append([])
        elif inside and not _STARTER_LINE.fullmatch(line):
            regions[-1].append(line)
    return ["\n".join(region) for region in regions]


def plain_solution(solution_text: str) -> str:
    """A solution as it is read after the deadline: no markers, no lines for the starter."""
    lines = solution_text.splitlines()
    kept = (x for x in lines if not _marker(x, "solution.cu") and not _STARTER_LINE.fullmatch(x))
    return "\n".join(kept) + "\n"


def _marker(line: str, place: str) -> str:
    """BEGIN, END or nothing; a line that only looks like one is an error."""
    text = line.strip()
    if text in (BEGIN, END):
        return text
    if _LIKE_A_MARKER.search(line):
        raise GraderFault(
            f'{place}: "{text}" is not a marker. Write "{BEGIN}" or "{END}" on a line of its own.'
        )
    return ""


def _starter_line(line: str, place: str) -> str | None:
    """What a //STARTER line adds to the starter; None for any other line."""
    found = _STARTER_LINE.fullmatch(line)
    if found:
        code = found["code"]
        return (found["indent"] + code).rstrip() if code else ""
    if _LIKE_A_STARTER_LINE.search(line):
        raise GraderFault(f'{place}: write "//STARTER ", then the line of the starter.')
    return None


def generate_all(root: Path) -> tuple[Starter, ...]:
    """The starters of every exercise under `root`; nothing is written."""
    return tuple(_of(exercise, root) for exercise in load_all(root))


def _of(exercise: Exercise, root: Path) -> Starter:
    solution = exercise.folder / "solution.cu"
    name = solution.relative_to(root).as_posix()
    try:
        text = solution.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise GraderFault(
            f"{name}: cannot be read ({error}). Starters are made from solutions, which only the "
            "teachers' repository has."
        ) from error
    return Starter(exercise, root / "starter" / f"{exercise.name}.cu", generate(text, name))


def write(starters: Sequence[Starter]) -> list[str]:
    """Write what is out of step and add new fingerprints; returns one line for each change.

    A file that holds a student's work is left alone, and a line says so.
    """
    changes: list[str] = []
    kept = [s for s in starters if not s.in_step() and s.holds_work()]
    for starter in starters:
        if not starter.in_step() and starter not in kept:
            starter.path.parent.mkdir(exist_ok=True)
            starter.path.write_text(starter.text, "utf-8", newline="\n")
            changes.append(f"starter/{starter.path.name}: written")
        if starter.is_new():
            with starter.ledger.open("a", encoding="utf-8", newline="\n") as ledger:
                ledger.write(fingerprint(starter.text) + "\n")
            changes.append(f"exercises/{starter.exercise.name}/{starter.ledger.name}: one more")
    if kept:
        names = ", ".join(f"starter/{starter.path.name}" for starter in kept)
        changes.append(
            f"Left alone, because work is in it: {names}. "
            "To have a file anew, delete it, then: make starter"
        )
    return changes


def out_of_step(starters: Sequence[Starter]) -> list[str]:
    """What `make starter` would change, one line for each file."""
    wrong: list[str] = []
    for starter in starters:
        if not starter.in_step():
            wrong.append(f"starter/{starter.path.name} is not what its solution generates")
        if starter.is_new():
            wrong.append(
                f"exercises/{starter.exercise.name}/{starter.ledger.name} lacks the starter"
            )
    expected = {starter.path for starter in starters}
    for folder in {path.parent for path in expected}:
        strangers = sorted(set(folder.glob("*.cu")) - expected)
        wrong += [f"starter/{path.name} belongs to no exercise" for path in strangers]
    return wrong


def run(options: argparse.Namespace, root: Path = PROJECT) -> int:
    """Write the starters that hold no work, or with --check name those out of step (status 1).

    Raises GraderFault for markers that are wrong and for what cannot be had.
    """
    handed_out = not any((one.folder / "solution.cu").exists() for one in load_all(root))
    if handed_out and not options.check:
        lines = lost_starters.write(root)
        print("\n".join(lines) or "No file of starter/ is missing.")
        return 0
    starters = generate_all(root)
    lines = out_of_step(starters) if options.check else write(starters)
    for line in lines:
        print(line)
    if options.check and lines:
        print("Next: make starter")
        return 1
    if not lines:
        print("All starters are in step with their solutions.")
    return 0
