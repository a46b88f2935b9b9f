"""The process that owns the GPU: `python -m grader.gpu.worker PIPE`.

Requests come as frames on stdin, answers go as frames to the pipe whose number is the argument.
stdout is left to the kernel's printf. After a sticky error the process is of no use and ends; the
grader starts another.

A request names its action. A launch is answered by "launching" (everything is on the GPU),
"finished", and "result" with the operands' images; or by "error" at any of these stages. So is a
sample of a stopwatch (`timed`), whose result is a few numbers; other actions give their "result".
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from grader.gpu import conditions
from grader.gpu.frames import Decoder, Frame, encode
from grader.gpu.timed import ALIGNMENT, WORD, Timed

_PARENT_POLL_S = 1.0


def main() -> None:
    pipe = int(sys.argv[1])
    # Load a module when it is asked for, not in the first launch, which would be timed with it.
    os.environ["CUDA_MODULE_LOADING"] = "EAGER"
    _end_with_parent()
    try:
        gpu = _Gpu()
    except Exception as error:  # no PyCUDA, no driver, no GPU: the grader words it
        absent = error.name or "" if isinstance(error, ModuleNotFoundError) else ""
        _send(pipe, {"event": "unusable", "module": absent, "detail": str(error)})
        return
    _send(pipe, {"event": "hello", **gpu.describe()})
    while (request := _receive(0)) is not None:
        if not _answer(gpu, request, pipe):
            break
    os._exit(0)  # the process ends, and with it the context: PyCUDA's clean-up has nothing to add


def _answer(gpu: _Gpu, request: Frame, pipe: int) -> bool:
    """Do what is asked; whether the process is still of use afterwards."""
    stage = ["setup"]

    def tell(event: str, **facts: Any) -> None:
        stage[0] = event
        _send(pipe, {"event": event, **facts})

    try:
        facts, images = gpu.serve(request, tell)
    except gpu.failures as error:
        sticky = gpu.sticky()
        _flush_prints()
        answer = {"event": "error", "stage": stage[0], "sticky": sticky, **gpu.name_error(error)}
        _send(pipe, answer)
        return not sticky
    _send(pipe, {"event": "result", **facts}, [memoryview(image) for image in images])
    return True


class _Gpu:
    """The first GPU that CUDA_VISIBLE_DEVICES leaves, and its primary context once needed."""

    def __init__(self) -> None:
        import numpy as np
        import pycuda.driver as cuda

        self._np = np
        self._cuda = cuda
        self._library = ctypes.CDLL("libcuda.so.1")
        cuda.init()
        if cuda.Device.count() == 0:
            raise RuntimeError("the driver finds no GPU")
        self._device = cuda.Device(0)
        self._context: Any = None
        self._stopwatches: dict[int, Timed] = {}
        self._nvml: conditions.Nvml | None = None
        self.failures: type[Exception] = cuda.Error  # the base of all of PyCUDA's

    def describe(self) -> dict[str, Any]:
        """What results.json says of this GPU; bytes for sizes."""
        attribute = self._cuda.device_attribute
        release = self._cuda.get_driver_version()
        return {
            "name": self._device.name(),
            "uuid": self._uuid(),
            "driver": _driver_release(),
            "cuda": f"{release // 1000}.{release % 1000 // 10}",
            "compute_capability": list(self._device.compute_capability()),
            "memory_bytes": self._device.total_memory(),
            "l2_bytes": self._device.get_attribute(attribute.L2_CACHE_SIZE),
            "multiprocessors": self._device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
            "shared_per_block_optin": self._device.get_attribute(
                attribute.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
            ),
            "clock_khz": self._device.get_attribute(attribute.CLOCK_RATE),
            "memory_clock_khz": self._device.get_attribute(attribute.MEMORY_CLOCK_RATE),
            "memory_bus_bits": self._device.get_attribute(attribute.GLOBAL_MEMORY_BUS_WIDTH),
        }

    def serve(
        self, request: Frame, tell: Callable[..., None]
    ) -> tuple[Mapping[str, Any], list[Any]]:
        """The facts and the images that answer a request."""
        header = request.header
        self._own_context()
        match header["action"]:
            case "launch":
                return {}, self._launch(header, request.payload, tell)
            case "memory":
                return {"free_bytes": self._cuda.mem_get_info()[0]}, []
            case "open_stopwatch":
                opened = Timed(self._cuda, self._load, header)
                self._stopwatches[header["stopwatch"]] = opened
                return {"cublas": opened.has_cublas}, []
            case "sample":
                stopwatch = self._stopwatches[header["stopwatch"]]
                return stopwatch.sample(header, tell, _flush_prints), []
            case "close_stopwatch":
                self._stopwatches.pop(header["stopwatch"]).close()
                return {}, []
            case "conditions":
                return {"conditions": self._conditions()}, []
        raise ValueError(f"unknown action {header['action']!r}")

    def _launch(
        self, header: Mapping[str, Any], payload: memoryview, tell: Callable[..., None]
    ) -> list[Any]:
        """Copy the operands to the GPU, run the kernel, copy them back."""
        cuda = self._cuda
        self._module, kernel = self._load(
            header["cubin"], header["kernel"], header["dynamic_shared"]
        )
        images = _split(payload, [operand["words"] for operand in header["operands"]])
        blocks, addresses = [], []
        try:
            for image, operand in zip(images, header["operands"], strict=True):
                block = cuda.mem_alloc(image.nbytes + ALIGNMENT)
                blocks.append(block)
                addresses.append(_placed(int(block), operand["guard"]))
                cuda.memcpy_htod(addresses[-1], image)
            arguments: list[Any] = [self._np.uintp(a + o["guard"] * WORD)
                         for a, o in zip(addresses, header["operands"], strict=True)]  # fmt: skip
            arguments += [self._np.int32(scalar) for scalar in header["scalars"]]
            self._run(kernel, arguments, header, tell)
            after = [self._np.empty(image.nbytes, self._np.uint8) for image in images]
            for host, address in zip(after, addresses, strict=True):
                cuda.memcpy_dtoh(host, address)
        finally:
            if not self.sticky():
                for block in blocks:
                    block.free()
        return after

    def _run(
        self,
        kernel: Any,
        arguments: Sequence[Any],
        header: Mapping[str, Any],
        tell: Callable[..., None],
    ) -> None:
        start, end = self._cuda.Event(), self._cuda.Event()
        tell("launching")
        start.record()
        kernel(
            *arguments,
            block=(*header["block"], 1),
            grid=tuple(header["grid"]),
            shared=header["dynamic_shared"],
        )
        end.record()
        self._cuda.Context.synchronize()
        _flush_prints()
        tell("finished", seconds=end.time_since(start) * 1e-3)

    def _load(self, cubin: str, kernel: str, dynamic_shared: int) -> tuple[Any, Any]:
        """A module loaded anew and its kernel, so that nobody sees what another one left."""
        module = self._cuda.module_from_file(cubin)
        function = module.get_function(kernel)
        if dynamic_shared > 0:  # more than 48 KiB need this permission
            attribute = self._cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
            function.set_attribute(attribute, dynamic_shared)
        return module, function

    def _conditions(self) -> dict[str, Any] | None:
        if self._nvml is None:
            self._nvml = conditions.find(str(self._device.pci_bus_id()))
        return self._nvml.read() if self._nvml else None

    def _own_context(self) -> None:
        """The primary context: the one that libraries and profilers share."""
        if self._context is None:
            self._context = self._device.retain_primary_context()
            self._context.push()

    def sticky(self) -> bool:
        """Whether the context is lost: then every call fails, even this one."""
        return self._context is not None and self._library.cuCtxSynchronize() != 0

    def name_error(self, error: BaseException) -> dict[str, Any]:
        """The code of PyCUDA's exception, which holds only the driver's text for it."""
        call = str(error)
        match = re.search(r" failed: (.*?)(?: - .*)?$", call, re.DOTALL)
        text = match[1].strip() if match else ""
        for code in range(1, 1000):
            if self._text("cuGetErrorString", code) == text:
                return {"code": code, "name": self._text("cuGetErrorName", code), "call": call}
        return {"code": 999, "name": type(error).__name__, "call": call}

    def _text(self, function: str, code: int) -> str:
        text = ctypes.c_char_p()
        failed = getattr(self._library, function)(code, ctypes.byref(text))
        return "" if failed or text.value is None else text.value.decode(errors="replace")

    def _uuid(self) -> str:
        """The GPU's UUID, the same under every CUDA_VISIBLE_DEVICES."""
        device, raw = ctypes.c_int(), (ctypes.c_ubyte * 16)()
        self._library.cuDeviceGet(ctypes.byref(device), 0)
        if self._library.cuDeviceGetUuid(raw, device) != 0:
            return str(self._device.pci_bus_id()).replace(":", "-")
        return bytes(raw).hex()


def _placed(base: int, guard: int) -> int:
    """Where the image goes so that its element `guard` lies on the boundary."""
    return base + -(base + guard * WORD) % ALIGNMENT


def _split(payload: memoryview, words: Sequence[int]) -> list[memoryview]:
    parts, start = [], 0
    for count in words:
        parts.append(payload[start : start + count * WORD])
        start += count * WORD
    return parts


def _driver_release() -> str:
    """The driver's own version ("580.65.06"); "" where the system does not tell."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text(errors="replace")
    except OSError:
        return ""
    match = re.search(r"\b(\d{3}\.\d+(?:\.\d+)?)\b", text)
    return match[1] if match else ""


def _flush_prints() -> None:
    """Send what the driver wrote for the kernel's printf and still lies in C's buffers."""
    ctypes.CDLL(None).fflush(None)


def _end_with_parent() -> None:
    """A grader that was killed must not leave a worker behind, least of all one that hangs."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(_PARENT_POLL_S)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def _receive(pipe: int) -> Frame | None:
    """The next frame; None when the grader closed the pipe."""
    decoder = Decoder()
    while count := os.readv(pipe, [decoder.room()]):
        frame = decoder.advance(count)
        if frame is not None:
            return frame
    return None


def _send(pipe: int, header: Mapping[str, Any], parts: Sequence[memoryview] = ()) -> None:
    for part in encode(header, parts):
        rest = part.cast("B")
        while rest:
            rest = rest[os.write(pipe, rest) :]


if __name__ == "__main__":
    main()
