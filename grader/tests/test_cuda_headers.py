"""The simulator's headers offer what a kernel may take from CUDA's and the C++ library's, with
the values that their documentation defines."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest

from grader.source import uses_unsupported
from grader.tests.simulated import both_compilers, run, submission

INTRINSICS = """
__byte_perm(0x33221100u, 0x77665544u, 0x7531u) == 0x77553311u
__byte_perm(0x00008000u, 0u, 0x9998u) == 0xffffff00u
__funnelshift_l(0x80000001u, 0x12345678u, 4) == 0x23456788u
__funnelshift_r(0x80000001u, 0x12345678u, 36) == 0x88000000u
__funnelshift_l(5u, 7u, 32) == 7u && __funnelshift_lc(5u, 7u, 32) == 5u
__funnelshift_r(5u, 7u, 32) == 5u && __funnelshift_rc(5u, 7u, 99) == 7u
__brev(1u) == 0x80000000u && __brevll(2ull) == 0x4000000000000000ull
__sad(-2, 3, 10u) == 15u && __usad(2u, 7u, 1u) == 6u && __sad(INT_MIN, INT_MAX, 0u) == UINT_MAX
__hadd(-3, 0) == -2 && __rhadd(-3, 0) == -1 && __hadd(INT_MAX, INT_MAX) == INT_MAX
__uhadd(UINT_MAX, 1u) == 0x80000000u && __urhadd(UINT_MAX, 2u) == 0x80000001u
__mul64hi(-1, 1) == -1 && __umul64hi(1ull << 63, 4) == 2 && __mulhi(-1, 1) == -1
__dp4a(0x0102ff03, 0x01010101, 5) == 10 && __dp4a(0x0102ff03u, 0x01010101u, 5u) == 266u
umin(1u, 2u) == 1u && umax(1u, 2u) == 2u && llmin(-1, 2) == -1 && ullmax(1, 2) == 2
__hiloint2double(__double2hiint(-2.5), __double2loint(-2.5)) == -2.5
"""
CONVERSIONS = """
__float2int_rn(2.5f) == 2 && __float2int_rn(3.5f) == 4 && __float2int_rn(-2.5f) == -2
__float2int_rz(-2.7f) == -2 && __float2int_rd(-2.1f) == -3 && __float2int_ru(-2.9f) == -2
__float2int_rz(3e9f) == INT_MAX && __float2int_rz(-3e9f) == INT_MIN && __float2int_rz(NAN) == 0
__float2uint_rn(-1.0f) == 0u && __float2uint_rz(5e9f) == UINT_MAX && __float2uint_rz(3e9f) > 2e9
__float2uint_ru(0.1f) == 1u && __float2uint_rd(1.9f) == 1u && __float2uint_rz(-0.5f) == 0u
__float2uint_rz(1.0f) == 1u && __float2ull_rn(1.0f) == 1u && __double2uint_rd(1.5) == 1u
__float2ll_rn(-1e10f) == -10000000000ll && __float2ll_rz(1e19f) == LLONG_MAX
__float2ll_rz(NAN) == LLONG_MIN && __float2ull_rz(1e19f) > LLONG_MAX
__float2ull_rd(INFINITY) == ULLONG_MAX && __double2int_rz(NAN) == INT_MIN
__double2int_rn(0.5) == 0 && __double2uint_ru(1e-9) == 1u && __double2ll_rd(-0.5) == -1
__ll2float_rn(1ll << 40) == 1099511627776.0f && __int2double_rn(-7) == -7.0
__ull2float_rn(ULLONG_MAX) == 18446744073709551616.0f && __uint2double_rn(UINT_MAX) > 4e9
"""
FUNCTIONS = """
scalbnf(1.5f, 3) == 12.0f && logbf(8.0f) == 3.0f && nextafterf(1.0f, 2.0f) > 1.0f
abs(tgammaf(4.0f) - 6.0f) < 1e-5f && abs(rcbrtf(8.0f) - 0.5f) < 1e-6f
abs(rhypotf(3.0f, 4.0f) - 0.2f) < 1e-6f && lgammaf(1.0f) == 0.0f && isnan(nanf(""))
__dsub_rn(3.0, 1.0) == 2.0 && __ddiv_rn(1.0, 4.0) == 0.25 && __dsqrt_rn(9.0) == 3.0
std::signbit(-0.0f) && std::asinh(0.0f) == 0.0f && std::roundf(2.5f) == 3.0f
std::to_integer<int>((std::byte{6} & std::byte{3}) << 1) == 4 && std::byte{1} != std::byte{2}
sizeof(std::int_fast32_t) >= 4 && sizeof(std::uint_least8_t) == 1 && nullptr_t() == nullptr
alignof(std::max_align_t) >= 8 && std::is_same_v<std::nullptr_t, decltype(nullptr)>
sizeof(std::aligned_storage_t<24, 8>) == 24 && std::is_invocable_v<float (*)(float), int>
!std::is_invocable_v<float (*)(float), float *> && std::is_copy_constructible_v<float4>
std::is_copy_assignable_v<float4> && !std::is_copy_assignable_v<const float>
std::is_function_v<void(int)> && !std::is_object_v<void(int)> && std::is_compound_v<float4>
__frcp_rn(4.0f) == 0.25f && __frcp_rn(-0.5f) == -2.0f && __drcp_rn(8.0) == 0.125
__fdividef(1.0f, 4.0f) == 0.25f && fdividef(-1.0f, 4.0f) == -0.25f && __fdiv_rn(1, 8) == 0.125f
__fsub_rn(1.0f, 3.0f) == -2.0f && __fmul_rn(3.0f, -2.0f) == -6.0f && __fadd_rn(1, 2) == 3.0f
__fsqrt_rn(9.0f) == 3.0f && __frsqrt_rn(4.0f) == 0.5f && rsqrtf(16.0f) == 0.25f && rsqrt(4.0) == 0.5
__saturatef(-1.0f) == 0.0f && __saturatef(2.0f) == 1.0f && __saturatef(0.25f) == 0.25f
std::numeric_limits<int>::digits10 == 9 && std::numeric_limits<unsigned char>::digits10 == 2
std::numeric_limits<long long>::digits10 == 18 && std::numeric_limits<uint64_t>::digits10 == 19
std::numeric_limits<int>::radix == 2 && std::numeric_limits<int>::max_digits10 == 0
std::numeric_limits<signed char>::min() == -128 && std::numeric_limits<uint>::max() == UINT_MAX
FLT_RADIX == 2 && DBL_DIG == 15 && INTPTR_MAX == INT64_MAX && sizeof(UINT64_C(1)) == 8
*std::addressof(M) == M && sizeof(longlong3) == 24 && make_ulong2(1, 2).y == 2
atomicAdd_block(&shared_word, 0) == 7 && atomicMax_system(&shared_word, 3) == 7
"""
HEADERS = ("cfloat", "cstddef", "cstdio", "cstring", "limits", "type_traits")
BEFORE = (
    "".join(f"#include <{name}>\n" for name in HEADERS)
    + "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
)


@both_compilers
@pytest.mark.parametrize("claims", [INTRINSICS, CONVERSIONS, FUNCTIONS])
def test_values_are_those_that_the_documentation_defines(family: str, claims: str) -> None:
    body = "    __shared__ int shared_word; shared_word = 7; __syncthreads();\n"
    body += "\n".join(f"    if (!({claim})) __trap();" for claim in claims.strip().splitlines())
    assert run(family, body, before=BEFORE).findings == ()


def signed(value: int, bits: int = 32) -> int:
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def unsigned(value: int) -> int:
    return value % (1 << 32)


def permuted(x: int, y: int, selector: int) -> int:
    every = unsigned(x) | unsigned(y) << 32
    chosen = 0
    for place in range(4):
        nibble = selector >> 4 * place & 15
        byte = every >> 8 * (nibble & 7) & 255
        chosen |= (255 * (byte >> 7) if nibble & 8 else byte) << 8 * place
    return chosen


def products(x: int, y: int, sign: bool) -> int:
    pairs = ((x >> at & 255, y >> at & 255) for at in (0, 8, 16, 24))
    return sum(signed(a, 8) * signed(b, 8) if sign else a * b for a, b in pairs)


Integers = Callable[[int, int], int]
# What each gives for x and y, with a third operand of 9 or a shift of 5 where it takes one.
OF_SIGNED: dict[str, Integers] = {
    "__mul24(x, y)": lambda x, y: signed(signed(x, 24) * signed(y, 24)),
    "__mulhi(x, y)": lambda x, y: x * y >> 32,
    "__hadd(x, y)": lambda x, y: x + y >> 1,
    "__rhadd(x, y)": lambda x, y: x + y + 1 >> 1,
    "__sad(x, y, 9u)": lambda x, y: unsigned(abs(x - y) + 9),
    "__dp4a(x, y, 9)": lambda x, y: signed(products(x, y, sign=True) + 9),
    "__clz(x)": lambda x, _: 32 - unsigned(x).bit_length(),
    "__ffs(x)": lambda x, _: (x & -x).bit_length(),
    "max(x, y)": max,
    "min(x, y)": min,
}
OF_UNSIGNED: dict[str, Integers] = {
    "__umul24(x, y)": lambda x, y: unsigned(x % (1 << 24) * (y % (1 << 24))),
    "__umulhi(x, y)": lambda x, y: x * y >> 32,
    "__uhadd(x, y)": lambda x, y: x + y >> 1,
    "__urhadd(x, y)": lambda x, y: x + y + 1 >> 1,
    "__usad(x, y, 9u)": lambda x, y: unsigned(abs(x - y) + 9),
    "__dp4a(x, y, 9u)": lambda x, y: products(x, y, sign=False) + 9,
    "__popc(x)": lambda x, _: x.bit_count(),
    "__brev(x)": lambda x, _: int(f"{x:032b}"[::-1], 2),
    "__byte_perm(x, y, 0x7420u)": lambda x, y: permuted(x, y, 0x7420),
    "__byte_perm(x, y, 0x1fb6u)": lambda x, y: permuted(x, y, 0x1FB6),
    "__funnelshift_l(x, y, 37)": lambda x, y: unsigned((y << 32 | x) << 5 >> 32),
    "__funnelshift_r(x, y, 37)": lambda x, y: unsigned((y << 32 | x) >> 5),
    "__funnelshift_lc(x, y, 5)": lambda x, y: unsigned((y << 32 | x) << 5 >> 32),
    "__funnelshift_rc(x, y, 5)": lambda x, y: unsigned((y << 32 | x) >> 5),
    "umax(x, y)": max,
    "umin(x, y)": min,
}
WORDS = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x01800001, 0x2ED5A9C3, 0x00FF7F80)


@both_compilers
@pytest.mark.parametrize(
    ("table", "kind", "read"), [(OF_SIGNED, "int", signed), (OF_UNSIGNED, "unsigned", unsigned)]
)
def test_intrinsics_of_integers_give_what_python_works_out(
    family: str, table: dict[str, Integers], kind: str, read: Callable[[int], int]
) -> None:
    body = []
    for x, y in itertools.product(map(read, WORDS), map(read, WORDS[1::3])):
        body.append(f"    x = ({kind}){unsigned(x)}u, y = ({kind}){unsigned(y)}u;")
        body += [f"assert({call} == ({kind}){unsigned(f(x, y))}u);" for call, f in table.items()]
    text = f"    if (tx + ty == 0) {{ {kind} x, y;\n" + "\n".join(body) + "\n}"
    assert run(family, text).findings == ()


@both_compilers
@pytest.mark.parametrize(
    "body",
    [
        "    float own[2]; std::memset(own, 0, sizeof own); std::memcpy(own, A, 4);"
        " if (own[0] != A[0] || own[1] != 0.0f) __trap();",
        "    register int i = tx; if (i != tx) __trap();",
        "    short narrow = (short)(tx - 3); if (__shfl_sync(~0u, narrow, 0) != -3) __trap();",
        "    int same = 5; if (__match_all_sync(~0u, tx, &same) || same) __trap();"
        " if (__match_all_sync(~0u, 9, &same) != ~0u || same != 1) __trap();",
    ],
)
def test_the_library_works_under_its_own_names(family: str, body: str) -> None:
    assert run(family, body, before=BEFORE).findings == ()


@both_compilers
def test_coalesced_threads_are_numbered_among_themselves(family: str) -> None:
    body = """    if (tx % 2) {
        cg::coalesced_group odd = cg::coalesced_threads();
        int rank = (ty % 2 * 16 + tx) / 2;
        if (odd.size() != 16 || odd.thread_rank() != rank || odd.shfl(tx, 2) != 5) __trap();
        if (odd.shfl_up(rank, 1) != (rank ? rank - 1 : 0) || !odd.any(tx == 3)) __trap();
        if (odd.shfl_down(rank, 2) != (rank < 14 ? rank + 2 : rank) || odd.all(tx == 3)) __trap();
        if (odd.ballot(tx == 3) != 0x202u || cg::thread_rank(odd) != rank) __trap();
        odd.sync();
    }
    auto eight = cg::tiled_partition<8>(cg::tiled_partition<32>(cg::this_thread_block()));
    if (eight.meta_group_rank() != ty % 2 * 2 + tx / 8 || eight.meta_group_size() != 4) __trap();
    if (tx / 8 == 1) {  // a tile asks none but its own lanes
        eight.sync();
        if (eight.shfl(tx, 2) != 10 || !eight.any(tx == 8) || eight.all(tx == 8)) __trap();
        if (eight.shfl_down(tx, 3) != (tx < 13 ? tx + 3 : tx)) __trap();
    }
    auto one = cg::this_thread();
    one.sync();
    if (one.size() != 1 || one.thread_rank() != 0 || one.meta_group_size() != 1) __trap();
    auto token = cg::this_thread_block().barrier_arrive();
    cg::this_thread_block().barrier_wait(std::move(token));
    if (cg::this_grid().is_valid() || FLT_MAX <= 1.0f) __trap();
    auto four = cg::tiled_partition<4>(cg::this_thread_block());
    int same = 2;
    if (four.match_any(tx % 2) != (tx % 2 ? 10u : 5u) || cg::group_size(four) != 4) __trap();
    if (four.match_all(tx / 4, same) != 15u || same != 1) __trap();"""
    assert run(family, body, before=BEFORE).findings == ()


@pytest.mark.parametrize(
    ("statement", "used"),
    [
        ("int v = __vadd4(M, N) + __vmaxs2(M, N);", "__vadd4, __vmaxs2"),
        ("float x = __fadd_rz(1.0f, 2.0f);", "__fadd_rz"),
        ("float x = tex2D<float>(texture, 1, 2);", "tex2D"),
        ("double4 v = make_double4(1, 2, 3, 4);", "double4, make_double4"),
        ("float *p = (float *)malloc(4);", "malloc"),
        ("float4 v = {.x = 1, .y = 2};", "the members of float4 by name"),
        ("use(float4{.w = 1});", "the members of float4 by name"),
    ],
)
def test_what_only_a_gpu_has_is_named_rather_than_refused(statement: str, used: str) -> None:
    assert uses_unsupported(submission(f"__global__ void f() {{ {statement} }}")).startswith(used)


@pytest.mark.parametrize(
    "text",
    [
        "__device__ float norm3d(float x) { return x; } __device__ float g() { return norm3d(1); }",
        "#define __vadd4(a, b) ((a) + (b))\n__device__ int g() { return __vadd4(1, 2); }",
        "struct Pair { float x, y; }; __device__ Pair g() { return Pair{.x = 1, .y = 2}; }",
        "__device__ float g(Pool &pool, float4 v = {1, 2}) { return pool.malloc(4) + v.x; }",
        "__device__ int g(int a) { return __vector_sum(a) + __fadd_rn(a, a); }",
    ],
)
def test_names_that_a_file_defines_are_its_own(text: str) -> None:
    assert uses_unsupported(submission(text)) == ""
