"""Nothing hides from the simulator by its size, its width or its number."""

from __future__ import annotations

import dataclasses

import pytest

from grader.counters import Counters, total
from grader.efficiency import judge_counters
from grader.problems.matmul import Case, prepare
from grader.tests.simulated import (
    FINISH,
    PRELUDE,
    SHAPE,
    both_compilers,
    build,
    device,
    first,
    launch,
    right,
    run,
)
from grader.verdict import Verdict

FIRST = "    if (tx == 0 && ty == 0 && blockIdx.x == 0 && blockIdx.y == 0) "


def kinds(family: str, body: str, before: str = "") -> list[str]:
    done = run(family, body, before=before, watch=True)
    return [finding.kind for finding in done.findings]


def count(family: str, body: str, before: str = "") -> Counters:
    built = build(family, before + PRELUDE + body + FINISH)
    assert built.config is not None, built.findings
    made = prepare(built.exercise, built.config, Case(SHAPE, "exact", 5), 0x7FA00001)
    counters = device(family).launch(built, dataclasses.replace(made, count=True)).counters
    assert counters is not None
    return counters


def words_of(counters: Counters, name: str, line: int) -> int:
    return total(
        [one for one in counters.select("global", "load", name) if one.line == line], "words"
    )


@both_compilers
@pytest.mark.parametrize("use", ["sum_of[1] = *theirs[1];", "*theirs[1] = 2.0f;"])
def test_local_memory_of_another_thread_is_out_of_bounds(family: str, use: str) -> None:
    body = (
        "    __shared__ float *theirs[256]; volatile float mine[2] = {1.0f, 2.0f};\n"
        "    float sum_of[2] = {}; theirs[ty * 16 + tx] = (float *)mine; __syncthreads();\n"
        f"    if (tx == 0 && ty == 0) {{ {use} }} __syncthreads(); if (sum_of[1] > 3.0f) return;\n"
    )
    found = first(run(family, body))
    assert (found.verdict, found.kind) == (Verdict.OUT_OF_BOUNDS, "foreign_local")
    assert (found.facts["thread"], found.facts["other"]) == ([0, 0], [1, 0])


@both_compilers
def test_local_memory_of_its_own_is_a_threads_to_share_with_itself(family: str) -> None:
    body = (
        "    __shared__ float *mine_of[256]; float mine[2] = {1.0f, 2.0f};\n"
        "    mine_of[ty * 16 + tx] = mine; __syncthreads();\n"
        "    *mine_of[ty * 16 + tx] += 1.0f; __syncthreads(); if (mine[0] != 2.0f) return;\n"
    )
    assert kinds(family, body) == []


@both_compilers
@pytest.mark.parametrize("copy", ["__builtin_memcpy", "__builtin_memmove", "memcpy"])
def test_a_copy_past_the_end_is_out_of_bounds_however_it_is_spelt(family: str, copy: str) -> None:
    body = f"    float three[3]; {FIRST} {copy}(three, &A[M * K - 1], 12);\n"
    assert "global_access" in kinds(family, body)


@both_compilers
def test_a_builtin_copy_cannot_be_had_back_from_its_macro(family: str) -> None:
    body = f"    float three[3]; {FIRST} __builtin_memcpy(three, &A[M * K - 1], 12);\n"
    built = build(family, "#undef __builtin_memcpy\n" + PRELUDE + body + FINISH)
    assert [finding.verdict for finding in built.findings] == [Verdict.REJECTED]


@both_compilers
def test_bytes_of_a_word_race_only_with_themselves(family: str) -> None:
    before = "struct Pair { short a, b; };\n"
    apart = "    __shared__ Pair pair; if (tx == 0) pair.a = (short)ty; __syncthreads();\n"
    assert "two_writers" in kinds(family, apart, before)
    neighbours = (
        "    __shared__ Pair pair; if (ty == 0 && tx == 0) pair.a = 3;"
        " if (ty == 0 && tx == 1) pair.b = 4; __syncthreads(); if (pair.a != 3) return;\n"
    )
    assert kinds(family, neighbours, before) == []
    same = "    __shared__ bool any; if (tx < 20) any = true; __syncthreads(); if (!any) return;\n"
    assert kinds(family, same) == []


@both_compilers
def test_a_word_read_before_a_barrier_races_with_one_byte_of_it(family: str) -> None:
    body = (
        "    __shared__ int word; if (ty == 0 && tx == 0) word = 0; __syncthreads();\n"
        "    if (ty == 0 && tx == 5) ((char *)&word)[3] = 1;\n"
        "    if (word == 7) return;\n"
    )
    assert "race" in kinds(family, body)


@both_compilers
@pytest.mark.parametrize(
    "store", ["tile = row_of;", "memcpy(&tile, &row_of, sizeof tile);"], ids=["struct", "memcpy"]
)
def test_copies_of_many_words_race_by_their_values(family: str, store: str) -> None:
    before = "struct Row { float v[40]; };\n"
    body = (
        "    __shared__ Row tile; Row row_of = {{}}; row_of.v[39] = {value};\n"
        "    {store}\n    __syncthreads();\n"
    )
    made = [body.format(value=value, store=store) for value in ("(float)tx", "2.0f")]
    assert "two_writers" in kinds(family, made[0], before)
    assert kinds(family, made[1], before) == []


@both_compilers
def test_words_are_counted_whatever_the_width_of_the_access(family: str) -> None:
    inside = "row < M && col < N && row * K + 3 < M * K"
    for copy, least in (("memcpy(x, &A[row * K], 3)", 1), ("memcpy(x, &A[row * K], 12)", 3)):
        body = f"    float x[4] = {{}};\n    if ({inside}) {copy};\n    if (x[0] > 1e30f) return;\n"
        lanes = sum(
            1 for r in range(SHAPE.m) for _ in range(SHAPE.n) if r * SHAPE.k + 3 < SHAPE.m * SHAPE.k
        )
        assert words_of(count(family, body), "A", 7) >= least * lanes


@both_compilers
def test_a_zero_filled_copy_counts_what_it_reads(family: str) -> None:
    body = (
        "    __shared__ float4 slot; if (tx == 0 && ty == 0)\n"
        "        __pipeline_memcpy_async(&slot, &A[0], 16, 4);\n"
        "    __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();\n"
    )
    blocks = -(-SHAPE.m // 16) * -(-SHAPE.n // 16)
    assert words_of(count(family, body, "#include <cuda_pipeline.h>\n"), "A", 8) == 3 * blocks


def test_accesses_that_the_counters_have_no_room_for_do_not_pass_for_few() -> None:
    lines = "".join(f"    pad[{n}] = 0.0f;\n" for n in range(4100))
    body = "    __shared__ float pad[4100]; if (tx == 0 && ty == 0) {\n" + lines + "    }\n"
    counters = count("g++", body)
    assert counters.uncounted > 0
    built = build("g++", PRELUDE + FINISH)
    found = judge_counters(built, SHAPE, counters)
    assert [finding.kind for finding in found] == ["uncounted"]


@both_compilers
def test_a_copy_stays_under_way_however_many_follow(family: str) -> None:
    body = (
        "    __shared__ float words[300]; if (tx == 0 && ty == 0) for (int i = 0; i < 300; ++i)\n"
        "        __pipeline_memcpy_async(&words[i], &A[0], 4);\n"
        "    __pipeline_commit();\n"
        "    if (tx == 0 && ty == 0 && words[0] > 1e30f) return;\n"
        "    __pipeline_wait_prior(0); __syncthreads();\n"
    )
    done = run(family, body, before="#include <cuda_pipeline.h>\n", watch=True)
    assert [f.facts["asynchronous"] for f in done.findings if f.kind == "race"] == [True]


def test_more_variables_than_the_machine_keeps_apart_are_not_graded() -> None:
    many = "".join(f"__device__ float spare{n};\n" for n in range(1100))
    built = build("g++", many + PRELUDE + FINISH)
    assert (built.artifact, built.findings) == (None, ())
    assert built.unsupported.endswith(
        "device variables, where the simulator keeps at most 1,024 apart"
    )
    some = "".join(f"__device__ float spare{n};\n" for n in range(300))
    body = "    if (row == 0 && col == 0) spare299 = 1.0f;\n"
    built = build("g++", some + PRELUDE + body + FINISH)
    assert launch("g++", built, watch=True).findings == ()


@both_compilers
def test_lanes_that_ask_who_is_active_see_those_of_their_branch(family: str) -> None:
    body = (
        "    if (tx < 5) {\n"
        "        unsigned int lanes = __activemask();\n"
        "        if (__shfl_sync(lanes, tx, 0) != 0 || __popc(lanes) != 10) return;\n"
        "    } else if (__popc(__activemask()) != 22) return;\n"
    )
    built = build(family, PRELUDE + body + FINISH)
    done = launch(family, built, watch=True)
    assert done.findings == ()
    assert right(built, SHAPE, done)


@both_compilers
def test_one_call_of_a_helper_is_one_barrier_and_two_are_two(family: str) -> None:
    before = (
        "__device__ __forceinline__ void keep(float &to, float x) { to = x; __syncthreads(); }\n"
    )
    start = "    __shared__ float tile[256]; float &mine = tile[ty * 16 + tx];\n"
    one = "    for (int i = 0; i < 3; ++i) keep(mine, row < M ? 1.0f : 0.0f);\n"
    assert kinds(family, start + one, before) == []
    two = "    if (row < M) { keep(mine, 1.0f); } else { keep(mine, 0.0f); }\n"
    assert kinds(family, start + two, before) == ["barrier_split"]


@both_compilers
def test_printf_reads_as_the_kernel_does_and_writes_nowhere(family: str) -> None:
    plain = FIRST + 'printf("%s %5.1f%% %*d %lld|", "C", 1.5, 4, 7, 1ll << 40);\n'
    done = run(family, plain, watch=True)
    assert (done.findings, done.output) == ((), "C   1.5%    7 1099511627776|")
    for conversion, argument in (("%n", "&ty"), ("%ls", 'L"C"')):
        body = f'    const char *format = "{conversion}";\n{FIRST} printf(format, {argument});\n'
        found = first(run(family, body))
        assert (found.verdict, found.kind) == (Verdict.REJECTED, "print_format")
        assert found.facts["name"] == conversion
    beyond = FIRST + 'printf("%s", (const char *)(A + M * K));\n'
    assert "global_access" in kinds(family, beyond)


@both_compilers
def test_constants_of_the_text_may_be_read(family: str) -> None:
    body = "    volatile int table[4] = {3, 1, 4, 1}; if (table[tx % 4] == 9) return;\n"
    assert kinds(family, body) == []


@both_compilers
def test_functions_with_two_results_store_the_second_where_it_is_seen(family: str) -> None:
    body = (
        "    float whole, low, sine, cosine; int e; double two;\n"
        "    low = modff(-2.75f, &whole); if (whole != -2.0f || low != -0.75f) return;\n"
        "    if (frexpf(12.0f, &e) != 0.75f || e != 4 || modf(2.5, &two) != 0.5) return;\n"
        "    __builtin_sincosf(0.0f, &sine, &cosine); if (sine != 0.0f || cosine != 1.0f) return;\n"
    )
    built = build(family, PRELUDE + body + FINISH)
    assert right(built, SHAPE, launch(family, built))
    for call in ("__builtin_modff(1.5f, C + M * N)", "frexpf(1.5f, (int *)(C + M * N))"):
        assert "global_access" in kinds(family, f"    {FIRST} {call};\n")
