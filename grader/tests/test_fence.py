"""Behind the fence a compiler sees nothing of ours; and no verdict depends on whether it stands."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader import confined, doctor, fence, toolchain
from grader.confined import Limits
from grader.settings import PROJECT
from grader.simulator import compiler as compilers
from grader.simulator.compiler import CompileFailure, compile_kernel
from grader.tests import simulated
from grader.tests.simulated import FINISH, PRELUDE, both_compilers

MIB = 1024 * 1024
LIMITS = Limits(cpu_s=5, wall_s=30.0, memory_bytes=1024 * MIB, file_bytes=MIB)
SECRET = "SECRET_51c09e"
RIGHT = PRELUDE + FINISH
WRONG = RIGHT.replace("sum;", "summ;")

# Fake ones: they build no wall, but start what they are given, or not.
START = 'while [ "$1" != -- ]; do shift; done; shift; exec "$@"'
# At the first start, which is the probe, and then never again.
AFTER_PROBE = f'if [ ! -e "$0.was" ]; then : > "$0.was"; {START}; fi; '

needs_fence = pytest.mark.skipif(
    bool(fence.problem()), reason=f"needs bwrap and user namespaces: {fence.problem()}"
)


@pytest.fixture(autouse=True)
def _as_in_a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of other files may have met compilers, or disks, that do not work behind it."""
    monkeypatch.setattr(fence, "_suited", {})
    monkeypatch.setattr(fence, "_given_up", {})


def bwrap(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> Path:
    """A bwrap of this text, first on PATH."""
    tools = folder / "tools"
    tools.mkdir()
    path = tools / "bwrap"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")
    return path


def program(path: Path, text: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def work(folder: Path) -> Path:
    made = folder / "work"
    made.mkdir(exist_ok=True)
    (made / "text").write_text("")
    return made


def ran(script: str, folder: Path, limits: Limits = LIMITS) -> confined.Completed:
    """A script in place of a compiler; it works on an empty text only where it says so."""
    command = ["sh", "-c", f"[ -s text ] || exit 0; {script}"]
    (work(folder) / "text").write_text("not empty")
    return confined.run(command, folder / "work", limits, untrusted="text")


# Whatever the fence does, compilers say what they say without it.


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (START, ""),
        ("echo 'bwrap: No permissions to create new namespace' >&2; exit 1", "No permissions"),
        ("exec sleep 60", "does not answer"),
        ("kill -SEGV $$", "exit status -11"),
        (f"{AFTER_PROBE} echo 'bwrap: setting up uid map: no' >&2; exit 1", "setting up uid map"),
        (f"{AFTER_PROBE} exit 0", "does not start"),
        (f"{AFTER_PROBE} kill -KILL $$", "does not start"),
        (f"{AFTER_PROBE} exec sleep 60", "does not start"),
    ],
)
def test_a_fence_that_fails_changes_no_answer(
    text: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fence, "PROBE_S", 0.3)
    bwrap(tmp_path, monkeypatch, text)
    quick = Limits(cpu_s=5, wall_s=0.5, memory_bytes=1024 * MIB, file_bytes=MIB)
    assert ran("echo said; exit 3", tmp_path, quick) == confined.Completed(3, "said\n", "")
    assert why in fence.problem()
    assert ran("exit 0", tmp_path) == confined.Completed(0, "", "")


def test_a_program_that_is_no_program_is_no_fence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap(tmp_path, monkeypatch, "").write_bytes(b"\x7fELF, but not really")
    assert "cannot be started" in fence.problem() or "refused" in fence.problem()
    assert ran("exit 3", tmp_path).status == 3


def test_without_bwrap_compilers_run_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sh").symlink_to("/bin/sh")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fence.problem() == "bwrap is not installed"
    assert ran("exit 3", tmp_path).status == 3


@pytest.mark.parametrize("blind", ["exit 127", "exit 126", "exit 1", "kill -KILL $$"])
def test_a_compiler_that_does_not_work_behind_it_works_without(
    blind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap(tmp_path, monkeypatch, f"BEHIND=1; export BEHIND; {START}")
    # It takes an empty text, but only without the fence.
    compiler = program(tmp_path / "g++", f'[ -z "$BEHIND" ] || {blind}; [ ! -s text ] || exit 3')
    folder = work(tmp_path)
    (folder / "text").write_text("not empty")
    assert confined.run([compiler], folder, LIMITS, untrusted="text").status == 3
    assert fence.unsuited() == [compiler]
    assert fence.around([compiler], folder) == []
    assert fence.around(["another"], folder)


def test_a_text_that_fails_does_not_open_the_fence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap(tmp_path, monkeypatch, f'echo start >> "$0.starts"; {START}')
    assert ran("exit 1", tmp_path).status == 1
    assert fence.unsuited() == []
    starts = (tmp_path / "tools" / "bwrap.starts").read_text().count("start")
    assert starts == 3  # the probe, the text, and an empty text in its place
    assert ran("exit 1", tmp_path).status == 1
    assert (tmp_path / "tools" / "bwrap.starts").read_text().count("start") == starts + 1


def test_no_text_can_claim_that_the_compiler_began(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bwrap(tmp_path, monkeypatch, START)
    assert ran("cat text; exit 1", tmp_path).output == "not empty"
    first, second = (ran("exit 1", tmp_path).output for _ in range(2))
    assert first == second == ""


def test_doctor_says_whether_there_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    path = bwrap(tmp_path, monkeypatch, START)
    (item,) = doctor._fence()
    assert (item.state, item.mend) == (doctor.OK, "")
    fence.note([str(path)], ["/opt/strange/g++"], False)
    (item,) = doctor._fence()
    assert item.state == doctor.OPTIONAL
    assert "/opt/strange/g++" in item.detail
    fence.give_up([str(path)], "setting up uid map: Permission denied")
    (item,) = doctor._fence()
    assert item.state == doctor.OPTIONAL
    assert "uid map: Permission denied" in item.detail
    assert item.mend
    monkeypatch.setenv("PATH", "")
    (item,) = doctor._fence()
    assert "not installed" in item.detail
    assert "bubblewrap" in item.mend
    monkeypatch.setattr("sys.platform", "darwin")
    assert list(doctor._fence()) == []


# What a real one hides.


@needs_fence
def test_a_compiler_sees_its_folder_and_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", SECRET)
    planted = tmp_path / "planted.h"
    planted.write_text(SECRET)
    places = [planted, "/etc/passwd", "/etc/shadow", f"/proc/{os.getpid()}/environ"]
    places += [Path.home(), PROJECT / "exercises", PROJECT / "course.toml"]
    looked = "; ".join(f'ls -d "{place}"; cat "{place}"' for place in places)
    done = ran(f"{looked}; cat text; echo made > made; exit 1", tmp_path)
    assert SECRET not in done.output
    assert "root:x:" not in done.output
    assert done.output.count("No such file") == 2 * len(places)
    assert done.output.endswith("not empty")
    assert (tmp_path / "work" / "made").read_text() == "made\n"


@needs_fence
def test_a_compiler_has_no_network_and_sees_no_other_process(tmp_path: Path) -> None:
    done = ran("cat /proc/net/dev; ls -d /proc/[0-9]*; exit 1", tmp_path)
    interfaces = [line.split(":")[0].strip() for line in done.output.splitlines() if ":" in line]
    assert interfaces == ["lo"]
    assert 0 < done.output.count("/proc/") < 6


@needs_fence
def test_a_compiler_cannot_change_what_it_sees(tmp_path: Path) -> None:
    done = ran("touch /usr/planted 2>/dev/null || echo refused; exit 1", tmp_path)
    assert done.output == "refused\n"


@needs_fence
@pytest.mark.parametrize(
    ("script", "status", "cause"),
    [
        ("exit 3", 3, ""),
        ("exit 255", 255, ""),
        ("kill -SEGV $$", -11, "crash"),
        ("kill -KILL $$", -9, "killed"),
        ("exec head -c 100000000 /dev/zero > big", None, "size"),
        ("ulimit -S -t 1; while :; do :; done", None, "time"),
    ],
)
def test_an_end_is_told_as_without_it(
    script: str, status: int | None, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    behind = ran(script, tmp_path)
    monkeypatch.setattr(fence, "around", lambda command, folder: [])
    assert ran(script, tmp_path) == behind
    assert behind.cause == cause
    assert status in (None, behind.status)


@needs_fence
def test_who_waits_for_ever_is_ended_with_its_children(tmp_path: Path) -> None:
    limits = Limits(cpu_s=5, wall_s=0.5, memory_bytes=1024 * MIB, file_bytes=MIB)
    mark = f"61.{os.getpid()}"
    assert ran(f"sleep {mark} & sleep {mark}", tmp_path, limits).cause == "time"
    for _ in range(100):  # killed, but perhaps not yet taken away
        if not any(mark in line for line in command_lines()):
            return
        time.sleep(0.05)
    pytest.fail("a child lives on")


def command_lines() -> Iterator[str]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_text(errors="replace")
        except OSError:
            continue


@needs_fence
@both_compilers
def test_kernels_compile_behind_it_and_errors_are_the_same(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    simulated.device(family)  # skips where there is none
    compiler = next(c for c in toolchain.find_host_compilers() if c.family == family)
    said = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert compile_kernel(compiler, (9, 0), RIGHT, folder).is_file()
        with pytest.raises(CompileFailure) as caught:
            compile_kernel(compiler, (9, 0), WRONG, folder)
        said.append((caught.value.message, caught.value.line, caught.value.kind))
        assert fence.unsuited() == []
        monkeypatch.setattr(fence, "around", lambda command, folder: [])
    assert said[0] == said[1]


@needs_fence
@pytest.mark.parametrize("place", ["conda/bin/g++", "g++"])
def test_a_compiler_in_a_home_is_seen_with_its_installation(place: str, tmp_path: Path) -> None:
    real = toolchain.host_compiler("g++").command[0]
    needed = tmp_path / Path(place).parent.parent / "lib" / "needed"
    if place.startswith("conda"):
        needed.parent.mkdir(parents=True)
    else:
        needed = tmp_path / place
    path = program(tmp_path / place, f'cat "{needed}" > /dev/null || exit 1\nexec "{real}" "$@"')
    needed.touch()
    compiler = toolchain.identify((path,))
    assert compiler is not None
    assert compile_kernel(compiler, (9, 0), RIGHT, work(tmp_path)).is_file()
    with pytest.raises(CompileFailure):
        compile_kernel(compiler, (9, 0), WRONG, work(tmp_path))
    assert fence.unsuited() == []


@needs_fence
def test_a_compiler_that_needs_a_hidden_file_works_without_the_fence(tmp_path: Path) -> None:
    real = toolchain.host_compiler("g++").command[0]
    hidden = tmp_path / "elsewhere" / "needed"
    path = program(
        tmp_path / "own" / "bin" / "g++",
        f'cat "{hidden}" > /dev/null || exit 1\nexec "{real}" "$@"',
    )
    hidden.parent.mkdir()
    hidden.touch()
    compiler = toolchain.identify((path,))
    assert compiler is not None
    assert compile_kernel(compiler, (9, 0), RIGHT, work(tmp_path)).is_file()
    assert fence.unsuited() == [path]


@needs_fence
def test_a_text_that_gets_past_all_looks_finds_nothing(tmp_path: Path) -> None:
    planted = tmp_path / "planted.h"
    planted.write_text(f"#error {SECRET}\n")
    folder = work(tmp_path)
    (folder / "text").write_text(f'#include "{planted}"\n')
    command = [*toolchain.host_compiler("g++").command, "-x", "c++", "-E", "text"]
    done = confined.run(command, folder, compilers.LIMITS, untrusted="text")
    assert done.status == 1
    assert SECRET not in done.output
    assert "planted.h: No such file" in done.output
