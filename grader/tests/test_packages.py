"""What is installed is pinned with hashes; PyCUDA is an extra that never breaks the set-up."""

from __future__ import annotations

import platform
import re
import sys
import tomllib
from pathlib import Path

import pytest

from grader import packages, toolchain
from grader.driver import Driver, Gpu
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.toolchain import Nvcc

FILES = sorted((PROJECT / "requirements").glob("*.txt"))
NVCC = Nvcc(Path("/opt/cuda/bin/nvcc"), (12, 4), Path("/opt/cuda"), "PATH", (80, 90))
DRIVER = Driver((12, 4), (Gpu(0, "Test GPU", (9, 0), 1),), library="libcuda.so.1")


@pytest.fixture
def machine_with_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(packages, "find_driver", lambda: DRIVER)
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: NVCC)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_requirement_is_pinned_and_hashed(path: Path) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"^ *#.*\n?", "", path.read_text(), flags=re.M).strip())
    assert entries
    for entry in entries:
        assert re.match(r"[\w.-]+==[\w.]+ \\\n", entry), entry
        assert "--hash=sha256:" in entry


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_requirements_name_no_index_and_no_folder(path: Path) -> None:
    assert not re.search(
        r"index|find-links|://|/", re.sub(r"^.*#.*$", "", path.read_text(), flags=re.M)
    )


def test_every_dependency_of_the_project_is_pinned_and_says_why_it_is_there() -> None:
    text = (PROJECT / "pyproject.toml").read_text(encoding="utf-8")
    parsed = tomllib.loads(text)
    groups = {"base": parsed["project"]["dependencies"], **parsed["dependency-groups"]}
    for name, wanted in groups.items():
        pinned = (PROJECT / "requirements" / f"{name}.txt").read_text(encoding="utf-8")
        for requirement in wanted:
            package = re.split(r"[ <>=]", requirement)[0]
            assert re.search(rf"^{package}==", pinned, re.M), f"{package} in {name}.txt"
            line = rf'^( *# .*\n)? *"{re.escape(requirement)}",( +# .+)?$'
            found = re.search(line, text, re.M)
            assert found is not None
            assert found[1] or found[2], f"{package} has no reason"


def test_without_a_driver_pycuda_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(packages, "find_driver", lambda: Driver(problem="no NVIDIA driver"))
    told = packages.install_pycuda(None)
    assert told.startswith("not needed, no NVIDIA driver.")
    assert told.endswith("The simulator grades everything that this version grades.")


@pytest.mark.usefixtures("machine_with_gpu")
def test_without_nvcc_the_step_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    told = packages.install_pycuda(None)
    assert "nvcc not found. Next: " in told
    assert told.endswith("then: make setup")


@pytest.mark.usefixtures("machine_with_gpu")
def test_a_build_that_fails_says_why_and_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*arguments: object) -> None:
        raise GraderFault("pip failed:\n  fatal error: cuda.h: No such file\n")

    monkeypatch.setattr(packages, "_build", fail)
    assert packages.main(["pycuda"]) == 0
    shown = capsys.readouterr().out
    assert "PyCUDA: not built." in shown
    assert "cuda.h: No such file" in shown
    assert "the simulator works" in shown


def fail(*arguments: object, **options: object) -> None:
    raise GraderFault("pip failed:\n  no matching distribution\n")


def test_packages_that_only_show_something_are_not_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(packages, "_pip", fail)
    told = packages.install_timing(None)
    assert told.startswith("not installed. pip failed:")
    assert told.endswith("Speed is graded without them.")


def test_without_pycuda_nothing_that_needs_it_is_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(packages, "find_driver", lambda: Driver(problem="no NVIDIA driver"))
    monkeypatch.setattr(packages, "_pip", fail)
    assert packages.main(["pycuda"]) == 0
    assert "cuBLAS" not in capsys.readouterr().out


def test_a_wheelhouse_is_whole_without_what_only_shows_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def download(*arguments: str) -> None:
        asked.append(Path(arguments[-1]).name)
        if asked[-1] == packages.TIMING:
            fail()

    monkeypatch.setattr(packages, "_pip", download)
    packages.download(tmp_path, "3.12", "aarch64")
    assert asked == [*packages.WHEELS, packages.PYCUDA, packages.TIMING]
    assert "without cuBLAS and NVML" in capsys.readouterr().out


def test_the_build_is_told_the_toolkits_own_headers_and_to_leave_curand_out() -> None:
    settings: dict[str, object] = {}
    exec(packages.build_settings(NVCC, ["/tmp/it's here"]), settings)
    assert settings["CUDA_INC_DIR"] == ["/opt/cuda/include"]
    assert settings["CUDADRV_LIB_DIR"] == ["/tmp/it's here"]
    assert settings["CUDA_ENABLE_CURAND"] is False


def test_the_library_that_is_loaded_is_found_in_the_file_system() -> None:
    path = packages._loaded("libc.so.6")
    assert path.is_file()


def test_pips_reason_is_shown_and_not_its_log() -> None:
    with pytest.raises(GraderFault, match="pip failed:") as caught:
        packages._pip("install", "--no-index", "--find-links", "/nowhere", "no-such-package")
    assert "no-such-package" in str(caught.value)
    assert len(str(caught.value).splitlines()) < 10


@pytest.mark.parametrize("version", ["3.10", "2", "three", ""])
def test_wheels_are_only_downloaded_for_a_python_that_can_run_this(
    tmp_path: Path, version: str
) -> None:
    with pytest.raises(GraderFault, match="Next: make wheelhouse PYTHON_VERSION="):
        packages.download(tmp_path / "wheelhouse", version, "x86_64")
    assert not (tmp_path / "wheelhouse").exists()


def test_platform_tags_go_from_the_newest_glibc_to_the_oldest_name() -> None:
    tags = list(packages.platform_tags("aarch64"))
    assert tags[0] == f"manylinux_2_{packages.GLIBC_MINOR}_aarch64"
    assert "manylinux_2_17_aarch64" in tags
    assert tags[-1] == "manylinux1_aarch64"


def test_a_wheel_that_another_node_built_is_used_again(tmp_path: Path) -> None:
    python = "cp{}{}".format(*sys.version_info[:2])
    machine = platform.machine()
    assert packages.built_wheel(None) is None
    (tmp_path / f"pycuda-2026.1-cp36-cp36m-linux_{machine}.whl").touch()
    (tmp_path / "pycuda-2026.1.tar.gz").touch()
    assert packages.built_wheel(tmp_path) is None
    mine = tmp_path / f"pycuda-2026.1-{python}-{python}-linux_{machine}.whl"
    mine.touch()
    assert packages.built_wheel(tmp_path) == mine
