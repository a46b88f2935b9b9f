"""Random changes to the real .cu files, read and compiled as a submission is. `make fuzz`.

A finding is an answer, a build is an answer, an exception of any other kind is a fault of ours: the
input is then kept, its seed printed, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from grader import source
from grader.device import Device
from grader.exercise import Exercise, load_all
from grader.finding import Finding, KernelFault
from grader.messages import describe
from grader.settings import PROJECT
from grader.simulator.device import SimulatorDevice
from grader.submission import Submission, fingerprint, read
from grader.tests import simulated

EXERCISES = {one.name: one for one in load_all(PROJECT)}

# What random letters would not find: the ends and beginnings that lexers trip over.
_PIECES = [
    piece.encode()
    for piece in (
        *"{ } ( ) [ ] < > ; : , = # ## \\ \" ' \n \r \t \f \v /* */ // %: <: ??= ?: @ ` $".split(
            " "
        ),
        *"asm volatile main struct template operator namespace enum int float __device__".split(),
        *"__global__ __shared__ <<< >>> :: R\"( )\" u8R\"x( '\\'' 0x1p-3 1'000 .5e+".split(),
        *'[[gnu::used]] __attribute__((used)) _Pragma("unroll") __launch_bounds__(256)'.split(),
        *(
            "\n#if X\n",
            "\n#elif 0\n",
            "\n#else\n",
            "\n#endif\n",
            "\n#if JOIN(a, b)\n",
            "\n#line 7\n",
        ),
        *("\n#define JOIN(a, b) a##b\n", "\n#define f(...) __VA_ARGS__ f\n", "\n#include ", "\n#"),
        *(
            "\\\n",
            "\\ \n",
            "\n#pragma unroll\n",
            "\n#pragma ",
            "é",
            "\u2028",
            "\u202e",
            "\ufeff",
            "😀",
        ),
        *("LAUNCH_CONFIG(.block_x = ", "LAUNCH_CONFIG();", "99999999999999999999", "-1", "0"),
    )
] + [b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x1a", b"\x7f"]
_LONG = 3000  # repeats of one piece
_SMALLEST = 200  # bytes of a text that is worth changing


def originals() -> list[bytes]:
    """Every .cu file of this repository that a student could hand in."""
    places = ("exercises/*_*/solution.cu", "starter/*.cu", "grader/tests/submissions/*/*/*.cu")
    paths = sorted(path for pattern in places for path in PROJECT.glob(pattern))
    return [data for path in paths if len(data := path.read_bytes()) > _SMALLEST]


def mutant(seed: int, texts: Sequence[bytes]) -> bytes:
    """One to six changes to one of `texts`; the same for the same seed and texts."""
    chance = random.Random(seed)
    data = chance.choice(texts)
    for _ in range(chance.randint(1, 6)):
        data = chance.choice(_CHANGES)(data, chance, texts)
    return data


_Change = Callable[[bytes, random.Random, Sequence[bytes]], bytes]


def _insert(data: bytes, chance: random.Random, texts: Sequence[bytes]) -> bytes:
    at = chance.randint(0, len(data))
    cut = chance.choice((0, 0, 1, 5))
    return data[:at] + chance.choice(_PIECES) + data[at + cut :]


def _repeat(data: bytes, chance: random.Random, texts: Sequence[bytes]) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + chance.choice(_PIECES) * chance.randint(2, _LONG) + data[at:]


def _cut(data: bytes, chance: random.Random, texts: Sequence[bytes]) -> bytes:
    at = chance.randint(0, len(data))
    return data[:at] + data[at + chance.randint(1, 80) :]


def _flip(data: bytes, chance: random.Random, texts: Sequence[bytes]) -> bytes:
    if not data:
        return b"\n"
    at = chance.randrange(len(data))
    return data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]


def _move_line(data: bytes, chance: random.Random, texts: Sequence[bytes]) -> bytes:
    lines = data.split(b"\n")
    line = lines.pop(chance.randrange(len(lines)))
    lines.insert(chance.randint(0, len(lines)), line)
    return b"\n".join(lines)


def _graft(data: bytes, chance: random.Random, texts: Sequence[bytes]) -> bytes:
    other = chance.choice(texts)
    begin = chance.randrange(len(other))
    at = chance.randint(0, len(data))
    return data[:at] + other[begin : begin + chance.randint(1, 200)] + data[at:]


_CHANGES: tuple[_Change, ...] = (
    _insert,
    _insert,
    _insert,
    _repeat,
    _cut,
    _flip,
    _move_line,
    _graft,
)


def answer(data: bytes, folder: Path, device: Device | None) -> str:
    """What the grader says of the bytes, in a word; every finding must have a message."""
    exercise = EXERCISES["01_naive"]
    path = folder / "01_naive.cu"
    path.write_bytes(data)
    try:
        submission = read(path, exercise, folder)
        fingerprint(submission.text)
        findings = source.inspect(submission)
        feature = source.uses_unsupported(submission)
        if not findings and not feature and device is not None:
            findings = device.build(exercise, submission).findings
    except KernelFault as fault:
        findings, feature, submission = fault.findings, "", Submission("", path, "", "")
    for finding in findings:
        _check(finding, exercise, submission)
    return findings[0].kind if findings else ("unsupported" if feature else "accepted")


def _check(finding: Finding, exercise: Exercise, submission: Submission) -> None:
    text = describe(finding, exercise).text
    lines = [place.line for place in finding.locations]
    if not text or "Traceback" in text:
        raise AssertionError(f"{finding.kind} has no message")
    if submission.name and any(not 1 <= n <= submission.text.count("\n") + 1 for n in lines):
        raise AssertionError(f"{finding.kind} names line {lines} of a shorter file")


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    texts = originals()
    begin_s = time.monotonic()
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        device = None
        if not options.read_only:
            device = SimulatorDevice(simulated.TARGET, cache=Path(name) / "cache")
        for seed in range(options.seed, options.seed + options.inputs):
            if time.monotonic() - begin_s > options.seconds:
                print(f"Stopped after {options.seconds:g} s, as told.")
                break
            data = mutant(seed, texts)
            try:
                counts[answer(data, Path(name), device)] += 1
            except Exception:
                kept = Path(f"fuzz-{seed}.cu")
                kept.write_bytes(data)
                traceback.print_exc()
                print(f"Input {seed} is no answer but an exception. It is kept in {kept}.")
                return 1
    print(f"{counts.total()} inputs, {time.monotonic() - begin_s:.0f} s, no exception.")
    for kind, count in counts.most_common():
        print(f"{count:6} {kind}")
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m grader.tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=3600.0, help="stop after this long")
    parser.add_argument("--seed", type=int, default=0, help="the first input's number")
    parser.add_argument("--read-only", action="store_true", help="compile nothing")
    return parser


if __name__ == "__main__":
    sys.exit(main())
