"""The command line: what it accepts, what it refuses in one line, and what it leaves behind."""

from __future__ import annotations

import importlib
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader import caller, cli, commands, settings
from grader.checks.listener import Ledger
from grader.checks.plan import Plan
from grader.driver import find_driver
from grader.exercise import PROJECT, load_all
from grader.grading import Grading, score

LONG = pytest.mark.long
NAIVE = (PROJECT / "exercises" / "01_naive" / "solution.cu").read_text(encoding="utf-8")

KERNEL = """#include "launch.cuh"
__global__ void matmul_naive(const float *A, const float *B, float *C, int M, int N, int K) {{
    {body}
}}
LAUNCH_CONFIG(.block_x = 8, .block_y = 8, .tile_m = 8, .tile_n = 8);
"""
ENDLESS = KERNEL.format(body="volatile int going = 1; while (going) { }")
PRINTS = KERNEL.format(
    body='if (threadIdx.x + threadIdx.y == 0) printf("hello \\033[31m%d\\n", M);'
)


Call = Callable[..., tuple[int, str]]
Grade = Callable[..., tuple[int, str, dict[str, Any]]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Exit status and output of the program, in this process."""

    def run(*arguments: str | Path) -> tuple[int, str]:
        status = cli.main([str(argument) for argument in arguments])
        told = capsys.readouterr()
        assert told.err == ""
        return status, told.out

    return run


@pytest.fixture
def grade_here(call: Call) -> Grade:
    """Exit status, output, and record of a grading on the simulator."""

    def run(folder: Path, output: Path, *more: str) -> tuple[int, str, dict[str, Any]]:
        words = ("--device", "simulator", "--output", output, "--seed", "1", *more)
        status, told = call("grade", folder, *words)
        return status, told, json.loads((output / "results.json").read_text(encoding="utf-8"))

    return run


@pytest.fixture
def _unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is compiled or launched: for what is told of files that are not looked into."""

    def run_plan(plan: Plan, *_: object) -> Grading:
        return Grading(plan, score(plan, Ledger()), Ledger())

    monkeypatch.setattr(commands, "run_plan", run_plan)


def submission(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "01_naive.cu").write_text(text, encoding="utf-8")
    return folder


def refused(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> str:
    """The one line that goes with exit status 2."""
    try:
        status = cli.main([str(argument) for argument in arguments])
    except SystemExit as left:
        status = int(left.code or 0)
    told = capsys.readouterr()
    assert status == 2
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


@pytest.fixture(autouse=True)
def _signals() -> Any:
    """`main` installs handlers for its process; here that is the tests' own."""
    kept = [
        (number, signal.getsignal(number))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    ]
    yield
    for number, handler in kept:
        signal.signal(number, handler)


def test_no_verb_prints_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    told = capsys.readouterr().out
    assert all(verb in told for verb in ("test", "run", "grade", "demo", "doctor", "starter"))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["tset"], "tset"),
        (["test", "--exercise", "tilde"], 'Did you mean "tiled"?'),
        (["test", "--exercise", "tiled", "--shape", "3x3"], "33x17x65"),
        (["test", "--exercise", "tiled", "--shape", "0x3x3"], "zero"),
        (["test", "--shape", "3x3x3"], "EX=tiled"),
        (["test", "--seed", "many"], "seed"),
        (["test", "--seed", "-1"], "seed"),
        (["test", "--device", "tpu"], "tpu"),
        (["test", "nowhere"], "nowhere does not exist"),
        (["test", "README.md"], "README.md"),
        (["grade"], "--solutions"),
        (["grade", "starter", "--solutions"], "--solutions"),
        (["grade", "starter", "--exercise", "warmup"], "warmup"),
        (["run"], "make run EX=tiled"),
        (["run", "--exercise", "tiled", "--shape", "17x3x3"], "too large to print"),
        (["run", "--exercise", "tiled", "--shape", "3x3x41"], "K at most 40"),
    ],
)
def test_wrong_usage_is_one_line(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert named in refused(capsys, *arguments)


@pytest.mark.parametrize("verb", ["test", "grade"])
def test_where_the_folder_of_the_starters_is_gone_the_command_that_mends_it_is_named(
    verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(settings, "STARTER", tmp_path / "starter")
    monkeypatch.chdir(tmp_path)
    words = ("grade", "starter") if verb == "grade" else ("test",)
    assert refused(capsys, *words) == "starter/ does not exist. Next: make starter\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["test", "--device", "tpu"], "argument DEVICE: invalid choice: 'tpu'"),
        (["inspect", "x.cu", "--shape", "3x3x3"], "SHAPE belongs to EX. See: make"),
        (["inspect"], "Inspect what? For example: make inspect EX=naive, or FILE=... KERNEL=..."),
        (["starter", "--chekc"], "unrecognized arguments: --chekc. See: make"),
    ],
)
def test_who_calls_with_make_is_answered_in_its_words(
    arguments: list[str],
    told: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert told not in refused(capsys, *arguments)
    monkeypatch.setenv(caller.CALLER, "make")
    found = refused(capsys, *arguments)
    assert told in found
    assert "python -m" not in found


def test_make_is_told_the_device_as_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = 'Next: --kernel "sum<16>", --output DIR, or --solutions --output-format'
    assert caller.reworded(choose) == choose
    assert caller.setting("device", "simulator") == "--device simulator"
    monkeypatch.setenv(caller.CALLER, "make")
    assert caller.setting("device", "simulator") == "DEVICE=simulator"
    told = 'Next: KERNEL="sum<16>", OUTPUT=DIR, or --solutions --output-format'
    assert caller.reworded(choose) == told


@pytest.mark.parametrize("verb", cli._VERBS)
def test_every_verb_has_a_help_and_a_function(
    verb: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main([verb, "--help"])
    assert ended.value.code == 0
    assert f"python -m grader {verb} " in capsys.readouterr().out
    module, _, name = cli._VERBS[verb].partition(":")
    assert callable(getattr(importlib.import_module(module), name))


def test_no_verb_is_without_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == 0
    told = capsys.readouterr().out
    assert set(re.findall(r"^    ([a-z-]+)(?:  |$)", told, re.M)) == set(cli._VERBS)


@pytest.mark.parametrize("arguments", [("test",), ("doctor",), ("grade", "my folder")])
def test_a_python_without_the_packages_is_told_in_one_line(arguments: tuple[str, ...]) -> None:
    bare = [sys.executable, "-S", "-m", "grader", *arguments]  # -S: without site-packages
    done = subprocess.run(bare, capture_output=True, check=False, cwd=PROJECT, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Next: make setup, then: .venv/bin/python -m grader" in done.stderr
    assert done.stderr.endswith(f"{shlex.join(arguments)}\n")


def test_an_output_folder_that_cannot_be_written_is_refused_before_grading(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    told = refused(capsys, "grade", PROJECT / "starter", "--output", tmp_path / "file")
    assert "cannot be written" in told


@pytest.mark.skipif(bool(find_driver().gpus), reason="this machine has a GPU")
def test_the_gpu_is_refused_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = refused(capsys, "grade", PROJECT / "starter", "--device", "gpu", "--output", tmp_path)
    assert "This is not about your kernel." in told
    assert told.endswith("Next: make doctor, or use the simulator: --device simulator\n")
    assert os.listdir(tmp_path) == []


def test_an_error_in_an_exercise_is_one_line_with_file_and_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(PROJECT / "exercises", tmp_path / "exercises")
    with (tmp_path / "exercises" / "02_tiled" / "exercise.toml").open("a") as file:
        file.write("\n[pionts]\nsafe = 1\n")
    monkeypatch.setattr(commands, "PROJECT", tmp_path)
    told = refused(capsys, "grade", PROJECT / "starter", "--output", tmp_path / "out")
    assert "02_tiled/exercise.toml" in told
    assert '"pionts"' in told


def test_untouched_starters_are_no_failure_and_lead_to_the_warm_up(call: Call) -> None:
    status, told = call("test", "--device", "simulator")
    assert status == 0
    assert told.count(": not started") == 4
    assert told.endswith("Next: open starter/00_warmup.cu, then: make test EX=warmup\n")


@pytest.mark.usefixtures("_unchecked")
def test_missing_files_score_zero_and_others_are_listed_as_ignored(
    tmp_path: Path, grade_here: Grade
) -> None:
    folder = tmp_path / "my submission"
    folder.mkdir()
    for name in ("conftest.py", "results.json", "05_more.cu"):
        (folder / name).write_text("raise SystemExit\n")
    status, told, record = grade_here(folder, tmp_path / "out")
    assert status == 0
    assert "05_more.cu, conftest.py, results.json" in told
    assert "did you mean" not in told
    names = "01_naive.cu, 02_tiled.cu, 03_padded.cu, 04_tuned.cu"
    assert told.startswith(f"{folder} holds none of the files that are graded: {names}\n")
    assert {one["status"] for one in record["exercises"]} == {"missing"}
    assert record["score"]["earned"] == 0


@pytest.mark.usefixtures("_unchecked")
def test_of_a_whole_hand_out_the_files_in_starter_are_graded(
    tmp_path: Path, grade_here: Grade
) -> None:
    clone, starter = tmp_path / "clone", tmp_path / "clone" / "starter"
    shutil.copytree(PROJECT / "starter", starter)
    status, told, record = grade_here(clone, tmp_path / "out")
    assert status == 0
    assert told.startswith(f"{clone} holds none of the files itself: those in {starter} are meant")
    assert {one["status"] for one in record["exercises"]} == {"not_started"}
    assert record["submission"] == str(starter)
    assert f"\nGraded: {starter}\n" in told


def test_a_folder_with_files_of_its_own_or_a_link_for_starter_is_taken_as_it_is(
    tmp_path: Path,
) -> None:
    own = submission(tmp_path / "own", NAIVE)
    shutil.copytree(PROJECT / "starter", own / "starter")
    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / "starter").symlink_to(own)
    assert [commands.existing(one) for one in (own, linked)] == [own, linked]


@pytest.mark.usefixtures("_unchecked")
def test_a_misnamed_file_is_told_its_name(tmp_path: Path, grade_here: Grade) -> None:
    names = ("02_tiled.cu", "2_tiled.cu", "Tuned.cu", "padded.cu.txt")
    for name in names:
        (tmp_path / name).write_text("")
    (tmp_path / "02_tiled.cu").write_text(KERNEL.format(body=""))
    told = grade_here(tmp_path, tmp_path / "out")[1]
    assert "holds none" not in told
    assert "Tuned.cu is not graded: did you mean 04_tuned.cu?" in told
    assert "padded.cu.txt is not graded: did you mean 03_padded.cu?" in told
    assert "2_tiled.cu is not graded" not in told  # the right one is there


def make_directory(path: Path) -> None:
    path.mkdir()


def make_link_out(path: Path) -> None:
    path.symlink_to("/etc/hostname")


# The others are read by test_submission.py. The file of the fourth exercise is missing.
BAD_FILES: dict[str, Callable[[Path], Any]] = {
    "01_naive": lambda path: path.write_bytes(b"int caf\xe9;\n" + NAIVE.encode()),
    "02_tiled": make_directory,
    "03_padded": make_link_out,
}


def test_files_that_are_no_source_fail_compiles_with_a_clear_message(
    tmp_path: Path, grade_here: Grade
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, make in BAD_FILES.items():
        make(folder / f"{name}.cu")
    status, told, record = grade_here(folder, tmp_path / "out")
    assert status == 1
    *bad, missing = record["exercises"]
    assert [one["name"] for one in bad] == list(BAD_FILES)
    for one in bad:
        compiles = one["checks"][0]
        assert (compiles["status"], compiles["verdict"]) == ("fail", "rejected"), one["name"]
        assert compiles["message"].split()[0] in told
        assert compiles["locations"][0]["file"].endswith(f"{one['name']}.cu")
    assert (missing["status"], missing["earned"]) == ("missing", 0)


def test_a_solution_earns_what_the_simulator_can_grade_and_a_seed_repeats_it(
    tmp_path: Path, grade_here: Grade
) -> None:
    def timeless(record: dict[str, Any]) -> dict[str, Any]:
        for check in record["exercises"][0]["checks"]:
            check["seconds"] = 0
        return {**record, "created": ""}

    folder = submission(tmp_path / "right", NAIVE.replace("\n", "\r\n"))
    first = grade_here(folder, tmp_path / "first", "--exercise", "naive")
    again = grade_here(folder, tmp_path / "again", "--exercise", "01")
    assert first[0] == 0
    assert first[2]["score"] == {"earned": 20, "points": 20, "not_graded": 0}
    assert timeless(first[2]) == timeless(again[2])


def test_settings_of_pytest_in_the_environment_change_nothing(
    tmp_path: Path, grade_here: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = submission(tmp_path / "wrong", KERNEL.format(body=""))
    monkeypatch.setenv("PYTEST_ADDOPTS", "--no-such-option")
    monkeypatch.setenv("PYTEST_PLUGINS", "no_such_plugin")
    status, told, _ = grade_here(folder, tmp_path, "--exercise", "naive")
    assert status == 1
    assert "No element of C was written" in told


# That the three are heard alike is tested in one process (test_machine_faults.py).
@pytest.mark.parametrize(
    "number",
    [signal.SIGTERM, *(pytest.param(one, marks=LONG) for one in (signal.SIGINT, signal.SIGHUP))],
)
def test_an_interrupted_grading_leaves_a_record_and_no_process(
    number: signal.Signals, tmp_path: Path
) -> None:
    folder = submission(tmp_path / "endless", ENDLESS)
    command = [sys.executable, "-m", "grader", "grade", str(folder), "--output", str(tmp_path)]
    command += ["--device", "simulator", "--exercise", "naive", "--plain"]
    with subprocess.Popen(
        command, cwd=PROJECT, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Checking 01_naive")
        process.send_signal(number)
        told, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert "Interrupted" in told
    assert "01_naive  One thread, one element: interrupted" in told
    assert "rror" not in told
    record = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert record["exercises"][0]["status"] == "grader_error"
    assert _group_is_gone(process.pid)


def _group_is_gone(group: int) -> bool:
    """Also Python's own helper of spawned processes ends, a moment after us."""
    for _ in range(100):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_run_prints_the_matrices_and_what_the_kernel_prints(tmp_path: Path, call: Call) -> None:
    folder = submission(tmp_path / "prints", PRINTS)
    status, told = call("run", folder, "--exercise", "naive", "--shape", "2x3x4")
    assert status == 1
    for part in ("A (M x K = 2 x 4)", "B (K x N = 4 x 3)", "C (M x N = 2 x 3)", "C should be"):
        assert part in told
    assert "?! ?! ?!" in told.replace("  ", " ")
    assert "hello" in told
    assert "\x1b" not in told


def test_run_says_so_when_c_is_right(tmp_path: Path, call: Call) -> None:
    status, told = call("run", submission(tmp_path / "right", NAIVE), "--exercise", "naive")
    assert status == 0
    tried = "4x5x3, whole numbers, simulator; make test tries fractions, too."
    assert f"C is right. Tried: {tried}" in told
    assert "!" not in told


def test_run_names_the_line_of_a_fault(tmp_path: Path, call: Call) -> None:
    text = KERNEL.format(body="C[M * N + threadIdx.x + 8 * threadIdx.y] = 0;")
    number = text.splitlines().index("    C[M * N + threadIdx.x + 8 * threadIdx.y] = 0;") + 1
    status, told = call("run", submission(tmp_path / "outside", text), "--exercise", "naive")
    assert status == 1
    assert re.search(rf"^  At: \S*01_naive\.cu:{number} \(write\)$", told, re.M)


@pytest.mark.parametrize("verb", ["run", "inspect"])
def test_a_starter_without_work_is_told_as_such(
    verb: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copy(PROJECT / "starter" / "02_tiled.cu", tmp_path)
    told = refused(capsys, verb, tmp_path, "--exercise", "tiled")
    assert told == (
        "02_tiled.cu is as it was handed out: nothing of the kernel is written yet. "
        "Next: make test EX=tiled\n"
    )


def test_every_exercise_can_be_named_in_three_ways() -> None:
    for exercise in load_all(PROJECT):
        for word in (exercise.name, exercise.name[:2], exercise.short):
            assert commands.exercises(word) == (exercise,)
