"""The judge: what a run's memory says about the kernel, as findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from grader import machine_fault
from grader.device import Build, Launch, Operand, Run, Words
from grader.diagnosis import Evidence, explain, number
from grader.finding import NOT_YOURS, Finding, GraderFault
from grader.problems.matmul import Case
from grader.source.device_variables import first_variable
from grader.source.parameters import other_order
from grader.source.sharing import unshared
from grader.verdict import Verdict


def judge(build: Build, case: Case, launch: Launch, run: Run) -> tuple[Finding, ...]:
    """Everything wrong with one run: what the device saw, then guards, inputs, and C.

    Empty when the kernel did right. Raises GraderFault when a run brought back neither memory nor
    a reason.
    """
    if not run.images:
        return _unfinished(build, case, run)
    found = [*run.findings, *_guards(launch, run), *_inputs(launch, run)]
    evidence = Evidence.gather(build.exercise, build.launch_config, case, launch, run.images[2])
    found += explain(evidence)
    return _stamped(build, case, found)


def same_bits(
    build: Build, case: Case, launch: Launch, run: Run, again: Run
) -> tuple[Finding, ...]:
    """Whether a second run of the same launch, or of another thread order, left the same C."""
    if not again.images:
        return _unfinished(build, case, again)
    if not run.images:
        return _unfinished(build, case, run)
    c = launch.operands[2]
    first, second = (_body(c, result.images[2]) for result in (run, again))
    differing = np.flatnonzero(first != second)
    if not differing.size:
        return ()
    at = int(differing[0])
    facts = {
        "row": at // c.cols,
        "col": at % c.cols,
        "first": number(first[at].view(np.float32)),
        "second": number(second[at].view(np.float32)),
        "count": int(differing.size),
        "of": c.size,
    }
    return _stamped(build, case, [Finding(Verdict.NOT_DETERMINISTIC, "not_deterministic", facts)])


# Of these the values of C are wrong, and exercises that limit the words loaded have shared tiles.
_VALUES = (Verdict.WRONG_ANSWER, Verdict.UNINITIALISED, Verdict.NOT_DETERMINISTIC)


def _unfinished(build: Build, case: Case, run: Run) -> tuple[Finding, ...]:
    if not run.findings:
        raise GraderFault(
            f"The {build.device} gave no result for {build.submission.name} at {case.shape}, "
            f"and no reason. {NOT_YOURS} Next: {machine_fault.OTHERWISE}"
        )
    return _stamped(build, case, run.findings)


def _guards(launch: Launch, run: Run) -> Iterator[Finding]:
    """Writes before and after a matrix that the device did not see itself."""
    seen = {
        f.facts.get("operand")
        for f in run.findings
        if f.verdict is Verdict.OUT_OF_BOUNDS and f.facts.get("access") == "write"
    }
    for operand, image in zip(launch.operands, run.images, strict=True):
        if operand.name in seen:
            continue
        changed = np.flatnonzero(operand.image != image) - operand.guard
        before, after = changed[changed < 0], changed[changed >= operand.size]
        if before.size:
            yield _guard_written(operand, int(before[-1]), before.size)
        if after.size:
            yield _guard_written(operand, int(after[0]), after.size)


def _guard_written(operand: Operand, index: int, count: int) -> Finding:
    """`offset`: elements between the written one and the matrix's first or last, at least 1."""
    before = index < 0
    facts = {
        "operand": operand.name,
        "before": before,
        "offset": -index if before else index - operand.size + 1,
        "index": index,
        "size": operand.size,
        "count": count,
    }
    return Finding(Verdict.OUT_OF_BOUNDS, "guard_written", facts)


def _inputs(launch: Launch, run: Run) -> Iterator[Finding]:
    """A and B must come back as they were sent; bits are compared, so that no NaN hides."""
    seen = {f.facts.get("operand") for f in run.findings if f.verdict is Verdict.INPUT_MODIFIED}
    for operand, image in zip(launch.operands[:2], run.images[:2], strict=True):
        changed = np.flatnonzero(_body(operand, operand.image) != _body(operand, image))
        if changed.size and operand.name not in seen:
            row, col = divmod(int(changed[0]), operand.cols)
            facts = {"operand": operand.name, "row": row, "col": col, "count": changed.size}
            yield Finding(Verdict.INPUT_MODIFIED, "input_modified", facts)


def _body(operand: Operand, image: Words) -> Words:
    return image[operand.guard : operand.guard + operand.size]


def _stamped(
    build: Build, case: Case, findings: list[Finding] | tuple[Finding, ...]
) -> tuple[Finding, ...]:
    """The findings with the shape and the device that they came from."""
    return tuple(
        replace(
            f,
            shape=case.shape,
            device=f.device or build.device,
            facts={**f.facts, **_of_the_text(build, f)},
        )
        for f in findings
    )


def _of_the_text(build: Build, finding: Finding) -> Mapping[str, object]:
    return {
        **_unshared(build, finding),
        **_other_order(build, finding),
        **_kept_variable(build, finding),
    }


def _unshared(build: Build, finding: Finding) -> Mapping[str, object]:
    """Beside wrong values: the tile that a block was to share, and does not."""
    if finding.verdict not in _VALUES or "max_word_ratio" not in build.exercise.limits:
        return {}
    found = unshared(build.submission.text)
    return {} if found is None else {"unshared": found[0], "unshared_line": found[1]}


def _other_order(build: Build, finding: Finding) -> Mapping[str, object]:
    """Beside wrong values, and accesses to A, B and C: sizes that are named in another order."""
    about = finding.facts.get("operand", finding.facts.get("name"))
    if finding.verdict is not Verdict.WRONG_ANSWER and about not in ("A", "B", "C"):
        return {}
    found = other_order(build.submission.text, build.exercise.kernel)
    return {} if found is None else {"named_sizes": list(found[0]), "named_in": found[1]}


def _kept_variable(build: Build, finding: Finding) -> Mapping[str, object]:
    """Beside wrong values: what a launch leaves behind for the next one."""
    found = first_variable(build.submission.text) if finding.verdict in _VALUES else None
    return {} if found is None else {"kept": found[0], "kept_line": found[1]}
