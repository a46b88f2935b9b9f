"""What the judge accepts, refuses, and in which order it says so."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest

from grader.device import Launch, Run
from grader.finding import Finding, GraderFault, ordered
from grader.judge import judge, same_bits
from grader.messages import describe
from grader.problems.matmul import Case, Layout, Shape
from grader.tests.emulated import TILED, Kernel, build_of, exercise, launch_of, run_of
from grader.verdict import Verdict

CASE = Case(Shape(9, 7, 13), seed=4)
BUILD = build_of(TILED)
Floats = npt.NDArray[np.float32]


def right_run(launch: Launch) -> Run:
    return run_of(Kernel(), launch, TILED, Layout.KXN)


def spoilt(launch: Launch, operand: int, index: int, word: int) -> Run:
    """A right run with one word changed; index 0 is the matrix's first element."""
    images = [image.copy() for image in right_run(launch).images]
    images[operand][launch.operands[operand].guard + index] = word
    return Run(images=tuple(images))


def storing(launch: Launch, values: Floats) -> Run:
    a, b, c = (operand.image.copy() for operand in launch.operands)
    launch.operands[2].values(c)[:] = values
    return Run(images=(a, b, c))


def kinds(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.kind for finding in findings]


def test_a_right_run_has_no_findings() -> None:
    launch = launch_of(CASE)
    assert judge(BUILD, CASE, launch, right_run(launch)) == ()


def test_findings_carry_shape_and_device() -> None:
    launch = launch_of(CASE)
    found = judge(BUILD, CASE, launch, spoilt(launch, 2, 0, 0))[0]
    assert (found.shape, found.device) == (CASE.shape, "simulator")
    seen = Finding(Verdict.CRASH, "trap", {"thread": [0, 0], "block": [0, 0]}, device="gpu")
    found = judge(BUILD, CASE, launch, Run(images=(), findings=(seen,)))[0]
    assert (found.shape, found.device, found.kind) == (CASE.shape, "gpu", "trap")


@pytest.mark.parametrize("operand, name", [(0, "A"), (1, "B"), (2, "C")])
@pytest.mark.parametrize("before, offset", [(True, 1), (True, 9), (False, 1), (False, 9)])
def test_a_written_guard_is_out_of_bounds(
    operand: int, name: str, before: bool, offset: int
) -> None:
    launch = launch_of(CASE)
    size = launch.operands[operand].size
    index = -offset if before else size + offset - 1
    found = judge(BUILD, CASE, launch, spoilt(launch, operand, index, 0x3F800000))
    assert kinds(found) == ["guard_written"]
    assert found[0].verdict is Verdict.OUT_OF_BOUNDS
    wanted = {"operand": name, "before": before, "offset": offset, "count": 1}
    assert wanted.items() <= found[0].facts.items()


def test_a_guard_is_compared_as_bits() -> None:
    """Another NaN in the guard is a write, too."""
    launch = launch_of(CASE)
    assert kinds(judge(BUILD, CASE, launch, spoilt(launch, 2, -1, 0x7FC00000))) == ["guard_written"]


def test_what_the_device_saw_is_not_said_twice() -> None:
    launch = launch_of(CASE)
    facts = {"access": "write", "operand": "C"}
    seen = Finding(Verdict.OUT_OF_BOUNDS, "global_access", facts)
    run = replace(spoilt(launch, 2, -1, 0), findings=(seen,))
    assert kinds(judge(BUILD, CASE, launch, run)) == ["global_access"]
    seen = Finding(Verdict.INPUT_MODIFIED, "input_modified", {"operand": "A"})
    run = replace(spoilt(launch, 0, 3, 0), findings=(seen,))
    assert kinds(judge(BUILD, CASE, launch, run)) == ["input_modified"]


def test_a_changed_input_is_named_with_its_place() -> None:
    launch = launch_of(CASE)
    found = judge(BUILD, CASE, launch, spoilt(launch, 1, 2 * 7 + 3, 0))
    assert kinds(found) == ["input_modified"]
    assert found[0].facts == {"operand": "B", "row": 2, "col": 3, "count": 1}


def test_causes_come_before_what_follows_from_them() -> None:
    assert (
        [verdict.value for verdict in Verdict]
        == """
        rejected compile_error missing_kernel wrong_signature bad_launch
        index_overflow out_of_bounds misaligned input_modified divergent_barrier race uninitialised
        crash timeout output_limit
        wrong_answer reduced_precision not_deterministic
        uncoalesced too_much_traffic bank_conflicts replay too_slow
    """.split()
    )
    reverse = [Finding(verdict, "x") for verdict in reversed(Verdict)]
    assert [finding.verdict for finding in ordered(reverse)] == list(Verdict)


def test_the_device_speaks_first_then_guards_inputs_and_values() -> None:
    launch = launch_of(CASE)
    images = [image.copy() for image in right_run(launch).images]
    for operand, index in ((0, 0), (2, -1), (2, 5)):
        images[operand][launch.operands[operand].guard + index] = 0
    seen = Finding(Verdict.OUTPUT_LIMIT, "output_limit", {"limit_bytes": 10})
    found = judge(BUILD, CASE, launch, Run(tuple(images), (seen,)))
    assert kinds(found)[:3] == ["output_limit", "guard_written", "input_modified"]
    assert found[3].verdict is Verdict.WRONG_ANSWER


def test_minus_zero_is_zero() -> None:
    launch = launch_of(Case(Shape(1, 1, 2), seed=0))
    a, b, _ = launch.operands
    for operand, values in ((a, [2, 2]), (b, [3, -3])):
        image = operand.image.copy()
        operand.values(image).ravel()[:] = values
        launch = replace(
            launch,
            operands=tuple(
                replace(o, image=image) if o.name == operand.name else o for o in launch.operands
            ),
        )
    run = storing(launch, np.array([[-0.0]], np.float32))
    assert judge(BUILD, Case(Shape(1, 1, 2)), launch, run) == ()


def test_one_unit_in_the_last_place_is_wrong_for_integers() -> None:
    launch = launch_of(CASE)
    values = launch.operands[2].values(right_run(launch).images[2]).copy()
    values[3, 4] = np.nextafter(values[3, 4], np.float32(np.inf))
    found = judge(BUILD, CASE, launch, storing(launch, values))
    assert [f.verdict for f in found] == [Verdict.WRONG_ANSWER]


@pytest.mark.parametrize("inputs", ["exact", "real"])
def test_poison_left_anywhere_is_wrong(inputs: Literal["exact", "real"]) -> None:
    case = replace(CASE, inputs=inputs)
    launch = launch_of(case)
    poison = int(launch.operands[2].image[launch.operands[2].guard])
    for index in (0, 31, 62):
        found = judge(BUILD, case, launch, spoilt(launch, 2, index, poison))
        assert kinds(found) == ["unwritten_somewhere"]
        assert found[0].facts["count"] == 1


def _in_order(a: Floats, b: Floats, order: npt.NDArray[np.int64]) -> Floats:
    total = np.zeros((len(a), b.shape[1]), np.float32)
    for k in order:
        total += a[:, k : k + 1] * b[k : k + 1]
    return total


def _pairwise(a: Floats, b: Floats) -> Floats:
    terms = a[:, :, None] * b[None, :, :]
    while terms.shape[1] > 1:
        half = terms.shape[1] // 2
        rest = terms[:, 2 * half :]
        terms = np.concatenate([terms[:, :half] + terms[:, half : 2 * half], rest], axis=1)
    return np.asarray(terms[:, 0])


@pytest.mark.parametrize("inputs", ["exact", "real"])
@pytest.mark.parametrize("shape", ["33x17x65", "1x1x4096", "16x16x4096"])
def test_single_precision_is_right_in_any_order_of_summation(
    inputs: Literal["exact", "real"], shape: str
) -> None:
    case = Case(Shape.parse(shape), inputs, seed=6)
    launch = launch_of(case)
    a, b, _ = (operand.values(operand.image) for operand in launch.operands)
    forward = np.arange(case.shape.k)
    shuffled = np.random.default_rng(1).permutation(forward)
    ascending = np.argsort(np.abs(a[0] * b[:, 0]))
    for order in (forward, forward[::-1], shuffled, ascending, ascending[::-1]):
        values = _in_order(a, b, order)
        assert judge(BUILD, case, launch, storing(launch, values)) == ()
    assert judge(BUILD, case, launch, storing(launch, _pairwise(a, b))) == ()


@pytest.mark.parametrize("bits", [10, 7])
@pytest.mark.parametrize("mode", ["nearest", "truncated"])
@pytest.mark.parametrize("shape", ["33x17x65", "35x79x19", "64x64x4096"])
def test_tf32_and_bf16_are_refused_as_reduced_precision(bits: int, mode: str, shape: str) -> None:
    case = Case(Shape.parse(shape), "real", seed=6)
    launch = launch_of(case)
    step = np.uint32(1 << (23 - bits))
    half = np.uint32(1 << (22 - bits)) if mode == "nearest" else np.uint32(0)

    def rounded(operand: int) -> Floats:
        op = launch.operands[operand]
        words = op.image[op.guard : op.guard + op.size] + half
        return (words // step * step).view(np.float32).reshape(op.rows, op.cols)

    found = judge(BUILD, case, launch, storing(launch, rounded(0) @ rounded(1)))
    assert [f.verdict for f in found] == [Verdict.REDUCED_PRECISION]
    assert found[0].facts["units"] > 16


def test_three_thousand_wrong_elements_are_one_finding_with_words() -> None:
    case = Case(Shape(60, 50, 40), seed=2)
    launch = launch_of(case)
    run = run_of(Kernel(steps=lambda k, t: range(1, k // t)), launch, TILED, Layout.KXN)
    (found,) = judge(BUILD, case, launch, run)
    text = describe(found, exercise()).text
    assert text.startswith("C[0][0] is ")
    assert "(M=60 N=50 K=40)" in text


def test_a_run_without_memory_and_without_a_reason_is_our_fault() -> None:
    with pytest.raises(GraderFault, match=r"9x7x13.*This is not about your kernel\."):
        judge(BUILD, CASE, launch_of(CASE), Run(images=()))


def test_the_same_bits_twice_are_right() -> None:
    launch = launch_of(CASE)
    run = right_run(launch)
    assert same_bits(BUILD, CASE, launch, run, run) == ()


def test_other_bits_the_second_time_are_not_deterministic() -> None:
    case = replace(CASE, inputs="real")
    launch = launch_of(case)
    run = right_run(launch)
    values = launch.operands[2].values(run.images[2]).copy()
    values[3, 4] = np.nextafter(values[3, 4], np.float32(np.inf))
    values[5, 6] = np.nan
    (found,) = same_bits(BUILD, case, launch, run, storing(launch, values))
    assert (found.verdict, found.kind) == (Verdict.NOT_DETERMINISTIC, "not_deterministic")
    assert (found.facts["row"], found.facts["col"], found.facts["count"]) == (3, 4, 2)
    assert found.facts["first"] != found.facts["second"]
    assert found.shape == case.shape


def test_bits_are_compared_and_not_values() -> None:
    launch = launch_of(CASE)
    zero, minus, nan = (spoilt(launch, 2, 5, word) for word in (0, 0x80000000, 0x7FC00000))
    assert kinds(same_bits(BUILD, CASE, launch, zero, minus)) == ["not_deterministic"]
    assert same_bits(BUILD, CASE, launch, nan, nan) == ()


def test_guards_do_not_count_as_bits_of_c() -> None:
    launch = launch_of(CASE)
    again = spoilt(launch, 2, -1, 5)
    assert same_bits(BUILD, CASE, launch, right_run(launch), again) == ()


def test_a_second_run_that_crashed_says_so() -> None:
    launch = launch_of(CASE)
    seen = Finding(Verdict.TIMEOUT, "timeout_gpu", {"limit_s": 10.0})
    found = same_bits(BUILD, CASE, launch, right_run(launch), Run((), (seen,)))
    assert kinds(found) == ["timeout_gpu"]
