"""Races and reads of unset memory are found whatever the simulator ran first, both parties named;
code that orders its accesses is never accused."""

from __future__ import annotations

import pytest

from grader.checks.trial import try_shape
from grader.device import Run
from grader.finding import Finding
from grader.problems.matmul import Shape
from grader.tests.simulated import FINISH, PRELUDE, SHAPE, both_compilers, build, device, launch
from grader.verdict import Verdict

ONE_BLOCK = Shape(16, 16, 40)  # three steps of 16 along K, the last one ragged
ME = "    int me = ty * 16 + tx;\n"
PIPELINE = "#include <cuda_pipeline.h>\n"
TILED = """
    __shared__ float As[16][16];
    __shared__ float Bs[16][16];
    float sum = 0.0f;
    for (int k0 = 0; k0 < K; k0 += 16) {
        As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;  // store As
        Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;  // store Bs
        FIRST;
        for (int k = 0; k < 16; ++k) {
            float a = As[ty][k];  // load As
            float b = Bs[k][tx];  // load Bs
            sum += a * b;
        }
        SECOND;
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""


def text_of(body: str, before: str = "") -> str:
    """A whole file; a body that does not end the kernel is followed by a naive one."""
    return before + PRELUDE + body + ("" if body.endswith("\n}\n") else FINISH)


def watched(family: str, body: str, shape: Shape = SHAPE, before: str = "", order: int = 0) -> Run:
    built = build(family, text_of(body, before))
    assert built.config is not None, built.findings
    return launch(family, built, shape, order=order, watch=True)


def line_of(mark: str, body: str, before: str = "") -> int:
    """The line of the file that ends in this comment."""
    (found,) = (
        number
        for number, line in enumerate(text_of(body, before).splitlines(), 1)
        if line.endswith(f"// {mark}")
    )
    return found


def the(run: Run, **facts: object) -> Finding:
    """The one finding with these facts."""
    matching = [f for f in run.findings if facts.items() <= f.facts.items()]
    assert len(matching) == 1, run.findings
    return matching[0]


def parties(found: Finding) -> list[tuple[int, str]]:
    return [(place.line, place.role) for place in found.locations]


def tiled(first: str, second: str) -> str:
    return TILED.replace("FIRST", first).replace("SECOND", second)


# What must be found.


@both_compilers
def test_without_the_first_barrier_loads_meet_stores_of_the_same_step(family: str) -> None:
    body = tiled("", "__syncthreads()")
    run = watched(family, body, ONE_BLOCK)
    assert {found.verdict for found in run.findings} == {Verdict.RACE}
    for name in ("As", "Bs"):
        for found in (f for f in run.findings if f.facts["name"] == name):
            assert parties(found) == [
                (line_of(f"store {name}", body), "write"),
                (line_of(f"load {name}", body), "read"),
            ]
    # Thread (0, 0) reads its column of Bs before thread (0, 1) has stored row 1.
    found = the(run, name="Bs", index=[1, 0])
    assert (found.facts["other"], found.facts["thread"]) == ([0, 1], [0, 0])
    assert (found.facts["other_access"], found.facts["access"]) == ("write", "read")
    assert found.facts["block"] == found.facts["other_block"] == [0, 0]


@both_compilers
def test_without_the_second_barrier_stores_meet_loads_of_the_step_before(family: str) -> None:
    body = tiled("__syncthreads()", "")
    run = watched(family, body, ONE_BLOCK)
    assert {(f.verdict, f.kind) for f in run.findings} == {(Verdict.RACE, "race")}
    assert {f.facts["space"] for f in run.findings} == {"shared"}
    for found in run.findings:
        name = found.facts["name"]
        assert parties(found) == [
            (line_of(f"load {name}", body), "read"),
            (line_of(f"store {name}", body), "write"),
        ]
    # Thread (0, 0) has stored its word of the second step; thread (1, 0) is still in the first.
    found = the(run, name="As", index=[0, 0])
    assert (found.facts["other"], found.facts["thread"]) == ([1, 0], [0, 0])


@both_compilers
@pytest.mark.parametrize("order", [1, 7, 12345])
@pytest.mark.parametrize("barriers", [("", "__syncthreads()"), ("__syncthreads()", "")])
def test_a_race_is_found_in_every_order_of_threads(
    family: str, order: int, barriers: tuple[str, str]
) -> None:
    run = watched(family, tiled(*barriers), ONE_BLOCK, order=order)
    assert {f.facts["name"] for f in run.findings} == {"As", "Bs"}
    assert {f.kind for f in run.findings} == {"race"}
    first = "read" if barriers[0] else "write"  # the step's own store comes before its loads
    assert {f.facts["other_access"] for f in run.findings} == {first}


@both_compilers
@pytest.mark.parametrize("order", [0, 1])
def test_the_first_store_to_a_buffer_comes_before_its_loads_also_where_threads_have_read_before_it(
    family: str, order: int
) -> None:
    body = (
        "    __shared__ float As[2][16][16];\n"
        "    float sum = 0.0f;\n"
        "    As[0][ty][tx] = A[0] + ty * 16 + tx;\n"
        "    __syncthreads();\n"
        "    for (int step = 0; step < 2; ++step) {\n"
        "        for (int k = 0; k < 16; ++k) sum += As[step][ty][k];\n"
        "        As[1 - step][ty][tx] = sum;\n"
        "    }\n"
        "    if (sum == 12345.0f) return;"
    )
    races = [f for f in watched(family, body, order=order).findings if f.kind == "race"]
    first = {f.facts["index"][0]: f.facts["other_access"] for f in races}
    # The second step reads what the first one stored, and stores what the first one read.
    assert first == {0: "read", 1: "write"}


@both_compilers
def test_lanes_of_a_warp_race_without_syncwarp(family: str) -> None:
    body = (
        ME + "    __shared__ float s[256];\n"
        "    s[me] = A[0];  // store\n"
        "    float other = s[me ^ 1];  // load\n"
        "    if (other == 12345.0f) return;"
    )
    run = watched(family, body)
    found = the(run, name="s", index=[0])
    assert (found.facts["same_warp"], found.facts["met"]) == (True, False)
    assert (found.facts["other"], found.facts["thread"]) == ([0, 0], [1, 0])
    assert parties(found) == [(line_of("store", body), "write"), (line_of("load", body), "read")]


@both_compilers
@pytest.mark.parametrize("meeting", ["__any_sync(~0u, 0)", "__reduce_add_sync(~0u, 1)"])
def test_lanes_that_meet_in_a_vote_or_a_shuffle_race_all_the_same(
    family: str, meeting: str
) -> None:
    body = (
        ME + "    __shared__ float s[256];\n"
        f"    s[me] = A[0]; (void){meeting}; float other = s[me ^ 1];\n"
        "    if (other == 12345.0f) return;"
    )
    found = the(watched(family, body), name="s", index=[1])
    assert (found.facts["same_warp"], found.facts["met"]) == (True, True)


@both_compilers
def test_threads_of_two_warps_race_in_spite_of_syncwarp(family: str) -> None:
    body = (
        ME + "    __shared__ float s[256];\n"
        "    s[me] = A[0];\n"
        "    __syncwarp();\n"
        "    float other = s[me ^ 32];\n"
        "    if (other == 12345.0f) return;"
    )
    found = the(watched(family, body), access="read")
    assert found.facts["same_warp"] is False
    assert (found.facts["other"], found.facts["thread"]) == ([0, 2], [0, 0])


@both_compilers
def test_an_asynchronous_copy_that_is_not_waited_for_is_found(family: str) -> None:
    body = (
        ME + "    __shared__ float stage[256];\n"
        "    __pipeline_memcpy_async(&stage[me], A, 4);  // copy\n"
        "    __pipeline_commit();\n"
        "    __syncthreads();\n"
        "    float early = stage[me ^ 32];  // load\n"
        "    __pipeline_wait_prior(0);\n"
        "    if (early == 12345.0f) return;"
    )
    found = the(watched(family, body, before=PIPELINE), name="stage", asynchronous=True)
    assert (found.facts["access"], found.facts["other_access"]) == ("read", "write")
    assert (found.facts["thread"], found.facts["other"]) == ([0, 0], [0, 2])
    assert found.facts["index"] == [32]
    assert parties(found) == [
        (line_of("copy", body, PIPELINE), "write"),
        (line_of("load", body, PIPELINE), "read"),
    ]


@both_compilers
@pytest.mark.parametrize(
    ("before", "kind"),
    [("", "copy_uncommitted"), ("__pipeline_commit();", "race")],
)
def test_a_wait_for_a_copy_that_was_not_committed_is_told_apart(
    family: str, before: str, kind: str
) -> None:
    """Commits of other copies, and of other threads, do not count."""
    body = (
        ME + "    __shared__ float stage[256], early[256];\n"
        "    __pipeline_memcpy_async(&early[me], A, 4);\n"
        "    __pipeline_commit();\n"
        "    __pipeline_memcpy_async(&stage[me], A, 4);\n"
        f"    if (me % 64 >= 32) {{ {before} }} else __pipeline_commit();\n"
        "    __pipeline_wait_prior(1);\n"
        "    __syncthreads();\n"
        "    float value = me % 64 < 32 ? stage[me ^ 32] : 0.0f;\n"
        "    if (value == 12345.0f) return;"
    )
    found = the(watched(family, body, before=PIPELINE), name="stage", asynchronous=True)
    assert found.kind == kind


@both_compilers
def test_a_wait_without_a_barrier_makes_a_copy_safe_for_its_own_thread_only(family: str) -> None:
    body = (
        ME + "    __shared__ float stage[256];\n"
        "    __pipeline_memcpy_async(&stage[me], A, 4);\n"
        "    __pipeline_commit();\n"
        "    __pipeline_wait_prior(0);\n"
        "    float value = stage[me READ];\n"
        "    if (value == 12345.0f) return;"
    )
    assert watched(family, body.replace("READ", ""), before=PIPELINE).findings == ()
    run = watched(family, body.replace("READ", "^ 32"), before=PIPELINE)
    assert {f.facts["access"] for f in run.findings} == {"read"}
    assert {f.facts["asynchronous"] for f in run.findings} == {False}


@both_compilers
def test_a_copy_into_a_stage_that_others_still_read_is_found(family: str) -> None:
    body = (
        ME + "    __shared__ float stage[256];\n"
        "    stage[me] = A[0];\n"
        "    __syncthreads();\n"
        "    float value = stage[me ^ 32];  // load\n"
        "    __pipeline_memcpy_async(&stage[me], A, 4);  // copy\n"
        "    __pipeline_commit();\n"
        "    __pipeline_wait_prior(0);\n"
        "    if (value == 12345.0f) return;"
    )
    run = watched(family, body, before=PIPELINE)
    found = the(run, name="stage", access="write")
    assert found.facts["other_access"] == "read"
    assert (found.facts["other"], found.facts["thread"]) == ([0, 0], [0, 2])
    assert parties(found) == [
        (line_of("load", body, PIPELINE), "read"),
        (line_of("copy", body, PIPELINE), "write"),
    ]


@both_compilers
def test_a_copy_that_begins_before_others_have_read_is_told_apart_from_one_not_waited_for(
    family: str,
) -> None:
    body = (
        ME + "    __shared__ float stage[256];\n"
        "    stage[me] = A[0];\n"
        "    __syncthreads();\n"
        "    __pipeline_memcpy_async(&stage[me], A, 4);\n"
        "    __pipeline_commit();\n"
        "    float value = 0.0f;\n"
        "    EARLY __syncthreads(); LATE\n"
        "    __pipeline_wait_prior(0);\n"
        "    if (value == 12345.0f) return;"
    )
    load = "value = stage[me ^ 32];"
    for place, other, overwriting in (("EARLY", "LATE", True), ("LATE", "EARLY", False)):
        run = watched(family, body.replace(place, load).replace(other, ""), before=PIPELINE)
        found = the(run, name="stage", access="read", asynchronous=True)
        assert found.facts["overwriting"] is overwriting


@both_compilers
def test_two_threads_that_write_one_element_of_c_race(family: str) -> None:
    body = "    if (row < M) C[row * N] = (float)tx;  // store\n}\n"
    found = the(watched(family, body, ONE_BLOCK))
    assert (found.facts["name"], found.facts["index"]) == ("C", [0, 0])
    assert (found.facts["access"], found.facts["other_access"]) == ("write", "write")
    assert (found.facts["other"], found.facts["thread"]) == ([0, 0], [1, 0])
    assert (found.facts["other_block"], found.facts["block"]) == ([0, 0], [0, 0])
    assert (found.facts["space"], found.facts["same_warp"]) == ("global", True)
    assert parties(found) == [(line_of("store", body), "write")] * 2


@both_compilers
@pytest.mark.parametrize("order", [0, 1])
def test_two_blocks_that_write_one_element_of_c_race(family: str, order: int) -> None:
    body = "    if (tx == 3 && ty == 2) C[N + 1] = (float)blockIdx.x;  // store\n}\n"
    found = the(watched(family, body, Shape(16, 32, 4), order=order))
    assert (found.facts["name"], found.facts["index"]) == ("C", [1, 1])
    assert found.facts["thread"] == found.facts["other"] == [3, 2]
    blocks = [found.facts["other_block"], found.facts["block"]]
    assert blocks == ([[0, 0], [1, 0]] if order == 0 else [[1, 0], [0, 0]])
    assert parties(found) == [(line_of("store", body), "write")] * 2


@both_compilers
@pytest.mark.parametrize("member", ["x", "y", "w"])
def test_two_vector_stores_that_differ_in_one_word_race_in_that_word(
    family: str, member: str
) -> None:
    body = (
        "    __shared__ float4 s[4];\n"
        "    float4 value = make_float4(1.0f, 1.0f, 1.0f, 1.0f);\n"
        f"    value.{member} = (float)tx;\n"
        "    s[ty & 3] = value;\n"
        "    __syncthreads();\n"
        "    if (s[0].x == 12345.0f) return;"
    )
    found = the(watched(family, body), name="s", thread=[1, 0])
    assert found.facts["access"] == found.facts["other_access"] == "write"


@both_compilers
def test_a_reader_is_remembered_when_the_writer_reads_after_it(family: str) -> None:
    body = (
        "    __shared__ volatile float s;\n"
        "    __shared__ float turns;\n"
        "    if (ty == 0 && tx < 2) {\n"
        "        s = 1.0f;\n"
        "        turns = 0.0f;\n"
        "        __syncwarp(3);\n"
        "        float before = s;\n"
        "        __syncwarp(3);\n"
        "        if (tx == 0) atomicAdd(&turns, 1.0f);  // lets thread 1 go first\n"
        "        before += s;  // load\n"
        "        if (tx == 0) s = before;  // store\n"
        "    }\n"
    )
    found = the(watched(family, body), name="s")
    assert (found.facts["access"], found.facts["other_access"]) == ("write", "read")
    assert (found.facts["thread"], found.facts["other"]) == ([0, 0], [1, 0])


@both_compilers
def test_a_block_that_changes_what_another_block_reads_is_found(family: str) -> None:
    before = "__device__ volatile int last;\n"
    body = (
        "    if (tx == 0 && ty == 0) {\n"
        "        int seen = last;  // load\n"
        "        if (blockIdx.x == 1) last = seen + 1;  // store\n"
        "    }\n"
    )
    run = watched(family, body, Shape(16, 32, 4), before)
    found = the(run, name="last", access="write")
    assert (found.facts["other_access"], found.facts["other_block"]) == ("read", [0, 0])
    assert (found.facts["block"], found.facts["index"]) == ([1, 0], [])
    assert parties(found) == [
        (line_of("load", body, before), "read"),
        (line_of("store", body, before), "write"),
    ]


@both_compilers
def test_a_plain_store_races_with_atomics(family: str) -> None:
    body = (
        ME + "    __shared__ int count;\n"
        "    if (me == 0) count = 0;\n"
        "    atomicAdd(&count, 1);\n"
        "    __syncthreads();\n"
        "    if (count == 12345) return;"
    )
    found = the(watched(family, body), name="count", index=[])
    assert (found.facts["other"], found.facts["thread"]) == ([0, 0], [1, 0])


@both_compilers
def test_a_plain_read_races_with_atomics_before_it(family: str) -> None:
    body = (
        ME + "    __shared__ int count;\n"
        "    if (me == 0) count = 0;\n"
        "    __syncthreads();\n"
        "    if (me == 0) atomicAdd(&count, 1);  // update\n"
        "    if (me == 255 && count == 12345) return;  // read"
    )
    found = the(watched(family, body), name="count")
    assert parties(found) == [(line_of("update", body), "write"), (line_of("read", body), "read")]


@both_compilers
def test_two_threads_that_store_one_byte_race(family: str) -> None:
    body = (
        ME + "    __shared__ unsigned char small[256];\n"
        "    if (me == 7 || me == 255) small[3] = (unsigned char)me;  // store\n"
        "    __syncthreads();\n"
        "    if (small[3] == 123) return;"
    )
    found = the(watched(family, body), name="small", index=[3])
    assert parties(found) == [(line_of("store", body), "write")] * 2


HALF_FILLED = (
    "\n    __shared__ float As[16][16];\n"
    "    if (ty < 8) As[ty][tx] = 0.0f;\n"
    "    __syncthreads();\n"
    "    float more = As[ty][tx ^ 1];  // load\n"
)


@both_compilers
def test_reading_a_shared_word_that_nothing_wrote_is_a_suspicion(family: str) -> None:
    run = watched(family, HALF_FILLED + "    if (more == 12345.0f) return;")
    assert run.findings == ()
    (found,) = run.suspicions
    assert (found.verdict, found.kind) == (Verdict.UNINITIALISED, "unset_shared")
    assert (found.facts["name"], found.facts["index"]) == ("As", [8, 1])
    assert (found.facts["thread"], found.facts["block"]) == ([0, 8], [0, 0])
    assert parties(found) == [(line_of("load", HALF_FILLED), "read")]


@both_compilers
def test_an_unset_shared_word_is_a_fault_only_if_c_depends_on_it(family: str) -> None:
    harmless = build(family, text_of(HALF_FILLED + "    if (more == 12345.0f) return;"))
    assert try_shape(device(family), harmless, SHAPE, seed=1, watch=True) == ()
    harmful = build(family, text_of(HALF_FILLED + FINISH.replace("= 0.0f", "= more")))
    found = try_shape(device(family), harmful, SHAPE, seed=1, watch=True)
    assert (found[0].kind, found[0].shape) == ("unset_shared", SHAPE)


@both_compilers
def test_what_another_block_left_in_shared_memory_is_unset(family: str) -> None:
    body = (
        "\n    __shared__ float s[16][16];\n"
        "    float left = 0.0f;\n"
        "    if (blockIdx.x == 0) s[ty][tx] = 1.0f;\n"
        "    if (blockIdx.x == 1) left = s[ty][tx];\n"
        "    if (left == 12345.0f) return;"
    )
    (found,) = watched(family, body, Shape(16, 32, 4)).suspicions
    assert (found.facts["block"], found.facts["thread"]) == ([1, 0], [0, 0])


@both_compilers
@pytest.mark.parametrize(
    "statement",
    [
        "C[row * N + col] += A[row * K];",
        "atomicAdd(&C[row * N + col], A[row * K]);",
        "for (int k = 0; k < K; ++k) C[row * N + col] += A[row * K + k] * B[k * N + col];",
    ],
)
def test_c_read_before_it_is_written_is_found(family: str, statement: str) -> None:
    body = f"    if (row < M && col < N) {{\n        {statement}  // add\n    }}\n}}\n"
    found = the(watched(family, body))
    assert (found.verdict, found.kind) == (Verdict.UNINITIALISED, "unset_output")
    assert (found.facts["name"], found.facts["index"]) == ("C", [0, 0])
    assert (found.facts["thread"], found.facts["block"]) == ([0, 0], [0, 0])
    assert parties(found) == [(line_of("add", body), "read")]


# What must not be accused of anything.

WARP_SYNCHRONOUS = (
    ME + "    __shared__ float s[256];\n"
    "    s[me] = A[0];\n"
    "    __syncwarp();\n"
    "    for (int step = 16; step > 0; step /= 2) {\n"
    "        float sum = s[me] + s[me ^ step];\n"
    "        __syncwarp();\n"
    "        s[me] = sum;\n"
    "        __syncwarp();\n"
    "    }\n"
)
HALF_WARPS = (
    ME + "    __shared__ float s[256];\n"
    "    unsigned mask = me % 32 < 16 ? 0x0000ffffu : 0xffff0000u;\n"
    "    s[me] = A[0];\n"
    "    __syncwarp(mask);\n"
    "    if (s[me ^ 15] == 12345.0f) return;"
)
GROUPS = "#include <cooperative_groups.h>\nusing namespace cooperative_groups;\n"
GROUPS_OF_A_WARP = (
    ME + "    __shared__ float s[256];\n"
    "    s[me] = A[0];\n"
    "    tiled_partition<8>(this_thread_block()).sync();\n"
    "    float other = s[me ^ 7];\n"
    "    coalesced_threads().sync();\n"
    "    s[me] = other;\n"
    "    sync(tiled_partition(this_thread_block(), 4));\n"
    "    if (s[me ^ 3] == 12345.0f) return;"
)
SHUFFLES = (
    ME + "    __shared__ float s[256];\n"
    "    float sum = A[0];\n"
    "    for (int step = 16; step > 0; step /= 2)\n"
    "        sum += __shfl_down_sync(0xffffffffu, sum, step);\n"
    "    if (me % 32 == 0) s[me / 32] = sum;\n"
    "    __syncthreads();\n"
    "    if (s[me % 8] == 12345.0f) return;"
)
SHARED_ATOMICS = (
    ME + "    __shared__ int count;\n"
    "    __shared__ float total[2];\n"
    "    if (me == 0) count = 0;\n"
    "    if (me < 2) total[me] = 0.0f;\n"
    "    __syncthreads();\n"
    "    atomicAdd(&count, 1);\n"
    "    atomicAdd(&total[tx & 1], 1.0f);\n"
    "    __syncthreads();\n"
    "    if (count != 256 || total[1] != 128.0f) return;"
)
ATOMICS_ON_C = (
    "\n    if (row < M && col < N) C[row * N + col] = 0.0f;\n"
    "    __syncthreads();\n"
    "    if (row < M && blockIdx.x * 16 < N) atomicAdd(&C[row * N + blockIdx.x * 16], 1.0f);\n"
    "    __syncthreads();\n"
)
EXCHANGES_ON_C = "    if (row < M && col < N) atomicExch(&C[row * N + col], 1.0f);\n"
DEVICE_COUNTER = (
    "    if (tx == 0 && ty == 0) atomicAdd(&arrivals, 1);\n    atomicMax(&largest, ty);\n"
)
DISJOINT = (
    "\n    __shared__ float s[16][17];\n"
    "    for (int step = 0; step < 3; ++step) {\n"
    "        s[ty][tx] = (float)step;\n"
    "        if (s[ty][tx] == 12345.0f) return;\n"
    "    }\n"
)
BROADCAST = (
    "\n    __shared__ float s[16];\n"
    "    if (ty == 0) s[tx] = A[0];\n"
    "    __syncthreads();\n"
    "    float sum = 0.0f;\n"
    "    for (int i = 0; i < 16; ++i) sum += s[i];\n"
    "    if (sum == 12345.0f) return;"
)
SAME_VALUE = (
    "\n    __shared__ int flag;\n"
    "    __shared__ float4 ones;\n"
    "    flag = 1;\n"
    "    ones = make_float4(1.0f, 1.0f, 1.0f, 1.0f);\n"
    "    __syncthreads();\n"
    "    if (flag != 1 || ones.w != 1.0f) return;"
)
BYTES = (
    ME + "    __shared__ unsigned char small[256];\n"
    "    __shared__ short halves[256];\n"
    "    small[me] = (unsigned char)me;\n"
    "    halves[me] = (short)me;\n"
    "    if (small[me] != me || halves[me] != me) return;"
)
BARRIER_IN_A_LOOP = (
    ME + "    __shared__ float s[256];\n"
    "    for (int step = 0; step < 5; ++step) {\n"
    "        s[me] = (float)step;\n"
    "        __syncthreads();\n"
    "        float other = s[255 - me];\n"
    "        __syncthreads();\n"
    "        if (other == 12345.0f) return;\n"
    "    }\n"
)
ONE_BARRIER = """
    __shared__ float As[2][16][16];
    __shared__ float Bs[2][16][16];
    float sum = 0.0f;
    int buffer = 0;
    As[0][ty][tx] = row < M && tx < K ? A[row * K + tx] : 0.0f;
    Bs[0][ty][tx] = ty < K && col < N ? B[ty * N + col] : 0.0f;
    __syncthreads();
    for (int k0 = 16; k0 < K + 16; k0 += 16) {
        int next = 1 - buffer;
        As[next][ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
        Bs[next][ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
        for (int k = 0; k < 16; ++k) sum += As[buffer][ty][k] * Bs[buffer][k][tx];
        __syncthreads();
        buffer = next;
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""
TWO_STAGES = """
    __shared__ float As[2][16][16];
    __shared__ float Bs[2][16][16];
    float sum = 0.0f;
    int steps = (K + 15) / 16;
    for (int step = 0; step <= steps; ++step) {
        int k0 = step * 16;
        if (step < steps) {
            int a = row < M && k0 + tx < K, b = k0 + ty < K && col < N;
            const float *a_from = a ? &A[row * K + k0 + tx] : A;
            const float *b_from = b ? &B[(k0 + ty) * N + col] : B;
            __pipeline_memcpy_async(&As[step & 1][ty][tx], a_from, 4, 4 - 4 * a);
            __pipeline_memcpy_async(&Bs[step & 1][ty][tx], b_from, 4, 4 - 4 * b);
            __pipeline_commit();
        }
        if (step == 0) continue;
        __pipeline_wait_prior(step < steps ? 1 : 0);
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += As[1 - (step & 1)][ty][k] * Bs[1 - (step & 1)][k][tx];
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = sum;
}
"""
COUNTERS = "__device__ int arrivals, largest;\n"
# Name -> text before the kernel, body.
NEAR_MISSES = {
    "tiles with two barriers a step": ("", tiled("__syncthreads()", "__syncthreads()")),
    "tiles with two buffers and one barrier a step": ("", ONE_BARRIER),
    "asynchronous copies in two stages": (PIPELINE, TWO_STAGES),
    "reads of A and B by everyone": ("", ""),
    "a warp that orders itself": ("", WARP_SYNCHRONOUS),
    "half warps that order themselves": ("", HALF_WARPS),
    "groups of a warp that order themselves": (GROUPS, GROUPS_OF_A_WARP),
    "shuffles": ("", SHUFFLES),
    "atomics in shared memory": ("", SHARED_ATOMICS),
    "atomics on C after it was written": ("", ATOMICS_ON_C),
    "exchanges into C": ("", EXCHANGES_ON_C),
    "atomics on device variables": (COUNTERS, DEVICE_COUNTER),
    "disjoint words": ("", DISJOINT),
    "one word read by all": ("", BROADCAST),
    "the same value written by all": ("", SAME_VALUE),
    "bytes of one word": ("", BYTES),
    "writes and reads in turns, with barriers": ("", BARRIER_IN_A_LOOP),
}


@both_compilers
@pytest.mark.parametrize("name", NEAR_MISSES)
def test_nothing_is_said_of(family: str, name: str) -> None:
    before, body = NEAR_MISSES[name]
    for order in (0, 7):
        run = watched(family, body, SHAPE, before, order)
        assert run.images, "the launch did not finish"
        assert (run.findings, run.suspicions) == ((), ())


@both_compilers
def test_rows_left_unfilled_are_at_most_a_suspicion_and_no_fault(family: str) -> None:
    guarded = tiled("__syncthreads()", "__syncthreads()").replace(
        "        As[ty][tx] = row < M && k0 + tx < K ?",
        "        if (row < M) As[ty][tx] = k0 + tx < K ?",
    )
    run = watched(family, guarded)
    assert run.findings == ()
    assert {found.kind for found in run.suspicions} == {"unset_shared"}
    built = build(family, text_of(guarded))
    assert try_shape(device(family), built, SHAPE, seed=1, watch=True) == ()
