"""`make` alone is the list of commands; values and paths with spaces arrive whole."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.exercise import PROJECT

MAKE = shutil.which("make")
MAKEFILES = (PROJECT / "Makefile", PROJECT / "teachers.mk")
# Prints each of its arguments in brackets, as every Python command of the Makefile would get them.
FAKE_PYTHON = """#!/bin/sh
for word in "$@"; do printf '[%s]' "$word"; done
echo
exit ${STATUS:-0}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project in a folder with a space, set up already: its Python prints what it is given."""
    folder = tmp_path / "my course"
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / "requirements").mkdir()
    for path in MAKEFILES:
        shutil.copy(path, folder)
    for name in ("base", "dev", "gpu", "nvcc", "pycuda", "timing"):
        (folder / "requirements" / f"{name}.txt").touch()
    for name in ("base", "dev", "gpu"):
        (folder / ".venv" / f"{name}.stamp").touch()
    python = folder / ".venv" / "bin" / "python"
    python.write_text(FAKE_PYTHON)
    python.chmod(0o755)
    return folder


def everything() -> str:
    return "".join(path.read_text() for path in MAKEFILES)


def make(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    assert MAKE is not None
    # make hands its own flags and variables to what it calls; these tests start afresh.
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    names = re.findall(r"^TAKEN \+?= (.+)$", everything(), re.MULTILINE)
    for name in {*" ".join(names).split()} - {"PYTHON"}:
        inherited.pop(name, None)
    return subprocess.run(
        (MAKE, *words),
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_make_alone_lists_every_target_with_one_line() -> None:
    done = make(PROJECT)
    assert done.returncode == 0
    listed = re.findall(r"^  make ([a-z-]+) +\S", done.stdout, re.MULTILINE)
    phony = " ".join(re.findall(r"^\.PHONY: (.+)$", everything(), re.MULTILINE)).split()
    assert sorted(listed) == sorted({*phony} - {"help", "anew", "known"})
    assert {"test", "grade", "handout", "check"} <= {*listed}


def test_without_the_teachers_file_make_knows_the_students_targets_only(project: Path) -> None:
    (project / "teachers.mk").unlink()
    listed = re.findall(r"^  make ([a-z-]+) +\S", make(project).stdout, re.MULTILINE)
    targets = re.findall(r"^([a-z-]+):", MAKEFILES[0].read_text(), re.MULTILINE)
    assert sorted(listed) == sorted({*targets} - {"help", "known"})
    done = make(project, "check")
    assert "No rule to make target" in done.stderr
    assert "check" in done.stderr.partition("No rule")[2]
    assert make(project, "test").stdout == "[-m][grader][test]\n"


def test_test_hands_over_exercise_shape_device_and_seed(project: Path) -> None:
    words = ("EX=tiled", "SHAPE=33x17x65", "DEVICE=gpu", "SEED=7")
    done = make(project, "test", *words)
    assert done.stdout == (
        "[-m][grader][test][--exercise][tiled][--shape=33x17x65][--device][gpu][--seed][7]\n"
    )


def test_test_takes_another_folder_as_the_repeat_line_names_it(project: Path) -> None:
    done = make(project, "test", "EX=tiled", "SEED=7", "SUBMISSION=a folder")
    assert done.stdout == "[-m][grader][test][--exercise][tiled][--seed][7][a folder]\n"


def test_calibrate_hands_over_the_sizes(project: Path) -> None:
    assert make(project, "calibrate").stdout == "[-m][grader][calibrate]\n"
    done = make(project, "calibrate", "SIZES=1024,4096")
    assert done.stdout == "[-m][grader][calibrate][--sizes][1024,4096]\n"


def test_inspect_hands_over_every_part_of_a_launch(project: Path) -> None:
    words = ("FILE=my kernel.cu", "KERNEL=sum<256>", "GRID=8", "BLOCK=16,16", "LINE=3", "SVG=a b")
    done = make(project, "inspect", *words, "ARGS=in=f32[9 * n] n=9", "SHARED=4*64")
    assert done.stdout == (
        "[-m][grader][inspect][my kernel.cu][--kernel][sum<256>][--grid][8][--block][16,16]"
        "[--args][in=f32[9 * n] n=9][--shared][4*64][--line][3][--svg][a b]\n"
    )
    assert make(project, "inspect", "EX=tiled", "SHAPE=97x97x97").stdout == (
        "[-m][grader][inspect][--exercise][tiled][--shape=97x97x97]\n"
    )
    assert make(project, "inspect", "EX=tiled", "SUBMISSION=my folder").stdout == (
        "[-m][grader][inspect][my folder][--exercise][tiled]\n"
    )


def test_a_variable_that_no_command_takes_is_told_before_anything_runs(project: Path) -> None:
    done = make(project, "grade", "SUBMISION=my folder", "shape=3x3x3", "OUTPUT=out", "SEED=1")
    assert (done.returncode, done.stdout) == (2, "")
    told = sorted(done.stderr.splitlines())
    assert told[0].startswith("SUBMISION is not known. Did you mean SUBMISSION? Next: make lists")
    assert told[2].startswith("shape is not known. Did you mean SHAPE? Next: make lists")
    shutil.rmtree(project / ".venv")
    for goal in ("setup", "class", "handout", "tets", "clean"):
        done = make(project, goal, "OUPUT=x")
        assert done.stderr.startswith("OUPUT is not known. Did you mean OUTPUT? Next: ")
        assert (done.returncode, done.stdout) == (2, "")
    assert make(project, "FOLDER=x").stderr.startswith("FOLDER is not known. Next: ")


def test_what_other_programs_read_may_be_given_to_make(project: Path) -> None:
    given = ("CC=clang", "CUDA_VISIBLE_DEVICES=1", "MAKEFLAGS=", "NO_COLOR=1", "PYTEST_ARGS=-x")
    assert make(project, "test", *given).stdout == "[-m][grader][test]\n"
    assert make(project, "test", MAKEFLAGS="-- CLASS=b", MAKELEVEL="1").stderr == ""
    assert make(project, "test", SUBMISION="in the environment").stderr == ""


def test_bench_and_sweep_hand_over_what_they_are_told(project: Path) -> None:
    words = ("EX=tiled", "SHAPE=64x64x64", "DEVICE=gpu", "SVG=a b.svg", "SUBMISSION=my folder")
    assert make(project, "bench", *words).stdout == (
        "[-m][grader][bench][--exercise][tiled][--shape=64x64x64][--device][gpu]"
        "[--svg][a b.svg][my folder]\n"
    )
    assert make(project, "bench").stdout == "[-m][grader][bench]\n"
    assert make(project, "sweep", "EX=tiled", "SWEEP=TILE=8,16 PAD=0,1").stdout == (
        "[-m][grader][sweep][--exercise][tiled][--values][TILE=8,16 PAD=0,1]\n"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("verify",), "Name a record: make verify RESULT=results.json SUBMISSION=dir"),
        (("verify", "RESULT=r.json"), "Name what was graded: make verify RESULT=results.json"),
        (("update",), "Give the hand-out: make update FROM=folder or git address"),
        (("handout",), "Name a new folder: make handout OUT=dir"),
        (("class", "ROSTER=r.csv"), "Name the folder of submissions: make class ROSTER="),
        (("regrade", "STUDENT=ada"), "Say why: make regrade STUDENT=name REASON=why"),
    ],
)
def test_a_variable_that_is_missing_is_told_by_make_alone(
    project: Path, words: tuple[str, ...], told: str
) -> None:
    (project / ".venv" / "class.stamp").touch()
    (project / "requirements" / "class.txt").touch()
    os.utime(project / "requirements" / "class.txt", (0, 0))
    done = make(project, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(told)


def test_a_class_without_a_roster_is_told_before_anything_is_set_up(project: Path) -> None:
    shutil.rmtree(project / ".venv")
    done = make(project, "class", "SUBMISSIONS=in")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Name the roster: make class ROSTER=")
    assert not (project / ".venv").exists()


def test_a_class_is_looked_at_before_anything_is_installed_for_it(project: Path) -> None:
    (project / "requirements" / "class.txt").touch()
    (project / ".venv" / "gpu.stamp").unlink()
    words = ("class", "ROSTER=my roster.csv", "SUBMISSIONS=in", "SEED=7")
    call = "[-m][grader][class][my roster.csv][in]"
    told = make(project, *words).stdout.splitlines()
    assert "Installing what a class needs, once, a minute or two ..." in told[1:]
    steps = [one for one in told if one.startswith("[")]
    installing = ["[-m][grader.packages", "[-m][pip][install][-"]
    assert [step[:20] for step in steps] == [call[:20], *installing, call[:20]]
    assert steps[0] == f"{call}[--check][--output][class][--seed][7]"
    assert steps[3] == f"{call}[--output][class][--seed][7]"
    assert "Installing" not in make(project, *words).stdout
    done = make(project, *words, STATUS="2")
    assert "[pip]" not in done.stdout
    assert done.returncode != 0


def test_a_regrade_takes_anew_only_where_that_is_asked_for(project: Path) -> None:
    (project / "requirements" / "class.txt").touch()
    words = ("regrade", "STUDENT=ada l", "REASON=it cost $5 (and 'more')")
    for given, handed in (((), ""), (("FETCH=1",), "[--fetch]"), (("FETCH=0",), "")):
        done = make(project, *words, *given)
        assert done.stdout.splitlines()[-1] == (
            f"[-m][grader][regrade][ada l][--reason][it cost $5 (and 'more')]{handed}"
            "[--output][class]"
        )
    done = make(project, *words, "FETCH=maybe")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("FETCH=maybe is not known. Next: FETCH=1, or leave it out")


def test_make_says_that_it_calls(project: Path) -> None:
    (project / ".venv/bin/python").write_text('#!/bin/sh\necho "$GRADER_WORDS"\n')
    assert make(project, "test").stdout == "make\n"


def test_nvcc_is_installed_from_its_own_pinned_list(project: Path) -> None:
    done = make(project, "nvcc")
    assert "[--require-hashes][-r][requirements/nvcc.txt]" in done.stdout


def test_what_is_not_given_is_not_handed_over(project: Path) -> None:
    assert make(project, "test").stdout == "[-m][grader][test]\n"
    assert make(project, "grade").stdout == "[-m][grader][grade][starter][--output][results]\n"


@pytest.mark.parametrize("name", ["two words", "it's", 'say "hi"', "a;echo b"])
def test_the_name_of_a_submission_arrives_as_one_word(project: Path, name: str) -> None:
    done = make(project, "grade", f"SUBMISSION={name}", "OUTPUT=out put")
    assert done.stdout == f"[-m][grader][grade][{name}][--output][out put]\n"


def test_the_verdict_of_the_command_is_that_of_make(project: Path) -> None:
    assert make(project, "test", STATUS="1").returncode != 0


def test_check_runs_from_fast_to_slow_and_ends_with_the_tests(project: Path) -> None:
    done = make(project, "check", "PYTEST_ARGS=--expected-skips=gpu,nvcc -x")
    steps = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert [re.findall(r"\[([^]]*)\]", step)[1] for step in steps] == [
        *("ruff", "ruff", "grader", "mypy", "pytest", "pytest"),
    ]
    assert steps[-2].endswith("[-m][not long and not gpu][--expected-skips=gpu,nvcc][-x]")
    assert steps[-1].endswith("[-m][gpu and not long][--expected-skips=gpu,nvcc][-x]")


def test_changed_requirements_set_up_anew(project: Path) -> None:
    later = (project / ".venv" / "base.stamp").stat().st_mtime + 10
    os.utime(project / "requirements" / "base.txt", (later, later))
    done = make(project, "test", "PYTHON=no-such-python")
    assert done.returncode != 0
    assert "no-such-python not found. Next: " in done.stderr


def test_a_broken_venv_is_set_up_anew(project: Path) -> None:
    python = project / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nowhere/python3")
    assert "no-such-python not found" in make(project, "test", "PYTHON=no-such-python").stderr


def test_an_old_python_is_named_with_what_to_do(project: Path) -> None:
    old = project / "old python"
    old.write_text("#!/bin/sh\ntest $1 = --version && echo Python 3.9.1\nexit 1\n")
    old.chmod(0o755)
    done = make(project, "setup", f"PYTHON={old}")
    assert done.returncode != 0
    assert "is Python 3.9.1, but 3.11 or newer is needed. Next: " in done.stderr
    assert (project / ".venv" / "base.stamp").exists()  # what was there is not thrown away


@pytest.mark.parametrize(
    "words, told", [((), ""), (("SYSTEM_PACKAGES=1",), "[--without-pip][--system-site-packages]")]
)
def test_the_systems_packages_are_found_by_the_systems_own_pip(
    project: Path, words: tuple[str, ...], told: str
) -> None:
    outer = project / "outer python"
    outer.write_text(FAKE_PYTHON)
    outer.chmod(0o755)
    done = make(project, "setup", f"PYTHON={outer}", *words)
    assert f"[-m][venv]{told}[.venv]\n" in done.stdout


def test_the_wheelhouse_may_lie_in_a_folder_with_a_space(project: Path) -> None:
    (project / ".venv" / "dev.stamp").unlink()
    done = make(project, "lint", "WHEELHOUSE=my wheels")
    assert "[--no-index][--find-links][my wheels][-r][requirements/dev.txt]" in done.stdout


def test_the_makefile_uses_nothing_newer_than_make_3_81() -> None:
    text = everything()
    for newer in ("!=", "::=", ".ONESHELL", "$(file ", "undefine", "$(intcmp", "$(let"):
        code = re.sub(r"^\t.*$", "", text, flags=re.MULTILINE)  # recipes are the shell's
        assert newer not in code
