"""The machine fails in every way that can be injected: no student loses a point for it, nothing
that was known is lost, and the report says what happened and what to do."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import pytest

from grader import cli, commands, confined, grading, interruption, output_folder, record
from grader.checks.crew import Crew, Job
from grader.checks.listener import Ledger
from grader.checks.outcome import Status
from grader.checks.plan import Plan
from grader.course import Target
from grader.device import Build, Launch, LaunchConfig, Run
from grader.exercise import CHECKS, PROJECT
from grader.finding import GraderFault
from grader.gpu import lock, nvcc
from grader.grading import Grading
from grader.problems.matmul import PINNED, Case, prepare
from grader.simulator.device import SimulatorDevice
from grader.simulator.protocol import HELLO_BYTES, READY, Block, Request
from grader.tests import fake_workers, simulated
from grader.tests.fake_device import (
    TARGET,
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    check,
    ragged,
    right,
    shape_of,
    statuses,
)
from grader.tests.simulated import CACHE, EXERCISE, FINISH, PRELUDE, submission
from grader.toolchain import HostCompiler, Nvcc, host_compiler

NAMES = ("01_naive", "02_tiled", "03_padded")
PLAN = a_plan(*(an_entry(an_exercise(name)) for name in NAMES))
NAIVE = (PROJECT / "exercises" / "01_naive" / "solution.cu").read_text(encoding="utf-8")
# Right, and so slow that it is under way whenever one looks.
SLOW = f"{PRELUDE}    for (volatile int i = 0; i < 300; i = i + 1) {{\n    }}{FINISH}"
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture(autouse=True)
def _signals() -> Iterator[None]:
    """These tests and the command line install handlers for the tests' own process."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    kept = [(number, signal.getsignal(number)) for number in numbers]
    yield
    for number, handler in kept:
        signal.signal(number, handler)


def full(*arguments: Any, **more: Any) -> NoReturn:
    raise FULL


def told(text: str) -> bool:
    """Fact, whose fault it is, and the next step."""
    return "This is not about your kernel." in text and "Next:" in text and "Traceback" not in text


# The processes that run the checks


def crew(job: Job, plan: Plan = PLAN) -> Ledger:
    ledger = Ledger()
    Crew(plan, ("simulator",), TARGET, job).run(ledger)
    return ledger


@pytest.mark.parametrize(
    ("job", "kept"),
    [
        (fake_workers.killed_at_once, 0),
        pytest.param(fake_workers.killed_in_a_check, 2, marks=pytest.mark.long),
        (fake_workers.killed_in_an_answer, 2),
    ],
)
def test_a_process_that_is_killed_costs_what_it_had_not_answered(job: Job, kept: int) -> None:
    ledger = crew(job)
    lost = ledger.of(NAMES[0])
    assert [one.status for one in lost[:kept]] == [Status.PASS] * kept
    assert {one.status for one in lost[kept:]} == {Status.GRADER_ERROR}
    assert len(lost) == len(CHECKS)
    assert "killed by SIGKILL" in lost[-1].detail
    assert told(lost[-1].detail)
    for name in NAMES[1:]:
        assert {one.status for one in ledger.of(name)} == {Status.PASS}
    score = grading.score(PLAN, ledger)
    assert not score.failed
    assert score.exercises[0].not_graded == sum(
        score.exercises[0].exercise.points[check] for check in CHECKS[kept:]
    )


def test_a_machine_that_kills_every_process_ends_with_an_answer_for_every_check() -> None:
    ledger = crew(fake_workers.always_killed)
    assert {one.status for one in ledger.outcomes} == {Status.GRADER_ERROR}
    assert len(ledger.outcomes) == len(NAMES) * len(CHECKS)


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    with suppress(OSError):  # they come and go
        return [int(word) for path in listed for word in path.read_text().split()]
    return []


def descendants(pid: int) -> list[int]:
    return [one for child in children(pid) for one in (child, *descendants(child))]


def program(pid: int) -> str:
    """The command line of a process; "" for one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def start(folder: Path, output: Path, *before: str) -> subprocess.Popen[str]:
    command = [*before, sys.executable, "-m", "grader", "grade", str(folder), "--plain"]
    command += ["--output", str(output), "--device", "simulator", "--exercise", "naive"]
    return subprocess.Popen(
        [*command, "--seed", "1"], cwd=PROJECT, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip


def a_folder(path: Path, text: str) -> Path:
    path.mkdir()
    (path / "01_naive.cu").write_text(text, encoding="utf-8")
    return path


def recorded(output: Path) -> Any:
    return json.loads((output / "results.json").read_text(encoding="utf-8"))


def exercise_statuses(output: Path) -> set[str]:
    return {one["status"] for one in recorded(output)["exercises"]}


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
@pytest.mark.parametrize("whose", ["spawn_main", r"kernel-\w+/worker $"])
def test_killing_a_process_of_a_running_grading_fails_no_kernel(tmp_path: Path, whose: str) -> None:
    """The session's own process, and the one in which the kernel runs."""
    output = tmp_path / "out"
    with start(a_folder(tmp_path / "slow", SLOW), output) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("Checking 01_naive")
        victims: list[int] = []
        while not victims:
            assert process.poll() is None, "it ended too soon to be killed"
            found = descendants(process.pid)
            victims = [pid for pid in found if re.search(whose, program(pid))]
        os.kill(victims[0], signal.SIGKILL)
        said, _ = process.communicate(timeout=60)
    # The kernel's process is replaced, and nobody notices.
    lost = process.returncode == 2
    assert lost == (whose == "spawn_main")
    assert exercise_statuses(output) == ({"grader_error"} if lost else {"pass"})
    assert "fail" not in {one["status"] for one in recorded(output)["exercises"][0]["checks"]}
    assert not lost or told(" ".join(said.split()))


# Compilers


def script(path: Path, text: str) -> str:
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def built_with(folder: Path, text: str) -> Build:
    """A build with a compiler that is a shell script around the real one, "$real"."""
    real = host_compiler("g++")
    wrapper = script(folder / "g++", f'real="{real.command[0]}"\n{text}\nexec "$real" "$@"')
    fake = HostCompiler((wrapper,), real.family, real.version, real.machine)
    device = SimulatorDevice(simulated.TARGET, fake, cache=folder / "cache")
    return device.build(EXERCISE, submission(PRELUDE + FINISH))


STAGES = {"preprocess": "-E", "compile": "-S", "assemble": "-c", "link": "-lm"}
# As g++ and its assembler put it.
SAID = {
    "preprocess": "<built-in>: fatal error: when writing output to kernel.ii",
    "compile": "kernel.cu:4:92: fatal error: error writing to kernel.s",
    "assemble": "kernel.s: Fatal error: can't write 269 bytes to section .text of kernel.o",
    "link": "/usr/bin/ld: final link failed",
}


@pytest.mark.parametrize("stage", STAGES)
def test_a_compiler_that_is_killed_is_not_the_kernels_fault(tmp_path: Path, stage: str) -> None:
    with pytest.raises(GraderFault, match=r"not about your kernel. Next:"):
        built_with(tmp_path, f'case " $* " in *" {STAGES[stage]} "*) kill -9 $$;; esac')


@pytest.mark.parametrize("stage", STAGES)
def test_a_disk_that_is_full_for_a_compiler_is_not_the_kernels_fault(
    tmp_path: Path, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(confined, "_can_write", lambda folder, size: False)
    said = f'echo "{SAID[stage]}: No space left on device" >&2; exit 1'
    with pytest.raises(GraderFault, match=r"not about your kernel. Next:"):
        built_with(tmp_path, f'case " $* " in *" {STAGES[stage]} "*) {said};; esac')


def test_a_text_that_speaks_of_a_full_disk_is_still_a_compile_error(tmp_path: Path) -> None:
    text = f"#error {SAID['compile']}: No space left on device\n{PRELUDE}{FINISH}"
    device = simulated.device("g++")
    findings = device.build(EXERCISE, submission(text)).findings
    assert [finding.kind for finding in findings] == ["compile_error"]


def test_a_disk_that_was_full_for_a_moment_costs_nothing(tmp_path: Path) -> None:
    once = (
        'if [ ! -e "$0.was" ]; then : > "$0.was"; '
        f'echo "{SAID["compile"]}: No space left on device" >&2; exit 1; fi'
    )
    command = script(tmp_path / "once", f"{once}\nexit 0")
    assert confined.run([command], tmp_path).status == 0


@pytest.mark.parametrize(
    ("output", "place"),
    [("", ""), ("echo 'nvcc error: cicc died due to signal 9 (Kill signal)'", "")],
)
def test_nvcc_that_is_killed_is_not_the_kernels_fault(
    tmp_path: Path, output: str, place: str
) -> None:
    killed = f"{output}\nexit 1" if output else "kill -9 $$"
    path = Path(script(tmp_path / "nvcc", killed))
    fake = Nvcc(path, (13, 0), tmp_path, "a test", (90,))
    with pytest.raises(GraderFault, match=r"ended by the system.*not about your kernel. Next:"):
        nvcc.compile_submission(
            submission(PRELUDE + FINISH), fake, "sm_90", cache=tmp_path / "cache"
        )


# The process in which a kernel runs


def launched(script: str, folder: Path, body: str = "", timeout_s: float = 10.0) -> Run:
    """A launch of a right kernel in a worker that is started by `script` with the program as $0;
    STARTED in it does what a worker does before its first launch."""
    case = Case(simulated.SHAPE, "exact", 5, timeout_s=timeout_s)
    config = LaunchConfig(16, 16, 16, 16)
    asked = Request(Block((16, 16, 1)), prepare(EXERCISE, config, case, 0x7FA00001))
    sent = HELLO_BYTES + len(asked.head(0)) + sum(image.nbytes for image in asked.images())
    ready = "".join(f"\\{byte:03o}" for byte in READY)
    script = script.replace("STARTED", f"head -c {sent} > /dev/null; printf '{ready}'")
    device = SimulatorDevice(
        simulated.TARGET,
        host_compiler("g++"),
        cache=CACHE,
        runner=("sh", "-c", script.replace("FOLDER", str(folder))),
    )
    built = device.build(EXERCISE, submission(PRELUDE + body + FINISH))
    assert built.config is not None
    try:
        return device.launch(built, prepare(EXERCISE, built.config, case, 0x7FA00001))
    finally:
        device.close()


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "QUIT", "KILL", "PIPE", "XCPU", "PROF"])
def test_a_worker_that_is_ended_from_outside_twice_is_not_the_kernels_fault(
    tmp_path: Path, name: str
) -> None:
    with pytest.raises(GraderFault, match=rf"SIG{name}.*not about your kernel") as caught:
        launched(f"kill -{name} $$", tmp_path)
    assert told(str(caught.value))


@pytest.mark.parametrize("name", ["TERM", "KILL", "SEGV"])
def test_a_worker_that_is_ended_once_costs_nothing(tmp_path: Path, name: str) -> None:
    once = 'if [ ! -e "FOLDER/was" ]; then : > "FOLDER/was"; kill -NAME $$; fi; exec "$0"'
    run = launched(once.replace("NAME", name), tmp_path)
    assert run.findings == ()
    assert (tmp_path / "was").exists()


def test_a_crash_is_the_kernels_only_if_nobody_else_ended_the_other_try(tmp_path: Path) -> None:
    crashed_then_ended = (
        'STARTED; if [ -e "FOLDER/was" ]; then kill -TERM $$; fi; : > "FOLDER/was"; kill -SEGV $$'
    )
    with pytest.raises(GraderFault, match="SIGTERM"):
        launched(crashed_then_ended, tmp_path)
    (tmp_path / "was").unlink()
    ended_then_crashed = crashed_then_ended.replace("TERM", "X").replace("SEGV", "TERM")
    with pytest.raises(GraderFault, match="SIGTERM"):
        launched(ended_then_crashed.replace("-X", "-SEGV"), tmp_path)
    run = launched("STARTED; kill -SEGV $$", tmp_path)
    assert [finding.kind for finding in run.findings] == ["process_lost"]


def test_a_worker_that_never_started_is_not_the_kernels_fault(tmp_path: Path) -> None:
    for end in ("kill -SEGV $$", "exit 1", "printf other; kill -SEGV $$"):
        with pytest.raises(GraderFault, match="did not start.*not about your kernel") as caught:
            launched(end, tmp_path)
        assert told(str(caught.value))


@pytest.mark.skipif(sys.platform != "linux", reason="needs Linux")
@pytest.mark.parametrize("name", ["SEGV", "ABRT", "PROF"])
def test_a_signal_of_another_process_is_not_taken_for_the_kernels(
    tmp_path: Path, name: str
) -> None:
    """The worker handles these itself, as a fault of the kernel or the end of its time."""
    forever = "    for (volatile int i = 0; i >= 0; i = i) {\n    }"
    script = f'(sleep 0.4; kill -{name} $$) >&- 2>&- & exec "$0"'
    with pytest.raises(GraderFault, match="signal by another process.*not about your kernel"):
        launched(script, tmp_path, forever)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_a_worker_without_memory_says_so(tmp_path: Path) -> None:
    # At the smaller limit the system cannot even load it.
    for limit, what in ((900_000, "get the memory that it needs"), (30_000, "not start")):
        with pytest.raises(GraderFault, match=f"{what}.*Next: free memory") as caught:
            launched(f'ulimit -v {limit}; exec "$0"', tmp_path)
        assert told(str(caught.value))


# What the system allows


@pytest.mark.parametrize(
    "limit", ["-f 64", "-v 900000", pytest.param("-v 2000000", marks=pytest.mark.long), "-n 24"]
)
def test_limits_of_the_system_fail_no_kernel(tmp_path: Path, limit: str) -> None:
    """Too small files, too little memory, too few open files: a right kernel is never wrong."""
    text = f"// {tmp_path}\n{NAIVE}"  # so that it is compiled anew
    output = tmp_path / "out"
    limited = f'ulimit {limit}; exec "$0" "$@"'
    with start(a_folder(tmp_path / "right", text), output, "sh", "-c", limited) as process:
        said, _ = process.communicate(timeout=120)
    assert "Traceback" not in said
    assert process.returncode in (0, 2)
    if (output / "results.json").exists():
        found = exercise_statuses(output)
        assert found == ({"pass"} if process.returncode == 0 else {"grader_error"})
    assert process.returncode == 0 or told(" ".join(said.split()))


# Memory


def test_memory_that_is_full_in_a_launch_is_told_and_not_shrunk() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        if ragged(shape_of(launch)) and number > 60:
            raise MemoryError
        return right(build, launch, number)

    device = FakeDevice(behave)
    ledger = check(a_plan(), device)
    found = statuses(ledger)
    assert "fail" not in found.values()
    assert found["any_shape"] == "grader_error"
    detail = next(one.detail for one in ledger.outcomes if one.check == "any_shape")
    assert "memory is full" in detail
    assert told(detail)


def test_a_fault_that_was_found_before_memory_was_full_stays() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        if ragged(shape_of(launch)) and shape_of(launch) not in PINNED:
            raise MemoryError
        run = right(build, launch, number)
        if ragged(shape_of(launch)):
            launch.operands[2].values(run.images[2])[:] += 1
        return run

    found = statuses(check(a_plan(), FakeDevice(behave)))
    assert (found["safe"], found["any_shape"]) == ("grader_error", "fail")


class Hearing(Ledger):
    """A display that does something when a check starts."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act

    def check(self, exercise: str, device: str, check: str) -> None:
        self._act()


def graded(
    monkeypatch: pytest.MonkeyPatch, act: Callable[[], object], job: Job = fake_workers.passes
) -> Grading:
    """A whole grading with fake processes, and a display that acts at every check."""

    def make(plan: Plan, kinds: Any, target: Target) -> Crew:
        return Crew(plan, kinds, target, job)

    monkeypatch.setattr(grading, "Crew", make)
    return grading.grade(PLAN, ("simulator",), TARGET, Hearing(act))


def test_memory_that_is_full_in_the_parent_ends_the_grading_with_a_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def act() -> None:
        raise MemoryError

    done = graded(monkeypatch, act)
    assert "memory is full" in done.ended_early
    assert told(done.ended_early)
    assert not done.score.failed
    assert done.score.grader_error


# Interruptions


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_second_signal_neither_loses_the_record_nor_leaves_a_process(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    interruption.install()
    before = set(children(os.getpid()))

    def twice() -> None:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(number)

    done = graded(monkeypatch, twice, fake_workers.hangs_later)
    assert done.ended_early.startswith("Interrupted")
    assert {one.status for one in done.score.exercises} == {"grader_error"}
    left = [
        pid for pid in set(children(os.getpid())) - before if "resource_tracker" not in program(pid)
    ]
    assert left == []


def test_a_signal_while_nvcc_is_waited_for_keeps_all_that_the_checks_gave(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Slow:
        def __init__(self, *_: Any) -> None:
            pass

        def results(self) -> dict[str, Any]:
            signal.raise_signal(signal.SIGINT)
            return {}

        def stop(self) -> dict[str, Any]:
            return {"01_naive": {"compiler": "nvcc"}}

    interruption.install()
    monkeypatch.setattr(grading, "Surveyor", Slow)
    done = graded(monkeypatch, lambda: None)
    assert done.ended_early.startswith("Interrupted")
    assert {one.status for one in done.score.exercises} == {"pass"}
    assert ("01_naive", "nvcc") in done.ledger.builds


def command_line(monkeypatch: pytest.MonkeyPatch, output: Path, act: Callable[[], object]) -> int:
    """`grade` on files that pass, where `act` happens at the end of the checks."""

    def grade_plan(plan: Plan, kinds: Any, target: Target, listener: Any) -> Grading:
        ledger = Ledger()
        Crew(plan, kinds, target, fake_workers.passes).run(ledger)
        act()
        return Grading(plan, grading.score(plan, ledger), ledger)

    monkeypatch.setattr(commands, "grade_plan", grade_plan)
    arguments = ["grade", "--solutions", "--exercise", "naive", "--device", "simulator"]
    return cli.main([*arguments, "--plain", "--seed", "1", "--output", str(output)])


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_just_before_the_record_is_written_does_not_cost_it(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command_line(monkeypatch, tmp_path, lambda: signal.raise_signal(number)) == 0
    assert exercise_statuses(tmp_path) == {"pass"}


def test_a_signal_outside_of_a_grading_ends_at_once() -> None:
    interruption.install()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGTERM)


def test_a_signal_that_waited_raises_where_it_is_allowed() -> None:
    interruption.install()
    with interruption.held():
        signal.raise_signal(signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt), interruption.allowed():
            pytest.fail("went on")
        signal.raise_signal(signal.SIGTERM)  # waits, and is forgotten with the end


def test_a_command_under_nohup_goes_on_when_the_terminal_closes() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    interruption.install()
    signal.raise_signal(signal.SIGHUP)


# The folder for the results


def test_a_folder_that_was_removed_meanwhile_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    assert command_line(monkeypatch, output, lambda: shutil.rmtree(output)) == 0
    assert exercise_statuses(output) == {"pass"}


def test_a_record_that_cannot_be_written_there_is_kept_elsewhere_and_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))

    def act() -> None:
        shutil.rmtree(output)
        output.write_text("now a file", encoding="utf-8")

    assert command_line(monkeypatch, output, act) == 2
    said = capsys.readouterr()
    (kept,) = elsewhere.glob("matmul-results-*/results.json")
    assert json.loads(kept.read_text())["exercises"][0]["status"] == "pass"
    assert f"Record: {kept}" in said.out
    assert "20 of 20" in said.out
    assert "cannot be written" in said.err
    assert "--output DIR" in said.err


def good(output: Path) -> str:
    output.mkdir(exist_ok=True)
    text = json.dumps({"schema": record.SCHEMA, "exercises": [{"status": "pass"}]})
    (output / record.NAME).write_text(text, encoding="utf-8")
    return text


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_full_disk_leaves_the_earlier_record_and_keeps_the_new_one_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    output, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    elsewhere.mkdir()
    before = good(output)
    monkeypatch.setattr(tempfile, "tempdir", str(elsewhere))
    original = getattr(os, call) if call == "fsync" else Path.replace

    def at_output(first: Any, *rest: Any) -> Any:
        path = os.readlink(f"/proc/self/fd/{first}") if call == "fsync" else str(first)
        return full() if path.startswith(str(output)) else original(first, *rest)

    monkeypatch.setattr(os if call == "fsync" else Path, call, at_output)
    kept = output_folder.keep(output, {"exercises": [{"status": "fail"}]}, ["a log"])
    assert kept.record is not None
    assert kept.record.is_relative_to(elsewhere)
    assert "No space left on device" in kept.problem
    assert (output / record.NAME).read_text() == before
    assert os.listdir(output) == [record.NAME]


def test_where_nothing_can_be_written_the_report_still_says_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = good(tmp_path)
    monkeypatch.setattr(record, "write_text", full)
    assert command_line(monkeypatch, tmp_path, lambda: None) == 2
    said = capsys.readouterr()
    assert "20 of 20" in said.out
    assert "Seed: 1" in said.out
    assert "No space left on device" in said.err
    assert "anywhere else" in said.err
    assert (tmp_path / record.NAME).read_text() == before


def test_a_log_that_cannot_be_written_does_not_cost_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "save_log", lambda *_: full_record())
    kept = output_folder.keep(tmp_path, {"exercises": [{"status": "fail"}]}, ["a log"])
    assert kept == output_folder.Kept(tmp_path / record.NAME, None)


def full_record() -> NoReturn:
    raise record.RecordError("full")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_cache_that_cannot_be_written_is_told_with_place_and_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(self: Path, *_: Any, **__: Any) -> NoReturn:
        raise OSError(number, os.strerror(number), str(self))

    device = SimulatorDevice(simulated.TARGET, host_compiler(), cache=tmp_path / "cache")
    monkeypatch.setattr(Path, "mkdir", refuse)
    ledger = check(a_plan(), device)
    decided = {one.check: one for one in ledger.outcomes if one.check != "fast"}
    assert {one.status for one in decided.values()} == {Status.GRADER_ERROR}
    assert f"{tmp_path / 'cache'}: {os.strerror(number)}" in decided["compiles"].detail
    assert told(decided["compiles"].detail)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_report_that_cannot_be_printed_costs_no_record(tmp_path: Path) -> None:
    output = tmp_path / "out"
    command = [sys.executable, "-m", "grader", "grade", str(PROJECT / "starter")]
    command += ["--exercise", "naive", "--device", "simulator", "--output", str(output)]
    with Path("/dev/full").open("w") as nowhere:
        done = subprocess.run(
            command, cwd=PROJECT, stdout=nowhere, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "No space left on device" in done.stderr
    assert exercise_statuses(output) == {"not_started"}


# Two at once


def test_a_second_grading_into_one_folder_is_refused_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = good(tmp_path)
    with output_folder.reserved(tmp_path):
        assert command_line(monkeypatch, tmp_path, lambda: None) == 2
    assert "Another grading is going to write" in capsys.readouterr().err
    assert (tmp_path / record.NAME).read_text() == before
    assert command_line(monkeypatch, tmp_path, lambda: None) == 0


def test_a_grading_that_was_killed_gives_its_folder_back(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from grader import output_folder\n"
        "with output_folder.reserved(Path(sys.argv[1])): print(1, flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=PROJECT, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(record.RecordError), output_folder.reserved(tmp_path):
            pytest.fail("both hold it")
        other.kill()
        other.wait()
    with output_folder.reserved(tmp_path):
        pass


def test_two_gradings_that_compile_one_kernel_at_once_share_it(tmp_path: Path) -> None:
    text = f"// {tmp_path}\n{PRELUDE}{FINISH}"

    def build(_: int) -> Build:
        device = SimulatorDevice(simulated.TARGET, host_compiler(), cache=CACHE)
        return device.build(EXERCISE, submission(text))

    with ThreadPoolExecutor(3) as pool:
        builds = list(pool.map(build, range(3)))
    assert len({one.artifact for one in builds}) == 1
    assert builds[0].artifact is not None
    assert builds[0].artifact.is_file()


# Clocks

JUMPING = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>
static long jump(void) { static long n; ++n; return (n % 2 ? 1 : -1) * (n % 7) * 86400; }
extern "C" int clock_gettime(clockid_t id, struct timespec *now) {
    static auto real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int status = real(id, now);
    if (id == CLOCK_REALTIME) now->tv_sec += jump();
    return status;
}
extern "C" int gettimeofday(struct timeval *now, void *) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    now->tv_sec = t.tv_sec, now->tv_usec = t.tv_nsec / 1000;
    return 0;
}
extern "C" time_t time(time_t *to) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    if (to) *to = t.tv_sec;
    return t.tv_sec;
}
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs LD_PRELOAD")
def test_a_clock_that_jumps_by_days_costs_no_kernel_its_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, library = tmp_path / "jump.cpp", tmp_path / "jump.so"
    source.write_text(JUMPING)
    subprocess.run(
        [
            *host_compiler("g++").command,
            "-shared",
            "-fPIC",
            str(source),
            "-o",
            str(library),
            "-ldl",
        ],
        check=True,
    )
    shown = [sys.executable, "-c", "import time; print(*(time.time() for _ in range(9)))"]
    found = subprocess.run(
        shown, env={**os.environ, "LD_PRELOAD": str(library)}, capture_output=True, check=True
    )
    times = [float(word) for word in found.stdout.split()]
    assert max(times) - min(times) > 86_400, "the clock does not jump"

    monkeypatch.setenv("LD_PRELOAD", str(library))
    with start(a_folder(tmp_path / "right", NAIVE), tmp_path / "out") as process:
        process.communicate(timeout=120)
    assert process.returncode == 0
    found = recorded(tmp_path / "out")
    assert found["score"] == {"earned": 20, "points": 20, "not_graded": 0}  # as with a steady clock
    assert 0 <= sum(check["seconds"] for check in found["exercises"][0]["checks"]) < 600


def test_a_clock_that_is_set_back_lets_nobody_jump_the_queue(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = lock.GpuLock(tmp_path), lock.GpuLock(tmp_path)
    first.acquire()
    monkeypatch.setattr(time, "time", lambda: 0.0)
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    second._ticket = lock._draw_ticket(tmp_path)
    assert second._before() == 1
    first.release()
    assert second._before() == 0
    second.release()
