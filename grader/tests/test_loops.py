"""Loops that nvcc does not unroll: found however they are written, and loads of two of their
iterations are never merged."""

from __future__ import annotations

import re

import pytest

from grader.counters import LineCounter
from grader.finding import Finding
from grader.proof import comparison, kernels
from grader.source import loops
from grader.tests.simulated import PRELUDE, SHAPE, both_compilers, build, device, launch, right
from grader.tests.test_simulator_counters import count
from grader.verdict import Verdict

CALL = "next()"
# Eight warps load 64 neighbouring words a lane: 16 loads where all are merged.
FILLED = (
    "    __shared__ __attribute__((aligned(16))) float s[64];\n"
    "    if (ty == 0) for (int i = tx; i < 64; i += 16) s[i] = i;\n"
    "    __syncthreads();\n"
    "    float sum = 0;\n"
    "    int k = 0;\n"
)
SUMMED = "    C[row * N + col] = sum;\n}\n"
SIZE = SHAPE.__class__(16, 16, 16)


def loads(family: str, loop: str, before: str = "") -> LineCounter:
    (line,) = count(family, before + PRELUDE + FILLED + loop + SUMMED, SIZE).select(
        "shared", "load"
    )
    return line


@pytest.mark.parametrize(
    "text, marked",
    [
        ("for (int k = 0; k < 9; ++k) f();", f"for (int k = 0; k < 9; ++k, {CALL}) f();"),
        ("for (;;) f();", f"for (;;{CALL}) f();"),
        ("for (f([] { g(); }); a[1]; ) {}", f"for (f([] {{ g(); }}); a[1]; {CALL}) {{}}"),
        ("while (int k = f()) g();", f"for (;int k = f(); {CALL}) g();"),
        ("do { f(); } while (a < 1, b);", f"do {{ f(); }} while ({CALL}, a < 1, b);"),
        ("for (int k : row) f();",) * 2,
        ("do f(); while (g());",) * 2,
        ("if (a) f();",) * 2,
        ("for (",) * 2,
        ("do {",) * 2,
        ("do",) * 2,
        ("while",) * 2,
    ],
)
def test_each_kind_of_loop_calls_between_its_iterations(text: str, marked: str) -> None:
    pragma = '#pragma unroll 1\n# 7 "kernel.cu"\n'
    assert loops.mark(pragma + text, "next") == pragma + marked


@pytest.mark.parametrize(
    "pragma, marks",
    [
        ("unroll 1", True),
        ("unroll(1)", True),
        ("unroll (TILE - 31)", True),
        ("unroll ONCE", True),
        ("unroll 0x1", True),
        ("unroll", False),
        ("unroll 4", False),
        ("unroll 1 2", False),
        ("unroll 1;", False),
        ("unroll (1) + 1", False),
        ("nounroll", False),
        ("GCC unroll 1", False),
        ("clang loop unroll(disable)", False),
    ],
)
def test_only_what_stops_nvcc_counts(pragma: str, marks: bool) -> None:
    text = f"#pragma {pragma}\nfor (;;) f();\n"
    assert (loops.mark(text, "next") != text) is marks


def test_the_last_pragma_counts_and_only_for_the_loop_that_follows_it() -> None:
    loop = "for (;;) f();\n"
    for text in (
        f"#pragma unroll 1\n#pragma unroll 4\n{loop}",
        f"#pragma unroll 1\ng();\n{loop}",
        f"#pragma unroll 1\nif (a) {loop}",
    ):
        assert loops.mark(text, "next") == text
    assert loops.mark(f"#pragma unroll 1\n{loop}{loop}", "next").count("next") == 1


@both_compilers
@pytest.mark.parametrize(
    "loop, merged",
    [
        ("for (k = 0; k < 64; ++k) sum += s[k];", 16),
        ("\n#pragma unroll 4\nfor (k = 0; k < 64; ++k) sum += s[k];", 16),
        ("\n#pragma unroll 1\nfor (k = 0; k < 64; ++k) sum += s[k];", 64),
        ("_Pragma(\"unroll(1)\") for (k = 0; k < 64; ++k) sum += s[k];", 64),
        ("LOOP sum += s[k];", 64),
        ("\n#pragma unroll ONCE\nwhile (k < 64) sum += s[k++];", 64),
        ("\n#pragma unroll 1\ndo { sum += s[k]; } while (++k < 64);", 64),
        ("\n#pragma unroll 1\nfor (k = 0; k < 64; k += 2)\nfor (int i = 0; i < 2; ++i)"
         " sum += s[k + i];", 32),
        ("for (k = 0; k < 64; k += 16)\n#pragma unroll 1\nfor (int i = 0; i < 16; ++i)"
         " sum += s[k + i];", 64),
    ],
)  # fmt: skip
def test_loads_of_two_iterations_are_merged_only_where_the_loop_is_unrolled(
    family: str, loop: str, merged: int
) -> None:
    before = (
        'constexpr int ONCE = 1;\n#define LOOP _Pragma("unroll 1") for (int k = 0; k < 64; ++k)\n'
    )
    line = loads(family, loop + "\n", before)
    assert (line.requests, line.merged_requests) == (8 * 64, 8 * merged)


@both_compilers
def test_a_count_from_a_template_is_the_one_of_each_instance(family: str) -> None:
    before = (
        "template <int COUNT>\n__device__ float sum_of(const float *s) {\n    float sum = 0;\n"
        "#pragma unroll COUNT\n    for (int k = 0; k < 64; ++k) sum += s[k];\n    return sum;\n}\n"
    )
    for count_of, merged in (("1", 64), ("4", 16)):
        line = loads(family, f"    sum += sum_of<{count_of}>(s);\n", before)
        assert (line.requests, line.merged_requests) == (8 * 64, 8 * merged)


@both_compilers
def test_a_kernel_with_such_loops_computes_what_it_says_and_keeps_its_lines(family: str) -> None:
    body = (
        "    float sum = 0;\n"
        "    if (row < M && col < N)\n"
        '        _Pragma("unroll 1") for (int k = 0; k < K; ++k) {\n'
        "            if (k % 2) { sum += A[row * K + k] * B[k * N + col]; continue; }\n"
        "            sum += A[row * K + k] * B[k * N + col];\n"
        "        }\n"
        "    else return;\n"
    )
    text = PRELUDE + body + SUMMED
    built = build(family, text)
    assert right(built, SHAPE, launch(family, built))
    store = count(family, text, SHAPE).select("global", "store")
    assert [line.line for line in store] == [text[: text.index("C[row")].count("\n") + 1]
    (found,) = build(family, text.replace("else return;", "else return missing;")).findings
    assert (found.verdict, found.locations[0].line) == (
        Verdict.COMPILE_ERROR,
        text[: text.index("else return")].count("\n") + 1,
    )


def refused(family: str, expression: str) -> Finding:
    loop = f"#pragma unroll ({expression})\n    for (int k = 0; k < 3; ++k) C[k] = k;\n}}\n"
    (found,) = build(family, PRELUDE + loop).findings
    return found


@both_compilers
def test_a_pragma_hides_no_code(family: str) -> None:
    for expression in ('({ __asm__("nop"); 1; })', "sim_ballot(1, 1)"):
        assert refused(family, expression).kind == "hidden_word"
    assert refused(family, '__builtin_system("x")').kind == "forbidden_extension"


def test_what_an_h200_did_not_merge_is_not_merged_here() -> None:
    """The rows of the proof whose loops are not unrolled."""
    tried = [kernel for kernel in kernels.load() if "not unrolled" in kernel.name]
    assert len(tried) == 2
    for kernel in tried:
        assert re.search(r"#pragma unroll 1\n", kernel.submission.text)
        counts = comparison.simulate(kernel, device("g++"))
        for name, merged in counts.merged.items():
            assert merged == counts.values[name], f"{kernel.name}: {name}"
