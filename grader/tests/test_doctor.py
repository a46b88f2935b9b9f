"""The doctor tries what it finds, and everything missing comes with its mend."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader import cli, doctor, machine, toolchain
from grader.doctor import MISSING, OK, OPTIONAL, Item
from grader.driver import Driver, Gpu
from grader.finding import NOT_YOURS, GraderFault
from grader.tests.test_toolchain import GCC, compiler_script, nvcc_script

NO_GPU = Driver(problem="no NVIDIA driver")
ONE_GPU = Driver((12, 4), (Gpu(0, "Test GPU", (8, 9), 1),), library="libcuda.so.1")


def state(items: tuple[Item, ...] | list[Item], name: str) -> str:
    return next(item.state for item in items if item.name == name)


def test_this_machine_can_grade(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["doctor", "--plain"]) == 0
    shown = capsys.readouterr().out
    assert "C++ compiler: ok: " in shown
    assert "simulator: ok: ran a kernel" in shown
    assert shown.splitlines()[-1].startswith("This machine grades everything")


def test_without_a_compiler_nothing_is_graded_and_the_mend_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    assert cli.main(["doctor", "--plain"]) == 2
    shown = capsys.readouterr().out
    assert "C++ compiler: missing: No C++ compiler found" in shown
    assert "    Next: " in shown
    assert "This machine cannot grade yet: C++ compiler, simulator." in shown.splitlines()[-1]


def test_a_compiler_that_cannot_compile_is_not_believed(tmp_path: Path) -> None:
    fake = compiler_script(tmp_path / "g++", *GCC)
    compiler = toolchain.identify((str(fake),))
    assert compiler is not None
    assert machine.compiler_problem(compiler).startswith("cannot ")


def test_a_compiler_without_its_library_fails_with_the_compilers_own_reason(
    tmp_path: Path,
) -> None:
    real = toolchain.host_compiler()
    bare = toolchain.identify((*real.command, "-nostdinc++"))
    assert bare is not None
    problem = machine.compiler_problem(bare)
    assert problem.startswith("cannot compile: ")
    assert "cstdint" in problem


def test_a_working_compiler_has_no_problem() -> None:
    assert machine.compiler_problem(toolchain.host_compiler()) == ""


def test_changed_packages_are_named_with_both_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "base.txt").write_text("numpy==0.1 \\\nno-such-package==1.0 \\\n")
    monkeypatch.setattr(doctor, "PROJECT", tmp_path)
    item = doctor._packages()
    assert (item.state, item.mend) == (MISSING, "make setup")
    assert "pinned is 0.1" in item.detail
    assert "no-such-package is not installed" in item.detail


def test_without_a_gpu_its_tools_are_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    items = list(doctor._gpu_items(NO_GPU))
    assert state(items, "GPU") == state(items, "nvcc") == OPTIONAL
    assert all(item.mend for item in items if item.name in ("GPU", "nvcc"))


def test_with_a_gpu_a_missing_nvcc_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    monkeypatch.setattr(machine, "pycuda_problem", lambda: "cannot be imported")
    items = list(doctor._gpu_items(ONE_GPU))
    assert (state(items, "GPU"), state(items, "nvcc")) == (OK, MISSING)
    assert state(items, "PyCUDA") == MISSING


def test_nvcc_older_than_the_gpu_is_missing_and_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    nvcc_script(tmp_path / "nvcc", "11.4", "sm_80 sm_86")
    old = toolchain.find_nvcc({"PATH": str(tmp_path)})
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: old)
    item = doctor._nvcc(ONE_GPU, MISSING)
    assert item.state == MISSING
    assert "does not know sm_89" in item.detail


def test_a_missing_gpu_does_not_change_that_the_simulator_works() -> None:
    items = tuple(Item(name, OK, "") for name in doctor.REQUIRED)
    without = (*items, Item("GPU", OPTIONAL, "no NVIDIA driver"))
    assert doctor.simulator_works(without)
    everything = "This machine grades everything"
    assert doctor.verdict(without).startswith(f"{everything} but speed (25 of 100 points)")
    assert doctor.verdict((*items, Item("GPU", OK, ""))) == f"{everything}."


def test_a_gpu_without_a_calibration_shows_speed_only() -> None:
    assert doctor._calibration("NVIDIA H200").state == OK
    unknown = doctor._calibration("NVIDIA of the future")
    assert (unknown.state, unknown.mend) == (OPTIONAL, "make calibrate")


def test_a_fault_is_taken_apart_into_what_happened_and_what_mends_it() -> None:
    fault = GraderFault(f"nvcc is gone. {NOT_YOURS} Next: look for it.")
    assert doctor._parts(fault) == ("nvcc is gone.", "look for it")
