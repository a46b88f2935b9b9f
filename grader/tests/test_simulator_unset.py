"""Variables without a first value hold NaNs, with every compiler: no zero hides them."""

from __future__ import annotations

import numpy as np
import pytest

from grader.problems.matmul import Case, prepare
from grader.simulator.assembly import patch
from grader.tests.simulated import PRELUDE, SHAPE, both_compilers, build, launch

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
