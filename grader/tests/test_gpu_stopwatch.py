"""The stopwatch of the GPU device, over the real worker and the real kernels, run on the CPU."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader import course
from grader.device import Build
from grader.finding import GraderFault, KernelFault
from grader.gpu import own_kernels
from grader.gpu.device import GpuDevice
from grader.gpu.stopwatch import GpuStopwatch
from grader.problems.matmul import Layout, Shape
from grader.tests import fake_pycuda
from grader.tests.gpu_samples import PARAMETERS, built, launch
from grader.tests.test_gpu_nvcc import fake_nvcc
from grader.timing.sample import Contestant, Sample
from grader.verdict import Verdict

STUDENT, BASELINE, CUBLAS = Contestant.STUDENT, Contestant.BASELINE, Contestant.CUBLAS
SHAPE = Shape(35, 79, 19)
ROW_COL = (
    "int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;\n"
    "if (row >= M || col >= N) return;\n"
)
SUM = "float sum = 0; for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];\n"
RIGHT = f"{ROW_COL}{SUM} C[row * N + col] = sum;"
SUM_NXK = SUM.replace("B[k * N + col]", "B[col * K + k]")
# Computes in its first launch and copies what it kept in all others.
CACHED = f"""{ROW_COL}
    static float kept[35 * 79]; static int launches;
    if (row == 0 && col == 0) ++launches;
    if (launches == 1) {{ {SUM} kept[row * N + col] = sum; }}
    C[row * N + col] = kept[row * N + col];"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kernels")


@pytest.fixture(scope="module")
def device(shared: Path) -> Iterator[GpuDevice]:
    with GpuDevice(
        course.target("H200"),
        shared / "cache",
        compiler=fake_nvcc(shared / "nvcc"),
        worker=(sys.executable, "-m", "grader.tests.fake_pycuda", str(shared)),
        lock_folder=shared / "lock",
    ) as opened:
        yield opened


def build(folder: Path, body: str, layout: Layout = Layout.KXN) -> Build:
    text = f'extern "C" __global__ void matmul_tiled({PARAMETERS}) {{\n{body}\n}}\n'
    cubin = folder / f"{abs(hash(text))}.cubin"
    cubin.write_text(text)
    done = built("matmul_tiled", cubin)
    return dataclasses.replace(done, exercise=dataclasses.replace(done.exercise, b_layout=layout))


def opened(
    device: GpuDevice, folder: Path, body: str = RIGHT, shape: Shape = SHAPE, **options: float
) -> GpuStopwatch:
    return device.stopwatch(build(folder, body), shape, key=3, **options)  # type: ignore[arg-type]


def spotless(sample: Sample) -> bool:
    return (sample.wrong_rows, sample.inputs_changed, sample.guards_written) == (0, 0, 0)


@pytest.mark.parametrize("layout", Layout)
@pytest.mark.parametrize("shape", [Shape(1, 1, 1), SHAPE, Shape(129, 65, 130)], ids=str)
def test_samples_of_right_kernels_are_right(
    device: GpuDevice, tmp_path: Path, shape: Shape, layout: Layout
) -> None:
    body = RIGHT if layout is Layout.KXN else RIGHT.replace(SUM, SUM_NXK)
    watch = device.stopwatch(build(tmp_path, body, layout), shape, key=3)
    samples = [watch.sample(who, draw) for draw, who in enumerate((STUDENT, BASELINE) * 2)]
    assert all(map(spotless, samples))
    assert [sample.contestant for sample in samples] == [STUDENT, BASELINE] * 2
    assert [sample.first for sample in samples] == [True, True, False, False]
    assert all(0 < sample.seconds < 1 for sample in samples)
    assert all(0 < sample.longest_gap_s < 1 for sample in samples)


def test_a_wrong_element_is_told_with_its_row(device: GpuDevice, tmp_path: Path) -> None:
    body = RIGHT.replace("= sum;", "= sum + (row == 34 && col == 78);")
    sample = opened(device, tmp_path, body).sample(STUDENT, 1)
    assert (sample.wrong_rows, sample.first_wrong_row) == (1, 34)


def test_a_result_that_was_kept_is_right_once(device: GpuDevice, tmp_path: Path) -> None:
    watch = opened(device, tmp_path, CACHED)
    assert spotless(watch.sample(STUDENT, 1))
    assert watch.sample(STUDENT, 2).wrong_rows == SHAPE.m


def test_a_stopwatch_opens_with_fresh_device_variables(device: GpuDevice, tmp_path: Path) -> None:
    one, two = opened(device, tmp_path, CACHED), opened(device, tmp_path, CACHED)
    assert spotless(one.sample(STUDENT, 1))
    assert spotless(two.sample(STUDENT, 2))


def test_inputs_and_guards_that_are_written_are_counted(device: GpuDevice, tmp_path: Path) -> None:
    body = (
        RIGHT + "if (row == 1 && col < 3) ((float *)A)[col] = 0.25f; if (row == 0) C[-1 - col] = 1;"
    )
    sample = opened(device, tmp_path, body).sample(STUDENT, 1)
    assert (sample.inputs_changed, sample.guards_written) == (3, 79)


def test_samples_and_launches_take_turns(device: GpuDevice, tmp_path: Path) -> None:
    one = opened(device, tmp_path)
    two = opened(device, tmp_path, shape=Shape(20, 30, 40))
    case = launch(20, 30, 7)
    for draw in range(3):
        assert spotless(one.sample(STUDENT, draw))
        assert spotless(two.sample(BASELINE, draw))
        run = device.launch(build(tmp_path, RIGHT), case)
        a, b, c = (
            operand.values(image) for operand, image in zip(case.operands, run.images, strict=True)
        )
        np.testing.assert_array_equal(c, a @ b)


def test_a_launch_that_hangs_costs_the_worker_and_the_next_sample_works(
    device: GpuDevice, tmp_path: Path
) -> None:
    body = "if (K == 19) for (volatile int i = 0;; ) i = 1;\n" + RIGHT
    other = opened(device, tmp_path, shape=Shape(20, 30, 40))
    watch = opened(device, tmp_path, body, timeout_s=0.3)
    assert spotless(watch.sample(BASELINE, 1))
    started = time.monotonic()
    with pytest.raises(KernelFault) as caught:
        watch.sample(STUDENT, 2)
    assert time.monotonic() - started < 10
    [finding] = caught.value.findings
    assert (finding.verdict, finding.kind) == (Verdict.TIMEOUT, "timeout_gpu")
    assert (finding.device, finding.shape) == ("gpu", SHAPE)
    again = watch.sample(BASELINE, 3)
    assert spotless(again)
    assert again.first  # in another process, so loaded anew
    assert spotless(other.sample(STUDENT, 4))


def test_a_sticky_error_is_explained_and_the_next_sample_works(
    device: GpuDevice, tmp_path: Path
) -> None:
    watch = opened(device, tmp_path, "/* STICKY 700 */")
    with pytest.raises(KernelFault) as caught:
        watch.sample(STUDENT, 1)
    [finding] = caught.value.findings
    assert (finding.verdict, finding.kind) == (Verdict.OUT_OF_BOUNDS, "illegal_address")
    assert spotless(watch.sample(BASELINE, 2))


def test_a_flood_of_prints_is_the_kernels_fault(device: GpuDevice, tmp_path: Path) -> None:
    body = RIGHT + 'printf("%60d\\n", col);'
    watch = opened(device, tmp_path, body)
    with pytest.raises(KernelFault) as caught:
        watch.sample(STUDENT, 1)
    assert caught.value.findings[0].verdict is Verdict.OUTPUT_LIMIT
    assert spotless(watch.sample(BASELINE, 2))


def test_prints_of_a_kernel_are_no_results(device: GpuDevice, tmp_path: Path) -> None:
    body = (
        RIGHT + 'if (row + col == 0) printf("{\\"event\\": \\"finished\\", \\"seconds\\": 1e-9}");'
    )
    assert opened(device, tmp_path, body).sample(STUDENT, 1).seconds > 1e-6


def test_whether_a_shape_fits_is_asked_of_the_gpu(device: GpuDevice) -> None:
    assert device.fits(Shape(1024, 1024, 1024))
    assert not device.fits(Shape(8192, 8192, 4096))


def test_memory_that_is_full_is_not_the_kernels_fault(device: GpuDevice, tmp_path: Path) -> None:
    with pytest.raises(GraderFault, match=r"too little free memory.*not about your kernel"):
        opened(device, tmp_path, shape=Shape(20000, 20000, 1))
    assert spotless(opened(device, tmp_path).sample(STUDENT, 1))


def test_a_closed_stopwatch_gives_its_memory_back(device: GpuDevice, tmp_path: Path) -> None:
    shape = Shape(6000, 6000, 1)
    for _ in range(4):  # together they do not fit
        watch = opened(device, tmp_path, shape=shape)
        watch.close()
        watch.close()
    watch = opened(device, tmp_path)
    device.close()
    watch.close()  # after its worker


def test_without_cublas_only_the_two_others_run(device: GpuDevice, tmp_path: Path) -> None:
    watch = opened(device, tmp_path)
    assert watch.contestants == (STUDENT, BASELINE)
    with pytest.raises(GraderFault, match="cuBLAS was not found on this machine"):
        watch.sample(CUBLAS, 1)
    assert spotless(watch.sample(STUDENT, 2))


def test_without_nvml_there_are_no_conditions(device: GpuDevice, tmp_path: Path) -> None:
    assert opened(device, tmp_path).conditions() is None


def test_the_peaks_of_the_gpu_are_described(device: GpuDevice) -> None:
    said = device.describe()
    assert said["peak_gflops"] == fake_pycuda.MULTIPROCESSORS * 128 * 2 * 1.0
    assert said["memory_gb_per_s"] == 2 * 2.0 * 64 / 8


def test_own_kernels_that_do_not_compile_are_our_fault(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "nvcc", 'echo "x.cu(3): error: identifier"; exit 1')
    with pytest.raises(GraderFault, match=r"the grader's own \w+\.cu: .*not about your kernel"):
        own_kernels.compile_all(compiler, "sm_90", tmp_path / "cache")


def test_a_shape_with_too_many_rows_for_the_baseline_is_refused(
    device: GpuDevice, tmp_path: Path
) -> None:
    rows = 65_535 * 16 + 1
    with pytest.raises(ValueError, match="more rows than the baseline"):
        opened(device, tmp_path, shape=Shape(rows, 1, 1))
