"""What is installed is pinned with hashes; PyCUDA is an extra that never breaks the set-up."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
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


def test_of_pycuda_only_what_needs_no_other_package_is_imported() -> None:
    """It asks for packages that gpu.txt does not have."""
    sources = (path for path in (PROJECT / "grader").rglob("*.py") if "tests" not in path.parts)
    imported = r"^ *(?:import|from) (pycuda\S*)"
    found = {name for one in sources for name in re.findall(imported, one.read_text(), re.M)}
    assert found == {"pycuda.driver"}


def test_without_a_driver_pycuda_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr(packages, "find_driver", lambda: Driver(problem="no NVIDIA driver"))
    told = packages.install_pycuda(None)
    assert told.startswith("not needed, no NVIDIA driver.")
    assert told.endswith("The simulator grades everything but speed.")


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


def test_only_what_has_no_wheel_is_taken_as_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = {}
    monkeypatch.setattr(
        packages, "_pip", lambda *words: asked.update({Path(words[-1]).name: words})
    )
    packages.download(tmp_path, "3.12", "x86_64")
    options = asked["class.txt"]
    assert "--only-binary=:all:" in options
    assert {f"--no-binary={name}" for name in packages.SOURCES} <= {*options}
    pinned = (PROJECT / "requirements" / "class.txt").read_text(encoding="utf-8")
    for name in packages.SOURCES:
        assert re.search(rf"^{name}==", pinned, re.M)
    # What makes wheels of them where there is no network.
    assert re.search(r"^setuptools==", (PROJECT / "requirements" / "gpu.txt").read_text(), re.M)


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """make, without the flags of one that may have started the tests."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS", "PIP_"))}
    return subprocess.run(
        ["make", *words], cwd=folder, env=kept, capture_output=True, text=True, check=False
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A folder with the Makefiles, which asks for no packages."""
    for name in ("Makefile", "teachers.mk"):
        shutil.copy(PROJECT / name, tmp_path)
    (tmp_path / "requirements").mkdir()
    for name in ("base", "dev", "gpu", "class", "pycuda", "timing"):
        (tmp_path / "requirements" / f"{name}.txt").touch()
    return tmp_path


@pytest.mark.parametrize("goal, offline", [("wheelhouse", False), (".venv/base.stamp", True)])
def test_the_folder_that_is_to_be_filled_is_not_installed_from(
    bare: Path, goal: str, offline: bool
) -> None:
    shown = make(bare, "--dry-run", goal, "WHEELHOUSE=wheels")
    assert shown.returncode == 0, shown.stderr
    assert ("--no-index" in shown.stdout) == offline


@pytest.mark.long
def test_what_is_installed_later_comes_from_the_same_wheelhouse(bare: Path) -> None:
    wheels = bare / "my wheels"
    wheels.mkdir()
    done = make(bare, ".venv/base.stamp", f"WHEELHOUSE={wheels}", f"PYTHON={sys.executable}")
    assert done.returncode == 0, done.stderr
    (bare / "requirements" / "class.txt").write_text(
        f"no-such-package==1.0 --hash=sha256:{'0' * 64}\n"
    )
    later = make(bare, ".venv/class.stamp")
    assert later.returncode != 0
    assert "No matching distribution found for no-such-package" in later.stderr
    config = (bare / ".venv" / "pip.conf").read_text()
    assert "no-index = true" in config
    assert wheels.as_uri() in config
