"""Timing on a small scale, for fixtures: a calibration made here, and a stopwatch that launches on
the simulator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from grader.device import Build, Device, Launch, Run
from grader.finding import KernelFault
from grader.problems.matmul import Case, Shape, fresh_poison, prepare, product
from grader.speed import Timer
from grader.timing import calibration
from grader.timing.device import TimingDevice
from grader.timing.measurement import Measurement, measure
from grader.timing.rule import StoppingRule
from grader.timing.sample import Conditions, Contestant, Sample
from grader.timing.session import Session

# Fixtures that are wrong only when timed are so above 500; a launch at this size takes a tenth of a
# millisecond on a large GPU.
SIZE = 512
# The same for the simulator: as many blocks, and as little work as possible.
SIMULATED = Shape(SIZE, SIZE, 16)
# The cheats here are honest twice at most.
LAUNCHES = 4
# In half a second a few dozen pairs fit: enough to tell a kernel that is unsteady from one that is
# slow, little enough for a hundred fixtures.
BUDGET_S = 0.5

# Kernels of fixtures need not be fast, unless speed is what a fixture is about: 16 x 16 tiles reach
# 1.3 times the baseline and more, another naive kernel 1.0.
ANY_SPEED = 0.01
MINIMUM = 1.15


def small_scale(folder: Path, minimum: float) -> Callable[[TimingDevice, int], Timer]:
    """For `Surroundings`: times at SIZE, and the points of `fast` begin at `minimum`.

    The calibration is written into `folder`.
    """

    def timer(device: TimingDevice, seed: int) -> Timer:
        _calibrate(folder, str(device.describe()["name"]), minimum)
        return Timer(device, seed, folder, _briefly)

    return timer


def _briefly(session: Session, rule: StoppingRule, expected_s: float) -> Measurement:
    brief = replace(rule, budget_s=BUDGET_S)
    return measure(session, brief, expected_s=expected_s)


def _calibrate(folder: Path, gpu: str, minimum: float) -> None:
    about = "".join(f'{key} = "-"\n' for key in ("measured", "driver", "cuda", "nvcc", "pycuda"))
    text = f'format = "{calibration.FORMAT}"\ngpu = "{gpu}"\n{about}'
    for name in ("02_tiled", "03_padded", "04_tuned"):
        text += f'[exercise.{name}]\nsize = {SIZE}\npoints = "fast"\n'
        for kind in ("square", "ragged"):
            text += f"[exercise.{name}.{kind}]\nminimum = {minimum}\nfull = {2 * minimum}\n"
    (folder / f"{calibration.slug(gpu)}.toml").write_text(text)


class SimulatedStopwatch:
    """Launches the student's kernel on the simulator, in one process, with contents that change.

    Every launch takes a second, and the baseline is always right.
    """

    def __init__(self, device: Device, build: Build, shape: Shape = SIMULATED) -> None:
        self.shape = shape
        self._device = device
        self._build = build

    def sample(self, contestant: Contestant, draw: int) -> Sample:
        if contestant is not Contestant.STUDENT:
            return Sample(contestant, 1.0)
        assert self._build.config is not None, self._build.findings
        case = Case(self.shape, "exact", draw)
        launch = prepare(self._build.exercise, self._build.config, case, fresh_poison(1, draw))
        run = self._device.launch(self._build, launch)
        if not run.images:
            raise KernelFault(run.findings)
        return self._checked(launch, run)

    def _checked(self, launch: Launch, run: Run) -> Sample:
        c = launch.operands[2]
        wrong = (c.values(run.images[2]) != product(self._build.exercise, launch)).any(axis=1)
        changed, guards = 0, 0
        for operand, after in zip(launch.operands, run.images, strict=True):
            differs = operand.image != after
            body = differs[operand.guard : operand.guard + operand.size]
            inside = int(np.count_nonzero(body))
            guards += int(np.count_nonzero(differs)) - inside
            changed += 0 if operand is c else inside
        return Sample(
            Contestant.STUDENT,
            1.0,
            wrong_rows=int(np.count_nonzero(wrong)),
            first_wrong_row=int(np.argmax(wrong)) if wrong.any() else -1,
            inputs_changed=changed,
            guards_written=guards,
        )

    def conditions(self) -> Conditions | None:
        return None

    def close(self) -> None:
        self._device.close()
