"""A stopwatch that invents times from a noise model, and a device that hands it out.

Nothing here looks at a clock: time passes by what is measured.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.device import Build
from grader.finding import GraderFault
from grader.problems.matmul import Shape
from grader.speed import Timer
from grader.tests.fake_device import FakeDevice, right
from grader.timing.device import TimingDevice
from grader.timing.measurement import Measurement, measure
from grader.timing.rule import StoppingRule
from grader.timing.sample import Conditions, Contestant, Sample
from grader.timing.session import Session

BASELINE_S = 0.026
SQUARE = Shape(4096, 4096, 4096)
# What a sample costs besides the launch: contents, probe, flush, check.
OVERHEAD_S = 0.008
QUIET = Conditions(1980, 2619, 45, 600.0, 700.0, (), 0)


class Time:
    """A clock that moves when somebody measures or sleeps."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now_s

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now_s += seconds


# From the sample as it would be on a quiet GPU, its number and the source of chance.
Noise = Callable[[Sample, int, random.Random], Sample]


def quiet(sample: Sample, number: int, chance: random.Random) -> Sample:
    """0.2 % as on a large GPU."""
    return replace(sample, seconds=sample.seconds * chance.gauss(1, 0.002))


def noisy_student(sample: Sample, number: int, chance: random.Random) -> Sample:
    """Random delays of up to a half in the student's kernel alone."""
    sample = quiet(sample, number, chance)
    if sample.contestant is not Contestant.STUDENT:
        return sample
    return replace(sample, seconds=sample.seconds * (1 + 0.5 * chance.random()))


def noisy_baseline(sample: Sample, number: int, chance: random.Random) -> Sample:
    """Work beside ours that slows every launch down by up to a half."""
    return replace(sample, seconds=sample.seconds * (1 + 0.5 * chance.random()))


def shared(sample: Sample, number: int, chance: random.Random) -> Sample:
    """A GPU in time slices: gaps of 2 ms, launches that take twice as long or more."""
    gap_s = 0.002 if chance.random() < 0.8 else 0.0
    slices = int(sample.seconds / 0.002 + chance.random())
    return replace(sample, seconds=sample.seconds + 0.002 * slices, longest_gap_s=gap_s)


def drifting(sample: Sample, number: int, chance: random.Random) -> Sample:
    """Clocks that fall by a quarter over fifty launches."""
    sample = quiet(sample, number, chance)
    return replace(sample, seconds=sample.seconds * (1 + 0.25 * min(number, 50) / 50))


def capped(sample: Sample, number: int, chance: random.Random) -> Sample:
    """A steady power cap: everything takes a third longer."""
    sample = quiet(sample, number, chance)
    return replace(sample, seconds=sample.seconds * 1.33)


def gaps_at(*launches: int) -> Noise:
    """A desktop draws right before these launches."""

    def noise(sample: Sample, number: int, chance: random.Random) -> Sample:
        sample = quiet(sample, number, chance)
        if number not in launches:
            return sample
        return replace(sample, seconds=sample.seconds * 3, longest_gap_s=0.004)

    return noise


def wrong_after(launches: int, **fields: int) -> Noise:
    """The student's kernel is right for so many launches and wrong ever after."""
    done = 0

    def noise(sample: Sample, number: int, chance: random.Random) -> Sample:
        nonlocal done
        if sample.contestant is not Contestant.STUDENT:
            return sample
        done += 1
        return sample if done <= launches else replace(sample, **fields)  # type: ignore[arg-type]

    return noise


@dataclass
class FakeStopwatch:
    """The student's kernel is `speedup` times the baseline."""

    shape: Shape = SQUARE
    speedup: float = 1.6
    noise: Noise = quiet
    baseline_s: float = BASELINE_S
    state: Conditions | None = QUIET
    cublas_s: float = 0.0
    seed: int = 1
    time: Time = field(default_factory=Time)
    draws: list[int] = field(default_factory=list)
    order: list[Contestant] = field(default_factory=list)
    closed: bool = False

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)

    def sample(self, contestant: Contestant, draw: int) -> Sample:
        assert not self.closed
        first = contestant not in self.order
        self.draws.append(draw)
        self.order.append(contestant)
        if contestant is Contestant.CUBLAS and not self.cublas_s:
            raise GraderFault("cuBLAS is not there.")
        seconds = {
            Contestant.STUDENT: self.baseline_s / self.speedup,
            Contestant.BASELINE: self.baseline_s,
            Contestant.CUBLAS: self.cublas_s,
        }[contestant]
        sample = Sample(contestant, seconds, first=first)
        sample = self.noise(sample, len(self.order), self._chance)
        self.time.now_s += sample.seconds + OVERHEAD_S
        return sample

    def conditions(self) -> Conditions | None:
        return self.state

    def close(self) -> None:
        self.closed = True


def measured(watch: FakeStopwatch, **rule: Any) -> Measurement:
    """As a grading measures, in the stopwatch's own time."""
    return measure(
        Session(watch, watch.seed),
        StoppingRule(**rule),
        expected_s=BASELINE_S,
        clock=watch.time,
        sleep=watch.time.sleep,
    )


class TimedDevice(FakeDevice):
    """A GPU whose stopwatches `make` makes for a shape; by default from `speedup` and `noise`."""

    def __init__(
        self,
        speedup: float = 1.6,
        noise: Noise = quiet,
        name: str = "Fake GPU",
        make: Callable[[Build, Shape], FakeStopwatch] | None = None,
        behave: Any = right,
    ) -> None:
        super().__init__(behave, kind="gpu", counting=None)
        self.name = name
        self.room = True
        self.time = Time()
        self.opened: list[FakeStopwatch] = []
        self.keys: list[int] = []
        self._make = make or self._usual
        self._speedup = speedup
        self._noise = noise

    def describe(self) -> Mapping[str, Any]:
        return {
            **super().describe(),
            "name": self.name,
            "driver": "580.65.06",
            "cuda": "13.0",
            "nvcc": "13.0",
            "peak_gflops": 67e3,
            "memory_gb_per_s": 4800.0,
        }

    def stopwatch(
        self,
        build: Build,
        shape: Shape,
        key: int,
        *,
        cublas: bool = False,
        timeout_s: float = 10.0,
    ) -> FakeStopwatch:
        self.keys.append(key)
        self.opened.append(self._make(build, shape))
        return self.opened[-1]

    def fits(self, shape: Shape) -> bool:
        return self.room

    def _usual(self, build: Build, shape: Shape) -> FakeStopwatch:
        baseline_s = BASELINE_S * shape.multiply_adds / 4096**3
        seed = len(self.opened) + 1
        return FakeStopwatch(
            shape, self._speedup, self._noise, baseline_s, seed=seed, time=self.time
        )


def untimed(folder: Path) -> Callable[[TimingDevice, int], Timer]:
    """For `Surroundings`: measures in the device's own time; calibrations lie in `folder`."""

    def timer(device: TimingDevice, seed: int) -> Timer:
        assert isinstance(device, TimedDevice)
        time = device.time

        def in_its_time(session: Session, rule: StoppingRule, expected_s: float) -> Measurement:
            return measure(session, rule, expected_s=expected_s, clock=time, sleep=time.sleep)

        return Timer(device, seed, folder, in_its_time)

    return timer


def calibrate(folder: Path, points: str = "fast", ragged: str = "") -> Path:
    """A calibration of "Fake GPU" for 02_tiled: points from 1.3, all of them from 1.6."""
    text = f"""
format = "matmul-calibration/v1"
gpu = "Fake GPU"
measured = "2025-01-31"
driver = "580.65.06"
cuda = "13.0"
nvcc = "13.0"
pycuda = "2026.1"

[baseline_seconds]
4096x4096x4096 = 0.026

[exercise.02_tiled]
size = 4096
points = "{points}"
"""
    if points == "fast":
        text += "\n[exercise.02_tiled.square]\nminimum = 1.3\nfull = 1.6\n"
    if ragged:
        text += f"\n[exercise.02_tiled.ragged]\n{ragged}\n"
    path = folder / "fake_gpu.toml"
    path.write_text(text)
    return path
