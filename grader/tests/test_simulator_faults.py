"""The simulator names a fault, its place in the source, the thread and the element."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from grader.checks.probing import large_blocks, probe_large
from grader.device import Run
from grader.problems.matmul import Shape
from grader.tests.simulated import (
    BODY_LINE,
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

SHARED = "    __shared__ float As[16][16];\n    __shared__ float Bs[16][16];\n"
# What a kernel reads back, so that the compiler cannot drop the array.
USE = "\n    if (As[ty][tx] + Bs[ty][tx] == 12345.0f) C[0] = 1.0f;"


@both_compilers
def test_a_correct_kernel_gives_no_finding_and_the_right_product(family: str) -> None:
    built = build(family, PRELUDE + "\n    if (row < M && col < N) {"
                  " float s = 0; for (int k = 0; k < K; ++k) s += A[row * K + k] * B[k * N + col];"
                  " C[row * N + col] = s; }\n}\n")  # fmt: skip
    for order in (0, 1, 7):
        result = launch(family, built, order=order)
        assert result.findings == ()
        assert right(built, SHAPE, result)


@both_compilers
def test_an_unguarded_store_is_named_with_row_column_and_thread(family: str) -> None:
    found = first(run(family, "    C[row * N + col] = 1.0f;"))
    assert (found.verdict, found.kind) == (Verdict.OUT_OF_BOUNDS, "global_access")
    assert found.facts["operand"] == "C"
    assert found.facts["access"] == "write"
    assert (found.facts["row"], found.facts["col"]) == (17, 0)
    assert found.facts["thread"] == [0, 1]
    assert found.facts["block"] == [0, 1]
    assert [place.line for place in found.locations] == [BODY_LINE]


@both_compilers
@pytest.mark.parametrize(
    ("before", "own", "name"),
    [
        ("", "float own[8]; float *q = own;", "q"),
        ("typedef float Any[];\n", "float own[8]; Any &q = (Any &)own;", "q"),
        ("struct Row { float first, rest[]; };\n", "Row own;", "own.rest"),
        ("struct Big { float first, rest[1L << 50]; };\n",
         "float own[8]; float *near = own; Big &q = (Big &)*(near - (1L << 40));", "q.rest"),
        ("extern __device__ const float q[];\n__device__ const float q[8] = {1};\n", "", "q"),
        ("extern __device__ const float (q[]);\n__device__ const float q[8] = {1};\n", "", "q"),
        ("typedef const float Long[1L << 45];\n",
         'const char *text = "0123456"; Long &q = *(Long *)text;', "q"),
    ],
    ids=["pointer", "without a length", "last member", "too long", "defined later", "in brackets",
         "text"],
)  # fmt: skip
def test_an_index_that_leads_out_of_an_array_of_any_kind_is_seen(
    family: str, before: str, own: str, name: str
) -> None:
    body = f"    {own}\n    if (M < 0) C[0] = {name}[K];\n    C[0] = {name}[A + 100000 - {name}];"
    found = first(run(family, body, before=before))
    assert found.verdict is Verdict.OUT_OF_BOUNDS


LOOP = (
    "    if (row >= M || col >= N) return;\n    float sum = 0;\n"
    "    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
    "    C[row * N + col] = sum;\n}\n"
)


@both_compilers
@pytest.mark.parametrize(
    ("before", "after", "shape", "k"),
    [
        ("k < K", "k <= K", Shape(1, 1, 1), 1),
        ("B[k * N", "B[k * K", Shape(1, 2, 3), None),  # reaches the same element with k = 2
        ("if (row >= M || col >= N) return;", "", Shape(1, 1, 1), None),
    ],
)
def test_a_term_too_many_is_told_only_where_nothing_else_leads_there(
    family: str, before: str, after: str, shape: Shape, k: int | None
) -> None:
    built = build(family, PRELUDE + LOOP.replace(before, after))
    found = first(launch(family, built, shape=shape))
    assert found.kind == "global_access"
    assert found.facts.get("k") == k


@both_compilers
def test_an_index_far_outside_ends_the_launch_instead_of_the_worker(family: str) -> None:
    result = run(family, "    C[row * N + col - 100000000] = 1.0f;")
    assert first(result).facts["index"] == -100000000
    assert result.images == ()


@both_compilers
def test_a_null_pointer_is_a_wild_access(family: str) -> None:
    found = first(run(family, "    *(volatile float *)nullptr = 1.0f;"))
    assert (found.verdict, found.kind) == (Verdict.OUT_OF_BOUNDS, "wild_access")


@both_compilers
@pytest.mark.parametrize("index", ["As[ty + 16][tx]", "(&As[0][0])[256 + tx]", "As[15][M + tx]"])
def test_an_index_past_a_shared_array_never_lands_in_the_next(family: str, index: str) -> None:
    found = first(run(family, SHARED + f"    {index} = 1.0f;{USE}"))
    assert (found.verdict, found.kind) == (Verdict.OUT_OF_BOUNDS, "shared_access")
    assert found.facts["variable"] == "As"
    assert found.facts["index"][0] >= 16
    assert found.facts["dims"] == [16, 16]
    assert found.locations[0].line == BODY_LINE + 2


@both_compilers
def test_an_index_before_a_shared_array_is_found(family: str) -> None:
    body = SHARED + f"    Bs[ty][tx] = 0; (&As[0][0])[tx - 1] = 1.0f;{USE}"
    assert first(run(family, body)).kind == "shared_access"


@both_compilers
def test_flat_indexing_that_stays_inside_a_shared_array_is_no_fault(family: str) -> None:
    body = SHARED + f"    Bs[ty][tx] = 0; As[0][ty * 16 + tx] = 1.0f;{USE}"
    assert run(family, body).findings == ()


@both_compilers
def test_an_index_past_a_register_array_is_found(family: str) -> None:
    found = first(run(family, "    float acc[4] = {}; acc[tx] = 1.0f; if (acc[M & 3] > 9) return;"))
    assert (found.verdict, found.kind) == (Verdict.OUT_OF_BOUNDS, "register_array")
    assert found.facts["index"] == 4
    assert found.facts["variable"] == "acc"
    assert found.locations[0].line == BODY_LINE


@both_compilers
def test_an_index_that_multiplies_is_told_from_one_that_counts(family: str) -> None:
    body = (
        "    __shared__ float flat[64]; float own[4] = {}; flat[(tx + ty) % 64] = 1;\n"
        "    __syncthreads(); float s = 0;\n    s += own[tx];\n    s += own[ty * 2 + 1];\n"
        "    s += flat[tx + 60];\n    s += flat[ty * 5 + 1];\n    if (s > 1e9f) C[0] = s;"
    )
    found = [f for f in run(family, body).findings if f.verdict is Verdict.OUT_OF_BOUNDS]
    told = {(f.kind, f.locations[0].line - BODY_LINE, f.facts["product"]) for f in found}
    assert told == {
        ("register_array", 2, False),
        ("register_array", 3, True),
        ("shared_access", 4, False),
        ("shared_access", 5, True),
    }


OBJECTS = (
    "struct Strip { float v[16]; };\n"
    "struct Pair { float left[16][16], right[16][16]; };\n"
    "#define OF(array, k) array[k]\n#define ROW As[ty]\n"
)
VARIABLES = (
    SHARED + "    __shared__ Pair pair;\n    float own[16] = {}; Strip strip = {};\n"
    "    As[ty][tx] = Bs[ty][tx] = pair.left[ty][tx] = pair.right[ty][tx] = tx; __syncthreads();\n"
    "    float (&mine)[16] = own; auto &row_of_a = As[ty]; auto rows = As; auto at = &own;\n"
)
LOOPS = pytest.mark.parametrize(
    "loop", ["for (int k = 0; k < 17; ++k)", '_Pragma("unroll 1") for (int k = 0; k < 17; ++k)']
)


def summed(family: str, loop: str, indices: Iterable[str]) -> Run:
    lines = "".join(f"        s += {index};\n" for index in indices)
    body = f"{VARIABLES}    float s = 0;\n    {loop} {{\n{lines}    }}\n"
    return run(family, f"{body}    if (s == 12345.0f) C[0] = s;", before=OBJECTS)


@both_compilers
@LOOPS
def test_an_index_past_a_thread_s_own_array_is_found_beside_shared_ones(
    family: str, loop: str
) -> None:
    named = {
        "own[k] * As[0][k]": "own",
        "As[ty][k % 16] * mine[k]": "own",
        "/* \u00e4\u2028\f */\t own[k] + As[ty][tx]": "own",
        "As[ty][tx] + (*at)[k]": "own",
        "As[ty][tx] + strip.v[k]": "strip.v",
        "As[0][tx * 3] + OF(own, k)": "own",
    }
    found = summed(family, loop, named).findings
    assert {one.kind for one in found} == {"register_array"}
    assert [one.facts["index"] for one in found] == [16] * len(named)
    lines = [one.locations[0].line for one in found]
    assert lines == list(range(lines[0], lines[0] + len(named)))
    assert [one.facts["variable"] for one in found] == list(named.values())


@both_compilers
@LOOPS
def test_flat_indexing_is_no_fault_beside_a_thread_s_own_arrays(family: str, loop: str) -> None:
    harmless = [
        "As[0][ty * 16 + k % 16] * own[k % 16]",
        "own[k % 16] * As\n        [0][k + 32]",
        "own[int(As[0][k]) % 16] * row_of_a[k % 16]",
        "row_of_a[tx - ty] * own[0]",
        "rows[0][ty * 16 + tx] * own[0]",
        "OF(As[0], k) * own[0]",
        "(ROW[tx - ty] + Bs[0][40]) * own[0]",
        "pair.left[0][ty * 16 + tx] * own[0]",
        "strip.v[k % 16] * (pair.left[1])[ty + tx]",
    ]
    assert summed(family, loop, harmless).findings == ()


@both_compilers
@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("float4 v = *reinterpret_cast<const float4 *>(A + 1);", "A"),
        ("float4 v = *reinterpret_cast<float4 *>(&As[0][1]);", "As"),
        ("float4 v = *reinterpret_cast<float4 *>(&As[ty][tx / 4 * 4 + 1]);", "As"),
    ],
)
def test_a_misaligned_float4_is_one_access_of_16_bytes(
    family: str, statement: str, name: str
) -> None:
    body = SHARED + f"    As[ty][tx] = Bs[ty][tx] = 0; __syncthreads();\n    {statement}"
    found = first(run(family, body + " if (v.x + v.w == 12345.0f) C[0] = 1.0f;"))
    assert (found.verdict, found.kind) == (Verdict.MISALIGNED, "misaligned")
    assert found.facts["bytes"] == 16
    assert found.facts["operand_or_variable"] == name
    assert found.locations[0].line == BODY_LINE + 3


@both_compilers
def test_a_struct_of_four_floats_needs_no_alignment(family: str) -> None:
    before = "struct Four { float value[4]; };\n"
    body = (
        "    Four four = *reinterpret_cast<const Four *>(A + 1);"
        " if (four.value[tx & 3] == 12345.0f) C[0] = 1.0f;"
    )
    assert run(family, body, before=before).findings == ()


@both_compilers
def test_a_write_to_an_input_is_found(family: str) -> None:
    found = first(run(family, "    if (row == 2 && col == 3) const_cast<float *>(A)[2 * K] = 9;"))
    assert (found.verdict, found.kind) == (Verdict.INPUT_MODIFIED, "input_modified")
    assert (found.facts["operand"], found.facts["row"], found.facts["col"]) == ("A", 2, 0)


@both_compilers
@pytest.mark.parametrize(
    ("statement", "kind"),
    [("assert(row < 5);", "assertion"), ("if (row == 5) __trap();", "trap")],
)
def test_a_kernel_that_stops_itself_crashes_by_name(family: str, statement: str, kind: str) -> None:
    found = first(run(family, f"    {statement}", before="#include <cassert>\n"))
    assert (found.verdict, found.kind) == (Verdict.CRASH, kind)
    assert found.facts["thread"] == [0, 5]
    assert found.locations[0].line == BODY_LINE + 1


@both_compilers
def test_endless_recursion_is_a_stack_overflow_and_the_next_launch_works(family: str) -> None:
    before = (
        "__device__ int deep(int n) {"
        " volatile int a[64]; a[n & 63] = n; return n ? deep(n - 1) + a[n & 63] : 0; }\n"
    )
    found = first(run(family, "    if (deep(1 << 20) == 7) return;", before=before))
    assert (found.verdict, found.kind) == (Verdict.CRASH, "stack_overflow")
    assert found.locations[0].line == 1
    assert run(family, "").findings == ()


@both_compilers
def test_an_endless_loop_is_stopped_and_its_line_named(family: str) -> None:
    body = "    while (*(volatile const float *)A < 1e9f) {\n    }"
    built = build(family, PRELUDE + body + "}\n")
    result = launch(family, built, timeout_s=0.2)
    assert (first(result).verdict, first(result).kind) == (Verdict.TIMEOUT, "timeout")
    assert first(result).locations[0].line == BODY_LINE
    assert result.images == ()


@both_compilers
def test_printing_is_kept_up_to_a_limit(family: str) -> None:
    little = run(family, '    if (row + col == 0) printf("K is %d, A[0] is %.1f\\n", K, A[0]);')
    assert little.output.startswith("K is 19, A[0] is ")
    assert little.findings == ()
    much = run(family, '    for (int i = 0; i < 100; ++i) printf("%d %d %d\\n", tx, ty, i);')
    assert first(much).kind == "output_limit"
    assert len(much.output) <= 64 * 1024


@both_compilers
@pytest.mark.parametrize(
    ("statement", "kind"),
    [
        ("if (tx < 4) __syncthreads();", "barrier_missed"),
        ("if (tx < 4) return; __syncthreads();", "barrier_missed"),
        ("if (tx < 4) __syncthreads(); else __syncthreads();", "barrier_split"),
        ("if (tx < 4) __syncthreads_or(tx); else __syncthreads_or(ty);", "barrier_split"),
    ],
)
def test_a_barrier_that_not_all_threads_reach_is_found(
    family: str, statement: str, kind: str
) -> None:
    found = first(run(family, f"    {statement}"))
    assert (found.verdict, found.kind) == (Verdict.DIVERGENT_BARRIER, kind)
    assert found.locations[0].line == BODY_LINE


@both_compilers
@pytest.mark.parametrize(
    ("call", "elsewhere", "missing", "where"),
    [
        ("__syncwarp();", "__syncthreads();", 28, "barrier"),
        ("__shfl_sync(0x33u, 1, 0);", "__syncthreads();", 2, "barrier"),
        ("__ballot_sync(~0u, 1);", "__syncwarp(0xfffffff0u); __syncthreads();", 28, "barrier"),
        ("__syncwarp(0x1fu);", "__syncwarp();", 1, "waits"),
    ],
)
def test_lanes_that_wait_for_others_of_their_mask_are_named_and_not_a_barrier(
    family: str, call: str, elsewhere: str, missing: int, where: str
) -> None:
    guard = f"    if (tx < 4 && ty % 2 == 0)\n        {call}\n    else {{\n        {elsewhere}\n"
    found = first(run(family, guard.replace("0x33u", "tx < 2 ? 0x33u : 0xccu") + "    }"))
    assert (found.verdict, found.kind) == (Verdict.DIVERGENT_BARRIER, "lanes_missed")
    assert (found.facts["thread"], found.facts["other"]) == ([0, 0], [4, 0])
    assert (found.facts["missing"], found.facts["other_at"]) == (missing, where)
    places = [(place.line, place.role) for place in found.locations]
    assert places == [(BODY_LINE + 1, "waits"), (BODY_LINE + 3, where)]


@both_compilers
def test_a_lane_whose_mask_leaves_it_out_is_named_before_those_that_wait_for_it(
    family: str,
) -> None:
    found = first(run(family, "    __shfl_sync(0xffffu, tx, 0);\n    __syncwarp();"))
    assert (found.verdict, found.kind) == (Verdict.DIVERGENT_BARRIER, "lane_not_in_mask")
    assert (found.facts["thread"], found.facts["lane"]) == ([0, 1], 16)
    assert found.facts["mask"] == 0xFFFF
    assert [(place.line, place.role) for place in found.locations] == [(BODY_LINE, "waits")]


@both_compilers
@pytest.mark.parametrize("filled", [0, 4, 12])
def test_a_copy_that_is_not_aligned_is_told_with_the_size_of_all_of_it(
    family: str, filled: int
) -> None:
    body = (
        "    __shared__ __align__(16) float stage[1024];\n"
        f"    __pipeline_memcpy_async(&stage[4 * (ty * 16 + tx)], A + 1, 16, {filled});\n"
    )
    found = first(run(family, body, before="#include <cuda_pipeline.h>\n"))
    assert (found.kind, found.facts["bytes"]) == ("misaligned", 16)
    assert found.facts["access"] == ("copy" if filled else "read")


@both_compilers
def test_a_barrier_that_the_compiler_duplicated_is_one_barrier(family: str) -> None:
    """Compilers may make one path of two equal conditions, with a barrier of its own."""
    guarded = "    if (row < M && col < N) C[row * N + col] = 0.0f;\n    __syncthreads();\n"
    assert run(family, guarded * 2).findings == ()


@both_compilers
def test_a_stage_read_before_its_copy_is_waited_for_holds_the_old_values(family: str) -> None:
    before = "#include <cuda_pipeline.h>\n"
    body = (
        "    __shared__ float stage[256];\n"
        "    stage[ty * 16 + tx] = -1.0f;\n"
        "    __pipeline_memcpy_async(&stage[ty * 16 + tx], A, 4);\n"
        "    __pipeline_commit();\n"
        "    float early = stage[ty * 16 + tx];\n"
        "    __pipeline_wait_prior(0);\n"
        '    if (row + col == 0) printf("%d %d", early == -1.0f, stage[0] == A[0]);\n'
    )
    result = run(family, body, before=before)
    assert (result.output, result.findings) == ("1 1", ())


@both_compilers
def test_memcpy_into_an_array_that_is_too_small_is_found(family: str) -> None:
    body = SHARED + f"    memcpy(&As[15][8], A, 4 * N);{USE}"
    found = first(run(family, body))
    assert (found.kind, found.facts["variable"]) == ("shared_access", "As")


@both_compilers
def test_results_do_not_depend_on_what_ran_before_in_the_worker(family: str) -> None:
    built = build(family, PRELUDE + SHARED + USE + "\n    C[0] = As[3][4];\n}\n")
    small, large = Shape(1, 1, 1), Shape(20, 20, 20)
    once = launch(family, built, small).images[2]
    launch(family, built, large)
    assert (launch(family, built, small).images[2] == once).all()


@both_compilers
@pytest.mark.parametrize("words", [1, 4, 8, 16])
def test_memcpy_of_any_size_is_seen(family: str, words: int) -> None:
    body = (
        f"    float mine[{words}];\n    memcpy(mine, A + M * K - 1 + tx, sizeof mine);\n"
        "    if (mine[0] == 12345.0f) C[0] = 1.0f;"
    )
    found = first(run(family, body))
    assert (found.kind, found.facts["operand"]) == ("global_access", "A")
    assert found.locations[0].line == BODY_LINE + 1


@both_compilers
def test_division_by_sizes_is_no_overflow_at_any_shape(family: str) -> None:
    text = (
        '#include "launch.cuh"\n'
        "LAUNCH_CONFIG(.block_x = 256, .block_y = 1, .tile_m = 16, .tile_n = 16);\n"
        "__global__ void matmul_naive(const float *A, const float *B, float *C,"
        " int M, int N, int K) {\n"
        "    int tiles = (N + 15) / 16, block = blockIdx.y * gridDim.x + blockIdx.x;\n"
        "    int row = block / tiles * 16 + threadIdx.x / 16, col = block % tiles * 16"
        " + threadIdx.x % 16;\n"
        "    if (row >= M || col >= N) return;\n"
        "    float sum = 0;\n"
        "    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
        "    C[row * N + col] = sum;\n}\n"
    )
    built = build(family, text)
    assert right(built, SHAPE, launch(family, built))
    assert probe_large(large_blocks(device(family), built)) == ()
