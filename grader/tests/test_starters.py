"""Starters come from solutions: nothing of a solution leaks, and the committed ones are in step."""

from __future__ import annotations

import argparse
import difflib
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from grader import starters, toolchain
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.submission import fingerprint, status

NAMES = [exercise.name for exercise in load_all(PROJECT)]
GRADED = [exercise.name for exercise in load_all(PROJECT) if exercise.graded]

# What a student is to find, as the solution writes it.
ANSWERS = {
    "00_warmup": ("B[k * N + col]",),
    "01_naive": ("blockIdx.y * blockDim.y", "row >= M", "A[row * K + k]", "C[row * N + col] = sum"),
    "02_tiled": ("__shared__", "__syncthreads()", "As[ty][k]"),
    "03_padded": ("TILE + 1", "Bs[tx][k]"),
    "04_tuned": ("float4 ", "__syncthreads()", "As[2]", "WARP_M", "C[row * N"),
}

SOLUTION = """\
// Exercise
#include "launch.cuh"
void kernel() {
    // BEGIN SOLUTION
    //STARTER // TODO 1: think
    //STARTER
    //STARTER int row = 0;
    int row = secret();
    // END SOLUTION
    use(row);
}
"""
STARTER = """\
// Exercise
#include "launch.cuh"
void kernel() {
    // TODO 1: think

    int row = 0;
    use(row);
}
"""


def starter_of(name: str) -> str:
    return (PROJECT / "starter" / f"{name}.cu").read_text("utf-8")


def solution_of(name: str) -> str:
    return (PROJECT / "exercises" / name / "solution.cu").read_text("utf-8")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course with the first exercise alone and nothing generated yet."""
    folder = tmp_path / "exercises" / "01_naive"
    folder.mkdir(parents=True)
    for file in ("exercise.toml", "solution.cu"):
        shutil.copy(PROJECT / "exercises" / "01_naive" / file, folder)
    return tmp_path


def edit_solution(course: Path, old: str, new: str) -> None:
    path = course / "exercises" / "01_naive" / "solution.cu"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def test_a_block_is_replaced_by_its_starter_lines() -> None:
    assert starters.generate(SOLUTION, "solution.cu") == STARTER


def test_a_starter_line_above_the_first_block_is_kept() -> None:
    text = "//STARTER // Edit this file.\n" + SOLUTION
    assert starters.generate(text, "solution.cu") == "// Edit this file.\n" + STARTER


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n// BEGIN SOLUTION\nb\n", 2),
        ("a\n// END SOLUTION\nb\n", 2),
        ("// BEGIN SOLUTION\n// END SOLUTION\n// END SOLUTION\n", 3),
        ("// BEGIN SOLUTION\na\n// BEGIN SOLUTION\n// END SOLUTION\n// END SOLUTION\n", 3),
        ("//BEGIN SOLUTION\nsecret();\n//END SOLUTION\n", 1),
        ("// BEGIN SOLUTION\nsecret();\n// END  solution\n", 3),
        ("secret();  // BEGIN SOLUTION\n", 1),
        ("// BEGIN SOLUTION\n// END SOLUTION\na\n//STARTER b\n", 4),
        ("// BEGIN SOLUTION\n// STARTER b\n// END SOLUTION\n", 2),
        ("// BEGIN SOLUTION\n//STARTERb\n// END SOLUTION\n", 2),
        ("no marker at all\n", 1),
    ],
)
def test_a_wrong_marker_is_an_error_with_file_and_line(text: str, line: int) -> None:
    with pytest.raises(GraderFault, match=rf"^exercises/x/solution\.cu:{line}: "):
        starters.generate(text, "exercises/x/solution.cu")


def starter(*words: str, root: Path = PROJECT) -> int:
    """What `python -m grader starter` does."""
    options = argparse.Namespace(check="--check" in words)
    return starters.run(options, root)


def test_the_committed_starters_are_in_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert starter("--check") == 0, capsys.readouterr().out


@pytest.mark.parametrize("name", NAMES)
def test_the_ledger_knows_the_committed_starter(name: str) -> None:
    ledger = PROJECT / "exercises" / name / "starter_fingerprints.txt"
    assert fingerprint(starter_of(name)) in ledger.read_text("utf-8").split()


@pytest.mark.parametrize(("name", "parts"), ANSWERS.items())
def test_the_answer_is_in_the_solution_alone(name: str, parts: tuple[str, ...]) -> None:
    for part in parts:
        assert part in solution_of(name)
        assert part not in starter_of(name)


def test_an_untouched_starter_is_not_started_and_a_solution_is() -> None:
    for exercise in load_all(PROJECT):
        if exercise.graded:
            starter = PROJECT / "starter" / f"{exercise.name}.cu"
            assert status(starter, exercise) == "not_started"
            assert status(exercise.folder / "solution.cu", exercise) == "started"


@pytest.mark.parametrize("name", GRADED)
def test_the_steps_of_a_starter_are_numbered_without_a_gap(name: str) -> None:
    numbers = sorted({int(number) for number in re.findall(r"TODO (\d+)", starter_of(name))})
    assert numbers == list(range(1, len(numbers) + 1))
    assert numbers


def code_lines(text: str) -> list[str]:
    lines = (line.split("//")[0].strip() for line in text.splitlines())
    return [line for line in lines if line]


def test_one_edit_mends_the_warm_up() -> None:
    before, after = code_lines(starter_of("00_warmup")), code_lines(solution_of("00_warmup"))
    assert [line for line in difflib.ndiff(before, after) if line[0] in "+-"] == [
        "- sum += A[row * K + k] * B[k * K + col];",
        "+ sum += A[row * K + k] * B[k * N + col];",
    ]


def test_writing_twice_changes_nothing(course: Path) -> None:
    assert starter(root=course) == 0
    before = {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}
    assert starter(root=course) == 0
    assert starter("--check", root=course) == 0
    assert {path: path.read_bytes() for path in course.rglob("*") if path.is_file()} == before


def test_a_new_version_keeps_the_old_fingerprint(course: Path) -> None:
    ledger = course / "exercises" / "01_naive" / "starter_fingerprints.txt"
    starter(root=course)
    first = ledger.read_text("utf-8").split()
    edit_solution(course, "BLOCK_Y = 8", "BLOCK_Y = 4")
    assert starter(root=course) == 0
    second = ledger.read_text("utf-8").split()
    assert len(first) == 1
    assert second[:1] == first
    assert len(second) == 2


def test_a_changed_comment_needs_no_new_fingerprint(course: Path) -> None:
    starter(root=course)
    edit_solution(course, "TODO 4: write", "TODO 4: store")
    starter(root=course)
    ledger = course / "exercises" / "01_naive" / "starter_fingerprints.txt"
    assert len(ledger.read_text("utf-8").split()) == 1


def test_check_names_what_is_out_of_step(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starter(root=course)
    edit_solution(course, "BLOCK_Y = 8", "BLOCK_Y = 4")
    (course / "starter" / "07_gone.cu").write_text("", "utf-8")
    capsys.readouterr()
    assert starter("--check", root=course) == 1
    told = capsys.readouterr().out
    assert "starter/01_naive.cu" in told
    assert "exercises/01_naive/starter_fingerprints.txt" in told
    assert "starter/07_gone.cu" in told


def test_work_in_a_starter_is_left_alone_while_missing_and_old_ones_are_written(
    course: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("02_tiled", "03_padded"):
        shutil.copytree(PROJECT / "exercises" / name, course / "exercises" / name)
    starter(root=course)
    mine = course / "starter" / "01_naive.cu"
    mine.write_text(mine.read_text("utf-8").replace("BLOCK_Y = 8", "BLOCK_Y = 16"), "utf-8")
    work = mine.read_text("utf-8")
    missing = course / "starter" / "02_tiled.cu"
    missing.unlink()
    old = course / "starter" / "03_padded.cu"
    old.write_text(old.read_text("utf-8") + "// a comment of an older version\n", "utf-8")
    capsys.readouterr()
    assert starter(root=course) == 0
    assert capsys.readouterr().out.splitlines() == [
        "starter/02_tiled.cu: written",
        "starter/03_padded.cu: written",
        "Left alone, because work is in it: starter/01_naive.cu. "
        "To have a file anew, delete it, then: make starter",
    ]
    assert mine.read_text("utf-8") == work
    assert missing.exists()
    assert "older version" not in old.read_text("utf-8")
    mine.unlink()
    assert starter(root=course) == 0
    assert mine.read_text("utf-8") not in ("", work)


def test_a_file_that_is_no_text_counts_as_work(course: Path) -> None:
    starter(root=course)
    mine = course / "starter" / "01_naive.cu"
    mine.write_bytes(b"\xff\xfe\x00")
    assert starter("--check", root=course) == 1
    assert starter(root=course) == 0
    assert mine.read_bytes() == b"\xff\xfe\x00"


def test_without_solutions_the_error_says_so(course: Path) -> None:
    (course / "exercises" / "01_naive" / "solution.cu").unlink()
    with pytest.raises(GraderFault, match=r"exercises/01_naive/solution\.cu"):
        starter("--check", root=course)


def test_an_emptied_starter_holds_no_work(course: Path) -> None:
    starter(root=course)
    mine = course / "starter" / "01_naive.cu"
    written = mine.read_text("utf-8")
    mine.write_text(" \n", "utf-8")
    assert starter(root=course) == 0
    assert mine.read_text("utf-8") == written


def every_kernel_file() -> list[Path]:
    return [
        path
        for name in NAMES
        for path in (
            PROJECT / "starter" / f"{name}.cu",
            PROJECT / "exercises" / name / "solution.cu",
        )
    ]


def failures(commands: list[list[str]]) -> list[str]:
    """What the failing ones among the commands printed."""
    with ThreadPoolExecutor(max_workers=2) as pool:
        done = pool.map(
            lambda command: subprocess.run(command, capture_output=True, text=True), commands
        )
        return [f"{run.args}\n{run.stderr}" for run in done if run.returncode]


def test_starters_and_solutions_are_valid_cuda(tmp_path: Path) -> None:
    nvcc = toolchain.find_nvcc()
    if nvcc is None:
        pytest.skip("no nvcc on this machine")
    command = [str(nvcc.path), "-std=c++17", "-ptx", "-I", str(PROJECT / "grader" / "include")]
    assert not failures(
        [
            [*command, "-o", str(tmp_path / f"{number}.ptx"), str(path)]
            for number, path in enumerate(every_kernel_file())
        ]
    )


def test_starters_and_solutions_compile_with_the_simulators_headers() -> None:
    compilers = toolchain.find_host_compilers()
    if not compilers:
        pytest.skip("no g++ or clang++ on this machine")
    includes = [f"-I{PROJECT / 'grader' / folder}" for folder in ("simulator/include", "include")]
    assert not failures(
        [
            [*compiler.command, "-std=c++17", "-x", "c++", "-fsyntax-only", *includes, str(path)]
            for compiler in compilers
            for path in every_kernel_file()
        ]
    )
