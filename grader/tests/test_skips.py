"""In CI a test that is skipped for an unforeseen reason must not look green."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest
pytestmark = pytest.mark.filterwarnings("ignore")

@pytest.mark.gpu
def test_marked():
    pytest.skip("whatever the reason")

@pytest.mark.skipif(True, reason="needs nvcc")
def test_reason(): pass

@pytest.mark.xfail
def test_expected_failure():
    assert False

def test_passes(): pass
"""
UNFORESEEN = "\ndef test_unforeseen():\n    pytest.skip('no network')\n"
WHOLE_MODULE = "\npytest.importorskip('no_such_module')\n"


def run(folder: Path, tests: str, *options: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(Path(__file__).with_name("conftest.py"), folder / "conftest.py")
    (folder / "pytest.ini").write_text("[pytest]\nmarkers =\n    gpu: needs a GPU\n")
    (folder / "test_it.py").write_text(tests)
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, ".")
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def test_without_the_option_every_skip_is_allowed(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS + UNFORESEEN)
    assert done.returncode == 0
    assert "3 skipped" in done.stdout


def test_what_the_machine_lacks_may_be_skipped(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "--expected-skips=gpu,nvcc")
    assert done.returncode == 0
    assert "1 passed, 2 skipped, 1 xfailed" in done.stdout


def test_what_it_was_said_to_have_may_not(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "--expected-skips=gpu")
    assert done.returncode == 1
    assert "1 passed, 1 skipped, 1 xfailed, 1 error" in done.stdout
    assert "needs nvcc\nThis skip is not among --expected-skips." in done.stdout


@pytest.mark.parametrize("extra", [UNFORESEEN, WHOLE_MODULE])
def test_an_unforeseen_skip_fails(tmp_path: Path, extra: str) -> None:
    done = run(tmp_path, TESTS + extra, "--expected-skips=gpu,nvcc")
    assert done.returncode != 0
    assert "not among --expected-skips" in done.stdout


def test_a_misspelt_name_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, TESTS, "--expected-skips=gpus")
    assert done.returncode == 4
    assert "'gpus' is none of gpu, nvcc" in done.stderr
