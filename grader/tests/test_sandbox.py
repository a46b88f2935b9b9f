"""Kernels that attack the process that runs them: it has nothing to give, and its end is known."""

from __future__ import annotations

import os
import platform
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.exercise import find, load_all
from grader.finding import GraderFault
from grader.problems.matmul import Case, Shape, prepare
from grader.settings import PROJECT
from grader.simulator import linkage, process, runtime
from grader.simulator.device import SimulatorDevice
from grader.simulator.ending import NoAnswer, stand_in
from grader.simulator.failure import CompileFailure
from grader.simulator.protocol import Kind, Status
from grader.tests import simulated
from grader.tests.fixtures import Fixture
from grader.tests.fixtures import load_all as load_fixtures
from grader.tests.simulated import (
    CACHE,
    EXERCISE,
    FINISH,
    PRELUDE,
    SHAPE,
    TARGET,
    both_compilers,
    build,
    launch,
    right,
)
from grader.toolchain import host_compiler

# Machine code, or an address or an amount of memory that no kernel has.
NAMES = frozenset(
    """
    opens_passwd_by_machine_code forks_by_machine_code looks_for_its_parent opens_a_connection
    writes_to_another_descriptor replaces_its_process forges_an_answer ends_its_process
    calls_what_is_no_function jumps_into_its_numbers smashes_its_stack asks_for_ten_gigabytes
    writes_to_the_simulator_s_memory printf_flood endless_recursion kills_every_process
    """.split()
)
HOSTILE = [fixture for fixture in load_fixtures() if fixture.name in NAMES]
SECRET = "SECRET_7d31c9"
SMALL, LARGE = Shape(1, 1, 1), Shape(100, 100, 100)

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
on_x86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the machine code is x86's")


def test_all_hostile_kernels_are_there() -> None:
    assert {fixture.name for fixture in HOSTILE} == NAMES


@on_linux
@on_x86
@both_compilers
@pytest.mark.parametrize("fixture", HOSTILE, ids=str)
def test_a_hostile_kernel_gets_a_verdict_and_the_next_one_its_own(
    family: str, fixture: Fixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", SECRET)
    exercise = find(load_all(PROJECT), fixture.exercise)
    built = build(family, fixture.path.read_text(encoding="utf-8"), exercise)
    assert built.findings == ()
    run = launch(family, built, LARGE if fixture.name == "printf_flood" else SMALL, watch=True)
    expected = fixture.on("simulator")
    assert expected is not None
    assert run.findings[0].verdict == expected.verdict
    assert expected.kind in ("", run.findings[0].kind)
    assert not any(word in f"{run.output}{run.findings}" for word in (SECRET, "root:"))
    honest = build(family, PRELUDE + FINISH)
    assert right(honest, SHAPE, launch(family, honest))


@on_linux
def test_the_process_has_given_up_all_that_a_kernel_does_not_need(tmp_path: Path) -> None:
    simulator = SimulatorDevice(TARGET, host_compiler("g++"), cache=CACHE)
    built = simulator.build(EXERCISE, simulated.submission(PRELUDE + FINISH))
    assert built.config is not None
    case = Case(SHAPE, "exact", 5)
    made = prepare(EXERCISE, built.config, case, 0x7FA00001)
    simulator.launch(built, made)
    (worker,) = simulator._workers.values()
    assert worker._process is not None
    own = Path("/proc") / str(worker._process.pid)
    status = dict(line.split(":\t", 1) for line in (own / "status").read_text().splitlines())
    assert status["NoNewPrivs"].strip() == "1"
    assert simulator.confined is (status["Seccomp"].strip() == "2")
    limits = (own / "limits").read_text()
    for name in ("file size", "core file size", "processes", "open files", "address space"):
        (line,) = [line for line in limits.splitlines() if line.startswith(f"Max {name}")]
        assert line.split()[len(name.split()) + 1] == "0"
    if os.geteuid() == 0:  # others may not look: the process is not dumpable
        assert sorted(entry.name for entry in (own / "fd").iterdir()) == ["0", "1"]
        assert (own / "environ").read_bytes() == b""
    simulator.close()


# As a container that forbids it: both calls that would install a filter fail.
WITHOUT_SECCOMP = """
import ctypes, os, struct, sys
refuse, allow = 0x00050001, 0x7fff0000
code = [(0x20, 0, 0, 0), (0x15, 3, 0, SECCOMP), (0x15, 0, 3, PRCTL), (0x20, 0, 0, 16),
        (0x15, 0, 1, 22), (6, 0, 0, refuse), (6, 0, 0, allow)]
program = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *one) for one in code))
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
filter = Program(len(code), ctypes.addressof(program))
libc = ctypes.CDLL(None)
libc.prctl(38, 1, 0, 0, 0)
if libc.prctl(22, 2, ctypes.byref(filter), 0, 0) != 0:
    sys.exit(77)
os.execv(sys.argv[1], sys.argv[1:])
"""


@on_linux
def test_where_system_calls_cannot_be_forbidden_kernels_run_and_it_is_told() -> None:
    numbers = {"x86_64": ("317", "157"), "aarch64": ("277", "167")}[platform.machine()]
    script = WITHOUT_SECCOMP.replace("SECCOMP", numbers[0]).replace("PRCTL", numbers[1])
    runner = (sys.executable, "-c", script)
    if subprocess.run([*runner, "/bin/true"]).returncode == 77:
        pytest.skip("needs seccomp, to take it away")
    simulator = SimulatorDevice(TARGET, host_compiler("g++"), cache=CACHE, runner=runner)
    built = simulator.build(EXERCISE, simulated.submission(PRELUDE + FINISH))
    assert built.config is not None
    case = Case(SHAPE, "exact", 5)
    made = prepare(EXERCISE, built.config, case, 0x7FA00001)
    assert right(built, SHAPE, simulator.launch(built, made))
    assert simulator.confined is False
    simulator.close()


# Endings without an answer.


@pytest.mark.parametrize("ending", [-signal.SIGSEGV, -signal.SIGSYS, 0, 1])
def test_what_brings_a_process_down_twice_is_the_kernel(ending: int) -> None:
    answer = stand_in(NoAnswer("end of file", ending))
    assert answer.head.status is Status.CRASHED
    assert answer.findings[0].kind is Kind.PROCESS_LOST


# Of those that end a process, a kernel can cause these.
RAISED = {"SIGABRT", "SIGBUS", "SIGFPE", "SIGILL", "SIGSEGV", "SIGSYS", "SIGTRAP"}


@pytest.mark.parametrize(
    "ending", [-number for number in sorted(signal.valid_signals())] + [3, 4, 5, 6], ids=str
)
def test_a_process_that_the_machine_ends_is_nobodys_fault(ending: int) -> None:
    names = {-number: number.name for number in signal.Signals}
    if names.get(ending) in RAISED:
        assert stand_in(NoAnswer("end of file", ending)).head.status is Status.CRASHED
        return
    with pytest.raises(GraderFault, match=r"not about your kernel\. Next: ") as caught:
        stand_in(NoAnswer("end of file", ending))
    assert names.get(ending, "") in str(caught.value)


def test_silence_is_a_time_out_only_of_a_process_that_worked() -> None:
    assert stand_in(NoAnswer("no answer in time", busy=True)).head.status is Status.TIMED_OUT
    with pytest.raises(GraderFault):
        stand_in(NoAnswer("no answer in time"))


@on_linux
@on_x86
def test_a_kernel_that_switches_its_timer_off_is_stopped_from_outside(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(process, "WALL_FACTOR", 1.0)
    monkeypatch.setattr(process, "WALL_EXTRA_S", 1.5)
    text = next(f for f in HOSTILE if f.name == "ends_its_process").path.read_text()
    off = "SYSTEM_CALL(38)((void *)2, (void *)off, 0);\n    while (off[0] == 0) {\n    }"
    text = text.replace("if (M == 1) SYSTEM_CALL(231)(nullptr, nullptr, 0);", off)
    text = text.replace("__global__", "__device__ volatile long off[4];\n__global__", 1)
    built = build("g++", text)
    run = launch("g++", built, SMALL, timeout_s=0.2)
    assert [finding.kind for finding in run.findings] == ["timeout"]


# What must not be linked.


def checked(text: str, folder: Path) -> str:
    """The kind of finding about an object file that no look at the text has gone before."""
    source, made = folder / "kernel.cu", folder / "kernel.o"
    source.write_text(text)
    compiler = host_compiler("g++")
    command = [*compiler.command, "-x", "c++", "-std=c++17", "-c", str(source), "-o", str(made)]
    subprocess.run(command, check=True)
    try:
        linkage.check(made, "matmul", runtime.object_files(compiler, CACHE))
    except CompileFailure as failure:
        return failure.kind
    return ""


KERNEL = 'extern "C" void matmul(float *C) { C[0] = 1; }\n'


@on_linux
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ""),
        ('extern "C" void __syncthreads(); void f() { __syncthreads(); }', ""),
        ("double f(double x) { return __builtin_tanh(x); }", ""),
        ("__int128 f(__int128 x, __int128 y) { return x / y; }", ""),
        ("static float big[100]; float *f() { return big; }", ""),
        ('extern "C" int system(const char *); int f() { return system(""); }', "undefined_name"),
        ("namespace sim { void abort_launch(); } void f() { sim::abort_launch(); }",
         "undefined_name"),
        ('extern "C" float __addsf3(float, float); float f() { return __addsf3(1, 2); }',
         "undefined_name"),
        ('extern "C" float __float_of(int); float f() { return __float_of(1); }', "undefined_name"),
        ("float helper(float); float f() { return helper(1); }", "undefined_name"),
        ('extern "C" int main() { return 0; }', "reserved_name"),
        ('extern "C" long write(int, const void *, long) { return 0; }', "reserved_name"),
        ('extern "C" void __libc_start_main() {}', "reserved_name"),
        ('extern "C" void sim_switch() {}', "reserved_name"),
        ("__attribute__((constructor)) void f() {}\n__attribute__((constructor)) void g() {}",
         "runs_before"),
        ("int f(); int f() { return 1; } int x = f(), *y = new int(x);", "undefined_name"),
        ('extern "C" void g() {} extern "C" void *r() { return (void *)g; }\n'
         'void f() __attribute__((ifunc("r")));', "runs_before"),
        ('__attribute__((section(".interp"), used)) char path[] = "/bin/sh";', "strange_section"),
        ('__attribute__((section(".fini_array"), used)) void (*last)() = nullptr;', "runs_before"),
    ],
)  # fmt: skip
def test_only_what_a_kernel_needs_is_linked(text: str, kind: str, tmp_path: Path) -> None:
    assert checked(KERNEL + text + "\n", tmp_path) == kind
