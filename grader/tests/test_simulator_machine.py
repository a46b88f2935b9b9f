"""The parts of the simulator that a kernel's outcome does not show."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from grader.device import Launch
from grader.finding import GraderFault
from grader.problems.matmul import Case, Layout, Shape, prepare
from grader.settings import PROJECT
from grader.simulator.assembly import gap_bytes, patch
from grader.simulator.compiler import HERE
from grader.simulator.device import SimulatorDevice
from grader.simulator.process import Worker
from grader.simulator.program import Program
from grader.simulator.protocol import Block
from grader.simulator.scene import variable_name
from grader.tests.simulated import (
    EXERCISE,
    FINISH,
    PRELUDE,
    SHAPE,
    TARGET,
    build,
    device,
    launch,
    right,
    submission,
)
from grader.toolchain import host_compiler, identify

ARM = "aarch64-linux-gnu-g++"


def test_fibers_assemble_for_macos_on_arm(tmp_path: Path) -> None:
    clang = shutil.which("clang++")
    if clang is None:
        pytest.skip("needs clang++")
    source = HERE / "machine" / "fiber_aarch64.S"
    made = tmp_path / "fiber.o"
    subprocess.run([clang, "-target", "arm64-apple-macos", "-c", source, "-o", made], check=True)
    assert made.read_bytes()[:4] == b"\xcf\xfa\xed\xfe"  # a 64-bit Mach-O object


def test_gaps_follow_every_shared_array_and_nothing_else() -> None:
    text = '\t.section\t.tbss,"awT"\nAs:\n\t.zero\t1024\n\t.data\nx:\n\t.zero\t8\n'
    patched = patch(text).splitlines()
    assert patched[3] == f"\t.zero\t{gap_bytes(1024)}"
    assert patched[4:] == ["\t.data", "x:", "\t.zero\t8"]
    assert (1024 + gap_bytes(1024)) % 256 == 0
    assert gap_bytes(100_000) >= 100_000


def test_arrays_of_other_files_are_the_dynamic_one_whatever_their_name() -> None:
    rows = [
        "own:",
        "\tmovq\twrite@GOTTPOFF(%rip), %rax",
        "\taddq\t$own@tpoff, %rax",
        "\tldr\tx0, [x0, #:gottprel_lo12:write]",
        "\tadd\tx0, x0, #:tprel_lo12_nc:own",
    ]
    assert patch("\n".join(rows)).split("\n") == [
        row.replace("write", "sim_dynamic_shared") for row in rows
    ]


def test_only_calls_of_memcpy_are_renamed() -> None:
    patched = patch('\tcall\tmemcpy\n\tcallq\tmemset@PLT\n\t.string\t"memcpy"\nmy_memcpy:\n')
    assert (
        patched == '\tcall\tsim_memcpy\n\tcallq\tsim_memset@PLT\n\t.string\t"memcpy"\nmy_memcpy:\n'
    )


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("As", "As"),
        ("_ZZ12matmul_naiveE2As", "As"),
        ("_ZZ12matmul_naiveE2As_0", "As"),
        ("_ZZ6helperILi16EEfPK6float4E2Ds", "Ds"),
        ("_ZZ6helperILi16EEfPK6float4E10tile_cache", "tile_cache"),
        ("As.1", "As"),
    ],
)
def test_a_shared_array_is_named_as_in_the_source(symbol: str, name: str) -> None:
    assert variable_name(symbol) == name


def test_threads_run_in_the_order_of_the_seed() -> None:
    text = PRELUDE + '    if (ty == 0) printf("%d ", tx);\n}\n'
    built = build("g++", text)

    def order(seed: int) -> list[int]:
        output = launch("g++", built, Shape(1, 1, 1), order=seed).output
        return [int(word) for word in output.split()]

    assert order(0) == list(range(16))
    assert order(1) == list(reversed(range(16)))
    assert order(5) == order(5)
    assert sorted(order(5)) == order(0) != order(5)


def test_a_warp_that_has_met_waits_for_no_other_warp_in_other_orders() -> None:
    """Else __syncwarp would give right values where __syncthreads is needed."""
    text = (
        PRELUDE
        + """    __shared__ int came[256];
    int thread = ty * 16 + tx, sum = 0;
    came[thread] = 0;
    __syncthreads();
    came[thread] = 1;
    __syncwarp();
    for (int other = 0; other < 256; ++other) sum += came[other];
    if (thread % 32 == 0) printf("%d ", sum);
}
"""
    )
    built = build("g++", text)

    def counts(order: int) -> list[int]:
        output = launch("g++", built, Shape(1, 1, 1), order=order).output
        return [int(word) for word in output.split()]

    threads = 16 * 16
    assert counts(0) == [threads] * (threads // 32)
    assert counts(1) == list(range(32, threads + 1, 32))
    assert min(counts(5)) < threads


def test_one_block_of_a_huge_shape_runs_on_memory_that_is_not_there() -> None:
    text = PRELUDE.replace("int col", "size_t col") + (
        "    if (row < M && col < N) C[(size_t)row * N + col] = A[row] + B[col];\n}\n"
    )
    built = build("g++", text)
    assert built.config is not None
    small = prepare(EXERCISE, built.config, Case(SHAPE, "exact", 1), 0x7FA00001)
    rows, cols = 40_000, 50_000  # 8 GB of C
    a, b, c = small.operands
    huge = Launch(
        (
            dataclasses.replace(a, rows=rows, cols=1),
            dataclasses.replace(b, rows=1, cols=cols),
            dataclasses.replace(c, rows=rows, cols=cols),
        ),
        (rows, cols, 1),
        (cols // 16, rows // 16),
    )
    last = cols // 16 * (rows // 16) - 1
    assert device("g++").probe_block(built, huge, last).findings == ()
    short = dataclasses.replace(huge, operands=(huge.operands[0], huge.operands[1], c))
    (found,) = device("g++").probe_block(built, short, last).findings
    assert (found.kind, found.facts["operand"]) == ("global_access", "C")
    assert right(built, SHAPE, launch("g++", built)) is False  # and ordinary launches still work


def test_a_worker_that_dies_is_our_fault_and_is_replaced() -> None:
    simulator = SimulatorDevice(TARGET, host_compiler("g++"), cache=PROJECT / ".cache/simulator")
    built = simulator.build(EXERCISE, submission(PRELUDE + FINISH))
    assert built.config is not None
    made = prepare(EXERCISE, built.config, Case(SHAPE, "exact", 5), 0x7FA00001)
    simulator.launch(built, made)
    (worker,) = simulator._workers.values()
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    assert right(built, SHAPE, simulator.launch(built, made))
    simulator.close()
    simulator.close()


def test_a_program_that_cannot_start_is_our_fault(tmp_path: Path) -> None:
    worker = Worker(Program(tmp_path / "absent", (), (), 0, 0, 0))
    built = build("g++", PRELUDE + FINISH)
    assert built.config is not None
    made = prepare(EXERCISE, built.config, Case(SHAPE, "exact", 1), 0x7FA00001)
    with pytest.raises(GraderFault, match="not about your kernel"):
        worker.ask(Block((16, 16, 1)), made)


def test_concurrent_gradings_share_one_cache(tmp_path: Path) -> None:
    def grade(number: int) -> bool:
        simulator = SimulatorDevice(TARGET, host_compiler("g++"), cache=tmp_path / "a cache")
        text = PRELUDE + f"    // {number % 2}" + FINISH
        built = simulator.build(EXERCISE, submission(text))
        assert built.config is not None
        made = prepare(EXERCISE, built.config, Case(SHAPE, "exact", 5), 0x7FA00001)
        result = simulator.launch(built, made)
        simulator.close()
        return right(built, SHAPE, result)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(grade, range(4)))
    assert not list((tmp_path / "a cache").glob("*-????????"))  # no half-made folder is left


@pytest.mark.long
def test_the_simulator_runs_on_arm() -> None:
    compiler, qemu = shutil.which(ARM), shutil.which("qemu-aarch64")
    if compiler is None or qemu is None:
        pytest.skip("needs qemu-user and g++-aarch64-linux-gnu")
    simulator = SimulatorDevice(
        TARGET,
        identify((compiler,)),
        cache=PROJECT / ".cache" / "simulator",
        runner=(qemu, "-L", "/usr/aarch64-linux-gnu"),
    )
    for exercise, layout in (("01_naive", "KxN"), ("02_tiled", "KxN"), ("03_padded", "NxK"),
                             ("04_tuned", "KxN")):  # fmt: skip
        own = dataclasses.replace(
            EXERCISE, kernel=f"matmul_{exercise[3:]}", b_layout=Layout(layout)
        )
        text = (PROJECT / "exercises" / exercise / "solution.cu").read_text()
        built = simulator.build(own, submission(text))
        assert built.config is not None
        for shape in (Shape(1, 1, 1), Shape(33, 17, 65), Shape(35, 79, 19)):
            made = prepare(own, built.config, Case(shape, "exact", 5), 0x7FA00001)
            result = simulator.launch(built, made)
            assert result.findings == ()
            assert right(built, shape, result)
    text = PRELUDE + "    __shared__ float s[16]; s[tx + M] = 1; if (s[0] == M) return;" + FINISH
    built = simulator.build(EXERCISE, submission(text))
    assert built.config is not None
    made = prepare(EXERCISE, built.config, Case(SHAPE, "exact", 5), 0x7FA00001)
    (found, *_) = simulator.launch(built, made).findings
    assert (found.kind, found.facts["variable"]) == ("shared_access", "s")
    assert np.array_equal(found.facts["dims"], [16])
    simulator.close()
