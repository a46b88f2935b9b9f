"""The worker's side of `Stopwatch.conditions`: what NVML says of the GPU.

Needs the package nvidia-ml-py and the driver's library; without either there are no conditions. A
number that this GPU does not tell is 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

# The bits of nvmlDeviceGetCurrentClocksEventReasons that slow a GPU down; the others say that it
# is idle, or that somebody has set its clocks.
_REASONS = {
    0x04: "power cap",
    0x08: "hardware slowdown",
    0x20: "thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
}


class Nvml:
    """NVML's view of the GPU at a PCI address."""

    def __init__(self, pci_bus_id: str) -> None:
        """Raises whatever tells that NVML cannot be used."""
        import pynvml

        self._nvml = pynvml
        pynvml.nvmlInit()
        self._gpu = pynvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id)

    def read(self) -> dict[str, Any]:
        """The fields of `grader.timing.sample.Conditions`."""
        nvml = self._nvml
        return {
            "sm_clock_mhz": self._ask(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_SM),
            "memory_clock_mhz": self._ask(nvml.nvmlDeviceGetClockInfo, nvml.NVML_CLOCK_MEM),
            "temperature_c": self._ask(nvml.nvmlDeviceGetTemperature, nvml.NVML_TEMPERATURE_GPU),
            "power_w": self._ask(nvml.nvmlDeviceGetPowerUsage) / 1000,
            "power_limit_w": self._ask(nvml.nvmlDeviceGetEnforcedPowerLimit) / 1000,
            "throttle": throttle(self._ask(nvml.nvmlDeviceGetCurrentClocksThrottleReasons)),
            "other_processes": self._others(),
        }

    def _ask(self, question: Callable[..., Any], *arguments: Any) -> int:
        try:
            return int(question(self._gpu, *arguments))
        except self._nvml.NVMLError:  # not every GPU tells everything
            return 0

    def _others(self) -> int:
        """Processes on this GPU besides this one; -1 where a container hides whose they are."""
        try:
            running = self._nvml.nvmlDeviceGetComputeRunningProcesses(self._gpu)
        except self._nvml.NVMLError:
            return -1
        processes = {process.pid for process in running}
        return len(processes) - 1 if os.getpid() in processes else -1


def find(pci_bus_id: str) -> Nvml | None:
    """NVML where it can be used. Conditions are a courtesy: nothing that is missing is an error."""
    try:
        return Nvml(pci_bus_id)
    except Exception:
        return None


def throttle(bits: int) -> list[str]:
    """What slows the GPU down, in words."""
    return [word for bit, word in _REASONS.items() if bits & bit]
