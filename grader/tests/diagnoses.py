"""What a student reads first about each fixture, and whether that is as a message should be.

`python -m grader.tests.diagnoses [NAME ...]` grades the fixtures whose names hold one of the words
(default: all) on the simulator and prints a table: what is expected, what is said, where. Exit
status 1 when a message is not as it should be.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from grader import cores
from grader.checks.outcome import Outcome, Status
from grader.exercise import find
from grader.finding import Finding
from grader.messages import Message, describe
from grader.source.tokens import Token, tokens
from grader.starters import generate, solution_regions
from grader.tests.fixture_runs import EXERCISES, on_simulator
from grader.tests.fixtures import ACCEPTED, Expectation, Fixture, load_all

# A message is read at a glance: two or three sentences with some numbers, and no table of them.
LONGEST = 420
MOST_NUMBERS = 24
# Tokens in a row that a hint may share with a solution. An access like `Bs[tx][k]` has seven: it
# names a place. A statement, or a declaration with its padding, has more.
SHARED_TOKENS = 7
# What the last sentence begins with when it is no question.
NEXT_STEPS = (
    "Keep", "Mend", "Move", "Put", "Remove", "Restore", "Save", "Start", "The grader launches:",
    "Use", "Write",
)  # fmt: skip
# Names as linkers see them, and what only a traceback has.
_FOREIGN = re.compile(r"\b_Z\w*\d\w*|\b__(?:tsan|asan|ubsan)\w*|Traceback|File \"|0x[0-9a-f]{6,}")


@dataclass(frozen=True)
class Diagnosis:
    """The first message about one fixture; `message` None where no check failed."""

    fixture: Fixture
    expected: Expectation
    check: str = ""
    finding: Finding | None = None
    message: Message | None = None

    @property
    def line(self) -> int:
        """Where the finding points first; 0 for nowhere."""
        places = self.finding.locations if self.finding else ()
        return places[0].line if places else 0


def diagnose(fixture: Fixture, expected: Expectation) -> Diagnosis:
    failed = [o for o in on_simulator(fixture) if o.status is Status.FAIL]
    return _first(fixture, expected, failed)


def _first(fixture: Fixture, expected: Expectation, failed: Sequence[Outcome]) -> Diagnosis:
    if not failed:
        return Diagnosis(fixture, expected)
    finding = failed[0].findings[0]
    message = describe(finding, find(EXERCISES, fixture.exercise))
    return Diagnosis(fixture, expected, failed[0].check, finding, message)


def expected_wrong() -> list[tuple[Fixture, Expectation]]:
    """The fixtures that the simulator must find fault with."""
    asked = [(fixture, fixture.on("simulator")) for fixture in load_all()]
    return [(fixture, told) for fixture, told in asked if told and is_wrong(told)]


def is_wrong(expected: Expectation) -> bool:
    return expected.verdict not in ("not_graded", ACCEPTED)


def complaints(found: Diagnosis) -> Iterator[str]:
    """What is not as it should be; nothing when the message names cause, place and next step."""
    if found.finding is None or found.message is None:
        yield "nothing is said"
        return
    yield from _of_the_cause(found, found.finding)
    written = found.fixture.path.read_text(encoding="utf-8", errors="replace")
    yield from _of_the_form(found.finding, found.message, written)
    shared = given_away(found.message, found.fixture.exercise)
    if shared:
        yield f"gives the solution away: {shared}"


def _of_the_cause(found: Diagnosis, finding: Finding) -> Iterator[str]:
    expected = found.expected
    if finding.verdict != expected.verdict or expected.kind not in ("", finding.kind):
        yield f"says {finding.verdict} {finding.kind}, not {expected.verdict} {expected.kind}"
    lines = [place.line for place in finding.locations]
    if expected.line and not any(abs(line - expected.line) <= 1 for line in lines):
        yield f"points to lines {lines}, not {expected.line}"
    if any(place.file.rsplit("/", 1)[-1] != found.fixture.path.name for place in finding.locations):
        yield f"points to another file: {finding.locations}"


def _of_the_form(finding: Finding, message: Message, written: str) -> Iterator[str]:
    text = message.text
    last = re.split(r"(?<=[.?!]) (?=[A-Z])", text)[-1]
    if not (text.endswith("?") or last.startswith(NEXT_STEPS)):
        yield f"ends without a next step: {last}"
    if finding.shape is not None and finding.kind != "tile_too_small":
        m, n, k = finding.shape
        if f"(M={m} N={n} K={k})" not in text:
            yield "does not name the shape"
    for part in (text, message.hint):
        if "\n" in part or len(part) > LONGEST or len(re.findall(r"\d+", part)) > MOST_NUMBERS:
            yield f"is too long: {part}"
        # What the student wrote, they know.
        if (foreign := _FOREIGN.search(part)) and foreign[0] not in written:
            yield f"holds what no student knows: {foreign[0]}"


def given_away(message: Message, exercise: str) -> str:
    """The first run of more than SHARED_TOKENS tokens that the message shares with the part of the
    solution that a student has to write; "" when there is none."""
    for text in (message.text, message.hint):
        for run in _runs(tokens(text)):
            if run in _secrets(exercise):
                return " ".join(run)
    return ""


_kept: dict[str, frozenset[tuple[str, ...]]] = {}


def _secrets(exercise: str) -> frozenset[tuple[str, ...]]:
    """The runs of tokens of a solution that its starter does not hold."""
    if exercise not in _kept:
        solution = (find(EXERCISES, exercise).folder / "solution.cu").read_text("utf-8")
        hidden = (run for region in solution_regions(solution) for run in _runs(tokens(region)))
        shown = frozenset(_runs(tokens(generate(solution, exercise))))
        _kept[exercise] = frozenset(hidden) - shown
    return _kept[exercise]


def _runs(row: Sequence[Token]) -> Iterator[tuple[str, ...]]:
    words = [token.text for token in row]
    length = SHARED_TOKENS + 1
    return (tuple(words[at : at + length]) for at in range(len(words) - length + 1))


def main(names: Sequence[str]) -> int:
    chosen = [
        (fixture, expected)
        for fixture, expected in expected_wrong()
        if not names or any(name in str(fixture) for name in names)
    ]
    wrong = 0
    with ProcessPoolExecutor(cores.usable(), get_context("spawn"), initializer=_be_quiet) as pool:
        for found in pool.map(_diagnose, chosen):
            wrong += _show(found)
    print(f"{len(chosen)} fixtures, {wrong} with a message that is not as it should be.")
    return 1 if wrong else 0


def _be_quiet() -> None:
    """pytest, the engine of the checks, prints its dots to standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _diagnose(asked: tuple[Fixture, Expectation]) -> Diagnosis:
    return diagnose(*asked)


def _show(found: Diagnosis) -> bool:
    expected = found.expected
    said = f"{found.finding.verdict} {found.finding.kind}" if found.finding else "nothing"
    print(found.fixture)
    print(f"    expected {expected.verdict} {expected.kind or '-'}, line {expected.line or '-'}")
    print(f"    found    {said}, line {found.line or '-'}")
    print(f"    {found.message.text if found.message else ''}")
    faults = list(complaints(found))
    for fault in faults:
        print(f"    NOT AS IT SHOULD BE: {fault}")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
