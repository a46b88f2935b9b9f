"""CUDA's error codes as findings."""

from __future__ import annotations

import pytest

from grader.finding import Finding, GraderFault, Location
from grader.gpu import errors
from grader.gpu.errors import CudaError
from grader.tests.gpu_samples import NAME
from grader.verdict import Verdict


def explain(code: int, complaints: str = "") -> Finding:
    return errors.explain(CudaError(code, "CUDA_ERROR_X", "call failed: x"), complaints, NAME, 10.0)


@pytest.mark.parametrize(
    ("code", "verdict", "kind"),
    [
        (700, Verdict.OUT_OF_BOUNDS, "illegal_address"),
        (716, Verdict.MISALIGNED, "misaligned_gpu"),
        (701, Verdict.BAD_LAUNCH, "launch_resources"),
        (1, Verdict.BAD_LAUNCH, "launch_resources"),
        (719, Verdict.CRASH, "trap"),
        (715, Verdict.CRASH, "trap"),
        (714, Verdict.CRASH, "stack_overflow"),
        (702, Verdict.TIMEOUT, "timeout_gpu"),
        (718, Verdict.CRASH, "gpu_error"),
    ],
)
def test_errors_that_a_kernel_causes_have_their_verdict(
    code: int, verdict: Verdict, kind: str
) -> None:
    finding = explain(code)
    assert (finding.verdict, finding.kind) == (verdict, kind)


def test_an_illegal_address_of_a_kernel_that_calls_itself_is_a_stack_overflow() -> None:
    error = CudaError(700, "CUDA_ERROR_ILLEGAL_ADDRESS", "call failed: x")
    finding = errors.explain(error, "", NAME, 10.0, recursive=True)
    assert (finding.verdict, finding.kind) == (Verdict.CRASH, "stack_overflow")


@pytest.mark.parametrize("code", [2, 46, 100, 214, 999])
def test_errors_of_the_machine_are_never_the_students(code: int) -> None:
    with pytest.raises(GraderFault, match="not about your kernel"):
        explain(code)


def test_an_unknown_error_keeps_its_code_and_name() -> None:
    assert explain(718).facts == {"code": 718, "name": "CUDA_ERROR_X"}


def test_an_assertion_is_told_with_expression_thread_and_line() -> None:
    finding = explain(
        710,
        f"{NAME}:12: void matmul_tiled(const float *, float *): block: [1,2,0], thread: [3,4,0] "
        'Assertion `col < N && "it\'s"` failed.\n'
        f"{NAME}:12: void matmul_tiled(const float *, float *): block: [9,9,0], thread: [9,9,0] "
        "Assertion `x` failed.\n",
    )
    assert (finding.verdict, finding.kind) == (Verdict.CRASH, "assertion")
    assert finding.facts == {
        "expression": 'col < N && "it\'s"',
        "thread": [3, 4],
        "block": [1, 2],
    }
    assert finding.locations == (Location(NAME, 12, "error"),)


def test_an_assertion_without_its_text_is_still_an_assertion() -> None:
    finding = explain(710, "")
    assert (finding.kind, finding.locations) == ("assertion", ())
