"""Compilers are identified by what they do, and what is missing comes with its mend."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from grader import toolchain
from grader.finding import GraderFault
from grader.toolchain import HostCompiler, Nvcc

HERE = os.environ.get("PATH", os.defpath)


def script(path: Path, text: str) -> Path:
    """An executable shell script."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def compiler_script(path: Path, *macros: str) -> Path:
    """A compiler that predefines these macros and can do nothing else."""
    lines = "\n".join(f"echo '#define {macro}'" for macro in ("__cplusplus 201703L", *macros))
    return script(path, lines)


def nvcc_script(path: Path, release: str, codes: str = "sm_80 sm_90 sm_90a") -> Path:
    listing = f"for code in {codes}; do echo $code; done"
    return script(
        path,
        f"case $1 in --version) echo 'Cuda compilation tools, release {release}, V{release}.1';;"
        f" --list-gpu-code) {listing};;"
        f" *) echo '#$ TOP=/opt/cuda' >&2;; esac",
    )


GCC = ("__GNUC__ 13", "__GNUC_MINOR__ 2", "__GNUC_PATCHLEVEL__ 1", "__x86_64__ 1", "__linux__ 1")
OLD_GCC = ("__GNUC__ 9", "__GNUC_MINOR__ 4", "__GNUC_PATCHLEVEL__ 0", "__x86_64__ 1")
APPLE = (
    *("__GNUC__ 4", "__GNUC_MINOR__ 2", "__GNUC_PATCHLEVEL__ 1", "__clang_major__ 15"),
    *("__clang_minor__ 0", "__clang_patchlevel__ 0", "__aarch64__ 1", "__APPLE__ 1"),
)


def test_this_machine_has_a_compiler_that_is_new_enough() -> None:
    compiler = toolchain.host_compiler()
    assert compiler.new_enough
    assert compiler.machine in ("x86_64", "aarch64")


def test_a_compiler_is_what_it_predefines_and_not_what_it_is_called(tmp_path: Path) -> None:
    named_gcc = compiler_script(tmp_path / "g++", *APPLE)
    found = toolchain.identify((str(named_gcc),))
    assert found == HostCompiler((str(named_gcc),), "clang++", (15, 0, 0), "aarch64")


def test_an_old_default_does_not_hide_a_newer_compiler(tmp_path: Path) -> None:
    compiler_script(tmp_path / "g++", *OLD_GCC)
    newer = compiler_script(tmp_path / "g++-13", *GCC)
    found = toolchain.host_compiler(environment={"PATH": str(tmp_path)})
    assert found.command == (str(newer),)


def test_a_release_under_two_names_is_found_once(tmp_path: Path) -> None:
    compiler_script(tmp_path / "g++", *GCC)
    compiler_script(tmp_path / "g++-13", *GCC)
    found = toolchain.find_host_compilers({"PATH": str(tmp_path)})
    assert [compiler.version for compiler in found] == [(13, 2, 1)]


def test_cxx_decides_and_may_have_several_words_or_a_space_in_its_path(tmp_path: Path) -> None:
    path = compiler_script(tmp_path / "my tools" / "c++", *GCC)
    for cxx, command in (
        (str(path), (str(path),)),
        (f"env '{path}' -O1", ("env", str(path), "-O1")),
    ):
        found = toolchain.host_compiler(environment={"CXX": cxx, "PATH": HERE})
        assert found.command == command


@pytest.mark.parametrize("cxx", ["no-such-compiler", "true", "g++ 'unbalanced"])
def test_a_useless_cxx_is_named(cxx: str) -> None:
    with pytest.raises(GraderFault, match=re.escape(f"CXX={cxx} is set")):
        toolchain.host_compiler(environment={"CXX": cxx, "PATH": HERE})


def test_an_old_cxx_is_named_with_its_version(tmp_path: Path) -> None:
    path = compiler_script(tmp_path / "old", *OLD_GCC)
    with pytest.raises(GraderFault, match=r"is g\+\+ 9, older than 11"):
        toolchain.host_compiler(environment={"CXX": str(path), "PATH": HERE})


def test_no_compiler_is_not_the_students_fault(tmp_path: Path) -> None:
    with pytest.raises(GraderFault, match="Next: .*This is not about your kernel"):
        toolchain.host_compiler(environment={"PATH": str(tmp_path)})


def test_a_family_can_be_asked_for(tmp_path: Path) -> None:
    compiler_script(tmp_path / "g++", *GCC)
    with pytest.raises(GraderFault, match=r"No clang\+\+ found"):
        toolchain.host_compiler("clang++", {"PATH": str(tmp_path)})


def test_nvcc_on_path_comes_before_the_one_in_cuda_home(tmp_path: Path) -> None:
    nvcc_script(tmp_path / "first" / "nvcc", "12.4")
    nvcc_script(tmp_path / "home" / "bin" / "nvcc", "11.8")
    environment = {"PATH": str(tmp_path / "first"), "CUDA_HOME": str(tmp_path / "home")}
    found = toolchain.find_nvcc(environment)
    assert found is not None
    assert (found.version, found.origin) == ((12, 4), "PATH")
    del environment["PATH"]
    environment["PATH"] = str(tmp_path)
    found = toolchain.find_nvcc(environment)
    assert found is not None
    assert (found.version, found.origin) == ((11, 8), "CUDA_HOME")


def test_nvcc_that_does_not_run_is_passed_over(tmp_path: Path) -> None:
    script(tmp_path / "nvcc", "exit 1")
    nvcc_script(tmp_path / "home" / "bin" / "nvcc", "12.1")
    found = toolchain.find_nvcc({"PATH": str(tmp_path), "CUDA_HOME": str(tmp_path / "home")})
    assert found is not None
    assert found.version == (12, 1)


def test_nvcc_tells_its_toolkit_also_through_a_wrapper(tmp_path: Path) -> None:
    nvcc_script(tmp_path / "nvcc", "12.4")
    found = toolchain.find_nvcc({"PATH": str(tmp_path)})
    assert found is not None
    assert found.root == Path("/opt/cuda")


def test_nvcc_older_than_the_gpu_is_named_with_both(tmp_path: Path) -> None:
    nvcc_script(tmp_path / "nvcc", "11.4", "sm_70 sm_80 sm_86")
    found = toolchain.find_nvcc({"PATH": str(tmp_path)})
    assert found is not None
    toolchain.check_architecture(found, (8, 6))
    with pytest.raises(GraderFault, match=r"nvcc 11\.4 .* does not know sm_89"):
        toolchain.check_architecture(found, (8, 9))


def test_a_missing_nvcc_comes_with_the_way_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    with pytest.raises(GraderFault, match=r"nvcc not found.*not about your kernel\. Next: "):
        toolchain.nvcc()


def test_an_architecture_counts_only_without_a_suffix() -> None:
    compiler = Nvcc(Path("nvcc"), (12, 4), Path("/opt/cuda"), "PATH", (80, 90))
    assert compiler.knows((9, 0))
    assert not compiler.knows((10, 0))


def test_releases_are_ordered_as_numbers() -> None:
    folders = [Path("cuda-12.4"), Path("cuda-12.10"), Path("cuda-9.2")]
    assert sorted(folders, key=toolchain._release)[-1] == Path("cuda-12.10")
