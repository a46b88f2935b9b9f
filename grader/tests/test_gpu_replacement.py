"""The GPU device over workers that crash, hang, flood and lie. No GPU is needed: a program that
speaks the worker's frames stands in, and does what the kernel's name says.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from grader import course
from grader.device import OUTPUT_LIMIT_BYTES, Launch, Run
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.gpu.device import GpuDevice
from grader.tests.gpu_samples import built, launch
from grader.verdict import Verdict

FAKE = r"""
import os, sys, time
from grader.gpu.frames import encode
from grader.gpu.worker import _receive, _send

pipe = int(sys.argv[1])

def say(event, *parts, **facts):
    _send(pipe, {"event": event, **facts}, [memoryview(part) for part in parts])

def fail(code, name, stage, sticky):
    say("error", stage=stage, sticky=sticky, code=code, name=name, call="f failed: text")
    if sticky:
        os._exit(0)

say("hello", name="Fake", uuid="fake", driver="1", cuda="13.0", compute_capability=[9, 0],
    memory_bytes=1, l2_bytes=1, multiprocessors=1, shared_per_block_optin=232448,
    clock_khz=1, memory_clock_khz=1, memory_bus_bits=1)
while (request := _receive(0)) is not None:
    if request.header["action"] == "memory":
        if os.path.exists("LOST"):
            fail(100, "CUDA_ERROR_NO_DEVICE", "setup", False)
        else:
            say("result", free_bytes=1 << 34)
        continue
    behaviour = request.header["kernel"]
    if behaviour == "lost":
        open("LOST", "w").close()
        say("launching")
        fail(719, "CUDA_ERROR_LAUNCH_FAILED", "launching", True)
    if behaviour == "lost and silent":
        open("LOST", "w").close()
        say("launching")
        time.sleep(600)
    if behaviour == "full":
        fail(2, "CUDA_ERROR_OUT_OF_MEMORY", "setup", False)
        continue
    say("launching")
    if behaviour == "hang":
        time.sleep(600)
    if behaviour == "die":
        print("driver: it broke", file=sys.stderr, flush=True)
        os._exit(3)
    if behaviour == "illegal":
        fail(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "launching", True)
    if behaviour == "refused":
        fail(701, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES", "launching", False)
        continue
    if behaviour == "babble":
        os.write(pipe, b"these are no frames, not even one")
        time.sleep(600)
    if behaviour == "flood":
        os.write(1, b"x" * 5_000_000)
    if behaviour == "forge":
        for part in encode({"event": "result"}, [memoryview(bytes(len(request.payload)))]):
            os.write(1, part)
    if behaviour == "print":
        os.write(1, b"pid %d\n" % os.getpid())
    say("finished", seconds=0.25)
    say("result", request.payload)
"""


@pytest.fixture
def device(tmp_path: Path) -> Iterator[GpuDevice]:
    with GpuDevice(
        course.target("H200"),
        tmp_path / "cache",
        worker=(sys.executable, "-c", FAKE.replace("LOST", str(tmp_path / "lost"))),
        lock_folder=tmp_path / "lock",
    ) as opened:
        yield opened


def run(device: GpuDevice, behaviour: str, timeout_s: float = 10.0) -> Run:
    return device.launch(built(behaviour), launch(3, 5, 7, timeout_s))


def worker_of(device: GpuDevice) -> int:
    return int(run(device, "print").output.split()[1])


def assert_untouched(images: tuple[np.ndarray, ...], case: Launch) -> None:
    for image, operand in zip(images, case.operands, strict=True):
        np.testing.assert_array_equal(image, operand.image)


def test_images_and_time_come_back_in_order(device: GpuDevice) -> None:
    answer = run(device, "good")
    assert_untouched(answer.images, launch(3, 5, 7))
    assert (answer.findings, answer.seconds, answer.output) == ((), 0.25, "")


def test_large_operands_pass_while_the_worker_prints(device: GpuDevice) -> None:
    case = launch(700, 800, 900)  # more than any pipe buffers
    answer = device.launch(built("flood"), case)
    assert_untouched(answer.images, case)


def test_one_worker_serves_many_launches(device: GpuDevice) -> None:
    assert worker_of(device) == worker_of(device)


def test_a_sticky_error_costs_the_worker_and_nothing_else(device: GpuDevice) -> None:
    before = worker_of(device)
    answer = run(device, "illegal")
    assert answer.images == ()
    assert [(f.verdict, f.kind, f.device) for f in answer.findings] == [
        (Verdict.OUT_OF_BOUNDS, "illegal_address", "gpu")
    ]
    assert worker_of(device) != before


def test_an_error_that_is_not_sticky_keeps_the_worker(device: GpuDevice) -> None:
    before = worker_of(device)
    assert run(device, "refused").findings[0].verdict is Verdict.BAD_LAUNCH
    assert worker_of(device) == before


def test_a_hang_is_a_timeout_and_the_worker_is_killed(device: GpuDevice) -> None:
    before = worker_of(device)
    started = time.monotonic()
    answer = run(device, "hang", timeout_s=0.3)
    assert 0.3 <= time.monotonic() - started < 10.0
    assert [(f.verdict, f.kind, dict(f.facts)) for f in answer.findings] == [
        (Verdict.TIMEOUT, "timeout_gpu", {"limit_s": 0.3})
    ]
    with pytest.raises(ProcessLookupError):
        os.kill(before, 0)
    assert worker_of(device) != before


@pytest.mark.parametrize("how", ["lost", "lost and silent"])
def test_a_gpu_that_is_lost_during_a_launch_blames_no_kernel(
    device: GpuDevice, tmp_path: Path, how: str
) -> None:
    with pytest.raises(GraderFault, match=r"CUDA_ERROR_NO_DEVICE.*not about your kernel. Next:"):
        run(device, how, timeout_s=0.3)
    (tmp_path / "lost").unlink()  # it is back
    assert run(device, "good").findings == ()


def test_a_worker_that_dies_is_our_fault_and_is_replaced(device: GpuDevice) -> None:
    with pytest.raises(GraderFault, match=r"exit status 3: driver: it broke.*not about your"):
        run(device, "die")
    assert run(device, "good").findings == ()


def test_memory_that_is_full_is_not_the_kernels_fault(device: GpuDevice) -> None:
    with pytest.raises(GraderFault, match=r"too little free memory.*not about your kernel"):
        run(device, "full")
    assert run(device, "good").findings == ()


def test_a_pipe_out_of_step_is_our_fault_and_is_replaced(device: GpuDevice) -> None:
    with pytest.raises(GraderFault, match="no frame"):
        run(device, "babble")
    assert run(device, "good").findings == ()


def test_a_flood_of_prints_is_cut_and_told(device: GpuDevice) -> None:
    answer = run(device, "flood")
    assert [(f.verdict, dict(f.facts)) for f in answer.findings] == [
        (Verdict.OUTPUT_LIMIT, {"limit_bytes": OUTPUT_LIMIT_BYTES})
    ]
    assert len(answer.output) == OUTPUT_LIMIT_BYTES
    assert run(device, "good").output == ""


def test_what_a_kernel_prints_is_never_a_result(device: GpuDevice) -> None:
    case = launch(3, 5, 7)
    assert_untouched(device.launch(built("forge"), case).images, case)


def test_closing_twice_is_harmless_and_ends_the_worker(device: GpuDevice) -> None:
    pid = worker_of(device)
    device.close()
    device.close()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_the_gpu_is_described_without_locking_it(device: GpuDevice, tmp_path: Path) -> None:
    gpu = device._gpu
    assert (gpu.name, gpu.architecture) == ("Fake", "sm_90")
    assert not (tmp_path / "lock").exists()


@pytest.mark.parametrize(
    ("worker", "message"),
    [
        ("import sys; sys.exit('no memory')", "did not start: exit status 1: no memory"),
        (
            "import sys; sys.modules['pycuda'] = None\n"
            "from grader.gpu import worker; worker.main()",
            "PyCUDA is not installed.*not about your kernel. Next: make setup",
        ),
        (
            "import sys, types; sys.modules['pycuda'] = types.ModuleType('pycuda')\n"
            "def init(): raise RuntimeError('cuInit failed: no CUDA-capable device is detected')\n"
            "sys.modules['pycuda.driver'] = m = types.ModuleType('pycuda.driver'); m.init = init\n"
            "sys.modules['pycuda'].driver = m\n"
            "import ctypes; ctypes.CDLL = lambda name: None\n"
            "from grader.gpu import worker; worker.main()",
            "no CUDA-capable device is detected.*not about your kernel",
        ),
    ],
)
def test_a_gpu_that_cannot_be_used_is_named(tmp_path: Path, worker: str, message: str) -> None:
    device = GpuDevice(
        course.target("H200"), tmp_path, worker=(sys.executable, "-c", worker), lock_folder=tmp_path
    )
    with pytest.raises(GraderFault, match=message):
        device.describe()
    device.close()


def test_a_worker_does_not_outlive_a_grader_that_was_killed(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'from grader.gpu import worker; "
        "import time; worker._end_with_parent(); print(1, flush=True); time.sleep(60)'],"
        " stdout=subprocess.PIPE)\n"
        "child.stdout.readline(); print(child.pid, flush=True); os._exit(0)\n"
    )
    parent = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, check=True
    )
    worker = int(parent.stdout)
    deadline = time.monotonic() + 10.0
    while Path(f"/proc/{worker}").exists() and time.monotonic() < deadline:
        state = Path(f"/proc/{worker}/stat").read_text().rsplit(")", 1)[1].split()[0]
        if state == "Z":
            break
        time.sleep(0.1)
    else:
        assert not Path(f"/proc/{worker}").exists()
