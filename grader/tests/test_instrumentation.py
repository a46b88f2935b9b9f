"""Which accesses of LLVM's intermediate form get a call: those that have none and need one."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.finding import GraderFault
from grader.simulator import instrumentation
from grader.simulator.device import SimulatorDevice
from grader.simulator.instrumentation import complete
from grader.tests.simulated import EXERCISE, FINISH, PRELUDE, TARGET, submission
from grader.toolchain import HostCompiler, find_host_compilers

TYPED = "@llvm.global_ctors = appending global [1 x { i32, void ()*, i8* }] []\n"
OPAQUE = "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] []\n"


def added(code: str) -> list[str]:
    """The calls that were not there."""
    before = code.split("\n")
    rows = [row.strip() for row in complete(code).split("\n") if row not in before]
    return [row.removeprefix("call void ") for row in rows if row.startswith("call ")]


def function(*rows: str) -> str:
    return "\n".join(["define void @f(ptr %0) {", *(f"  {row}" for row in rows), "}", ""])


@pytest.mark.parametrize(
    "access, kind, call",
    [
        ("%2 = load i48, i48* %1, align 1", "i48", "read_range(i8* %access.3, i64 6)"),
        ("store volatile i56 %2, i56* %1, align 1", "i56", "write_range(i8* %access.3, i64 7)"),
    ],
)
def test_an_integer_of_odd_size_is_taken_for_its_bytes(access: str, kind: str, call: str) -> None:
    code = TYPED + function("%1 = bitcast float* %0 to i48*", f"{access}, !dbg !7")
    assert added(code) == [f"@__tsan_{call}, !dbg !7"]
    assert f"\n  %access.3 = bitcast {kind}* %1 to i8*\n" in complete(code)


def test_what_has_its_call_gets_no_second_one() -> None:
    typed = function(
        "%1 = bitcast float* %0 to i8*",
        "call void @__tsan_read4(i8* %1), !dbg !7",
        "%2 = load float, float* %0, align 4, !dbg !7",
        "call void @__tsan_write4(i8* bitcast ([3 x i32]* @last to i8*))",
        "store i32 %3, i32* getelementptr inbounds ([3 x i32], [3 x i32]* @last, i64 0, i64 0),"
        " align 4",
    )
    opaque = function("call void @__tsan_write8(ptr %0)", "store ptr %1, ptr %0, align 8")
    assert added(TYPED + typed) == []
    assert added(OPAQUE + opaque) == []


def test_one_call_stands_for_one_access() -> None:
    twice = ["%2 = load i32, ptr %0, align 4", "%3 = load <8 x float>, ptr %0, align 4"]
    (call,) = added(OPAQUE + function("call void @__tsan_read4(ptr %0)", *twice))
    assert "@__tsan_read_range(ptr %access.4, i64 ptrtoint (ptr getelementptr (<8 x float>," in call


def test_an_atomic_operation_stands_for_no_access_after_it() -> None:
    atomic = "call void @__tsan_atomic32_store(ptr %0, i32 0, i32 0)"
    assert len(added(OPAQUE + function(atomic, "%2 = load i40, ptr %0, align 1"))) == 1


@pytest.mark.parametrize(
    "argument",
    [
        "ptr noundef nonnull byval(%struct.Eight) align 8 %7, i32 noundef %6",
        'i32 %6, ptr noundef byval(%"struct.(anonymous namespace)::Eight") align 8 %7',
        "ptr byval(%struct.Eight) align 8 getelementptr inbounds"
        " ([4 x %struct.Eight], ptr @tile, i64 0, i64 1), i32 %6",
    ],
)
def test_a_struct_by_value_is_read_for_the_call(argument: str) -> None:
    (call,) = added(OPAQUE + function(f"%8 = call float @pick({argument}) #8, !dbg !145"))
    assert call.startswith("@__tsan_read_range(ptr %access.2, i64 ptrtoint")
    assert call.endswith(", !dbg !145")


def test_a_functions_own_variables_and_constants_need_no_call() -> None:
    code = (
        "@table = internal unnamed_addr constant [4 x x86_fp80] zeroinitializer, align 16\n"
        "@one = external thread_local constant i48, align 8\n"
    )
    body = function(
        "%9 = and i64 %8, 3",
        "%1 = alloca [4 x i48], align 8",
        "%2 = getelementptr inbounds [4 x i48], ptr %1, i64 0, i64 %9",
        "store i48 0, ptr %2, align 1",
        "%3 = call float @pick(ptr byval(%struct.Eight) align 8 %1)",
        "%4 = getelementptr inbounds [4 x x86_fp80], ptr @table, i64 0, i64 %9",
        "%5 = load x86_fp80, ptr %4, align 16",
        "%6 = load i48, ptr @one, align 8",
    )
    assert [call[:18] for call in added(OPAQUE + code + body)] == ["@__tsan_read_range"]


COUNTER = "%2 = phi i64 [ 0, %5 ], [ %3, %6 ], !dbg !7"


@pytest.mark.parametrize(
    ("near", "rows"),
    [
        (True, [COUNTER, "%3 = add nuw nsw i64 %2, 1", "%4 = shl i64 %2, 3", "%9 = or i64 %4, 1"]),
        (True, ["%2 = zext i1 %1 to i64", "%9 = add nsw i64 %2, -4"]),
        (False, [COUNTER, "%3 = add i64 %2, 1", "%4 = mul i64 %2, 64", "%9 = shl i64 %4, 1"]),
        (False, ["%9 = ashr exact i64 %1, 2"]),
        (False, ["%2 = add i64 %1, 1", "%9 = and i64 %2, -8"]),
        (False, [COUNTER, "%3 = add i64 %2, %1", "%9 = add i64 %2, 1"]),
        (False, [COUNTER, "%3 = shl i64 %2, 1", "%9 = add i64 %2, 1"]),
        (False, [COUNTER, "%3 = add i64 %2, 4096", "%9 = add i64 %2, 1"]),
    ],
)
def test_an_index_that_may_lead_out_of_a_functions_own_variable_needs_a_call(
    near: bool, rows: list[str]
) -> None:
    own, place = "%7 = alloca [4 x float]", "%8 = getelementptr [4 x float], ptr %7, i64 0, i64 %9"
    body = function(own, *rows, f"{place}, !dbg !7", "%10 = load float, ptr %8, align 4")
    assert len(added(OPAQUE + body)) == (not near)


def test_a_table_of_virtual_functions_is_constant() -> None:
    marks = '!5 = !{!6, !6, i64 0}\n!6 = !{!"vtable pointer", !7, i64 0}\n'
    body = function("%1 = load ptr, ptr %0, align 8, !tbaa !5", "%2 = load ptr, ptr %1, align 8")
    assert len(added(OPAQUE + body + marks)) == 1
    assert len(added(OPAQUE + body)) == 2


# LLVM 14 writes pointers with their types, and releases from 15 on without.
each_clang = pytest.mark.parametrize(
    "clang", [found for found in find_host_compilers() if found.family == "clang++"], ids=str
)


@each_clang
def test_every_release_translates_what_was_completed(clang: HostCompiler, tmp_path: Path) -> None:
    text = PRELUDE + "if (((const long double *)A)[tx] == 1.5e30L) return;" + FINISH
    built = SimulatorDevice(TARGET, clang, cache=tmp_path).build(EXERCISE, submission(text))
    assert built.config is not None, built.findings


@each_clang
def test_code_that_cannot_be_translated_is_not_the_kernels_fault(
    clang: HostCompiler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(instrumentation, "complete", lambda code: f"{code}\nnonsense")
    device = SimulatorDevice(TARGET, clang, cache=tmp_path)
    with pytest.raises(GraderFault, match=r"(?s)translate its own output: .*Next:"):
        device.build(EXERCISE, submission(PRELUDE + FINISH))
