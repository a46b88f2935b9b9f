"""What a run of `bench` found, and whether its targets are reached."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from grader.bench.oclgrind import Speeds
from grader.bench.simulator import Speed

# What a student waits for: slower than this, watching every access would no longer be the default.
ON_TARGET, OFF_TARGET = 50.0, 500.0  # times Oclgrind with its checks
BUILD_TARGET_S = 1.0


@dataclass(frozen=True)
class BenchOutcome:
    """`oclgrind` is None where it is not installed; it ran the kernel of the last of `kernels`."""

    compiler: str
    shape: str
    kernels: tuple[Speed, ...]
    oclgrind: Speeds | None


@dataclass(frozen=True)
class Goal:
    """A number to reach. `reached` is None where it could not be measured."""

    text: str
    target: str
    value: str
    reached: bool | None


def goals(outcome: BenchOutcome) -> Iterator[Goal]:
    """Both simulators on the same kernel, and the slowest build."""
    same, other = outcome.kernels[-1], outcome.oclgrind
    for text, speed, least in (
        ("observers on", same.on_per_s, ON_TARGET),
        ("observers off", same.off_per_s, OFF_TARGET),
    ):
        ratio = speed / other.checked_per_s if other else None
        yield Goal(
            f"{same.name}, {text}, against Oclgrind with its checks",
            f"at least {least:g} times",
            "not measured" if ratio is None else f"{ratio:.0f} times",
            None if ratio is None else ratio >= least,
        )
    slowest = max(outcome.kernels, key=lambda kernel: kernel.build_s)
    yield Goal(
        f"compile and link, slowest kernel ({slowest.name})",
        f"under {BUILD_TARGET_S:g} s",
        f"{slowest.build_s:.2f} s",
        slowest.build_s < BUILD_TARGET_S,
    )


def compose(outcome: BenchOutcome) -> dict[str, Any]:
    """Everything as data; speeds in multiply-adds a second."""
    other = outcome.oclgrind
    return {
        "compiler": outcome.compiler,
        "shape": outcome.shape,
        "kernels": [
            {
                "name": kernel.name,
                "observers_off_per_s": round(kernel.off_per_s),
                "observers_on_per_s": round(kernel.on_per_s),
                "build_s": round(kernel.build_s, 3),
            }
            for kernel in outcome.kernels
        ],
        "oclgrind": other
        and {"plain_per_s": round(other.plain_per_s), "checked_per_s": round(other.checked_per_s)},
        "targets": [
            {"what": goal.text, "target": goal.target, "value": goal.value, "reached": goal.reached}
            for goal in goals(outcome)
        ],
    }
