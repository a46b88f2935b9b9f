"""What results.json says of a timing."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from grader.settings import shown
from grader.timing.roofline import gflops

if TYPE_CHECKING:  # `speed` imports this package
    from grader.speed import TimedShape, Timing
    from grader.timing.calibration import Calibration
    from grader.timing.sample import Conditions

_DIGITS = 6  # significant; events resolve half a microsecond


def timing_facts(timing: Timing) -> dict[str, Any]:
    """The entry `timing` of an exercise."""
    return {
        "calibration": calibration_facts(timing.calibration),
        "quarters": timing.quarters,
        "shapes": [_shape_facts(shape) for shape in timing.shapes],
    }


def calibration_facts(calibration: Calibration | None) -> dict[str, str] | None:
    """Which file, from when, and its fingerprint."""
    if calibration is None:
        return None
    return {
        "file": shown(calibration.path),
        "measured": calibration.about["measured"],
        "sha256": calibration.sha256,
    }


def _shape_facts(shape: TimedShape) -> dict[str, Any]:
    measured = shape.measurement
    thresholds = shape.thresholds
    return {
        "kind": shape.kind.value,
        "shape": list(measured.shape),
        "speedup": _rounded(measured.speedup.median),
        "low": _rounded(measured.speedup.low),
        "high": _rounded(measured.speedup.high),
        "deciding": _rounded(measured.deciding),
        "pairs": len(measured.pairs),
        "set_aside": measured.set_aside,
        "tries": measured.tries,
        "ended": measured.ended,
        "disturbance": measured.disturbance,
        "student_s": _rounded(measured.student_s),
        "baseline_s": _rounded(measured.baseline_s),
        "gflops": _rounded(gflops(measured.shape, measured.student_s)),
        "percent_of_cublas": _percent(shape.cublas_s, measured.student_s),
        "percent_of_roofline": _percent(shape.bound_s, measured.student_s),
        "minimum": thresholds.minimum if thresholds else None,
        "full": thresholds.full if thresholds else None,
        "quarters": shape.quarters,
        "conditions": _conditions(measured.conditions),
    }


def _conditions(conditions: Conditions | None) -> dict[str, Any] | None:
    """Right after the last pair."""
    if conditions is None:
        return None
    return {**asdict(conditions), "throttle": list(conditions.throttle)}


def _percent(best_s: float, taken_s: float) -> float | None:
    """How much of the best speed was reached; None where the best is not known."""
    return _rounded(100 * best_s / taken_s) if best_s else None


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
