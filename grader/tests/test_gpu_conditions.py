"""What NVML says of a GPU, in the words of results.json; NVML itself is made up."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Sequence

import pytest

from grader.gpu import conditions
from grader.timing.sample import Conditions


class NVMLError(Exception):
    pass


def nvml(pids: Sequence[int], *, lacks: str = "") -> types.ModuleType:
    """`pynvml` with one GPU on which these processes compute, and without the function `lacks`."""
    made = types.ModuleType("pynvml")

    def refuse(*arguments: object) -> int:
        raise NVMLError("not supported")

    answers = {
        "nvmlInit": lambda: None,
        "nvmlDeviceGetHandleByPciBusId": lambda address: f"GPU at {address}",
        "nvmlDeviceGetClockInfo": lambda gpu, clock: {1: 1980, 2: 3201}[clock],
        "nvmlDeviceGetTemperature": lambda gpu, sensor: 41,
        "nvmlDeviceGetPowerUsage": lambda gpu: 318_500,
        "nvmlDeviceGetEnforcedPowerLimit": lambda gpu: 700_000,
        "nvmlDeviceGetCurrentClocksThrottleReasons": lambda gpu: 0x01 | 0x04 | 0x40,
        "nvmlDeviceGetComputeRunningProcesses": lambda gpu: [
            types.SimpleNamespace(pid=pid) for pid in pids
        ],
    }
    constants = {"NVML_CLOCK_SM": 1, "NVML_CLOCK_MEM": 2, "NVML_TEMPERATURE_GPU": 0}
    made.__dict__.update(answers, **constants, NVMLError=NVMLError)
    if lacks:
        setattr(made, lacks, refuse)
    return made


def read(monkeypatch: pytest.MonkeyPatch, module: types.ModuleType | None) -> Conditions | None:
    monkeypatch.setitem(sys.modules, "pynvml", module)
    found = conditions.find("0000:18:00.0")
    return Conditions(**found.read()) if found else None


def test_everything_is_read_in_its_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, nvml([os.getpid(), 7, 8])) == Conditions(
        sm_clock_mhz=1980,
        memory_clock_mhz=3201,
        temperature_c=41,
        power_w=318.5,
        power_limit_w=700.0,
        throttle=["power cap", "hardware thermal slowdown"],  # type: ignore[arg-type]
        other_processes=2,
    )


def test_processes_that_a_container_hides_are_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (nvml([]), nvml([12345]), nvml([], lacks="nvmlDeviceGetComputeRunningProcesses")):
        found = read(monkeypatch, module)
        assert found is not None
        assert found.other_processes == -1


def test_a_number_that_a_gpu_does_not_tell_is_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    found = read(monkeypatch, nvml([os.getpid()], lacks="nvmlDeviceGetEnforcedPowerLimit"))
    assert found is not None
    assert (found.power_w, found.power_limit_w, found.other_processes) == (318.5, 0.0, 0)


@pytest.mark.parametrize("lacks", ["nvmlInit", "nvmlDeviceGetHandleByPciBusId"])
def test_without_the_drivers_library_there_are_none(
    monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    assert read(monkeypatch, nvml([], lacks=lacks)) is None


def test_without_the_package_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read(monkeypatch, None) is None


def test_a_gpu_that_is_idle_or_set_by_its_owner_is_not_slowed_down() -> None:
    assert conditions.throttle(0x01 | 0x02 | 0x100) == []
    assert conditions.throttle(0x08 | 0x20 | 0x80) == [
        "hardware slowdown",
        "thermal slowdown",
        "power brake",
    ]
