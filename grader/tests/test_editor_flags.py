"""compile_flags.txt lets an editor understand a submission: no false errors or warnings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader import toolchain
from grader.exercise import PROJECT

STARTERS = sorted((PROJECT / "starter").glob("*.cu"))
FLAGS = (PROJECT / "compile_flags.txt").read_text(encoding="utf-8").splitlines()


def complaints(path: Path) -> str:
    command = (*toolchain.host_compiler().command, *FLAGS, "-fsyntax-only", str(path))
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stderr


@pytest.mark.parametrize("path", STARTERS, ids=lambda path: path.stem)
def test_an_editor_has_nothing_to_say_about_a_starter(path: Path) -> None:
    assert complaints(path) == ""


def test_an_editor_sees_a_real_mistake(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.cu"
    wrong.write_text('#include "launch.cuh"\n__global__ void f() { int x = thread.x; }\n')
    assert "thread" in complaints(wrong)
