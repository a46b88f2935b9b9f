"""The stopwatch on a real GPU: right kernels, wrong ones, and what other work does to it."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterator

import pytest

from grader import course
from grader.device import Build
from grader.finding import KernelFault
from grader.gpu.device import GpuDevice
from grader.gpu.hardware import available
from grader.gpu.stopwatch import GpuStopwatch
from grader.problems.matmul import Layout, Shape
from grader.tests.gpu_samples import EXERCISE, kernel, launch
from grader.timing.sample import Contestant, Sample
from grader.verdict import Verdict

WHY_NOT = available()
pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT or "has a GPU")]

STUDENT, BASELINE, CUBLAS = Contestant.STUDENT, Contestant.BASELINE, Contestant.CUBLAS
SMALL = Shape(512, 512, 512)
SHAPES = [Shape(1, 1, 1), Shape(1023, 1025, 1021), Shape(4095, 4097, 4093)]
ROW_COL = (
    "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (row >= M || col >= N) return;\n"
)
KXN = "  float sum = 0; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
NXK = KXN.replace("B[k * N + col]", "B[col * K + k]")
STORE = "  C[row * N + col] = sum;\n"
NAIVE = ROW_COL + KXN + STORE


@pytest.fixture(scope="module")
def device(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GpuDevice]:
    with GpuDevice(course.target("H200"), tmp_path_factory.mktemp("cache")) as opened:
        yield opened


def build(
    device: GpuDevice,
    body: str,
    layout: Layout = Layout.KXN,
    before: str = "",
    config: str = "16, 16, 16, 16",
) -> Build:
    exercise = dataclasses.replace(EXERCISE, b_layout=layout)
    done = device.build(exercise, kernel(body, config, before))
    assert done.findings == ()
    return done


def opened(
    device: GpuDevice, body: str = NAIVE, shape: Shape = SMALL, before: str = ""
) -> GpuStopwatch:
    return device.stopwatch(build(device, body, before=before), shape, key=77, timeout_s=2.0)


def spotless(sample: Sample) -> bool:
    return (sample.wrong_rows, sample.inputs_changed, sample.guards_written) == (0, 0, 0)


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_right_kernels_are_right(device: GpuDevice, shape: Shape, layout: Layout) -> None:
    body = ROW_COL + (KXN if layout is Layout.KXN else NXK) + STORE
    watch = device.stopwatch(build(device, body, layout), shape, key=1)
    for draw, who in enumerate((STUDENT, BASELINE) * 2):
        sample = watch.sample(who, draw)
        assert spotless(sample), sample
        assert 0 < sample.seconds < 2
    watch.close()


def test_dynamic_shared_memory_beyond_48_kib_can_be_timed(device: GpuDevice) -> None:
    body = "  extern __shared__ float s[]; s[threadIdx.x] = 0;\n" + NAIVE
    done = build(device, body, config="16, 16, 16, 16, 1, 65536")
    watch = device.stopwatch(done, Shape(100, 100, 100), key=1)
    assert spotless(watch.sample(STUDENT, 1))
    watch.close()


def test_the_same_draw_takes_about_the_same_time(device: GpuDevice) -> None:
    watch = opened(device, shape=Shape(2048, 2048, 2048))
    times = [watch.sample(BASELINE, draw).seconds for draw in range(12)][2:]
    middle = statistics.median(times)
    assert sum(abs(seconds / middle - 1) < 0.1 for seconds in times) >= 6
    watch.close()


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_one_wrong_element_is_found(device: GpuDevice, shape: Shape) -> None:
    wrong = f"  if (row == {shape.m - 1} && col == {shape.n // 2}) sum += 1;\n"
    sample = opened(device, ROW_COL + KXN + wrong + STORE, shape).sample(STUDENT, 1)
    assert (sample.wrong_rows, sample.first_wrong_row) == (1, shape.m - 1)


def test_a_part_of_k_that_is_left_out_is_found(device: GpuDevice) -> None:
    sample = opened(device, ROW_COL + KXN.replace("k < K", "k < K - 1") + STORE).sample(STUDENT, 1)
    assert sample.wrong_rows > 500


def test_sixteen_bit_arithmetic_is_found(device: GpuDevice) -> None:
    """BF16 keeps 8 bits of a number, TF32 11, and float accumulates both exactly."""
    for bits in (8, 11):
        cut = f"__uint_as_float(__float_as_uint(A[row * K + k]) & ~0u << {24 - bits})"
        body = ROW_COL + KXN.replace("A[row * K + k]", cut) + STORE
        assert opened(device, body).sample(STUDENT, 1).wrong_rows > 500


def test_inputs_and_guards_that_are_written_are_counted(device: GpuDevice) -> None:
    spoil = "  if (row == 0 && col < 5) { ((float *)A)[col] = 0.5f; C[-1 - col] = 0; }\n"
    sample = opened(device, NAIVE + spoil).sample(STUDENT, 1)
    assert (sample.inputs_changed, sample.guards_written) == (5, 5)


def test_a_result_that_was_kept_is_right_once_for_each_stopwatch(device: GpuDevice) -> None:
    before = "__device__ float kept[256 * 256]; __device__ int launches;"
    keep = "  if (atomicAdd(&launches, 1) < 65536) {\n" + KXN + "  kept[row * 256 + col] = sum; }\n"
    body = ROW_COL + keep + "  C[row * N + col] = kept[row * 256 + col];\n"
    for _ in range(2):
        watch = opened(device, body, Shape(256, 256, 256), before)
        assert spotless(watch.sample(STUDENT, 1))
        assert watch.sample(STUDENT, 2).wrong_rows == 256
        watch.close()


def test_what_c_held_before_is_no_result(device: GpuDevice) -> None:
    watch = opened(device, "  if (blockIdx.x + blockIdx.y > 0) return;\n" + NAIVE)
    assert watch.sample(STUDENT, 1).wrong_rows == 512
    assert watch.sample(STUDENT, 1).wrong_rows == 512


def test_a_hang_costs_the_worker_only(device: GpuDevice) -> None:
    watch = opened(device, "  volatile float *p = C; while (p[0] != 3.25f) p[1] = 1;")
    assert spotless(watch.sample(BASELINE, 1))
    with pytest.raises(KernelFault) as caught:
        watch.sample(STUDENT, 2)
    assert caught.value.findings[0].verdict is Verdict.TIMEOUT
    sample = watch.sample(BASELINE, 3)
    assert spotless(sample)
    assert sample.first


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("  C[(size_t)1 << 40] = 1;", Verdict.OUT_OF_BOUNDS),
        ("  *(float4 *)(C + 1) = make_float4(1, 1, 1, 1);", Verdict.MISALIGNED),
        ("  __trap();", Verdict.CRASH),
    ],
)
def test_a_sticky_error_is_the_students(device: GpuDevice, body: str, verdict: Verdict) -> None:
    watch = opened(device, body)
    with pytest.raises(KernelFault) as caught:
        watch.sample(STUDENT, 1)
    assert caught.value.findings[0].verdict is verdict
    assert spotless(watch.sample(BASELINE, 2))


def test_nobody_takes_an_idle_gpu_away(device: GpuDevice) -> None:
    watch = opened(device)
    gaps = [watch.sample(BASELINE, draw).longest_gap_s for draw in range(10)]
    assert 0 < statistics.median(gaps) < 0.2e-3
    watch.close()


def test_two_stopwatches_and_launches_take_turns(device: GpuDevice) -> None:
    one, two = opened(device), opened(device, shape=Shape(300, 400, 500))
    done, case = build(device, NAIVE), launch(33, 17, 65)
    for draw in range(5):
        assert spotless(one.sample(STUDENT, draw))
        assert spotless(two.sample(BASELINE, draw))
        assert device.launch(done, case).findings == ()
    one.close()
    two.close()


@pytest.mark.parametrize("layout", Layout)
def test_cublas_is_right_where_it_is_found(device: GpuDevice, layout: Layout) -> None:
    done = build(device, ROW_COL + NXK + STORE, layout)
    for shape in SHAPES:
        watch = device.stopwatch(done, shape, key=5, cublas=True)
        if CUBLAS not in watch.contestants:
            pytest.skip("needs cuBLAS and nvmath-python, beside a GPU")
        assert all(spotless(watch.sample(CUBLAS, draw)) for draw in range(2))
        watch.close()


def test_conditions_are_plausible_where_nvml_is_found(device: GpuDevice) -> None:
    watch = opened(device)
    watch.sample(BASELINE, 1)
    found = watch.conditions()
    watch.close()
    if found is None:
        pytest.skip("needs NVML and nvidia-ml-py, beside a GPU")
    assert 100 < found.sm_clock_mhz < 5000
    assert 0 < found.temperature_c < 110
    assert found.other_processes >= -1


def test_the_peaks_are_those_of_a_gpu(device: GpuDevice) -> None:
    said = device.describe()
    assert 500 < said["peak_gflops"] < 1e6
    assert 50 < said["memory_gb_per_s"] < 1e5
    assert device.fits(Shape(512, 512, 512))
    assert not device.fits(Shape(46000, 46000, 46000)) or said["memory_bytes"] > 24 << 30
