"""The verb `calibrate`: measures, prints, writes the calibration of this machine's GPU."""

from __future__ import annotations

import argparse
import importlib.metadata
import secrets
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from grader import course
from grader.atomic import write_text
from grader.checks.devices import choose, open_gpu
from grader.exercise import PROJECT, Exercise
from grader.machine_fault import unwritable
from grader.settings import shown
from grader.timing import calibration, kernels
from grader.timing.evidence import ExerciseEvidence
from grader.timing.kernels import CalibrationKernel, KernelRole, timed_exercises
from grader.timing.options import PAIRS
from grader.timing.rounds import Calibrator, check_steady
from grader.timing.table import evidence_lines
from grader.timing.writing import compose


def main(options: argparse.Namespace) -> int:
    """0 when a calibration was written; every reason not to is a GraderFault."""
    exercises = timed_exercises()
    measured = kernels.load(exercises)
    choose("gpu")  # raises where there is none
    with closing(open_gpu(course.load(PROJECT).target, print)) as device:
        about = describe(device.describe())
        print(f"Calibrating {about['gpu']}, driver {about['driver']} ...")
        calibrator = Calibrator(device, secrets.randbits(48), options.rounds, PAIRS, _tell)
        found = calibrate(calibrator, exercises, measured, options.sizes)
    path = options.output or calibration.FOLDER / f"{calibration.slug(about['gpu'])}.toml"
    print()
    if options.dry_run:
        print("Nothing was written (--dry-run).")
    else:
        write(path, about, found)
        print(f"Written: {shown(path)}. Every grading on a {about['gpu']} now uses it.")
    return 0


def calibrate(
    calibrator: Calibrator,
    exercises: Sequence[Exercise],
    measured: Sequence[CalibrationKernel],
    sizes: Sequence[int] | None,
) -> tuple[ExerciseEvidence, ...]:
    """The evidence for each exercise, all kernels of one before the next. Told before anything is
    refused, because it took minutes."""
    found = []
    for exercise in exercises:
        own = [kernel for kernel in measured if kernel.exercise is exercise]
        builds = calibrator.builds(own)
        reference = next(build for one, build in builds.items() if one.role is KernelRole.REFERENCE)
        usable = calibrator.sizes(reference, sizes or exercise.speed_sizes)
        listed = ", ".join(map(str, usable))
        calibrator.tell(f"{exercise.name}: {len(own)} kernels at {listed}")
        evidence = calibrator.exercise(exercise.name, builds, tuple(usable))
        for line in evidence_lines(evidence):
            calibrator.tell(line)
        check_steady(evidence)
        found.append(evidence)
    return tuple(found)


def describe(device: Mapping[str, object]) -> dict[str, str]:
    """The head of a calibration: on what it was measured."""
    return {
        "gpu": str(device["name"]),
        "measured": datetime.now(UTC).date().isoformat(),
        "driver": str(device["driver"]) or "unknown",
        "cuda": str(device["cuda"]),
        "nvcc": str(device["nvcc"]),
        "pycuda": _pycuda(),
    }


def write(path: Path, about: Mapping[str, str], found: Sequence[ExerciseEvidence]) -> None:
    """Atomically, and only what can be read back."""
    text = compose(about, found)
    trial = path.with_name(f".{path.name}.trial")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(trial, text)
        calibration.load(trial)
        trial.replace(path)
    except OSError as fault:
        raise unwritable(shown(path), fault, "--output FILE") from fault
    finally:
        with suppress(OSError):
            trial.unlink()


def _pycuda() -> str:
    try:
        return importlib.metadata.version("pycuda")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def _tell(line: str) -> None:
    print(f"  {line}".rstrip(), flush=True)
