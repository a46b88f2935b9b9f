"""Ordinary CUDA raises no alarm, and no text at all breaks the scanner or takes long."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.exercise import PROJECT, load_all
from grader.messages import describe
from grader.source import inspect, uses_unsupported
from grader.submission import Submission, read
from grader.tests import fixtures

NAIVE = load_all(PROJECT)[1]
SUBMISSIONS = PROJECT / "grader" / "tests" / "submissions"
FOLDERS = [SUBMISSIONS / name for name in fixtures.EXERCISES]

KERNEL = """#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M > 0) { C[0] = A[0] * B[0]; }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
"""


def given_text(text: str) -> Submission:
    return Submission("starter/01_naive.cu", Path("starter/01_naive.cu"), text, "")


def kinds(text: str) -> list[str]:
    return [finding.kind for finding in inspect(given_text(text))]


def ordinary() -> dict[str, str]:
    _, *pieces = Path(__file__).with_name("ordinary_cuda.cu").read_text("utf-8").split("\n//// ")
    named = dict(piece.split("\n", 1) for piece in pieces)
    return {"a kernel": KERNEL, "line ends of Windows": KERNEL.replace("\n", "\r\n"), **named}


FINE = ordinary()


@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_ordinary_cuda_raises_no_alarm(text: str) -> None:
    assert kinds(text) == []


# Without these, "no alarm" could only mean that the scanner gave up.
@pytest.mark.parametrize("text", FINE.values(), ids=FINE)
def test_host_code_behind_ordinary_cuda_is_still_found(text: str) -> None:
    assert kinds(text + "\n;int host_part() { return 1; }") == ["host_code"]


WHOLE_FILES = [
    *sorted(path for path in SUBMISSIONS.rglob("*.cu") if path.parent.name != "rejected"),
    *sorted(PROJECT.glob("exercises/*_*/solution.cu")),
    *sorted(PROJECT.glob("starter/*.cu")),
]


@pytest.mark.parametrize("path", WHOLE_FILES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_only_rejected_submissions_raise_an_alarm(path: Path) -> None:
    submission = read(path, NAIVE, path.parent)
    assert inspect(submission) == ()
    known = fixtures.read(path).on("simulator") if path.parent.parent in FOLDERS else None
    if known:
        assert bool(uses_unsupported(submission)) == (known.verdict == fixtures.NOT_GRADED)


# What only the compilers see (how large variables are, what macros put together), or only a run.
UNSEEN = re.compile(
    "kind=(device_variables|hidden_word|reserved_name|forbidden_system_call|forged_answer"
    "|print_format)|put_together|with_a_pasted"
)
REJECTED = [
    one.path
    for one in fixtures.load_all()
    if (told := one.on("simulator"))
    and told.verdict == one.verdict == "rejected"
    and not UNSEEN.search(f"kind={told.kind} {one.name}")
]


@pytest.mark.parametrize("path", sorted(REJECTED), ids=lambda path: path.stem)
def test_each_rejected_submission_is_told_by_its_text(path: Path) -> None:
    assert inspect(read(path, NAIVE, path.parent))


FRAGMENTS: list[str] = [
    *"{ } ( ) [ ] < > ; : , = # ## \\ \" ' \n".split(" "),
    *'asm main struct template operator namespace enum int f __device__ <<< :: R"( /*'.split(),
    "\n#if X\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#define f ",
    "\n#include ",
]


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=60).map(" ".join))
@settings(max_examples=400, deadline=None)
def test_no_arrangement_of_fragments_breaks_the_scanner(text: str) -> None:
    inspected(text)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_no_change_to_a_real_kernel_breaks_the_scanner(data: Any) -> None:
    text = data.draw(st.sampled_from([KERNEL, *FINE.values()]))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 5))
        text = text[:at] + data.draw(st.sampled_from(["", *FRAGMENTS])) + text[at + cut :]
    inspected(text)


def inspected(text: str) -> None:
    submission = given_text(text)
    for finding in inspect(submission):
        assert finding.locations[0].line <= text.count("\n") + 1
        assert describe(finding, NAIVE).text
    uses_unsupported(submission)


@pytest.mark.parametrize(
    "text",
    [
        "{" * 50_000,
        "x{}" * 20_000,
        "#if X\n" * 10_000,
        '"\\' * 50_000,
        "a##" * 30_000,
        "f<" * 50_000,
    ],
    ids=["braces", "values", "conditions", "quotes", "pasting", "angles"],
)
@pytest.mark.timeout(20)  # the square of these lengths would take minutes
def test_hostile_texts_take_time_in_proportion_to_their_length(text: str) -> None:
    assert kinds(f"#define x {text}" if text.startswith("a##") else text) == []
