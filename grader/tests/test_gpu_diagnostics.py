"""nvcc's output turned into a finding, or into a fault of the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.finding import Finding, GraderFault, Location
from grader.gpu import diagnostics
from grader.tests.gpu_samples import NAME
from grader.verdict import Verdict

TOOLKIT = Path("/opt/cuda")


def explain(output: str, ptx: str = "") -> Finding:
    return diagnostics.explain(output, NAME, "nvcc 13.0", TOOLKIT, ptx)


def test_the_first_error_in_the_students_file_is_told_with_its_line() -> None:
    finding = explain(
        f'{NAME}(2): error: identifier "y" is undefined\n'
        "  __attribute__((device)) float g(float x) { return y; }\n"
        "                                                    ^\n\n"
        f'{NAME}(3): error: expected a ";"\n\n'
        f'2 errors detected in the compilation of "{NAME}".\n'
    )
    assert finding.verdict is Verdict.COMPILE_ERROR
    assert finding.facts == {
        "compiler": "nvcc 13.0",
        "message": 'identifier "y" is undefined',
        "count": 2,
    }
    assert finding.locations == (Location(NAME, 2, "error"),)


def test_warnings_are_no_errors() -> None:
    finding = explain(
        f"{NAME}(1): warning #177-D: variable was declared but never referenced\n"
        f"{NAME}(9): error #20: something\n"
    )
    assert finding.facts["count"] == 1
    assert finding.locations[0].line == 9


def test_an_error_of_the_preprocessor_is_told_too() -> None:
    finding = explain(f"{NAME}:4:10: fatal error: lunch.cuh: No such file or directory\n")
    assert finding.facts["message"] == "lunch.cuh: No such file or directory"
    assert finding.locations == (Location(NAME, 4, "error"),)


def test_an_error_in_a_header_is_placed_where_the_student_used_it() -> None:
    finding = explain(
        f"{TOOLKIT}/include/cooperative_groups.h(10): error: static assertion failed\n"
        "          detected during:\n"
        f'            instantiation of class "tile<33>" at line 7 of {NAME}\n'
    )
    assert finding.facts["message"] == "static assertion failed"
    assert finding.locations == (Location(NAME, 7, "error"),)


def test_messages_about_other_files_are_withheld() -> None:
    finding = explain('/etc/passwd(1): error: identifier "root" is undefined\n')
    assert "root" not in finding.facts["message"]
    assert finding.locations == ()


def test_an_error_of_ptxas_is_placed_by_the_lines_of_the_ptx() -> None:
    ptx = (
        ".visible .entry matmul_tiled(\n)\n{\n"
        "\t.loc\t1 3 0\n\t// begin inline asm\n\tfoo.bar 3;\n}\n"
        f'\t.file\t1 "/tmp/x/{NAME}"\n'
    )
    finding = explain(
        "ptxas kernel.ptx, line 6; error   : Not a name of any known instruction: 'foo'\n"
        "ptxas fatal   : Ptx assembly aborted due to errors\n",
        ptx,
    )
    assert finding.locations == (Location(NAME, 3, "error"),)
    assert finding.facts["count"] == 1


def test_no_mangled_name_reaches_the_student() -> None:
    finding = explain("ptxas fatal   : Unresolved extern function '_Z5undeff'\n")
    assert finding.facts["message"] == "Unresolved extern function 'undef(float)'"


def test_a_message_without_end_is_cut() -> None:
    finding = explain(f"{NAME}(2): error: {'tuple<' * 500}\n")
    assert len(finding.facts["message"]) == 300


def test_too_much_static_shared_memory_is_a_bad_launch_with_both_numbers() -> None:
    finding = explain(
        "ptxas error   : Entry function 'matmul_tiled' uses too much shared data "
        "(0x13880 bytes, 0xc000 max)\n"
    )
    assert (finding.verdict, finding.kind) == (Verdict.BAD_LAUNCH, "too_much_static_shared")
    assert (finding.facts["value"], finding.facts["limit"]) == (80000, 49152)


@pytest.mark.parametrize(
    "output",
    [
        "nvcc fatal   : Unsupported gpu architecture 'sm_89'\n",
        "nvcc fatal   : Value 'sm_89' is not defined for option 'gpu-architecture'\n",
        "sh: 1: gcc: not found\n",
        "/usr/include/crt/host_config.h:143:2: error: #error -- unsupported GNU version!\n",
        "",
    ],
)
def test_faults_of_the_machine_are_never_the_students(output: str) -> None:
    with pytest.raises(GraderFault, match="not about your kernel") as raised:
        explain(output)
    assert " ".join(output.split())[:40] in str(raised.value)


def test_a_type_that_the_code_generator_does_not_know_is_a_compile_error() -> None:
    output = 'Error: Internal Compiler Error (codegen): "unsupported float variant!"\n'
    finding = diagnostics.explain(output, "starter/01_naive.cu", "nvcc 13.0", Path("/cuda"))
    assert finding.kind == "compile_error"
    assert "unsupported float variant!" in finding.facts["message"]


def test_a_text_that_ends_too_early_is_a_compile_error_without_a_line() -> None:
    finding = explain('At end of source: error: expected a ";"\n\n1 error detected.\n')
    assert (finding.verdict, finding.kind) == (Verdict.COMPILE_ERROR, "compile_error")
    assert finding.facts["message"] == 'expected a ";"'
    assert finding.locations == ()


@pytest.mark.parametrize("output", ["", "cudafe++ gave up.\n", "ld: error: nonsense\n"])
def test_what_an_empty_file_does_not_do_is_the_students(output: str) -> None:
    finding = diagnostics.explain(output, NAME, "nvcc 13.0", TOOLKIT, "", lambda: True)
    assert (finding.verdict, finding.kind) == (Verdict.COMPILE_ERROR, "compile_gave_up")
