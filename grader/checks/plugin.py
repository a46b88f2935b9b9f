"""The pytest plugin that feeds the checks in `tests/` and collects what they give."""

from __future__ import annotations

import traceback
from collections.abc import Generator, Sequence
from dataclasses import asdict, replace
from typing import Any

import pytest

from grader import machine_fault
from grader.checks.listener import Ledger, Listener
from grader.checks.outcome import Outcome, PrerequisiteFailed, Status
from grader.checks.subject import Subject
from grader.counters import Counters
from grader.device import Build
from grader.finding import GraderFault, KernelFault, NotGraded
from grader.problems.matmul import Shape
from grader.report.words import STATUS, explanation, told
from grader.timing.facts import timing_facts


class CheckPlugin:
    """Runs every check on every subject, one subject after the other."""

    def __init__(self, subjects: Sequence[Subject], listener: Listener | None = None) -> None:
        self._subjects = tuple(subjects)
        self._listener = Ledger() if listener is None else listener

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "subject" in metafunc.fixturenames:
            metafunc.parametrize("subject", self._subjects, ids=str)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        ranks = {id(subject): rank for rank, subject in enumerate(self._subjects)}
        items.sort(key=lambda item: ranks.get(id(_subject(item)), -1))

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        subject = _subject(item)
        if subject is not None and subject.entry.state == "started":
            self._listener.check(subject.exercise.name, subject.device.kind, _check(item))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        subject = _subject(item)
        if subject is not None and (call.when == "call" or call.excinfo is not None):
            outcome = _outcome(item, subject, call)
            if call.when != "teardown":
                self._note(subject, outcome)
            _rewrite(report, outcome, subject)
        return report

    def _note(self, subject: Subject, outcome: Outcome) -> None:
        subject.outcomes[outcome.check] = outcome
        build = subject.build() if outcome.check == "compiles" else None
        if build is not None:
            self._listener.built(outcome.exercise, outcome.device, build_facts(build))
        if outcome.check == "efficient" and subject.counted is not None:
            facts = counter_facts(*subject.counted)
            self._listener.counted(outcome.exercise, outcome.device, facts)
        self._listener.outcome(outcome)


def build_facts(build: Build) -> dict[str, Any]:
    """What results.json says of a build: nothing that depends on where it was made."""
    config = asdict(build.config) if build.config is not None else {}
    return {"launch_config": config, "resources": dict(sorted(build.resources.items()))}


def counter_facts(shape: Shape, counters: Counters) -> dict[str, Any]:
    """What results.json says of the launch that was counted."""
    return {
        "shape": list(shape),
        "barriers": counters.barriers,
        "bytes_moved": counters.bytes_moved,
        "arithmetic_intensity": round(counters.arithmetic_intensity(shape), 3),
        "lines": [asdict(line) for line in counters.lines],
    }


def _check(item: pytest.Item) -> str:
    return str(getattr(item, "originalname", item.name)).removeprefix("test_")


def _subject(item: pytest.Item) -> Subject | None:
    parameters = getattr(item, "callspec", None)
    subject = parameters.params.get("subject") if parameters else None
    return subject if isinstance(subject, Subject) else None


def _outcome(item: pytest.Item, subject: Subject, call: pytest.CallInfo[None]) -> Outcome:
    function = getattr(item, "function", None)
    check = _check(item)
    description = " ".join((getattr(function, "__doc__", None) or check).split())
    fault = call.excinfo.value if call.excinfo is not None else None
    base = Outcome(
        exercise=subject.exercise.name,
        device=subject.device.kind,
        check=check,
        description=description,
        status=Status.PASS,
        seconds=call.duration,
        notes=subject.take_notes(),
    )
    base = _timed(base, subject) if check == "fast" else base
    return base if fault is None else _failed(base, fault)


def _timed(base: Outcome, subject: Subject) -> Outcome:
    """With what was measured, whatever came of it, and the share of points that it is worth."""
    if subject.timing is None:
        return base
    earned = subject.timing.quarters
    return replace(
        base, timing=timing_facts(subject.timing), quarters=4 if earned is None else earned
    )


def _failed(base: Outcome, fault: BaseException) -> Outcome:
    """What an exception means: a fault of the kernel only if it is a KernelFault."""
    if isinstance(fault, KernelFault):
        return replace(base, status=Status.FAIL, findings=fault.findings)
    if isinstance(fault, PrerequisiteFailed):
        return replace(base, status=Status.SKIPPED, reason=fault.needed)
    if isinstance(fault, NotGraded):
        return replace(base, status=Status.NOT_GRADED, reason=fault.reason, detail=fault.detail)
    if isinstance(fault, GraderFault):
        return replace(base, status=Status.GRADER_ERROR, detail=str(fault), log=_log(base, fault))
    detail = machine_fault.told(fault, f"The grader failed in the check {base.check}")
    return replace(base, status=Status.GRADER_ERROR, detail=detail, log=_log(base, fault))


def _log(base: Outcome, fault: BaseException) -> str:
    trace = "".join(traceback.format_exception(fault))
    return f"{base.exercise} {base.check} on {base.device}\n{trace}"


def _rewrite(report: pytest.TestReport, outcome: Outcome, subject: Subject) -> None:
    """What `pytest tests/` shows: the message, not a traceback through the grader."""
    if outcome.status is Status.FAIL:
        message = told(outcome.findings[0], subject.exercise)
        report.longrepr = "\n".join(part for part in (message.text, message.hint) if part)
    elif outcome.status in (Status.SKIPPED, Status.NOT_GRADED):
        report.outcome = "skipped"
        why = f"{STATUS[outcome.status]}: {explanation(outcome)}"
        report.longrepr = (str(report.fspath), report.location[1] or 0, why)
    elif outcome.status is Status.GRADER_ERROR:
        report.longrepr = outcome.log
