"""What nobody set holds NaNs, with every compiler, so that no zero hides it: variables without a
first value, and what a shuffle takes from a lane that brings nothing."""

from __future__ import annotations

import numpy as np
import pytest

from grader.checks.trial import try_shape
from grader.finding import Finding
from grader.problems.matmul import Case, prepare
from grader.simulator.assembly import patch
from grader.tests.simulated import (
    BODY_LINE,
    FINISH,
    PRELUDE,
    SHAPE,
    both_compilers,
    build,
    device,
    launch,
)
from grader.verdict import Verdict

# The compilers fill each in another way: registers, stores, vectors, loops, calls of memset.
VARIABLES = {
    "float": "float x; if (K < 0) x = A[0]; const float got = x;",
    "float4": "float4 x; if (K < 0) x = make_float4(1, 2, 3, 4); const float got = x.z;",
    **{
        f"float[{n}]": f"float x[{n}]; if (K < 0) x[M % {n}] = 1.0f; const float got = x[N % {n}];"
        for n in (2, 3, 4, 8, 100, 1000, 5000)
    },
    **{
        f"end of float[{n}]": f"float x[{n}]; if (K < 0) x[M] = 1.0f; const float got = x[{n - 1}];"
        for n in (1000, 5000)
    },
    # Where all that set it set the same, a compiler may take that for the value of all others, too.
    "if": "float x; if (K < 0) x = 1.0f; const float got = x;",
    "?:": "float x; K < 0 ? x = 1.0f : 0.0f; const float got = x;",
    "else if": "float x; if (K < 0) x = 1.0f; else if (M < 0) x = 1.0f; const float got = x;",
    "switch": "float x; switch (K) { case -1: case -2: x = 1.0f; } const float got = x;",
    "loop": "float x; for (int k = 99; k < K; ++k) x = 1.0f; const float got = x;",
    "function": "const float got = [=] { float x; if (K < 0) x = 1.0f; return x; }();",
    "reference": "float x; [=](float &to) { if (K < 0) to = 1.0f; }(x); const float got = x;",
    "member": "float4 x; if (K < 0) x.y = 1.0f; const float got = x.y;",
}
STORE = "\n    const float zero = M - 17;"
STORE += "\n    if (row < M && col < N) C[row * N + col] = got * zero;\n}\n"


@both_compilers
@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_without_a_value_times_zero_is_no_number(family: str, name: str) -> None:
    built = build(family, PRELUDE + VARIABLES[name] + STORE)
    assert built.config is not None, built.findings
    run = launch(family, built)
    c = prepare(built.exercise, built.config, Case(SHAPE), 0x7FA00001).operands[2]
    assert np.isnan(c.values(run.images[2])).all()


@pytest.mark.parametrize(
    ("line", "patched"),
    [
        ("\tmovl\t$-16843010, 16(%rsp)", "\tmovl\t$-65537, 16(%rsp)"),
        ("\tmovl\t$0xfefefefe, 16(%rsp)", "\tmovl\t$-65537, 16(%rsp)"),
        ("\tmovabsq\t$-72340172838076674, %rax", "\tmovabsq\t$-281474976776193, %rax"),
        ("\tmov\tw3, -16843010", "\tmov\tw3, -65537"),
        ("\tmovi\tv0.16b, 0xfffffffffffffffe", "\tmvni\tv0.4s, 0x1, lsl 16"),
        ("\tmovi\tv9.8b, 0xfffffffffffffffe", "\tmvni\tv9.2s, 0x1, lsl 16"),
        ("\t.byte\t-2", "\t.byte\t-2"),
        ("\tmovl\t$-168430101, %eax", "\tmovl\t$-168430101, %eax"),
    ],
)
def test_the_bytes_of_a_fill_become_words_that_are_no_numbers(line: str, patched: str) -> None:
    assert patch(line) == patched


LANES = {
    "unnamed": "    const float got = __shfl_down_sync(ty < 6 ? ~0u : 0xffffu, 1.0f, 16);\n",
    "returned": "    if (ty % 2 == 1) return;\n    const float got = __shfl_sync(~0u, 1.0f, 16);\n",
    "missing": "    const float got = __shfl_xor_sync(~0u, 1.0f, 16);\n",
}


def of_lanes(why: str, use: str) -> str:
    """A kernel in which lanes ask others that bring nothing. Its blocks have seven rows."""
    text = PRELUDE.replace(".block_y = 16", ".block_y = 7").replace(".tile_m = 16", ".tile_m = 7")
    return text.replace("blockIdx.y * 16", "blockIdx.y * 7") + LANES[why] + use + FINISH


@both_compilers
@pytest.mark.parametrize("why", LANES)
def test_a_value_from_a_lane_that_brings_none_is_a_fault_if_c_depends_on_it(
    family: str, why: str
) -> None:
    harmful = build(family, of_lanes(why, "").replace("sum = 0.0f", "sum = got - 1.0f"))
    found, *_ = try_shape(device(family), harmful, SHAPE, seed=1, watch=True)
    assert (found.verdict, found.kind) == (Verdict.UNINITIALISED, "unset_lane")
    assert found.facts["why"] == why
    assert found.locations[0].line == BODY_LINE + (why == "returned")
    assert (found.facts["lane"], found.facts["thread"][1]) == (16, 0 if why == "returned" else 6)


@both_compilers
def test_a_value_from_a_lane_that_brings_none_may_be_thrown_away(family: str) -> None:
    notes: list[Finding] = []
    harmless = build(family, of_lanes("missing", "    if (got == M + 0.5f) return;"))
    assert try_shape(device(family), harmless, SHAPE, 1, watch=True, note=notes.append) == ()
    assert {note.kind for note in notes} == {"unset_lane"}
