"""What only nvcc refuses: constants used as more than values, and marks in the wrong place."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.source import slips
from grader.submission import Submission

HEAD = "__global__ void k(float *C, int n) {"
ADDER = "constexpr auto add = [](int a, int b) { return a + b; };"
HELPER = "__global__ void helper(float *C, int i) { C[i] = 1; }"


def found(outside: str, body: str, head: str = HEAD) -> list[tuple[str, object]]:
    text = f"{outside}\n{head}\n{body}\n}}\n"
    told = slips.only_for_nvcc(Submission("01_naive.cu", Path("01_naive.cu"), text, ""))
    assert all(one.locations[0].line > 0 for one in told)
    return [(one.kind, next(iter(one.facts.values()))) for one in told]


@pytest.mark.parametrize(
    ("outside", "body", "name"),
    [
        ("constexpr int T = 4;", "C[std::min(T, n)] = 0;", "T"),
        ("const unsigned T = 4;", "C[std::max(threadIdx.x, T)] = 0;", "T"),
        ("inline constexpr int T = 4;", "int m = 3; C[std::min<int>(T, m)] = 0;", "T"),
        (ADDER, "C[add(n, 1)] = 0;", "add"),
        (ADDER.replace("constexpr", "const"), "int m = 1; C[add(m, 1)] = 0;", "add"),
    ],
)
def test_a_constant_of_the_host_used_as_an_object_is_found(
    outside: str, body: str, name: str
) -> None:
    assert found(outside, body) == [("host_constant", name)]


@pytest.mark.parametrize(
    ("outside", "body"),
    [
        ("constexpr int T = 4;", "C[min(T, n)] = 0;"),
        ("constexpr int T = 4;", "C[std::min(T, 3)] = 0;"),
        ("constexpr int T = 4, U = 5;", "C[std::min(T, U)] = 0;"),
        ("constexpr int T = 4;", "C[std::min(+T, n)] = 0;"),
        ("constexpr int T = 4;", "C[std::min(2, min(T, n))] = 0;"),
        ("constexpr int T = 4;", "const int m = 3; C[std::min(T, m)] = 0;"),
        ("constexpr int T = 4;", "constexpr int T = 5; C[std::min(T, n)] = 0;"),
        ("constexpr int T = 4;", "if constexpr (T > 8) C[std::min(T, n)] = 0;"),
        ("constexpr int T = 4;", "C[std::min(T, (int)sizeof(n))] = 0;"),
        ("__device__ constexpr int T = 4;", "C[std::min(T, n)] = 0;"),
        ("#define T 4", "C[std::min(T, n)] = 0;"),
        (ADDER, "C[add(1, 2)] = 0;"),
        (ADDER, "auto own = add; C[own(n, 2)] = 0;"),
        ("__device__ " + ADDER, "C[add(n, 1)] = 0;"),
        ("constexpr auto f = g;", "C[f(n)] = 0;"),
    ],
)
def test_a_constant_of_the_host_may_be_used_for_its_value(outside: str, body: str) -> None:
    assert found(outside, body) == []


@pytest.mark.parametrize(
    "body", ["helper(C, n);", "if (n) helper(C, 1);", "for (;;) helper(C, 1);", "helper<3>(C, n);"]
)
def test_a_call_of_a_kernel_is_found(body: str) -> None:
    assert found(HELPER, body) == [("kernel_called", "helper")]


def test_a_kernel_that_calls_itself_is_found() -> None:
    assert found("", "k(C, n - 1);") == [("kernel_called", "k")]


@pytest.mark.parametrize(
    ("outside", "body"),
    [
        (HELPER, "float helper = 1; C[0] = helper;"),
        (HELPER, "auto helper = [](int i) { return i; }; C[helper(n)] = 0;"),
        (HELPER, "auto f = &helper; C[0] = f == nullptr;"),
        (HELPER, "C[0] = S{}.helper(n);"),
        (HELPER, "#ifdef DEBUG\nhelper(C, n);\n#endif"),
        (HELPER, "if constexpr (sizeof(int) > 4) helper(C, n);"),
        (f"{HELPER}\n__device__ int helper(int i) {{ return i; }}", "C[helper(n)] = 0;"),
        ("#ifdef DEBUG\nint calls;\n#endif", "#ifdef DEBUG\n++calls;\n#endif"),
    ],
)
def test_a_name_that_may_be_another_s_is_no_call_of_a_kernel(outside: str, body: str) -> None:
    assert found(outside, body) == []


def test_a_template_that_nobody_may_use_is_not_judged() -> None:
    head = f"template <int T> {HEAD}"
    assert found(f"constexpr int S = 4; {HELPER}", "helper(C, std::min(S, n));", head) == []


@pytest.mark.parametrize("mark", ["__device__", "__host__"])
def test_a_mark_of_a_lambda_is_found(mark: str) -> None:
    assert found("", f"auto f = [=] {mark} (int i) {{ return i; }};") == [("marked_lambda", mark)]


def test_a_mark_behind_an_attribute_is_a_function_s() -> None:
    assert found("[[nodiscard]] __device__ int f() { return 1; }", "C[f()] = 0;") == []
