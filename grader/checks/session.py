"""Runs the checks on subjects, in this process, with pytest as the engine."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from unittest import mock

import pytest

from grader.checks.listener import Listener
from grader.checks.plan import Plan
from grader.checks.plugin import CheckPlugin
from grader.checks.subject import Subject, Surroundings
from grader.device import Device
from grader.exercise import PROJECT
from grader.finding import NOT_YOURS, GraderFault

TESTS = PROJECT / "tests"

# The outer belt around one check, for a hang that no device noticed. A hundred shapes take seconds;
# a hundred shapes just below a device's own limit are not a hang.
CHECK_LIMIT_S = {"simulator": 1800, "gpu": 4 * 3600}  # a GPU may be busy with other students


def run_checks(subjects: Sequence[Subject], listener: Listener) -> None:
    """Run every check on every subject; raises GraderFault when pytest itself could not."""
    plugin = CheckPlugin(subjects, listener)
    limit_s = max(CHECK_LIMIT_S[subject.device.kind] for subject in subjects)
    with mock.patch.dict(os.environ, {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}):
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            os.environ.pop(name, None)
        ended = pytest.main(_arguments(limit_s), plugins=[plugin])
    if ended == pytest.ExitCode.INTERRUPTED:
        raise KeyboardInterrupt
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        raise GraderFault(
            f"The checks in {TESTS} could not be run (pytest ended with status {int(ended)}). "
            f"{NOT_YOURS} Next: make setup"
        )


def _arguments(limit_s: int) -> list[str]:
    """Nothing of the folder we were called from counts: no configuration, no conftest.py."""
    return [
        f"--rootdir={TESTS}",
        f"--config-file={os.devnull}",
        f"--confcutdir={TESTS}",
        "--import-mode=importlib",
        # pytest's own report stays, in short: pytest-timeout needs it to interrupt a check, and a
        # worker's log tells how far it came.
        *("-qq", "--no-header", "--no-summary", "--tb=no", "--capture=no"),
        *("-p", "no:cacheprovider", "-p", "no:faulthandler"),
        # These two collect garbage at the end, five times: a tenth of a second for each grading.
        *("-p", "no:unraisableexception", "-p", "no:threadexception"),
        *("-p", "pytest_timeout", f"--timeout={limit_s}", "--timeout-method=signal"),
        str(TESTS),
    ]


def subjects_of(plan: Plan, devices: Iterable[Device], around: Surroundings) -> tuple[Subject, ...]:
    """One subject per exercise and device: all devices of an exercise, then the next one."""
    kept = tuple(devices)
    return tuple(Subject(entry, device, plan, around) for entry in plan.entries for device in kept)
