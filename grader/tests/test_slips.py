"""Slips in a submission's frame, told in the words of this course."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from grader.exercise import PROJECT
from grader.finding import Finding
from grader.messages import say
from grader.source import ALLOWED_HEADERS, slips
from grader.submission import Submission
from grader.verdict import Verdict

CONFIG = "LAUNCH_CONFIG(.block_x = 8, .block_y = 8, .tile_m = 8, .tile_n = 8);"
KERNEL = "__global__ void matmul_naive(const float *A) {\n    if (A) {\n    }\n}\n"
WHOLE = f'#include "launch.cuh"\n{KERNEL}\n{CONFIG}\n'


def submission(text: str) -> Submission:
    return Submission("01_naive.cu", Path("01_naive.cu"), text, "")


@pytest.mark.parametrize(
    ("before", "after", "line", "kind", "part"),
    [
        ('#include "launch.cuh"', "", 7, "config_without_header", {}),
        ("LAUNCH_CONFIG", "LAUNCH_CONFG", 7, "config_misspelt", {"name": "LAUNCH_CONFG"}),
        ("LAUNCH_CONFIG", "launch_config", 7, "config_misspelt", {"name": "launch_config"}),
        ("8);", "8)", 7, "config_unended", {}),
        (".block_x", ".blockx", 7, "config_field", {"name": "blockx", "nearest": "block_x"}),
        ("8, .tile_m", "8 .tile_m", 7, "config_comma", {"name": "tile_m"}),
        (
            f"{KERNEL}\n{CONFIG}",
            f"#define T 8;\n{KERNEL}{CONFIG.replace('8', 'T')}",
            2,
            "define_punctuated",
            {"name": "T", "value": "8;"},
        ),
        (
            f"{KERNEL}\n{CONFIG}",
            f"#define T = (2 * 4)\n{KERNEL}{CONFIG.replace('8', 'T')}",
            2,
            "define_punctuated",
            {"name": "T", "value": "= (2 * 4)"},
        ),
        (".block_y", ".tile_k", 7, "config_order", {"first": "tile_m", "second": "tile_k"}),
        ("if (A)", "\n#define TWO 2\n#pragma unroll TWO\n", 5, "unroll_macro", {"name": "TWO"}),
        ("    }\n}\n", "    }\n", 2, "brace_open", {"opened": 2, "config": 6}),
        ("if (A)", "std::swap(A, A);", 3, "host_swap", {}),
        ("if (A)", "__shared__ int n = 0;", 3, "shared_first_value", {"name": "n"}),
        ("if (A)", "__shared__ int n[2], m[2]{};", 3, "shared_first_value", {"name": "m"}),
    ],
)
def test_a_slip_is_found_with_its_line(
    before: str, after: str, line: int, kind: str, part: dict[str, Any]
) -> None:
    found = slips.first(submission(WHOLE.replace(before, after)))
    assert found is not None
    assert found[:2] == (line, kind)
    assert part.items() <= found[2].items()


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        WHOLE.replace(CONFIG, "LAUNCH_CONFIG(.block_x = (2, 8), .block_y = f(1, 2), .tile_m = 8);"),
        "#define LAUNCH_CONFIG(x)\nLAUNCH_CONFIG(.y = 1)",
        WHOLE.replace("8);", "8;\n}\n") + "{",
        KERNEL,
        f"#define SYNC __syncthreads();\n{KERNEL} SYNC int n = 1;",
        f"#define NEXT 8;\n#define P(i) 8;\n{KERNEL} int n = NEXT; int m = P(1) + 2;",
        WHOLE.replace("if (A) {", "#if X\n if (A) {\n#else\n {\n#endif\n"),
        WHOLE.replace("if (A)", "__shared__ struct { int a = 1; } s[N == 2]; if (A)"),
        WHOLE.replace("if (A)", "extern __shared__ int n[]; int m = n[0], swap = m; if (A)"),
        "",
    ],
)
def test_other_texts_are_left_to_the_compiler(text: str) -> None:
    assert slips.first(submission(text)) is None


@pytest.mark.parametrize("path", sorted(PROJECT.glob("starter/*.cu")))
def test_a_starter_has_no_slip(path: Path) -> None:
    assert slips.first(submission(path.read_text(encoding="utf-8"))) is None


def test_only_a_file_that_does_not_compile_is_looked_at() -> None:
    file = submission(WHOLE.replace("8);", "8)"))
    failed = Finding(Verdict.COMPILE_ERROR, "compile_error", {"compiler": "g++", "message": "x"})
    assert slips.reworded((failed,), file)[0].kind == "config_unended"
    other = dataclasses.replace(failed, verdict=Verdict.WRONG_SIGNATURE, kind="wrong_signature")
    assert slips.reworded((other,), file) == (other,)
    assert slips.reworded((), file) == ()


def test_what_only_nvcc_refuses_is_told_in_the_same_words_without_it() -> None:
    file = submission(
        WHOLE.replace("__global__", "int two = 2;\n__global__").replace("if (A)", "if (A[two])")
    )
    (alone,) = slips.only_for_nvcc(file)
    failed = Finding(Verdict.COMPILE_ERROR, "compile_error", {"compiler": "nvcc", "message": "x"})
    (worded,) = slips.reworded((failed,), file)
    assert (alone.kind, alone.locations) == (worded.kind, worded.locations)
    assert say(alone) == say(worded)
    assert "two" in say(alone)


def test_the_fields_are_those_of_the_contract() -> None:
    text = (PROJECT / "grader" / "include" / "launch.cuh").read_text(encoding="utf-8")
    places = [text.index(f"int {field}") for field in slips.FIELDS]
    assert places == sorted(places)
    assert text.partition("};")[0].count("    int ") == len(slips.FIELDS)


def test_a_kernel_without_its_mark_is_told_that_it_is_the_kernel() -> None:
    facts = {"name": "matmul_naive", "form": "kernel"}
    text = say(Finding(Verdict.REJECTED, "host_code", facts))
    assert "__global__" in text
    assert "__device__" not in text


def test_streams_are_answered_with_printf() -> None:
    facts = {"header": "iostream", "allowed": ["cstdio"], "form": "header", "nearest": ""}
    assert "cstdio" in say(Finding(Verdict.REJECTED, "forbidden_include", facts))


def test_the_readme_lists_every_header_that_may_be_included() -> None:
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    assert all(f"`{header}`" in readme for header in ALLOWED_HEADERS)
