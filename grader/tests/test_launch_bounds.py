"""`__launch_bounds__` against the block that LAUNCH_CONFIG asks for, on both devices."""

from __future__ import annotations

import pytest

from grader.device import Build
from grader.gpu import ptx
from grader.tests.simulated import FINISH, PRELUDE, both_compilers, build
from grader.verdict import Verdict

LINE = 3  # of the kernel's head in the prelude


def with_bounds(bounds: str, before: str = "") -> str:
    head = PRELUDE.replace("void matmul_naive", f"void {bounds} matmul_naive")
    return head.replace("__global__", f"{before}__global__", 1) + FINISH


def refused(built: Build) -> bool:
    if not built.findings:
        return False
    (found,) = built.findings
    assert (found.verdict, found.kind) == (Verdict.BAD_LAUNCH, "launch_bounds")
    assert (found.facts["value"], found.facts["limit"]) == (256, 64)
    assert found.locations[0].line == LINE
    return True


@both_compilers
@pytest.mark.parametrize("bounds", ["__launch_bounds__(64)", "__launch_bounds__(8 * 8, 2)"])
def test_a_block_larger_than_the_kernel_promises_is_a_bad_launch(family: str, bounds: str) -> None:
    assert refused(build(family, with_bounds(bounds)))


@both_compilers
@pytest.mark.parametrize(
    "bounds", ["__launch_bounds__(256)", "__launch_bounds__(1024, 1)", "__maxnreg__(64)", ""]
)
def test_a_block_within_the_bounds_is_none(family: str, bounds: str) -> None:
    assert not refused(build(family, with_bounds(bounds)))


@both_compilers
def test_the_bounds_of_another_kernel_are_not_this_ones(family: str) -> None:
    other = (
        "template <int side> __global__ void __launch_bounds__(side * side)"
        " first(float *p) { p[0] = side; } template __global__ void first<8>(float *);"
    )
    assert not refused(build(family, with_bounds("", other + " ")))
    after = "__global__ void __launch_bounds__(64) second(float *p) { p[0] = 1; }\n"
    assert not refused(build(family, with_bounds("") + after))


@both_compilers
def test_the_bounds_may_come_from_a_macro_and_a_constant(family: str) -> None:
    text = with_bounds("BOUNDS").replace(
        "LAUNCH_CONFIG",
        "struct S { enum { n = 64 }; };\n#define BOUNDS __launch_bounds__(S::n)\n"
        "#line 2\nLAUNCH_CONFIG",
    )
    assert refused(build(family, text))


PTX = """
.visible .entry first(
\t.param .u64 first_param_0
)
.maxntid 64, 1, 1
.minnctapersm 2
{
\tret;
}
.visible .entry second()
{
\tret;
}
"""


def test_the_ptx_names_the_bounds_of_each_kernel() -> None:
    assert ptx.most_threads(PTX, "first") == 64
    assert ptx.most_threads(PTX, "second") == 0
    assert ptx.most_threads(PTX.replace("64, 1, 1", "16, 8, 1"), "first") == 128
    assert ptx.most_threads(PTX, "third") == 0
