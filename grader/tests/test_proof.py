"""The proof: what the simulator counts is what an H200 counted, and the README says so."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from grader.kernel_table import KernelTableError
from grader.proof import comparison, kernels, measurement, sanitizer, tables
from grader.proof.__main__ import COMMITTED, counters_part
from grader.proof.kernels import ProofKernel
from grader.tests.simulated import device

MEASURED = measurement.read(COMMITTED)
KERNELS = [kernel for kernel in kernels.load() if kernel.name in MEASURED.kernels]
FAMILIES = ["g++", pytest.param("clang++", marks=pytest.mark.long)]
GLOBAL = [name for name in comparison.METRICS if name.startswith("global")]

RAW_PAGE = """\
==PROF== Connected to process 7 (/usr/bin/python3.12)
"ID","Process ID","Kernel Name","Block Size","Grid Size","CC","device__attribute_warp_size",\
"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
"","","","","","","","","sector"
"0","7","matmul_naive","(32, 8, 1)","(4, 13, 1)","9.0","32","75,272","184,397"
"1","7","matmul_naive","(32, 8, 1)","(3, 5, 1)","9.0","32","25542","58476"
"""


def row(kernel: ProofKernel, family: str) -> comparison.ComparedKernel:
    return _row(kernel.name, family)


@functools.cache
def _row(name: str, family: str) -> comparison.ComparedKernel:
    return comparison.compare(named(name), MEASURED.kernels[name], device(family))


def named(name: str) -> ProofKernel:
    return next(kernel for kernel in KERNELS if kernel.name == name)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_the_simulator_counts_what_the_hardware_counted(kernel: ProofKernel, family: str) -> None:
    cells = row(kernel, family).cells
    differing = {name: cell for name, cell in cells.items() if not cell.equal}
    assert set(differing) == set(kernel.differs), "differs without a reason, or has one for nothing"


def test_global_memory_is_exact_for_every_kernel_without_16_byte_copies() -> None:
    inexact = [k.name for k in KERNELS if any(name in k.differs for name in GLOBAL)]
    assert inexact == ["async ring, 16 bytes"]
    assert len(KERNELS) >= 50


def test_a_16_byte_copy_costs_one_sector_more_for_each_conflict_of_its_write() -> None:
    kernel = named("async ring, 16 bytes")
    cell = row(kernel, "g++").cells["global load sectors"]
    copies = comparison.simulate(kernel, device("g++")).copy_conflicts
    assert cell.hardware - cell.simulator == copies > 0


def test_loads_that_nvcc_left_alone_are_exact_as_written() -> None:
    scalar = {kernel.name for kernel in KERNELS if not row(kernel, "g++").merges}
    assert {name for name in scalar if "not unrolled" in name or "volatile" in name} == {
        "tiled, not unrolled",
        "tiled, 16x16 volatile",
        "not padded, not unrolled",
        "not padded, volatile",
        "micro-kernel, volatile",
    }


def test_where_the_launches_agree_on_a_load_the_simulator_does_too() -> None:
    for kernel in KERNELS:
        for name, cell in row(kernel, "g++").cells.items():
            if name.startswith("shared load") and cell.highest == cell.hardware:
                assert cell.equal, f"{kernel.name}: {name}"


def test_the_measurement_says_where_it_is_from() -> None:
    assert MEASURED.about["gpu"] == "NVIDIA H200"
    assert set(MEASURED.about) == {"date", "gpu", "driver", "nvcc", "ncu"}
    assert all(MEASURED.about.values())


def test_the_table_of_counters_is_the_generated_one() -> None:
    text = tables.README.read_text(encoding="utf-8")
    part = counters_part(COMMITTED, [row(kernel, "g++") for kernel in KERNELS])
    assert tables.inside(text, "counters") == part, "Next: python -m grader.proof --write"


@pytest.mark.long
def test_the_table_of_findings_is_the_generated_one() -> None:
    text = tables.README.read_text(encoding="utf-8")
    part = sanitizer.sanitizer_part(sanitizer.CSV, device("g++"))
    assert tables.inside(text, "sanitizer") == part, (
        "Next: python -m grader.proof.sanitizer --write"
    )


def test_whatever_a_tool_of_compute_sanitizer_finds_the_simulator_finds() -> None:
    table = tables.inside(tables.README.read_text(encoding="utf-8"), "sanitizer")
    lines = [line.strip("| ").split(" | ") for line in table.splitlines() if "/" in line]
    assert len(lines) >= 30
    for fixture, *tools, ours in lines:
        assert len(tools) == len(sanitizer.TOOLS)
        assert ours != "-", fixture


def test_the_raw_page_of_nsight_compute_is_understood() -> None:
    first, second = measurement.raw_page(RAW_PAGE)
    assert first == {
        "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 75_272,
        "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 184_397,
    }
    assert second["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 58_476
    assert measurement.raw_page("==ERROR== No kernels were profiled.\n") == []


def test_a_measurement_keeps_the_launches_of_each_kernel(tmp_path: Path) -> None:
    path = tmp_path / "h200.csv"
    metric = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
    measurement.write(path, {"gpu": "NVIDIA H200"}, [("naive, ragged", "ab")], RAW_PAGE, [metric])
    again = measurement.read(path)
    assert again.about == {"gpu": "NVIDIA H200"}
    measured = again.kernels["naive, ragged"]
    assert (measured.lowest(metric), measured.highest(metric)) == (58_476, 184_397)
    assert "device__attribute" not in path.read_text()
    path.write_text(path.read_text().replace("# kernel: naive", "# kernel: a | b\n#\n# kernel: c")
                    + '"2","k","(1, 1, 1)","(1, 1, 1)","9.0","1"\n')  # fmt: skip
    with pytest.raises(measurement.MeasurementError, match="3 rows for 2 kernels"):
        measurement.read(path)


def test_a_tools_first_message_and_its_line_are_found() -> None:
    wrong = sanitizer.wrong_fixtures()[0]
    output = (
        "========= COMPUTE-SANITIZER\n"
        "========= Invalid __global__ read of size 16 bytes\n"
        "=========     at matmul_naive+0x2a0 in float4_along_k.cu:13\n"
        "=========     Access to 0x7f8488a008b8 is misaligned\n"
        "=========     Saved host backtrace up to driver entry point\n"
        "=========\n"
        "========= ERROR SUMMARY: 7 errors\n"
    )
    answer = sanitizer.parse(output, wrong, "memcheck")
    assert (answer.count, answer.line) == (7, 13)
    assert answer.message == "Invalid __global__ read of size 16 bytes, misaligned"
    race = (
        "========= Error: Race reported between Write access at f+0xaf0 in a.cu:15\n"
        "=========     and Read access at f+0xb20 in a.cu:18 [256 hazards]\n"
        "=========\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n"
    )
    answer = sanitizer.parse(race, wrong, "racecheck")
    assert (answer.line, answer.message) == (15, "Race between write and read")
    clean = "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n"
    assert sanitizer.parse(clean, wrong, "synccheck").message == ""
    assert sanitizer.parse("", wrong, "initcheck").message == "did not end"


def test_a_slip_in_the_table_of_kernels_is_named(tmp_path: Path) -> None:
    text = kernels.TABLE.read_text(encoding="utf-8").split("\n\n[[kernel]]")[1]
    for old, new, problem in (
        (
            'shape = "97x97x97"',
            'shpe = "97x97x97"',
            '[naive, 32x8 threads].shpe"',
        ),
        ('shape = "97x97x97"', "", "kernel[naive, 32x8 threads].shape is missing"),
        ('shape = "97x97x97"', 'shape = "97x97x97"\nedits = [["nowhere", ""]]', "0 times"),
    ):
        path = tmp_path / "kernels.toml"
        path.write_text("[[kernel]]" + text.replace(old, new))
        with pytest.raises(KernelTableError, match=re.escape(problem)):
            kernels.load.__wrapped__(path)


def test_a_table_goes_between_its_marks_only() -> None:
    text = "a\n<!-- BEGIN x -->\nold\n<!-- END x -->\nb\n"
    assert tables.inside(tables.put(text, "x", "new \\1"), "x") == "new \\1"
    with pytest.raises(ValueError, match="once"):
        tables.put(text, "y", "new")
