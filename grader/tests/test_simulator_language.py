"""What CUDA C++ allows a kernel to say, the simulator understands."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from grader.simulator import elf
from grader.simulator.compiler import CONTRACT, INCLUDE, compile_kernel
from grader.source import unions, zeros
from grader.tests.simulated import (
    BODY_LINE,
    FINISH,
    PRELUDE,
    SHAPE,
    both_compilers,
    build,
    device,
    launch,
    right,
    run,
    submission,
)
from grader.toolchain import find_host_compilers

HEADERS = sorted(path.name for path in INCLUDE.iterdir() if path.name != "vector_types.h")


@both_compilers
@pytest.mark.parametrize(
    "declaration",
    [
        "__shared__ float s[256];",
        "static __shared__ float s[256];",
        "__shared__ __align__(16) float s[256];",
        "__align__(16) __shared__ float s[256];",
        "__shared__ alignas(16) float s[256];",
        "alignas(16) __shared__ float s[256];",
        "alignas(float4) __shared__ float s[256];",
        "struct Quad { float w[4]; }; __shared__ alignas(Quad) float s[256];",
        "__shared__ float __attribute__((aligned(16))) s[256];",
        "volatile __shared__ float s[256];",
        "__shared__ float4 s4[64]; float *s = &s4[0].x;",
        "struct Tile { float a[16][16]; }; __shared__ Tile t; float *s = &t.a[0][0];",
        "extern __shared__ float s[];",
        "extern __shared__ __align__(16) float s[];",
        "extern __shared__ char raw[]; float *s = reinterpret_cast<float *>(raw);",
    ],
)
def test_every_spelling_of_a_shared_array_works(family: str, declaration: str) -> None:
    body = (
        f"    {declaration}\n    s[ty * 16 + tx] = row < M && tx < K ? A[row * K + tx] : 0.0f;"
        "\n    __syncthreads();\n    float before = s[ty * 16 + (tx ^ 1)];"
        "\n    if (before == 12345.0f) return;"
    )
    prelude = PRELUDE.replace(".tile_n = 16", ".tile_n = 16, .dynamic_shared = 1024")
    built = build(family, prelude + body + FINISH)
    assert built.findings == ()
    result = launch(family, built)
    assert result.findings == ()
    assert right(built, SHAPE, result)


@both_compilers
@pytest.mark.parametrize(
    "body",
    [
        "    float4 v = make_float4(1, 2, 3, 4), w = {0.f}, u{1, 2, 3, 4}; v = w; (void)u.x;",
        "    int2 a = make_int2(tx, ty); uint3 b = make_uint3(1, 2, 3); (void)(a.x + b.z);",
        "    auto add = [=](int i) { return i + tx; }; if (add(1) < 0) return;",
        "    if (__ldg(&A[0]) == 12345.0f || fmaf(1.0f, 2.0f, 3.0f) != 5.0f) __trap();",
        "    if (__syncthreads_count(tx < 4) != 64 || !__syncthreads_or(tx == 3)) __trap();",
        "    if (__syncthreads_and(tx < 9) || !__syncthreads_and(1)) __trap();",
        "    if (__shfl_sync(~0u, tx, 3) != 3) __trap();",
        "    if (__shfl_xor_sync(~0u, tx, 1) != (tx ^ 1)) __trap();",
        "    int up = __shfl_up_sync(~0u, tx, 1, 16); if (up != (tx ? tx - 1 : 0)) __trap();",
        "    int down = __shfl_down_sync(~0u, tx, 1, 16); if (down != (tx < 15 ? tx + 1 : 15))"
        " __trap(); double d = __shfl_down_sync(~0u, 0.5 * tx, 1, 16); if (d > 7.5) __trap();",
        "    if (__shfl_xor_sync(~0u, tx, 8, 8) != tx % 8) __trap();",
        "    if (__ballot_sync(~0u, tx == 0) != 0x10001u || !__any_sync(~0u, tx == 5)) __trap();",
        "    if (__all_sync(~0u, tx < 8) || __popc(__activemask()) != 32) __trap();"
        " __syncthreads();",
        "    __shared__ int n; if (tx + ty == 0) n = 0; __syncthreads();"
        " atomicAdd(&n, 1); __syncthreads(); if (n != 256) __trap();",
        "    __shared__ unsigned m; if (tx + ty == 0) m = 0; __syncthreads();"
        " atomicMax(&m, (unsigned)tx); __syncthreads(); if (m != 15) __trap();",
        "    if (std::min(M, N) != min(M, N) || sqrtf(4.0f) != 2.0f) __trap();",
        "    if (__float_as_int(1.0f) != 0x3f800000 || __int_as_float(0x3f800000) != 1) __trap();",
        "    long long begin = clock64(); if (clock64() <= begin) __trap();",
        "    if (ceil(7 / 2) != 3.0 || sqrt(16) != 4.0 || pow(2, 3u) != 8.0 || fabs(-2) != 2.0"
        " || std::floor(N) != N || fmax(1.5f, 2) != 2.0 || fmax(1.5f, 0.5) != 1.5) __trap();",
        "    static_assert(sizeof(ceil(1)) == 8 && sizeof(ceil(1.0f)) == 4 && sizeof(pow(2.0f, 2))"
        ' == 8 && sizeof(max(1.0f, 2.0)) == 8, ""); if (lroundf(2.5f) != 3) __trap();',
        "    if (std::max({1, N, 3}) < N) __trap(); int n = 0; for (int i : {1, 2}) n += i;"
        " assert(n == 3 && INT_MAX > N && M_PI < 4); uint64_t w = UINT64_MAX; (void)w;",
        "    dim3 t = threadIdx, b(blockIdx); uint3 u = blockDim; auto f = [](dim3 i) {"
        " return i.x; }; if (f(threadIdx) != t.x || u.y != 16 || b.x != blockIdx.x) __trap();",
        "    if (__reduce_add_sync(~0u, tx) != 240 || __reduce_max_sync(~0u, tx) != 15"
        " || __reduce_min_sync(~0u, tx) != 0 || __reduce_or_sync(~0u, 1u << tx) != 0xffffu)"
        " __trap();"
        " if (__match_any_sync(~0u, tx) != 0x10001u << tx) __trap();",
        "    int same; if (tx >= 4) return; if (__reduce_add_sync(~0u, tx) != 12"
        " || __match_any_sync(~0u, tx == 0) != (tx ? 0xe000eu : 0x10001u)"
        " || __match_all_sync(~0u, 1, &same) != ~0u || !same) __trap();",
        "    using namespace cooperative_groups; thread_block block = this_thread_block();"
        " thread_block_tile<8> eight = tiled_partition<8>(block); thread_group any = eight;"
        " thread_group four = tiled_partition(block, 4), all = block; any.sync(); all.sync();"
        " if (any.size() != 8 || four.thread_rank() != tx % 4 || all.size() != 256"
        " || this_grid().num_blocks() != gridDim.x * gridDim.y) __trap();",
        "#pragma unroll\n    for (int i = 0; i < 4; ++i) if (i > M) return;",
        "    enum { WIDE = 32 }; constexpr unsigned four = 16; struct S { alignas(four) char c; };"
        " struct alignas(8l) T { char c; }; struct alignas(WIDE > 9 ? 32 : 8) U { char c; };"
        " struct alignas(int4) V { char c; }; static_assert(alignof(S) == 16 && alignof(T) == 8"
        ' && alignof(U) == 32 && alignof(V) == 16, "");',
        "    auto &t = threadIdx; auto u = blockDim; u.x += 1; const auto &[x, y, z] = blockIdx;"
        " if (t.x != tx || u.x != 17 || x > M + y + z) __trap(); auto block = (long)u.x;"
        " if (min(sizeof(u), block) != 12 || max(-1ll, 3ull) != ~0ull) __trap();",
        "    const int n = 4; float4 a[n] = {0.0f}; int2 b[2][2] = {{0}}, c[2]{0}; __stcs(C, 0);"
        " if (a[1].y + b[1][1].y + c[1].x != 0) __trap(); __stcg(&C[0], 0.5 * K);"
        " float2 d[2] = { {0.0} }; if (d[1].y != 0) __trap();",
        "    uint i = 0; size_t j = sizeof(float4); int32_t k = INT32_MAX; (void)(i + j + k);",
        "    namespace cg = cooperative_groups; cg::thread_block block = cg::this_thread_block();"
        " block.sync(); auto tile = cg::tiled_partition<16>(block);"
        " if (tile.shfl(tx, 5) != 5 || tile.thread_rank() != tx || tile.size() != 16) __trap();"
        " if (tile.ballot(tx == 1) != 2 || block.thread_rank() != ty * 16 + tx) __trap();",
    ],
)
def test_what_cuda_offers_means_what_cuda_says(family: str, body: str) -> None:
    before = "#include <algorithm>\n#include <cooperative_groups.h>\n"
    result = run(family, body, before=before)
    assert result.findings == ()
    assert result.images


@both_compilers
def test_a_float4_copy_is_one_read_and_one_write_of_16_bytes(family: str, tmp_path: Path) -> None:
    text = PRELUDE + (
        "    reinterpret_cast<float4 *>(C)[col] = reinterpret_cast<const float4 *>(A)[col];\n}\n"
    )
    assert accesses(family, text, tmp_path) == ["__tsan_read16", "__tsan_write16"]


def accesses(family: str, text: str, folder: Path) -> list[str]:
    """What the compiler makes of a kernel's accesses, in the order of its code."""
    device(family)  # skips without the compiler
    compiler = next(c for c in find_host_compilers() if c.family == family)
    compile_kernel(compiler, (9, 0), text, folder)
    assembly = (folder / "kernel.s").read_text()
    body = assembly.split("\nmatmul_naive:")[1].split(".cfi_endproc")[0]
    return re.findall(r"__tsan_\w+", body)


# All of it is C++17, and nvcc takes it in device code.
CLAIMS = """
is_floating_point<float>::value && is_floating_point_v<const double> && !is_floating_point_v<int>
is_integral_v<unsigned char> && !is_integral_v<float> && is_arithmetic_v<float>
is_signed_v<int> && is_signed_v<float> && is_unsigned_v<unsigned> && !is_unsigned_v<int *>
is_trivially_copyable_v<float4> && is_trivially_copyable_v<const float2[3]>
is_trivially_copyable_v<Base> && is_trivial_v<Base> && is_standard_layout_v<Base>
is_same_v<decay_t<const float &>, float> && is_same_v<decay_t<int (&)[3]>, int *>
is_same_v<remove_cv_t<const volatile int>, int> && is_same_v<remove_reference_t<int &&>, int>
is_same_v<remove_pointer_t<const float *const>, const float>
is_same_v<remove_extent_t<float[3][4]>, float[4]>
is_same_v<remove_all_extents_t<float[3][4]>, float>
is_same_v<conditional_t<sizeof(int) == 4, int, long>, int>
is_same_v<common_type_t<char, float, double>, double> && is_same_v<make_unsigned_t<int>, unsigned>
is_same_v<add_pointer_t<int &>, int *> && is_same_v<add_const_t<int>, const int>
is_pointer_v<int *const> && is_array_v<int[2]> && is_reference_v<int &> && is_const_v<const int>
extent_v<float[16][17]> == 16 && extent_v<float[16][17], 1> == 17 && rank_v<float[16][17]> == 2
is_base_of_v<Base, Derived> && is_convertible_v<int, float> && !is_convertible_v<Base, int>
is_enum_v<Short> && is_same_v<underlying_type_t<Short>, short> && is_class_v<Base>
conjunction_v<true_type, is_void<void>> && disjunction_v<false_type, true_type>
!negation_v<true_type> && integral_constant<int, 3>()() == 3
numeric_limits<unsigned short>::max() == 65535 && numeric_limits<short>::min() == -32768
numeric_limits<bool>::max() == true && numeric_limits<signed char>::lowest() == SCHAR_MIN
numeric_limits<long long>::min() == LLONG_MIN && numeric_limits<size_t>::max() == SIZE_MAX
numeric_limits<int>::max() == INT_MAX && numeric_limits<int>::lowest() == INT_MIN
numeric_limits<float>::digits == 24 && numeric_limits<double>::digits == 53
numeric_limits<const int>::digits == 31 && numeric_limits<unsigned>::digits10 == 9
numeric_limits<double>::epsilon() > 0 && numeric_limits<float>::has_infinity
!numeric_limits<Base>::is_specialized && !numeric_limits<float>::is_integer
is_same_v<make_index_sequence<3>, index_sequence<0, 1, 2>>
is_same_v<make_integer_sequence<int, 2>, integer_sequence<int, 0, 1>>
is_same_v<index_sequence_for<int, float>, index_sequence<0, 1>>
make_integer_sequence<int, 0>::size() == 0
make_pair(1, 2.5f).second == 2.5f && pair(1, 2).first == 1
UINT16_MAX == 65535 && USHRT_MAX == 65535 && ULONG_MAX > UINT_MAX && CHAR_MIN <= 0
"""


@both_compilers
def test_the_library_for_types_and_limits_says_what_the_standard_says(family: str) -> None:
    headers = ("climits", "cstdint", "limits", "type_traits", "utility")
    before = "".join(f"#include <{header}>\n" for header in headers)
    before += "struct Base { int i; }; struct Derived : Base {}; enum Short : short { zero };\n"
    before += "using namespace std;\n"
    before += "".join(f'static_assert({claim}, "");\n' for claim in CLAIMS.strip().splitlines())
    assert build(family, before + PRELUDE + FINISH).findings == ()


UNION = "union Quad { float4 v; float f[4]; };\n"
UNION += "using Vec = float4; typedef Vec Four; union Named { Four v; float f[4]; };\n"
FOUR = "make_float4(1.0f, 2.0f, 3.0f, 4.0f)"


@both_compilers
@pytest.mark.parametrize(
    "body",
    [
        f"Quad a = {{{FOUR}}}, b = a, c; c = b; if (c.f[2] != 3.0f) __trap();",
        f"Quad a; a.v = {FOUR}; Quad b; b.v = a.v; float4 v = b.v; if (v.w != 4.0f) __trap();",
        f"Quad a; *&a.v = {FOUR}; float4 &v = a.v; v.y = 7.0f; if (a.f[1] != 7.0f) __trap();",
        f"Quad a; a.v = {FOUR}; auto f = [](float4 v) {{ return v.z; }};"
        " if (f(a.v) != 3.0f) __trap();",
        f"union alignas(16) {{ float4 v; float f[4]; }} a, b; a.v = {FOUR}; b = a;"
        " if (b.f[3] != 4.0f) __trap();",
        f"struct {{ union {{ float4 v; float f[4]; }}; int i; }} a, b; a.v = {FOUR}; b = a;"
        " if (b.f[3] != 4.0f) __trap();",
        "union { float2 half[2]; float f[4]; } a, b; a.half[1] = make_float2(5.0f, 6.0f); b = a;"
        " if (b.f[3] != 6.0f) __trap();",
        "union { float4 v = {1.0f, 2.0f}; float f[4]; } a; auto b = a; if (b.f[1] != 2) __trap();",
        "Quad a, b; a.v = {1, 2, 3, 4}; b.v = {5}; a.v = b.v; if (a.f[0] != 5.0f) __trap();",
        f"Named a; a.v = {FOUR}; Named b = a; if (b.f[2] != 3.0f) __trap();",
        f"__shared__ Quad tile[4]; if (tx + ty == 0) tile[1].v = {FOUR}; __syncthreads();"
        " Quad a = tile[1]; if (a.f[3] != 4.0f) __trap();",
    ],
)
def test_a_union_of_a_vector_and_its_elements_can_be_copied(family: str, body: str) -> None:
    result = run(family, f"    {body}", before=UNION)
    assert result.findings == ()
    assert result.images


@both_compilers
@pytest.mark.parametrize(
    "body",
    [
        f"Quad a; a.v = {FOUR}; float4 v = tx > M ? a.v : {FOUR}; if (v.w != 4.0f) __trap();",
        "auto first = [](auto a, decltype(a) *b) { return a.x + b->x; };"
        f" Quad a; a.v = {FOUR}; float4 v = a.v; if (first(a.v, &v) != 2.0f) __trap();",
        "Any<float4> a = *(const Any<float4> *)A; if (a.v.x > 1e30f) return;",
        "float4 a[2] = {1, 2, 3, 4, 5, 6, 7, 8}; if (a[1].x != 5) __trap();",
        "struct Pair { float4 a, b; } pair = {0}; if (pair.b.x != 0) __trap();",
        "constexpr float4 a = {1}, b = a; if (b.x != 1) __trap();",
        "struct { uint3 threadIdx; } at = {threadIdx}; if (at.threadIdx.x != tx) __trap();",
    ],
)
def test_what_only_cuda_s_headers_take_is_not_graded(family: str, body: str) -> None:
    before = UNION + "template <class V> union Any { V v; float f[4]; };\n"
    built = build(family, before + PRELUDE + f"    {body}" + FINISH)
    assert built.findings == ()
    assert "what CUDA's headers take" in built.unsupported


@both_compilers
@pytest.mark.parametrize("body", ["float4 v = 0.f;", "float4 v[2] = {{1, 2, 3, 4, 5}};"])
def test_what_cuda_s_headers_do_not_take_does_not_compile(family: str, body: str) -> None:
    (found,) = build(family, PRELUDE + f"    {body}" + FINISH).findings
    assert found.kind == "compile_error"
    assert found.locations[0].line == BODY_LINE


@both_compilers
def test_an_error_at_a_unions_vector_speaks_of_the_vector(family: str) -> None:
    text = UNION + PRELUDE + "    Quad a = {}; int *p = &a.v; (void)p;" + FINISH
    (found,) = build(family, text).findings
    assert found.locations[0].line == BODY_LINE + 2
    assert "float4" in found.facts["message"]
    assert "sim_" not in found.facts["message"]


@both_compilers
def test_a_vector_in_a_union_is_one_access_of_16_bytes(family: str, tmp_path: Path) -> None:
    text = UNION + PRELUDE
    text += "    Quad a;\n    a.v = reinterpret_cast<const float4 *>(A)[col];\n"
    text += "    reinterpret_cast<float4 *>(C)[col] = a.v;\n}\n"
    assert accesses(family, text, tmp_path) == ["__tsan_read16", "__tsan_write16"]


def test_a_copy_of_such_a_union_is_one_access_of_16_bytes(tmp_path: Path) -> None:
    text = UNION + PRELUDE
    text += "    Quad a = reinterpret_cast<const Quad *>(A)[col];\n"
    text += "    C[col] = a.f[0] + a.f[1] * a.f[2] + a.f[3];\n}\n"
    assert accesses("g++", text, tmp_path) == ["__tsan_read16", "__tsan_write4"]


def test_only_a_zero_that_clears_an_array_of_vectors_is_dropped() -> None:
    kept = 'int a[2] = {0}; float4 b[2] = {1}, c = {0}, d[] = {0}; "float4 e[2] = {0}"; '
    text = kept + "using V = float4; V f[n + 1][2] = {{NUMBER}}, g[2]{NUMBER};"
    empty = kept + "using V = float4; V f[n + 1][2] = {}, g[2]{};"
    assert zeros.drop(text.replace("NUMBER", "0.0f")) == empty


def test_only_the_members_of_unions_change() -> None:
    plain = "float4 a; union Quad q = {float4()}; void f(union Quad *, float4); float4 u; "
    inner = "union __attribute__((aligned(16))) Quad { struct { NAME lo, hi; } s; NAME v; };"
    text = '# 1 "kernel.cu"\n' + plain + inner + " float4 b;"
    assert unions.mark(text.replace("NAME", "float4")) == text.replace("NAME", "sim_plain_float4")


def test_the_members_of_unions_change_under_other_names_too() -> None:
    names = "using Vec = float4; typedef Vec Four; Four c; "
    text = names + "union Quad { Four v; int4 i; float f[4]; };"
    marked = names + "union Quad { sim_plain_float4 v; sim_plain_int4 i; float f[4]; };"
    assert unions.mark(text) == marked


@both_compilers
@pytest.mark.parametrize("header", HEADERS)
def test_no_header_collides_with_a_students_macros(
    family: str, header: str, tmp_path: Path
) -> None:
    device(family)
    compiler = next(c for c in find_host_compilers() if c.family == family)
    names = "A B C D M N K T S BM BN BK TM TN WM WN TILE TILE_SIZE BLOCK BLOCK_SIZE SIZE WIDTH PAD"
    macros = "".join(f"#define {name} {i}\n" for i, name in enumerate(names.split()))
    text = f'{macros}#include <{header}>\n#include "launch.cuh"\n'
    assert compile_kernel(compiler, (9, 0), text, tmp_path).exists()


@pytest.mark.parametrize("header", HEADERS)
def test_every_header_stands_alone(header: str) -> None:
    text = f"#include <{header}>\n{PRELUDE}    if (row < M && col < N) C[row * N + col] = 0;\n}}\n"
    assert build("g++", text).findings == ()


@both_compilers
def test_an_error_is_reported_at_the_students_line_in_one_sentence(family: str) -> None:
    built = build(family, PRELUDE + "    float x = undefined_name;" + FINISH)
    (found,) = built.findings
    assert found.kind == "compile_error"
    assert found.locations[0].line == BODY_LINE
    assert found.locations[0].file == "starter/01_naive.cu"
    assert "undefined_name" in found.facts["message"]


@both_compilers
def test_a_wrong_signature_is_named_with_what_was_found(family: str) -> None:
    text = PRELUDE.replace("const float *A", "float *A") + FINISH
    (found,) = build(family, text).findings
    assert found.kind == "wrong_signature"
    assert found.facts["found"].startswith("matmul_naive(float*, const float*, float*, int")
    assert found.locations[0].line == 3


@both_compilers
def test_a_misspelt_kernel_is_missing_and_the_found_one_is_named(family: str) -> None:
    (found,) = build(family, (PRELUDE + FINISH).replace("matmul_naive", "matmul_niave")).findings
    assert (found.kind, found.facts["found"]) == ("missing_kernel", ["matmul_niave"])
    assert [place.line for place in found.locations] == [3]


@both_compilers
def test_a_missing_launch_configuration_is_found(family: str) -> None:
    text = "\n".join(line for line in PRELUDE.splitlines() if "LAUNCH" not in line) + FINISH
    (found,) = build(family, text).findings
    assert found.kind == "missing_config"


@both_compilers
def test_a_launch_configuration_may_be_computed(family: str) -> None:
    text = PRELUDE.replace(".tile_n = 16", ".tile_n = 4 * (2 + 2), .tile_k = sizeof(float)")
    built = build(family, text + FINISH)
    assert built.config is not None
    assert (built.config.tile_n, built.config.tile_k, built.config.dynamic_shared) == (16, 4, 0)


def test_large_device_variables_are_rejected() -> None:
    text = "__device__ float kept[1 << 19];\n" + PRELUDE + "    kept[col] = 1;" + FINISH
    (found,) = build("g++", text).findings
    assert (found.kind, found.facts["bytes"]) == ("device_variables", 2 << 20)


def test_inline_ptx_is_not_supported_rather_than_wrong() -> None:
    text = PRELUDE + '    int x; asm("mov.u32 %0, %laneid;" : "=r"(x));' + FINISH
    assert build("g++", text).unsupported


def test_a_build_is_reused_and_depends_on_the_text() -> None:
    first, second = (build("g++", PRELUDE + FINISH) for _ in range(2))
    other = build("g++", PRELUDE + "    // a comment" + FINISH)
    assert first.artifact == second.artifact
    assert other.artifact != first.artifact


def test_symbols_of_an_object_file_hold_the_configuration(tmp_path: Path) -> None:
    source = tmp_path / "x.c"
    source.write_text("int launch_config[6] = {1, 2, 3, 4, 5, 6}; int zero[2];")
    subprocess.run(["gcc", "-c", source, "-o", tmp_path / "x.o"], check=True)
    assert elf.initial_bytes(tmp_path / "x.o", "launch_config") == b"".join(
        number.to_bytes(4, "little") for number in range(1, 7)
    )
    assert elf.initial_bytes(tmp_path / "x.o", "zero") == bytes(8)
    assert elf.initial_bytes(tmp_path / "x.o", "absent") is None


def test_the_contract_header_is_the_graders_own(tmp_path: Path) -> None:
    (tmp_path / "launch.cuh").write_text("#error the student's copy must not be used\n")
    built = device("g++").build(
        build("g++", PRELUDE + FINISH).exercise,
        submission(PRELUDE + FINISH, str(tmp_path / "01_naive.cu")),
    )
    assert built.findings == ()
    assert (CONTRACT / "launch.cuh").exists()
