"""The GPU device on a real GPU: right kernels, and every way to end badly, in one session."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import pytest

from grader import course
from grader.device import Build, Launch, Run
from grader.finding import Finding
from grader.gpu.device import GpuDevice
from grader.gpu.hardware import available
from grader.submission import Submission
from grader.tests.gpu_samples import EXERCISE, NAME, RECURSIVE, expected, kernel, launch, submission
from grader.verdict import Verdict

WHY_NOT = available()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "has a GPU")]

ROW_COL = (
    "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
)
NAIVE = kernel(
    f"{ROW_COL}"
    "  if (row < M && col < N) {\n"
    "    float sum = 0;\n"
    "    for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
    "    C[row * N + col] = sum;\n"
    "  }"
)
# A panel of A of 16 rows stays in 64 KiB of dynamic shared memory, four steps of K at most.
DYNAMIC = kernel(
    "  extern __shared__ float As[];\n"
    f"{ROW_COL}"
    "  float sum = 0;\n"
    "  for (int k0 = 0; k0 < K; k0 += 1024) {\n"
    "    for (int k = threadIdx.x; k < 1024; k += 16)\n"
    "      As[threadIdx.y * 1024 + k] = row < M && k0 + k < K ? A[row * K + k0 + k] : 0;\n"
    "    __syncthreads();\n"
    "    for (int k = 0; k < min(1024, K - k0); ++k)\n"
    "      if (col < N) sum += As[threadIdx.y * 1024 + k] * B[(k0 + k) * N + col];\n"
    "    __syncthreads();\n"
    "  }\n"
    "  if (row < M && col < N) C[row * N + col] = sum;",
    ".block_x = 16, .block_y = 16, .tile_m = 16, .tile_n = 16, .dynamic_shared = 65536",
)


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GpuDevice]:
    with GpuDevice(course.target("H200"), tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def build(device: GpuDevice, submission: Submission) -> Build:
    done = device.build(EXERCISE, submission)
    assert done.findings == ()
    assert done.unsupported == ""
    return done


def run(device: GpuDevice, submission: Submission, case: Launch) -> Run:
    return device.launch(build(device, submission), case)


def assert_right(answer: Run, case: Launch) -> None:
    assert answer.findings == ()
    a, b, c = answer.images
    np.testing.assert_array_equal(a, case.operands[0].image)
    np.testing.assert_array_equal(b, case.operands[1].image)
    np.testing.assert_array_equal(c, expected(case))


def the_finding(answer: Run) -> Finding:
    [finding] = answer.findings
    return finding


@pytest.mark.parametrize("shape", [(1, 1, 1), (33, 17, 65), (37, 29, 1), (300, 200, 100)])
def test_a_right_kernel_gives_the_exact_product(
    device: GpuDevice, shape: tuple[int, int, int]
) -> None:
    case = launch(*shape)
    answer = run(device, NAIVE, case)
    assert_right(answer, case)
    assert 0 < answer.seconds < 1


def test_the_gpu_is_described(device: GpuDevice) -> None:
    said = device.describe()
    assert said["kind"] == "gpu"
    assert said["name"]
    assert float(said["compute_capability"]) >= 7.0
    assert said["memory_bytes"] > 1 << 30
    assert said["l2_bytes"] > 0
    assert len(said["uuid"]) >= 12


def test_more_than_48_kib_of_dynamic_shared_memory_can_be_used(device: GpuDevice) -> None:
    case = launch(20, 30, 3000)
    assert_right(run(device, DYNAMIC, case), case)


def test_operands_start_on_256_byte_boundaries(device: GpuDevice) -> None:
    body = (
        "  if (threadIdx.x + threadIdx.y + blockIdx.x == 0)\n"
        '    printf("%d %d %d", (int)((size_t)A % 256), (int)((size_t)B % 256),'
        " (int)((size_t)C % 256));"
    )
    assert run(device, kernel(body), launch(3, 5, 7)).output == "0 0 0"


def test_no_launch_sees_what_another_one_left_in_a_device_variable(device: GpuDevice) -> None:
    body = '  if (threadIdx.x + threadIdx.y == 0) printf("launch %d", ++count);'
    done = build(device, kernel(body, before="__device__ int count;"))
    for _ in range(3):
        assert device.launch(done, launch(3, 5, 7)).output == "launch 1"


ENDLESS = "  volatile float *p = C; while (p[0] != 3.25f) p[1] = 1;"
FAR = "  C[(size_t)1 << 40] = 1;"
FAR_SHARED = "  __shared__ float s[64]; s[M << 20] = 1; __syncthreads(); C[0] = s[3];"
MISALIGNED = "  *(float4 *)(C + 1) = make_float4(1, 1, 1, 1);"
ASSERTION = "\n  assert(M > 99 && threadIdx.x < 3);"


def test_an_endless_loop_is_a_timeout_and_the_next_kernel_runs(device: GpuDevice) -> None:
    started = time.monotonic()
    finding = the_finding(run(device, kernel(ENDLESS), launch(3, 5, 7, timeout_s=1.0)))
    assert (finding.verdict, dict(finding.facts)) == (Verdict.TIMEOUT, {"limit_s": 1.0})
    case = launch(33, 17, 65)
    assert_right(run(device, NAIVE, case), case)
    assert time.monotonic() - started < 60


@pytest.mark.parametrize(
    ("wrong", "verdict", "kind"),
    [
        (kernel("  __trap();"), Verdict.CRASH, "trap"),
        (kernel(FAR), Verdict.OUT_OF_BOUNDS, "illegal_address"),
        (kernel(FAR_SHARED), Verdict.OUT_OF_BOUNDS, "illegal_address"),
        (kernel(MISALIGNED), Verdict.MISALIGNED, "misaligned_gpu"),
        (kernel(ASSERTION), Verdict.CRASH, "assertion"),
        (kernel("  C[0] = f(A, M);", before=RECURSIVE), Verdict.CRASH, "stack_overflow"),
    ],
)
def test_a_sticky_error_is_named_and_the_next_kernel_runs(
    device: GpuDevice, wrong: Submission, verdict: Verdict, kind: str
) -> None:
    answer = run(device, wrong, launch(3, 5, 7))
    finding = the_finding(answer)
    assert (finding.verdict, finding.kind, finding.device) == (verdict, kind, "gpu")
    assert answer.images == ()
    case = launch(33, 17, 65)
    assert_right(run(device, NAIVE, case), case)


def test_an_assertion_is_told_with_its_expression_and_line(device: GpuDevice) -> None:
    finding = the_finding(run(device, kernel(ASSERTION), launch(3, 5, 7)))
    assert finding.facts["expression"] == "M > 99 && threadIdx.x < 3"
    assert finding.facts["block"] == [0, 0]
    assert [(place.file, place.line) for place in finding.locations] == [(NAME, 5)]


def test_a_flood_of_prints_is_cut_and_the_next_kernel_runs(device: GpuDevice) -> None:
    body = '  for (int i = 0; i < 2000; ++i) printf("%d of a flood that never ends\\n", i);'
    answer = run(device, kernel(body), launch(64, 64, 1))
    assert the_finding(answer).verdict is Verdict.OUTPUT_LIMIT
    assert len(answer.output) == 64 * 1024
    assert len(answer.images) == 3
    case = launch(33, 17, 65)
    assert_right(run(device, NAIVE, case), case)


def test_a_block_with_more_registers_than_there_are_is_a_bad_launch(device: GpuDevice) -> None:
    body = (
        "  float sums[160];\n"
        "  for (int i = 0; i < 160; ++i) sums[i] = A[i % M];\n"
        "  for (int k = 0; k < K; ++k)\n"
        "    for (int i = 0; i < 160; ++i) sums[i] += sums[(i + 1) % 160] * B[k];\n"
        "  for (int i = 0; i < 160; ++i) C[i % N] = sums[i];"
    )
    done = build(device, kernel(body, "32, 32, 32, 32"))
    assert done.resources["registers"] > 64
    assert the_finding(device.launch(done, launch(3, 5, 7))).verdict is Verdict.BAD_LAUNCH
    case = launch(33, 17, 65)
    assert_right(run(device, NAIVE, case), case)


def test_more_threads_than_the_launch_bounds_are_a_bad_launch(device: GpuDevice) -> None:
    text = kernel("  C[0] = 1;").text.replace("void matmul", "void __launch_bounds__(64) matmul")
    (finding,) = device.build(EXERCISE, submission(text)).findings
    assert (finding.verdict, finding.kind) == (Verdict.BAD_LAUNCH, "launch_bounds")
