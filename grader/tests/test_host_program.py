"""The host program of the handouts: built around each solution, and run where there is a GPU."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from grader import driver, toolchain
from grader.exercise import PROJECT, Exercise, load_all

EXERCISES = {exercise.name: exercise for exercise in load_all(PROJECT) if exercise.graded}
SHAPES = ("500 400 300", "128 128 96", "33 17 65", "1 1 1")
BUILD_TIMEOUT_S = 300  # a few seconds where nothing else runs
RUN_TIMEOUT_S = 60


def solution(exercise: Exercise) -> str:
    return (exercise.folder / "solution.cu").read_text("utf-8")


def build(exercise: Exercise, kernel: str, folder: Path) -> Path:
    """The program around the text of a kernel; fails with the words of nvcc."""
    nvcc = toolchain.find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc on this machine")
    (folder / f"{exercise.name}.cu").write_text(kernel, "utf-8")
    program = folder / "program"
    command = [str(nvcc.path), "-std=c++17", "-o", str(program)]
    command += ["-arch=sm_90" if driver.find_driver().problem else "-arch=native"]
    command += ["-I", str(PROJECT / "grader" / "include"), "-I", str(folder)]
    command += [f"-DEXERCISE={int(exercise.name[:2])}"]
    command += [str(PROJECT / "exercises" / "host_program" / "main.cu")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    return program


def run(program: Path, arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(program), *arguments.split()]
    return subprocess.run(command, capture_output=True, text=True, timeout=RUN_TIMEOUT_S)


@pytest.fixture(scope="module", params=EXERCISES)
def program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program around one reference solution, for each exercise."""
    exercise = EXERCISES[request.param]
    return build(exercise, solution(exercise), tmp_path_factory.mktemp(exercise.name))


@pytest.fixture
def gpu() -> None:
    problem = driver.find_driver().problem
    if problem:
        pytest.skip(problem)


def test_wrong_arguments_are_answered_with_the_usage(program: Path) -> None:
    done = run(program, "4 none 2")
    assert done.returncode == 2
    assert "usage: " in done.stderr
    assert "M N K" in done.stderr


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_the_program_says_that_a_solution_is_right(program: Path) -> None:
    for shape in SHAPES:
        done = run(program, shape)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "C is right" in done.stdout


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu")
def test_the_program_names_the_first_wrong_element(tmp_path: Path) -> None:
    naive = EXERCISES["01_naive"]
    right = solution(naive)
    wrong = right.replace("C[row * N + col] = sum;", "C[row * N + col] = row == 2 ? 0.5f : sum;")
    assert wrong != right
    done = run(build(naive, wrong, tmp_path), "4 3 2")
    assert done.returncode == 1
    assert done.stdout.startswith("C[2][0] is 0.5, expected ")
