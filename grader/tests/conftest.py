"""A skipped test fails where it was not expected: `--expected-skips=gpu,nvcc`, as CI calls it.

Without the option a machine may lack anything, and pytest's summary says what was skipped.
"""

from __future__ import annotations

import os
import re
from collections.abc import Generator

import pytest

# `make check` calls like every make (grader.caller); what the tests call is a program of its own.
os.environ.pop("GRADER_WORDS", None)

# What a machine may lack -> what the reason of a skip then speaks of. A test's marker of the same
# name says so, too.
LACKS = {
    "gpu": re.compile(r"\bGPU\b|NVIDIA driver|PyCUDA", re.IGNORECASE),
    "nvcc": re.compile(r"\bnvcc\b"),
    "bwrap": re.compile(r"\bbwrap\b"),
    "clang": re.compile(r"\bclang"),
    "qemu": re.compile(r"\bqemu\b|aarch64"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--expected-skips",
        metavar="NAMES",
        help=f"fail every skipped test, except for what this machine lacks: {','.join(LACKS)}",
    )


@pytest.hookimpl(optionalhook=True)  # a run in one process has no pytest-xdist
def pytest_xdist_auto_num_workers() -> int:
    """One more than cores: some tests wait for what they have stopped or slowed down."""
    return (os.cpu_count() or 1) + 1


def pytest_configure(config: pytest.Config) -> None:
    unknown = set(_names(config) or ()) - set(LACKS)
    if unknown:
        raise pytest.UsageError(
            f"--expected-skips: {unknown.pop()!r} is none of {', '.join(LACKS)}"
        )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if not hasattr(report, "wasxfail"):  # an expected failure is reported as a skip
        _fail_unexpected(report, item)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    _fail_unexpected(report, collector)
    return report


def _fail_unexpected(
    report: pytest.TestReport | pytest.CollectReport, node: pytest.Item | pytest.Collector
) -> None:
    names = _names(node.config)
    if names is None or not report.skipped:
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    if any(node.get_closest_marker(name) or LACKS[name].search(reason) for name in names):
        return
    report.outcome = "failed"
    report.longrepr = f"{reason}\nThis skip is not among --expected-skips."


def _names(config: pytest.Config) -> list[str] | None:
    """The names given, or None without the option."""
    value = config.getoption("--expected-skips")
    return None if value is None else [name for name in value.split(",") if name]
