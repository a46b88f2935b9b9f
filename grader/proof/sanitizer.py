"""compute-sanitizer on the wrong fixtures: `python -m grader.proof.sanitizer`.

On a machine with a GPU, each of its four tools watches each fixture on the pinned shapes, and what
it said first goes to `sanitizer.csv`; elsewhere that file is used. Then the table is printed: what
the tools say beside what the simulator says.
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import astuple, dataclass, fields
from functools import cache
from pathlib import Path

from grader import cores
from grader import exercise as exercises
from grader.checks.devices import open_simulator
from grader.checks.trial import try_shape
from grader.course import load as load_course
from grader.device import Device
from grader.driver import find_driver
from grader.exercise import PROJECT, Exercise
from grader.finding import Finding, GraderFault
from grader.problems.matmul import PINNED
from grader.proof import nsight, tables
from grader.submission import Submission, fingerprint, read
from grader.verdict import Verdict, by_precedence

CSV = Path(__file__).with_name("sanitizer.csv")
FIXTURES = PROJECT / "grader" / "tests" / "submissions"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
VERDICTS = (
    Verdict.OUT_OF_BOUNDS,
    Verdict.MISALIGNED,
    Verdict.INPUT_MODIFIED,
    Verdict.DIVERGENT_BARRIER,
    Verdict.RACE,
    Verdict.UNINITIALISED,
    Verdict.WRONG_ANSWER,
)
# The slowest takes twenty seconds while others run beside it; some never end under initcheck.
LIMIT_S = 60.0

_NOISE = re.compile(
    r"COMPUTE-SANITIZER|SUMMARY|Saved host backtrace|Host Frame|Program hit|Target application"
    r"|Tracking kernel|WARNING|No attachable"
)
_PLACE = re.compile(r"([\w.+-]+\.cu):(\d+)")
_ERRORS = re.compile(r"ERROR SUMMARY: (\d+) error")
_HAZARDS = re.compile(r"RACECHECK SUMMARY: (\d+) hazard")


@dataclass(frozen=True)
class Answer:
    """What one tool said of one fixture: its first message, the source line that names, and how
    many it counted. No message: it found nothing."""

    fixture: str  # "02_tiled/race/no_second_barrier"
    fingerprint: str
    tool: str
    count: int
    line: int
    message: str


@dataclass(frozen=True)
class Wrong:
    """A wrong fixture as the tools are given it."""

    name: str
    verdict: Verdict
    exercise: Exercise
    submission: Submission

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.submission.text)[:16]


@cache
def wrong_fixtures() -> tuple[Wrong, ...]:
    """Those that run into something a tool could see, and the wrong answers, where none should."""
    return tuple(_wrong(path) for verdict in VERDICTS for path in _paths(verdict))


def _paths(verdict: Verdict) -> list[Path]:
    return sorted(FIXTURES.glob(f"*/{verdict.value}/*.cu"))


def _wrong(path: Path) -> Wrong:
    exercise = exercises.load(PROJECT / "exercises" / path.parent.parent.name)
    name = path.relative_to(FIXTURES).with_suffix("").as_posix()
    return Wrong(name, Verdict(path.parent.name), exercise, read(path, exercise, path.parent))


def measure(fixtures: Sequence[Wrong], path: Path = CSV) -> None:
    """Every tool on every fixture, several at a time; raises GraderFault."""
    checker = nsight.tool("compute-sanitizer")
    nsight.compile_all([wrong.submission for wrong in fixtures])
    with ThreadPoolExecutor(max(1, cores.usable() - 2)) as pool:
        asked = [(wrong, name) for wrong in fixtures for name in TOOLS]
        answers = list(pool.map(lambda one: _ask(checker, *one), asked))
    about = {**nsight.machine(), "compute_sanitizer": nsight.version(checker)}
    with path.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"# {key}: {value}\n" for key, value in about.items())
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([field.name for field in fields(Answer)])
        writer.writerows(astuple(answer) for answer in answers)


def _ask(checker: Path, wrong: Wrong, name: str) -> Answer:
    jobs = nsight.job(wrong.exercise, wrong.submission, PINNED, verify=False)
    with tempfile.TemporaryDirectory(prefix="sanitizer-") as folder:
        command = [str(checker), "--tool", name]
        output, _ = nsight.watch(command, jobs, Path(folder), LIMIT_S)
    if kept := os.environ.get("SANITIZER_LOGS"):
        (Path(kept) / f"{wrong.name.replace('/', '.')}.{name}.log").write_text(output)
    return parse(output, wrong, name)


def parse(output: str, wrong: Wrong, name: str) -> Answer:
    """The tool's first message, without addresses and with its line in the fixture."""
    told = [line[9:].strip() for line in output.splitlines() if line.startswith("=========")]
    counted = _HAZARDS.search(output) or _ERRORS.search(output)
    if not counted:
        return Answer(wrong.name, wrong.fingerprint, name, 0, 0, "did not end")
    count = int(counted[1])
    first = next((i for i, line in enumerate(told) if line and not _NOISE.search(line)), None)
    if count == 0 or first is None:
        return Answer(wrong.name, wrong.fingerprint, name, 0, 0, "")
    end = next((i for i in range(first, len(told)) if not told[i]), len(told))
    lines = told[first:end]
    places = (_PLACE.search(line) for line in lines)
    place = next((int(found[2]) for found in places if found), 0)
    return Answer(wrong.name, wrong.fingerprint, name, count, place, _message(lines))


def _message(lines: Sequence[str]) -> str:
    """The headline, and of an address what is wrong with it; of a race both parties."""
    if "Race reported" in lines[0]:
        parties = [m[1] for m in (re.search(r"(Read|Write) access", x) for x in lines) if m]
        return f"Race between {parties[0].lower()} and {parties[-1].lower()}"
    head = re.sub(r"\s*\bat\b.*$|\s*\+0x.*$", "", lines[0]).rstrip(":")
    wrong = next((m[1] for m in (re.search(r"0x\w+ is (.+)$", x) for x in lines) if m), "")
    return re.sub(r"0x[0-9a-f]+", "", f"{head}, {wrong}" if wrong else head).strip()


def load(path: Path = CSV) -> tuple[dict[str, str], list[Answer]]:
    """Where and when, and every answer."""
    text = path.read_text(encoding="utf-8")
    about = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return about, [_answer(row) for row in rows]


def _answer(row: dict[str, str]) -> Answer:
    return Answer(
        row["fixture"],
        row["fingerprint"],
        row["tool"],
        int(row["count"]),
        int(row["line"]),
        row["message"],
    )


def table(answers: Iterable[Answer], device: Device) -> str:
    """Who finds what: a row for each fixture that breaks a rule, one for all wrong answers."""
    by_fixture: dict[str, dict[str, Answer]] = {}
    for answer in answers:
        by_fixture.setdefault(answer.fixture, {})[answer.tool] = answer
    known = [wrong for wrong in wrong_fixtures() if _is_measured(wrong, by_fixture)]
    broken = [wrong for wrong in known if wrong.verdict is not Verdict.WRONG_ANSWER]
    rows = [
        (wrong.name, *(_told(by_fixture[wrong.name][tool]) for tool in TOOLS), _ours(wrong, device))
        for wrong in broken
    ]
    quiet = [wrong for wrong in known if wrong not in broken]
    if quiet:
        told = [sum(bool(by_fixture[one.name][tool].message) for one in quiet) for tool in TOOLS]
        ours = sum(_ours(one, device) == Verdict.WRONG_ANSWER.value for one in quiet)
        name = f"{len(quiet)} wrong answers that break no rule"
        rows.append((name, *(f"finds {count}" for count in told), f"wrong_answer: {ours}"))
    return tables.found(rows, TOOLS)


def _is_measured(wrong: Wrong, answers: Mapping[str, Mapping[str, Answer]]) -> bool:
    """Whether the tools were asked about this fixture with the code it has now."""
    asked = answers.get(wrong.name, {})
    return set(asked) == set(TOOLS) and asked[TOOLS[0]].fingerprint == wrong.fingerprint


def _told(answer: Answer) -> str:
    """A cell of the table: the tool's first message and the line that it names."""
    if not answer.message:
        return "-"
    return f"`{answer.message}`" + (f" (line {answer.line})" if answer.line else "")


def _ours(wrong: Wrong, device: Device) -> str:
    """What the simulator finds on the pinned shapes: each verdict with its first place."""
    build = device.build(wrong.exercise, wrong.submission)
    found = list(build.findings)
    for shape in PINNED if build.artifact else ():
        found += try_shape(device, build, shape, 0, watch=True)
    first: dict[Verdict, Finding] = {}
    for finding in found:
        first.setdefault(finding.verdict, finding)
    if len(first) > 1:
        first.pop(Verdict.WRONG_ANSWER, None)  # what the others bring about
    told = [_verdict(first[verdict]) for verdict in by_precedence(first)]
    return ", ".join(told) or "-"


def _verdict(finding: Finding) -> str:
    lines = dict.fromkeys(str(place.line) for place in finding.locations)
    return finding.verdict.value + (f" (line {' and '.join(lines)})" if lines else "")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m grader.proof.sanitizer", description=__doc__)
    parser.add_argument("--write", action="store_true", help="put the table into README.md")
    options = parser.parse_args(arguments)
    try:
        if not find_driver().problem and nsight.find_tool("compute-sanitizer"):
            measure(wrong_fixtures())
        with closing(open_simulator(load_course(PROJECT).target)) as device:
            part = sanitizer_part(CSV, device)
    except GraderFault as fault:
        print(fault, file=sys.stderr)
        return 2
    print(part)
    if options.write:
        tables.write("sanitizer", part)
    return 0


def sanitizer_part(path: Path, device: Device) -> str:
    """The table under a line that says where the answers are from."""
    about, answers = load(path)
    return f"From {path.name}: {tables.taken(about)}.\n\n{table(answers, device)}"


if __name__ == "__main__":
    sys.exit(main())
