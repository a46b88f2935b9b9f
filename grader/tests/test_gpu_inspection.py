"""What a compiled submission says about itself, from PTX, a report and object files made here."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader import toolchain
from grader.device import LaunchConfig
from grader.finding import GraderFault
from grader.gpu import cubin, inspection, ptx, sass
from grader.tests.gpu_samples import NAME, submission
from grader.toolchain import Nvcc

PTX = f"""\
// comment: mma.sync.aligned
.version 9.0
.func (.param .b32 r) _Z6helperf(
)
{{
\t.loc\t1 2 0
\tret;
}}
.visible .entry matmul_tiled(
\t.param .u64 p0
)
{{
\t.loc\t1 5 0
\tmov.u32 \t%r1, %ctaid.x;
\t.loc\t1 7 3
\tINSTRUCTION
}}
.visible .entry _Z5otherPf(
)
{{
\t.loc\t2 90 1
\t.loc\t1 11 0
\tret;
}}
\t.file\t1 "/tmp/new-x/{NAME}"
\t.file\t2 "/opt/wmma.load/mma.h"
"""


def with_instruction(text: str) -> str:
    return PTX.replace("INSTRUCTION", text)


def test_kernels_are_entries_and_device_functions_are_not() -> None:
    assert ptx.entries(with_instruction("ret;")) == ["matmul_tiled", "_Z5otherPf"]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1}, {%r1};", "mma.sync"),
        ("{wmma.load.a.sync.aligned.row.m16n16k8.global.tf32 {%r1}, [%rd1];}", "wmma.load"),
        ("@%p1 wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1};", "wgmma.mma_async"),
        ("tcgen05.mma.cta_group::1.kind::tf32 [%r1];", "tcgen05.mma"),
        # However a kernel spells it: all of these are what ptxas takes.
        ("mma .sync .aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1};", "mma.sync"),
        ("mma\f\t.sync.aligned.m16n8k8 {%f1};", "mma.sync"),
        ("mma/* wait */.sync/**/.aligned.m16n8k8 {%f1};", "mma.sync"),
        ("mma// wait\n\t.sync.aligned.m16n8k8 {%f1};", "mma.sync"),
        ('.pragma "x\\"; mma.sync.aligned.m16n8k8 {%f1}; .pragma "y";', "mma.sync"),
        ('.pragma "//"; mma.sync.aligned.m16n8k8 {%f1};', "mma.sync"),
    ],
)
def test_tensor_core_instructions_are_found_with_their_line(text: str, what: str) -> None:
    [finding] = inspection.tensor_cores(with_instruction(text), submission(""))
    assert finding.facts == {"what": what}
    assert [place.line for place in finding.locations] == [7]


@pytest.mark.parametrize(
    "text",
    [
        "fma.rn.f32 %f1, %f2;",
        "// wmma.load",
        "/* mma.sync */ ret;",
        "call my_mma.x;",
        "// a comment goes on\r mma.sync.aligned {%f1};",
        '.pragma "a string goes on\n mma.sync.aligned";',
        ".global .align 4 .f32 mma;",
    ],
)
def test_other_instructions_comments_and_names_are_not_tensor_cores(text: str) -> None:
    assert inspection.tensor_cores(with_instruction(text), submission("")) == ()


def test_a_quote_behind_a_carriage_return_hides_nothing(tmp_path: Path) -> None:
    kept = tmp_path / "kernel.ptx"
    hidden = '// a\r"\n\tmma.sync.aligned.m16n8k8 {%f1}; // "'
    kept.write_bytes(with_instruction(hidden).encode())
    assert inspection.tensor_cores(ptx.read(kept), submission("")) != ()


SASS = f"""\
\t.section\t.text.matmul_tiled,"ax",@progbits
\t//## File "/tmp/new-x/{NAME}", line 7
        /*0150*/                   LDG.E R15, desc[UR4][R10.64+0x110] ;
\t//## File "/opt/include/crt/mma.hpp", line 626
        /*0160*/              @!P0 INSTRUCTION
        /*0180*/                   EXIT ;
"""


@pytest.mark.parametrize(
    "what",
    ["HMMA.16816.F32.BF16", "IMMA.16816.S8.S8", "HGMMA.64x8x8.F32.TF32", "UTCHMMA", "DMMA.884"],
)
def test_tensor_core_code_is_found_with_its_line(what: str) -> None:
    text = SASS.replace("INSTRUCTION", f"{what} R16, R4.reuse, R12, RZ ;")
    assert sass.tensor_instruction(text, NAME) == (what, 7)


def test_other_code_is_none_of_tensor_cores() -> None:
    text = SASS.replace("INSTRUCTION", "FFMA R16, R4, R12, RZ ;").replace("_tiled", "_HMMA")
    assert sass.tensor_instruction(text, NAME) is None


def toolkit(folder: Path, script: str, name: str = "nvdisasm") -> Nvcc:
    """A toolkit whose disassembler is this shell script."""
    (folder / "bin").mkdir()
    program = folder / "bin" / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return Nvcc(folder / "bin" / "nvcc", (13, 0), folder, "the test", (90,))


@pytest.mark.parametrize("name", ["nvdisasm", "cuobjdump"])
def test_the_disassembler_beside_nvcc_is_asked(tmp_path: Path, name: str) -> None:
    compiler = toolkit(tmp_path, "echo '        /*0160*/    HMMA.1688.F32.TF32 R4 ;'", name)
    [finding] = inspection.tensor_code(tmp_path / "kernel.cubin", compiler, submission(""))
    assert (finding.kind, finding.facts) == ("tensor_cores", {"what": "HMMA.1688.F32.TF32"})


@pytest.mark.parametrize("script", ["exit 1", "kill -9 $$", "printf '\\377\\n'"])
def test_a_disassembler_that_fails_finds_nothing(tmp_path: Path, script: str) -> None:
    compiler = toolkit(tmp_path, script)
    assert inspection.tensor_code(tmp_path / "kernel.cubin", compiler, submission("")) == ()


def test_a_toolkit_without_a_disassembler_leaves_it_to_the_ptx(tmp_path: Path) -> None:
    compiler = Nvcc(tmp_path / "bin" / "nvcc", (13, 0), tmp_path, "the test", (90,))
    assert inspection.tensor_code(tmp_path / "kernel.cubin", compiler, submission("")) == ()


def test_a_kernel_is_placed_on_its_own_line_of_the_students_file() -> None:
    text = with_instruction("ret;")
    assert ptx.source_line(text, ptx.entry_line(text, "matmul_tiled"), NAME) == 5
    assert ptx.source_line(text, 2, NAME) == 0


def function(name: str, body: str) -> str:
    return (
        f".func  (.param .b32 func_retval0) {name}(\n\t.param .b64 p0\n)\n"
        f"{{\n\t{{ // callseq 0, 0\n\t{body}\n\t}}\n}}\n"
    )


CALL = "call.uni (retval0),\n\t{},\n\t(\n\tparam0\n\t);"


@pytest.mark.parametrize(
    ("functions", "is_recursive"),
    [
        ({"f": CALL.format("f")}, True),
        ({"f": CALL.format("g"), "g": CALL.format("f")}, True),
        ({"f": CALL.format("g"), "g": "ret;"}, False),
        ({"f": CALL.format("vprintf"), "g": CALL.format("f")}, False),
    ],
)
def test_recursion_is_a_cycle_of_calls(functions: dict[str, str], is_recursive: bool) -> None:
    text = "".join(function(name, body) for name, body in functions.items())
    assert ptx.recursive(PTX + text) is is_recursive


REPORT = """\
ptxas info    : 64 bytes gmem
ptxas info    : Compiling entry function '_Z6helperPf' for 'sm_90'
ptxas info    : Function properties for _Z6helperPf
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
ptxas info    : Compiling entry function 'matmul_tiled' for 'sm_90'
ptxas info    : Function properties for matmul_tiled
    40 bytes stack frame, 8 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 255 registers, used 1 barriers, 4224 bytes smem, 400 bytes cmem[0]
"""


def test_the_resources_are_those_of_the_graded_kernel() -> None:
    assert inspection.resources(REPORT, "matmul_tiled") == {
        "registers": 255,
        "static_shared": 4224,
        "spill": 24,
        "stack": 40,
    }


def test_a_kernel_that_was_not_compiled_has_no_resources() -> None:
    assert inspection.resources(REPORT, "matmul_tuned") == {}


def object_file(text: str, folder: Path) -> Path:
    """A cubin is an ELF file; this one has the sections of a cubin and this machine's code."""
    source, made = folder / "x.c", folder / "x.o"
    source.write_text(text)
    compiler = toolchain.host_compiler()
    subprocess.run(
        [*compiler.command, "-x", "c", "-c", str(source), "-o", str(made)], check=True, timeout=60
    )
    return made


def in_section(name: str) -> str:
    return f'__attribute__((used, section("{name}")))'


def test_the_configuration_is_read_although_its_symbol_is_local(tmp_path: Path) -> None:
    text = (
        f"{in_section('.nv.global.init')} static int other[3] = {{7, 7, 7}};\n"
        f"{in_section('.nv.global.init')} static int launch_config[6] = {{32, 8, 64, 32, 4, 99}};\n"
    )
    config = cubin.read_config(object_file(text, tmp_path))
    assert config == LaunchConfig(32, 8, 64, 32, 4, 99)


def test_a_configuration_of_zeros_takes_no_room_and_is_read(tmp_path: Path) -> None:
    text = "static int launch_config[6] __attribute__((used));\n"
    assert cubin.read_config(object_file(text, tmp_path)) == LaunchConfig(0, 0, 0, 0, 0, 0)


def test_a_variable_of_that_name_and_another_size_is_no_configuration(tmp_path: Path) -> None:
    assert cubin.read_config(object_file("int launch_config = 3;\n", tmp_path)) is None


def test_variables_are_counted_without_the_configuration(tmp_path: Path) -> None:
    text = (
        f"{in_section('.nv.global.init')} int launch_config[6] = {{1, 1, 1, 1, 1, 1}};\n"
        f"{in_section('.nv.global')} int big[1000] = {{1}};\n"
        f"{in_section('.nv.constant3')} int table[10] = {{1}};\n"
    )
    assert cubin.variable_bytes(object_file(text, tmp_path)) == 4040


def test_a_broken_cache_entry_is_our_fault(tmp_path: Path) -> None:
    broken = tmp_path / "kernel.cubin"
    broken.write_bytes(b"")
    with pytest.raises(GraderFault, match="not about your kernel"):
        cubin.read_config(broken)
