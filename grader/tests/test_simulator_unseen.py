"""What a compiler does not instrument by itself: with g++, structs that go by value between memory
and functions; with clang++, odd sizes, some names, and structs that a call reads."""

from __future__ import annotations

import dataclasses

import pytest

from grader.counters import Counters, total
from grader.problems.matmul import Case, Shape, prepare
from grader.tests.simulated import EXERCISE, FINISH, PRELUDE, both_compilers, build, device

# No compiler may inline it: the copy for it stays one that g++ makes within the call.
HELPERS = (
    "struct Row { float v[3]; };\n"
    "__device__ __attribute__((noinline)) float first(Row row) { return row.v[0]; }\n"
    "__device__ __attribute__((noinline)) Row rows(float v) { return {{v, v, v}}; }\n"
    "__device__ __attribute__((noinline)) Row other(float v) { return rows(2 * v); }\n"
    "__device__ __attribute__((noinline)) float4 whole(float4 v) { return v; }\n"
    "__device__ __attribute__((noinline)) float4 again(float4 v) { return whole(v); }\n"
)
LINE = (HELPERS + PRELUDE).count("\n") + 1


def kernel(body: str) -> str:
    return HELPERS + PRELUDE + f"    {body}" + FINISH


def counted(family: str, text: str) -> Counters:
    built = build(family, text)
    assert built.config is not None, built.findings
    launch = prepare(EXERCISE, built.config, Case(Shape(16, 16, 16)), 0x7FA00001)
    run = device(family).launch(built, dataclasses.replace(launch, count=True))
    assert run.counters is not None, run.findings
    return run.counters


@pytest.mark.parametrize(
    "body",
    [
        "float x = first(((const Row *)A)[0]); if (x == 1.5e30f) return;",
        "((Row *)C)[0] = other(1.0f);",
        "__shared__ Row one; one = rows(1.0f); if (first(one) == 1.5e30f) return;",
        "Row one = rows(1.0f); { __shared__ Row one; if (first(one) == 1.5e30f) return; }",
    ],
)
def test_a_copy_that_nobody_sees_is_told_with_its_line(body: str) -> None:
    unsupported = build("g++", kernel(body)).unsupported
    assert f"a call in line {LINE} that takes a struct" in unsupported
    assert "Next: copy that struct to a local variable first" in unsupported
    assert build("clang++", kernel(body)).unsupported == ""


def test_a_part_of_an_element_that_nobody_sees_is_told_with_its_line() -> None:
    """Of an array that is looked at as a longer one; with clang++ each has its call."""
    body = (
        "float own[8] = {}; C[0] = __real__ (*(_Complex float (*)[1L << 45])own)"
        "[(const _Complex float *)A - (const _Complex float *)own];"
    )
    unsupported = build("g++", kernel(body)).unsupported
    assert f"an array in line {LINE} as if it were a longer one" in unsupported
    assert build("clang++", kernel(body)).unsupported == ""


@pytest.mark.parametrize(
    "body",
    [
        "Row one = ((const Row *)A)[0]; if (first(one) == 1.5e30f) return;",
        "Row some[2] = {rows(1.0f), other(2.0f)}; if (first(some[tx & 1]) == 1.5e30f) return;",
        "Row one = other(1.0f); ((Row *)C)[0] = one;",
        "__shared__ float4 one; one = again(one); one = again(*(const float4 *)A);",
        'printf("a, b) = f (%f, \\"%d", A[0], tx);',
    ],
)
def test_copies_between_local_variables_hide_nothing(body: str) -> None:
    assert build("g++", kernel(body)).unsupported == ""


@both_compilers
def test_structs_by_value_are_counted_where_functions_can_be_inlined(family: str) -> None:
    text = kernel(
        "__shared__ Row tile[256]; tile[ty * 16 + tx] = rows(tx); __syncthreads();"
        "if (first(tile[tx * 16 + ty]) == 1.5e30f) return;"
    ).replace("__attribute__((noinline))", "__noinline__")
    lines = counted(family, text).select("shared")
    assert total(lines, "words") >= 256
    assert {line.access for line in lines} == {"load", "store"}


@both_compilers
def test_constant_memory_that_a_kernel_changes_is_global_memory(family: str) -> None:
    body = "table[ty * 16 + tx] = tx; if (table[tx * 16 + ty] == 1.5e30f) return;"
    for unchanged in (False, True):
        text = kernel(body.partition(";")[2] if unchanged else body)
        seen = counted(family, "__constant__ float table[256];\n" + text)
        assert bool(seen.select("global", "load", "table")) is not unchanged


# Each is 16 x 16 accesses of so many words to global memory.
@both_compilers
@pytest.mark.parametrize(
    "body, words",
    [
        ("if (((const Field *)A)[tx].low == 1) return;", 2),
        ("if (((const long double *)A)[tx] == 1.5e30L) return;", 4),
        ("Wide one = ((const Wide *)A)[tx]; ((Wide *)C)[tx] = one + one;", 16),
        ("if (__llvm_gcov_table[tx] == 1.5e30f) return;", 1),
    ],
)
def test_accesses_of_every_size_and_name_are_counted(family: str, body: str, words: int) -> None:
    before = (
        "struct __attribute__((packed)) Field { unsigned long long low : 48, high : 16; };"
        "typedef float Wide __attribute__((vector_size(32), aligned(4)));"
        "__device__ float __llvm_gcov_table[16];"
    )
    seen = counted(family, before + kernel(body)).select("global")
    assert total([line for line in seen if line.line == LINE], "words") == 256 * words


def test_a_struct_that_a_call_reads_from_memory_is_counted_with_clang() -> None:
    before = (
        "struct alignas(8) Eight { float v[8]; };"
        "__device__ __attribute__((noinline)) float last(Eight e) { return e.v[7]; }"
    )
    body = "if (last(((const Eight *)A)[tx]) == 1.5e30f) return;"
    seen = counted("clang++", before + kernel(body)).select("global", "load", "A")
    assert total([line for line in seen if line.line == LINE], "words") == 256 * 8
    assert "takes a struct by value" in build("g++", before + kernel(body)).unsupported
