"""What the text of a submission alone gives away."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.exercise import PROJECT, load_all
from grader.finding import Finding
from grader.messages import describe
from grader.source import (
    ALLOWED_HEADERS,
    UNSUPPORTED_HEADERS,
    inspect,
    uses_inline_ptx,
    uses_unsupported,
)
from grader.submission import Submission
from grader.verdict import Verdict

NAIVE = load_all(PROJECT)[1]

KERNEL = """#include "launch.cuh"

__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {
    if (M > 0) { C[0] = A[0] * B[0]; }
}

LAUNCH_CONFIG(.block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16);
"""


def given_text(text: str) -> Submission:
    return Submission("starter/01_naive.cu", Path("starter/01_naive.cu"), text, "")


def found(text: str) -> list[tuple[int, str]]:
    """Lines and kinds."""
    return [(finding.locations[0].line, finding.kind) for finding in inspect(given_text(text))]


def only(text: str) -> Finding:
    (finding,) = inspect(given_text(text))
    assert finding.verdict is Verdict.REJECTED
    assert finding.locations[0].file == "starter/01_naive.cu"
    assert describe(finding, NAIVE).text
    return finding


# Every allowed header, in both spellings.


@pytest.mark.parametrize("header", [*ALLOWED_HEADERS, *UNSUPPORTED_HEADERS])
def test_an_allowed_header_may_be_included(header: str) -> None:
    assert found(f'#include <{header}>\n#include "{header}"\n#  include/**/<{header}> // x') == []


def test_the_simulator_has_every_allowed_header() -> None:
    headers = {path.name for path in (PROJECT / "grader" / "simulator" / "include").iterdir()}
    headers |= {path.name for path in (PROJECT / "grader" / "include").iterdir()}
    assert set(ALLOWED_HEADERS) <= headers


@pytest.mark.parametrize(
    ("line", "header", "form"),
    [
        ("#include <iostream>", "iostream", "header"),
        ('#include "cublas_v2.h"', "cublas_v2.h", "header"),
        ("#include <cutlass/gemm/device/gemm.h>", "cutlass/gemm/device/gemm.h", "header"),
        ('#include "/etc/passwd"', "/etc/passwd", "path"),
        ('#include "../01_naive/solution.cu"', "../01_naive/solution.cu", "path"),
        ("#include <sys/../stdio.h>", "sys/../stdio.h", "path"),
        ("#include HEADER", "HEADER", "macro"),
        ("#if __has_include(<cublas.h>)\n#endif", "__has_include", "probe"),
        ('#define HAS __has_include("/etc/passwd")', "__has_include", "probe"),
        ("#include_next <stdio.h>", "#include_next <stdio.h>", "directive"),
        ('#import "launch.cuh"', '#import "launch.cuh"', "directive"),
        ('#embed "/etc/passwd"', '#embed "/etc/passwd"', "directive"),
        ("%:include <iostream>", "iostream", "header"),
        ("/**/ # /**/ include <iostream>", "iostream", "header"),
        ("#inc\\\nlude <iostream>", "iostream", "header"),
        ("#if 0\n#else\n#include <iostream>\n#endif", "iostream", "header"),
        ("#ifdef NEVER\n#include <iostream>\n#endif", "iostream", "header"),
    ],
)
def test_other_headers_and_ways_around_the_list_are_refused(
    line: str, header: str, form: str
) -> None:
    finding = only(line)
    assert finding.kind == "forbidden_include"
    assert (finding.facts["header"], finding.facts["form"]) == (header, form)
    assert finding.facts["allowed"] == list(ALLOWED_HEADERS)


def test_asking_whether_probing_exists_is_harmless() -> None:
    assert found("#ifdef __has_include\n#endif\n#if defined(__has_include)\n#endif") == []


def test_a_misspelt_header_is_told_with_the_right_one() -> None:
    assert only('#include "launch.h"').facts["nearest"] == "launch.cuh"
    assert only('#include "../grader/include/launch.cuh"').facts["nearest"] == "launch.cuh"
    assert only("#include <cstdlib>").facts["nearest"] == ""


@pytest.mark.parametrize(
    ("text", "name", "form"),
    [
        ("#define ASK __has_include\n#if ASK(<cublas.h>)\n#endif", "__has_include", "probe"),
        ("#define J(a, b) a##b\n#if J(__has_, include)(<x>)\n#endif", "J", "condition"),
        ("#define J(a, b) a %:%: b\n#if 2 > 1 && J(x, y)\n#endif", "J", "condition"),
        ("#define J(a, b) a##b\n#define K J\n#if X\n#elif K(x, y)\n#endif", "J", "condition"),
        ("#if __CONCAT(__has_, include)(<x>)\n#endif", "__CONCAT", "condition"),
    ],
)
def test_a_condition_cannot_put_a_probe_together(text: str, name: str, form: str) -> None:
    finding = only(text)
    assert (finding.facts["header"], finding.facts["form"]) == (name, form)


@pytest.mark.parametrize(
    "text",
    [
        "#ifndef _TILED_CU_\n#define _TILED_CU_\n#endif",
        "#if defined(_MINE) || !defined _YOURS\n#endif",
        "#if __CUDA_ARCH__ >= 800 && defined(__CUDACC_VER_MAJOR__)\n#elif __cplusplus\n#endif",
        "#if __has_builtin(__builtin_assume) && __has_attribute(aligned)\n#endif",
        "#define UP(a, b) (((a) + (b) - 1) / (b))\n#if UP(9, 4) == 3\n#endif",
        "#define J(a, b) a##b\n#ifdef J\n__device__ int J(x, y);\n#endif",
        '#line 7\n__device__ int a;\n#line 9 "starter/01_naive.cu"',
    ],
)
def test_ordinary_conditions_and_lines_are_fine(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        '#line 1 "stdio.h"',
        '# 1 "stdio.h" 3',
        "#line NUMBER",
        '#\\\nline 3 "x"',
        "#line 2147483647",
        "#line 99999999999",
    ],
)
def test_lines_that_claim_another_place_are_refused(text: str) -> None:
    assert found(text) == [(1, "forbidden_line")]


# Extensions of the compilers.


@pytest.mark.parametrize(
    ("text", "form", "name"),
    [
        ("__attribute__((constructor)) __device__ void f() {}", "attribute", "constructor"),
        ("[[gnu::constructor]] __device__ void f() {}", "attribute", "constructor"),
        ('[[using gnu: __section__("x")]] __device__ int f;', "attribute", "__section__"),
        ('__attribute__((aligned(16), alias("x"))) __device__ int f;', "attribute", "alias"),
        ('#define E __attribute__ \\\n((ifunc("x")))', "attribute", "ifunc"),
        ("__device__ void f() [[gnu::no_sanitize_thread]] {}", "attribute", "no_sanitize_thread"),
        ('#pragma GCC optimize ("O0")', "pragma", "GCC optimize"),
        ("#pragma weak f", "pragma", "weak"),
        ("#pragma clang attribute push", "pragma", "clang attribute"),
        ('#define P _Pragma("push_macro(\\"A\\")")', "pragma", "push_macro"),
        ("#define P(x) _Pragma(#x)\nP(GCC poison A)", "pragma", "GCC poison"),
        ('const char *t = R"x"(")x"" ; [[gnu::weak]] int f; "";', "attribute", "weak"),
        ("[[gnu::aligned(sizeof(B<::W>)), gnu::weak]] int f;", "attribute", "weak"),
        ('#ident "x"', "directive", "#ident"),
        ("auto t = 'a'R\"x(\" ; [[gnu::weak]] int f;", "literal", 'R"'),
        ('#pragma message "a"u8R"x("\n[[gnu::weak]] int f;', "literal", 'u8R"'),
        ('%: sccs "x"', "directive", "#sccs"),
        ('#pragma GCC diagnostic ignored "-Wvla"', "pragma", "GCC diagnostic"),
        ('#pragma GCC diagnostic warning "-W\\x76la"', "pragma", "GCC diagnostic"),
        ('_Pragma(R"omp(GCC dependency "x")omp")', "pragma", 'R"'),
        ('auto t = "a"_x\u0301R"x(" ; [[gnu::weak]] int f;', "attribute", "weak"),
        ("__device__ void f() { __builtin_ia32_pause(); }", "builtin", "__builtin_ia32_pause"),
        ("__device__ void f() { __builtin_longjmp(0, 1); }", "builtin", "__builtin_longjmp"),
        ("__device__ void f() { __tsan_init(); }", "builtin", "__tsan_init"),
    ],
)
def test_extensions_that_reach_beyond_a_kernel_are_refused(text: str, form: str, name: str) -> None:
    finding = only(text)
    assert finding.kind == "forbidden_extension"
    assert finding.facts == {"form": form, "name": name}


@pytest.mark.parametrize(
    "text",
    [
        "__device__ __attribute__((aligned(16), noinline)) float f(float x) { return x; }",
        "[[nodiscard, gnu::always_inline]] inline __device__ int f() { return 1; }",
        "#define ALIGN(n) __attribute__((aligned(n)))\nstruct ALIGN(16) V { float v[4]; };",
        "#define KIND packed\nstruct __attribute__((KIND)) V { float v[4]; };",
        "#pragma once\n#pragma unroll 4\n#pragma nv_diag_suppress 177\n#pragma GCC unroll 8",
        "#pragma GCC diagnostic push\n#pragma region x\n#pragma omp parallel for\n#pragma",
        '#define UNROLL(n) _Pragma(#n)\n#define FOUR _Pragma("unroll 4")',
        "__device__ int a[2][2]; __device__ int f(int *i) { return a[i[0]][i[1]]; }",
        "__device__ float f(float x) { return __builtin_fmaf(x, x, __builtin_inff()); }",
        "__device__ int f(int x) { return __builtin_expect(x, 1) + __builtin_popcount(x); }",
        "__device__ int f(int x) { auto g = [=](int i) { return i + x; }; return g(1); }",
    ],
)
def test_extensions_that_kernels_use_are_fine(text: str) -> None:
    assert found(text) == []


# asm.


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('asm("nop");', 1),
        ('\n\n__asm__ volatile ("nop");', 3),
        ('namespace a {\n__asm("nop");\n}', 2),
        ('struct S {\n int a;\n asm("nop"); };', 3),
        ('int x = [] {\n asm("nop"); return 1; }();', 2),
        ('extern "C" __global__ void f()\n __asm__("matmul_naive");', 2),
        ('#define NOP asm("nop")\n\nNOP;', 3),
        ('#define A a##sm\n#define NOP A("nop")\nNOP;', 3),
        ('a\\\nsm("nop");', 1),
        ('__device__ void f() {}\nasm("nop");', 2),
        ('#ifdef X\n__device__ void f() {\n#else\nasm("nop");\n#endif\n}', 4),
    ],
)
def test_asm_outside_a_function_is_found_with_its_line(text: str, line: int) -> None:
    finding = only(text)
    assert (finding.kind, finding.locations[0].line) == ("asm_outside_function", line)


def test_asm_in_a_macro_that_is_only_defined_is_not_used() -> None:
    text = '#define NOP asm("nop")\n#define TWICE NOP; NOP\n'
    assert found(text) == []
    assert not uses_inline_ptx(given_text(text))


# Host code.


@pytest.mark.parametrize(
    ("text", "name", "form", "line"),
    [
        ("int main() { return 0; }", "main", "main", 1),
        ("\nauto main(int argc, char **argv) -> int\n{ }", "main", "main", 2),
        ("__host__ __device__ int main() {}", "main", "main", 1),
        ("float dot(float a) { return a; }", "dot", "function", 1),
        ("static inline\nfloat dot(float a)\n{ return a; }", "dot", "function", 2),
        ("template <class T>\nT dot(T a) { return a; }", "dot", "function", 2),
        ("__host__ void f() {}", "f", "function", 1),
        ("__forceinline__ void f() {}", "f", "function", 1),
        ("namespace a { void f() {} }", "f", "function", 1),
        ('extern "C" { void f() {} }', "f", "function", 1),
        ("struct S {\n int f() { return 1; } };", "f", "function", 2),
        ("struct S { S() : a{1} {} int a; };", "S", "function", 1),
        ("struct S { ~S() {} };", "~S", "function", 1),
        ("struct S { int f(); };\nint S::f() { return 1; }", "S::f", "function", 2),
        ("template <int N> int S<N>::f() { return 1; }", "S::f", "function", 1),
        ("int operator+(S a, S b) { return 1; }", "operator+", "function", 1),
        ("struct S { operator float() { return 1; } };", "operator float", "function", 1),
        ("struct S { int operator()(int a) { return 1; } };", "operator()", "function", 1),
        ("#define FN inline\nFN int f() { return 1; }", "f", "function", 2),
        ("LAUNCH_CONFIG(.block_x = 1)\nint f() { return 1; }", "f", "function", 2),
        ("__global__ void g() {}\nvoid matmul_naive(int n) {}", "matmul_naive", "kernel", 2),
        ("void f() try { } catch (...) { }", "f", "function", 1),
    ],
)
def test_host_code_is_found_with_name_and_line(text: str, name: str, form: str, line: int) -> None:
    finding = only(text)
    assert finding.kind == "host_code"
    assert finding.facts == {"name": name, "form": form}
    assert finding.locations[0].line == line


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("__global__ void g() {\n f<<<1, 1>>>(); }", "f"),
        ("__global__ void g() {\n f<16, (4 > 3)><<<1, 1>>>(); }", "f"),
        ("#define X\\\n(k) k<<<1, 1>>>()", "k"),
        ("auto x =\n pick(1)<<<1, 1>>>();", "a kernel"),
    ],
)
def test_a_launch_is_found_with_its_kernel(text: str, name: str) -> None:
    finding = only(text)
    assert finding.kind == "host_code"
    assert finding.facts == {"name": name, "form": "launch"}
    assert finding.locations[0].line == 2


def test_a_call_of_the_runtime_in_a_kernel_is_host_code() -> None:
    finding = only("__global__ void g() { float *p;\n cudaMalloc(&p, 4); }")
    assert finding.facts == {"name": "cudaMalloc", "form": "call"}
    assert finding.locations[0].line == 2


@pytest.mark.parametrize(
    "text",
    [
        "__device__ int cudaGetRow(int i) { return i; }\n__global__ void g() { cudaGetRow(1); }",
        "#define cudaMemIndex(i) (i)\n__global__ void g() { cudaMemIndex(1); }",
        "__global__ void g() { cudaGridDependencySynchronize(); }",
    ],
)
def test_functions_of_the_file_and_instructions_of_the_device_are_no_host_code(text: str) -> None:
    assert found(text) == []


def test_a_launch_inside_host_code_is_told_once() -> None:
    assert found("int main() {\n f<<<1, 1>>>();\n}") == [(1, "host_code")]


def test_a_shift_operator_of_three_angles_is_no_launch() -> None:
    assert found("__device__ int operator<<<int>(S s, int a) { return 1; }") == []


@pytest.mark.parametrize(
    "text",
    [
        "__global__ void f() { if (1) {\n}\nint main() { }",  # one is missing
        "__global__ void f() { } }\nint main() { }",  # one is too many
        "__global__ void f() { }\nfor (int i = 0; i < 3; ++i) { }\nvoid g() { }",
        "__global__ void f()) { }\nvoid g() { }",
    ],
)
def test_of_a_file_that_makes_no_sense_the_compiler_speaks(text: str) -> None:
    assert found(text) == []


# Tensor cores.


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        ("#include <mma.h>", "mma.h", 1),
        ('#include "crt/mma.h"', "crt/mma.h", 1),
        ("\nusing namespace nvcuda;", "nvcuda::wmma", 2),
        ("__device__ void f() { nvcuda::wmma::fill_fragment(c, 0); }", "nvcuda::wmma", 1),
        ("__device__ void f() { __hmma_m16n16k16_ld_a(a, p, 16, 0); }", "", 1),
        ('__device__ void f() {\n asm("mma.sync.aligned.m16n8k8.row.col"); }', "mma.sync", 2),
        ('__device__ void f() { asm("wg" "mma.mma_async.sync"); }', "wgmma.mma_async", 1),
        ('__device__ void f() { asm(R"(\n wmma.load.a.sync)"); }', "wmma.load", 1),
        ('__device__ void f() {\n asm("{\\n\\tmma.sync.aligned.m16n8k8"); }', "mma.sync", 2),
        ('__device__ void f() { asm("mma \\n .sync.aligned.m16n8k8"); }', "mma.sync", 1),
        ('__device__ void f() { asm("mma/* */" "// x\\n" ".sync.aligned"); }', "mma.sync", 1),
        ('__device__ void f() { asm(".pragma \\"//\\"; mma.sync"); }', "mma.sync", 1),
        ('#define M "tcgen05.mma.cta_group"\n__device__ void f() { asm(M); }', "tcgen05.mma", 1),
    ],
)
def test_tensor_cores_are_found_by_header_name_and_instruction(
    text: str, what: str, line: int
) -> None:
    finding = inspect(given_text(text))[0]
    assert finding.kind == "tensor_cores"
    assert finding.facts["what"] == (what or "__hmma_m16n16k16_ld_a")
    assert finding.locations[0].line == line
    assert describe(finding, NAIVE).text


def test_a_file_taken_in_by_the_assembler_is_refused() -> None:
    finding = only('__device__ void f() { asm(".inc" "bin \\"/etc/passwd\\""); }')
    assert finding.facts["header"] == ".incbin"


def test_a_name_that_merely_looks_like_tensor_cores_is_fine() -> None:
    assert found("__device__ int gemma_sync(int wmma) { return wmma; }") == []
    assert found('__device__ void f() { printf("mma.sync"); }') == []


# Devices.


@pytest.mark.parametrize(
    ("text", "feature"),
    [
        (KERNEL, ""),
        ("// asm\n" + KERNEL, ""),
        ('__device__ void f() { asm("nop"); }', "inline PTX"),
        ('__device__ void f() { __asm__ volatile ("nop"); }', "inline PTX"),
        ('#define NOP asm("nop")\n__device__ void f() { NOP; }', "inline PTX"),
        ("#include <cuda/pipeline>", "cuda::pipeline"),
        ("#include <cuda/barrier>\n__device__ cuda::barrier<1> b;", "cuda::barrier"),
        (
            "__device__ void f(cuda::pipeline<1> p, cuda::barrier<1> b) {}",
            "cuda::pipeline, cuda::barrier",
        ),
        ("#include <cooperative_groups/reduce.h>", "cooperative_groups::reduce"),
        ("#include <cooperative_groups.h>\n#include <cuda_pipeline.h>", ""),
        ("#if 0\n#include <cuda/pipeline>\n#endif", ""),
        ("__device__ void f() { my_cuda::pipeline p; }", ""),
    ],
)
def test_features_that_only_a_gpu_has_are_named(text: str, feature: str) -> None:
    assert uses_unsupported(given_text(text)) == feature
    assert uses_inline_ptx(given_text(text)) == (feature == "inline PTX")
    assert found(text) == []


# Order and number.


def test_findings_come_in_the_order_of_lines() -> None:
    text = 'asm("");\n#include <vector>\nint f() {}\n#include <mma.h>\n#include <list>\n'
    kinds = ["asm_outside_function", "forbidden_include", "host_code", "tensor_cores"]
    assert found(text) == [*enumerate(kinds, 1), (5, "forbidden_include")]


def test_the_same_thing_is_told_once_and_many_things_are_cut() -> None:
    assert found("#include <vector>\n#include <vector>") == [(1, "forbidden_include")]
    text = "".join(f"#include <a{number}>\n" for number in range(100))
    assert len(found(text)) == 20
