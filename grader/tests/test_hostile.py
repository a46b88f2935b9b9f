"""Hostile texts: what they want to read stays unread, and what they want to use up has a limit."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile

from grader import confined, fence, source, toolchain
from grader.checks.build import compile_entry
from grader.checks.devices import compiler_check
from grader.checks.plan import entry
from grader.confined import Limits
from grader.exercise import find, load_all
from grader.finding import KernelFault
from grader.gpu import nvcc
from grader.messages import describe
from grader.settings import PROJECT
from grader.simulator import compiler as compilers
from grader.simulator import failure as failures
from grader.simulator.compiler import CompileFailure, compile_kernel
from grader.tests import fixture_runs, simulated
from grader.tests.fixtures import Fixture
from grader.tests.fixtures import load_all as load_fixtures
from grader.tests.simulated import FINISH, PRELUDE, both_compilers
from grader.verdict import Verdict

MIB = 1024 * 1024
SMALL = Limits(cpu_s=1, wall_s=30.0, memory_bytes=1024 * MIB, file_bytes=MIB)
HOSTILE = [
    fixture
    for fixture in load_fixtures()
    if fixture.verdict in ("rejected", "compile_error")
    and fixture.on("simulator")
    # Of test_sandbox.py: these compile.
    and fixture.kind not in ("forbidden_system_call", "forged_answer")
]
SECRET = "SECRET_a8f1c3"  # a C name, so that a compiler would quote it
# Quoted by a compiler that reads it as code, and by one that reads it as directives.
PLANTED = f"{SECRET} = 1;\n#error {SECRET}\n#{SECRET}\n"


def compiler(family: str) -> toolchain.HostCompiler:
    simulated.device(family)  # skips where there is none
    return next(c for c in toolchain.find_host_compilers() if c.family == family)


def failure(family: str, text: str, folder: Path) -> CompileFailure:
    with pytest.raises(CompileFailure) as caught:
        compile_kernel(compiler(family), (9, 0), text, folder)
    return caught.value


# What compilers may use.


def ran(script: str, folder: Path, limits: Limits = SMALL) -> confined.Completed:
    return confined.run(["sh", "-c", script], folder, limits)


def test_a_command_that_works_for_ever_is_ended(tmp_path: Path) -> None:
    assert ran("while :; do :; done", tmp_path).cause == "time"


def test_a_command_that_waits_for_ever_is_ended_with_its_children(tmp_path: Path) -> None:
    limits = Limits(cpu_s=5, wall_s=0.3, memory_bytes=1024 * MIB, file_bytes=MIB)
    assert ran("sleep 60 & echo $! > child; sleep 60", tmp_path, limits).cause == "time"
    child = int((tmp_path / "child").read_text())
    for _ in range(100):  # killed, but perhaps not yet taken away
        state = Path(f"/proc/{child}/stat")
        if not state.exists() or state.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the child lives on")


def test_a_command_cannot_fill_the_disk(tmp_path: Path) -> None:
    done = ran("exec head -c 100000000 /dev/zero > big", tmp_path)
    assert done.cause == "size"
    assert (tmp_path / "big").stat().st_size <= MIB


def test_a_command_cannot_fill_the_disk_or_the_report_with_what_it_prints(tmp_path: Path) -> None:
    done = ran("exec yes", tmp_path)
    assert done.cause == "size"
    assert len(done.output) <= MIB


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
def test_a_command_cannot_fill_the_memory(tmp_path: Path) -> None:
    script = [sys.executable, "-c", "import os; os.environ.clear(); x = bytearray(1 << 33)"]
    assert confined.run(script, tmp_path, SMALL).status != 0


def test_a_command_sees_nothing_of_our_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_TOKEN", SECRET)
    monkeypatch.setenv("CPATH", str(tmp_path))
    done = ran("env; pwd", tmp_path)
    names = {line.partition("=")[0] for line in done.output.splitlines()}
    assert not names & {"GRADER_TOKEN", "CPATH", "HOME"}
    assert SECRET not in done.output
    assert str(tmp_path.resolve()) in done.output


def test_a_command_that_is_not_there_is_told_apart_from_one_that_fails(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        confined.run([str(tmp_path / "gone")], tmp_path, SMALL)
    assert ran("exit 3", tmp_path) == confined.Completed(3, "", "")


def test_what_a_text_says_of_limits_is_not_taken_for_one(tmp_path: Path) -> None:
    text = (
        "kernel.cu:1:2: error: #error out of memory\n#error Killed\n    1 | internal compiler error"
    )
    (tmp_path / "said").write_text(text)
    assert ran("cat said; exit 1", tmp_path).cause == ""


def test_a_compiler_that_the_system_ends_is_not_the_students_fault(tmp_path: Path) -> None:
    assert ran("kill -9 $$", tmp_path).cause == "killed"


# What compilers may see.


@pytest.fixture
def no_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on machines without bubblewrap, where files that are opened are there."""
    monkeypatch.setattr(fence, "around", lambda command, folder: [])


@both_compilers
@pytest.mark.parametrize(
    "line",
    [
        '#include "{path}"',
        '#define WHERE "{path}"\n#include WHERE',
        '#inc\\\nlude "{path}"',
        "%:include <{path}>",
        '#import "{path}"',
        '// \r#include "{path}"\r',
    ],
)
def test_the_list_of_what_was_opened_names_any_file(
    family: str, line: str, tmp_path: Path, no_fence: None
) -> None:
    # Straight to the compiler, past what looks at the text.
    planted, folder = tmp_path / "planted.h", tmp_path / "work"
    planted.write_text(PLANTED)
    folder.mkdir()
    text = line.format(path=planted) + "\n" + PRELUDE + FINISH
    found = failure(family, text, folder)
    assert (found.verdict, found.kind) == (Verdict.REJECTED, "forbidden_include")
    assert SECRET not in str(found)


@both_compilers
def test_a_file_that_is_not_there_is_not_told_by_another_message(
    family: str, tmp_path: Path
) -> None:
    found = failure(family, '#include "/nowhere/planted.h"\n', tmp_path)
    assert found.verdict is Verdict.COMPILE_ERROR


@both_compilers
@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('JOIN(a, sm)("nop");', "hidden_word"),
        ("JOIN(__attri, bute__)((constructor)) void f() {}", "forbidden_extension"),
        ('[[JOIN(g, nu)::JOIN(sec, tion)(".init_array")]] int f;', "forbidden_extension"),
        ("int f = JOIN(__built, in_fork)();", "forbidden_extension"),
        ("_Pragma(STRING(clang attribute push(x)))", "forbidden_extension"),
        ('extern "C" void JOIN(__ts, an_write4)(void *) {}', "forbidden_extension"),
        ("void JOIN(sim, _switch)();", "hidden_word"),
    ],
)
def test_macros_hide_nothing(family: str, text: str, kind: str, tmp_path: Path) -> None:
    macros = "#define JOIN(a, b) a##b\n#define STRING(a) #a\n"
    found = failure(family, f"{macros}{PRELUDE}{FINISH}\n{text}\n", tmp_path)
    assert (found.verdict, found.kind) == (Verdict.REJECTED, kind)
    assert found.line == 2 + (PRELUDE + FINISH).count("\n") + 2


PASTE = (
    "#define JOIN(a, b) a##b\n#define SAY(x) _Pragma(#x)\n#define VIA(x) SAY(x)\n"
    "#define STRING(x) #x\n#define WRITTEN(x) STRING(x)\n#define DO(p) _Pragma(p)\n"
    "#define CALL(f, x) f(x)\n"
)


@both_compilers
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('#pragma GCC dependency "{path}"', ""),
        ('_Pragma("GCC dependency \\"{path}\\"")', ""),
        ('SAY(GCC dependency "{path}")', "GCC dependency"),
        ('VIA(GCC JOIN(depen, dency) "{path}")', "GCC dependency"),
        ('VIA(JOIN(G, CC) JOIN(depen, dency) "{path}")', "GCC dependency"),
        ('DO(WRITTEN(GCC JOIN(depen, dency) "{path}"))', "GCC dependency"),
        ('JOIN(_Pra, gma)("GCC dependency \\"{path}\\"")', "GCC dependency"),
        ('JOIN(_Pra, gma)(WRITTEN(GCC JOIN(depen, dency) "{path}"))', "GCC dependency"),
        ('CALL(JOIN(_Pra, gma), "GCC dependency \\"{path}\\"")', "GCC dependency"),
        ("VIA(GCC JOIN(poi, son) sum)", "GCC poison"),
        ("VIA(GCC JOIN(system, _header))", "GCC system_header"),
    ],
)
def test_a_pragma_that_is_executed_while_preprocessing_is_found_before(
    family: str, text: str, name: str, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    text = PASTE + PRELUDE + FINISH + text.replace("{path}", str(tmp_path / "planted.h")) + "\n"
    seen = source.inspect(simulated.submission(text))
    assert bool(seen) is (not name or "dependency" in text)
    if name:
        found = failure(family, text, folder)
        assert (found.kind, found.facts["name"]) == ("forbidden_extension", name)
        assert found.verdict is Verdict.REJECTED


@both_compilers
def test_pragmas_that_are_put_together_may_do_what_pragmas_may(family: str, tmp_path: Path) -> None:
    loop = "    for (int i = 0; i < 4; ++i) total_of_row += i;\n"
    body = (
        f"    float JOIN(total, _of_row) = 0;\n    VIA(unroll 4)\n{loop}"
        f"    JOIN(_Pra, gma)(WRITTEN(unroll))\n{loop}"
    )
    text = PASTE + PRELUDE + body + FINISH
    assert source.inspect(simulated.submission(text)) == ()
    assert compile_kernel(compiler(family), (9, 0), text, tmp_path).is_file()


@both_compilers
def test_our_own_headers_hold_nothing_that_is_forbidden(family: str, tmp_path: Path) -> None:
    includes = "".join(f"#include <{header}>\n" for header in source.ALLOWED_HEADERS)
    text = includes + PRELUDE + "    __syncthreads(); assert(M); threadfence();" + FINISH
    text = text.replace("threadfence", "__threadfence")
    assert compile_kernel(compiler(family), (9, 0), text, tmp_path).exists()


# What compilers are made to work at.

TREE = (
    "template <int D, long W> struct Tree { static constexpr int value ="
    " Tree<D - 1, 2 * W>::value + Tree<D - 1, 2 * W + 1>::value; };\n"
    "template <long W> struct Tree<0, W> { static constexpr int value = 1; };\n"
    "constexpr int big = Tree<40, 1>::value;\n"
)


@pytest.mark.parametrize(
    ("family", "limits", "kind"),
    [
        ("g++", Limits(1, 60.0, 2048 * MIB, 64 * MIB), "compile_too_slow"),
        ("clang++", Limits(1, 60.0, 2048 * MIB, 64 * MIB), "compile_too_slow"),
        # Not clang++, which maps more than that before it starts.
        ("g++", Limits(60, 60.0, 200 * MIB, 64 * MIB), "compile_too_large"),
    ],
    ids=["time g++", "time clang++", "memory g++"],
)
def test_templates_without_number_end_at_a_limit(
    family: str, limits: Limits, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compilers, "LIMITS", limits)
    assert failure(family, TREE + PRELUDE + FINISH, tmp_path).kind == kind


@pytest.mark.parametrize("text", ["(" * 300_000, "{" * 300_000, "x " * 160_000])
def test_a_mountain_of_anything_is_refused_before_it_is_compiled(text: str, tmp_path: Path) -> None:
    kinds = ("nested_too_deep", "compile_too_large", "compile_error")
    assert failure("g++", f"int y = {text}", tmp_path).kind in kinds


def test_a_compiler_that_crashes_at_everything_is_not_the_students_fault(tmp_path: Path) -> None:
    crash = ["sh", "-c", "echo 'g++: internal compiler error: Segmentation fault' ; exit 4"]
    assert confined.run(crash, tmp_path, SMALL).cause == "crash"
    assert not confined.is_sound(crash, tmp_path, "kernel.cu", SMALL)
    assert confined.is_sound(["cat", "kernel.cu"], tmp_path, "kernel.cu", SMALL)


# The fixtures.


def text_of(fixture: Fixture, planted: Path) -> str:
    text = fixture.path.read_text(encoding="utf-8")
    return text.replace("/etc/passwd", str(planted)).replace("/etc/pa\\\nsswd", str(planted))


@pytest.mark.parametrize("fixture", HOSTILE, ids=str)
def test_no_message_of_a_hostile_text_holds_a_secret(
    fixture: Fixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    planted, folder = tmp_path / "planted.h", tmp_path / "submission"
    planted.write_text(PLANTED)
    folder.mkdir()
    path = folder / f"{fixture.exercise}.cu"
    path.write_text(text_of(fixture, planted), encoding="utf-8")
    monkeypatch.setenv("GRADER_TOKEN", SECRET)
    begin = time.time() - 1.0
    planted_fixture = dataclasses.replace(fixture, path=path)
    found = fixture_runs.outcomes(planted_fixture, simulated.device("g++"))
    expected = fixture.on("simulator")
    assert expected is not None
    anywhere = dataclasses.replace(expected, line=0)  # the lines are tested with the others
    assert list(fixture_runs.problems(fixture, anywhere, found)) == []
    exercise = find(load_all(PROJECT), fixture.exercise)
    told = [describe(finding, exercise) for one in found for finding in one.findings]
    assert told
    assert SECRET not in f"{found}{told}"
    assert not any(SECRET.encode() in left for left in contents(simulated.CACHE, begin))


def test_after_them_the_next_submission_is_graded_as_if_nothing_had_happened() -> None:
    assert simulated.build("g++", PRELUDE + FINISH).findings == ()


def test_nothing_that_a_grading_leaves_behind_holds_a_secret(tmp_path: Path) -> None:
    """A whole grading of four hostile files: terminal, result files, and what the cache gained."""
    planted, folder, out = tmp_path / "planted.h", tmp_path / "mine", tmp_path / "results"
    planted.write_text(PLANTED)
    folder.mkdir()
    chosen = (
        "includes_passwd_across_splices",
        "dates_passwd_with_a_hidden_pragma",
        "takes_in_passwd_with_incbin_in_macros",
        "reads_its_environment",
    )
    exercises = [one.name for one in load_all(PROJECT) if one.graded]
    for name, exercise in zip(chosen, exercises, strict=True):
        fixture = next(one for one in HOSTILE if one.name == name)
        (folder / f"{exercise}.cu").write_text(text_of(fixture, planted), encoding="utf-8")
    begin = time.time() - 1.0
    command = [sys.executable, "-m", "grader", "grade", str(folder), "--device", "simulator"]
    done = subprocess.run(
        [*command, "--seed", "1", "--plain", "--output", str(out)],
        cwd=PROJECT,
        env={**os.environ, "GRADER_TOKEN": SECRET},
        capture_output=True,
        timeout=120,
    )
    assert done.returncode == 1
    assert (out / "results.json").is_file()
    left = [*contents(out, begin), *contents(PROJECT / ".cache", begin)]
    assert not any(SECRET.encode() in text for text in (done.stdout, done.stderr, *left))


def contents(folder: Path, begin: float) -> Iterator[bytes]:
    """The files that were written since `begin`; another test may take one away meanwhile."""
    for parent, _, names in os.walk(folder):
        for name in names:
            path = Path(parent, name)
            with contextlib.suppress(OSError):
                if path.stat().st_mtime >= begin:
                    yield path.read_bytes()


# nvcc.

needs_nvcc = pytest.mark.skipif(toolchain.find_nvcc() is None, reason="needs nvcc")


@needs_nvcc
def test_what_nvcc_opened_is_looked_at_afterwards(tmp_path: Path, no_fence: None) -> None:
    planted = tmp_path / "planted.h"
    planted.write_text("// nothing that would be an error\n")
    text = f'#include "{planted}"\n{PRELUDE}{FINISH}'
    with pytest.raises(KernelFault) as caught:
        nvcc.compile_submission(
            simulated.submission(text), toolchain.nvcc(), "sm_80", tmp_path / "cache"
        )
    (finding,) = caught.value.findings
    assert (finding.verdict, finding.kind) == (Verdict.REJECTED, "forbidden_include")
    assert finding.facts["header"] == "planted.h"


@needs_nvcc
def test_nvcc_quotes_no_other_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_fence: None
) -> None:
    planted = tmp_path / "planted.h"
    planted.write_text(PLANTED)
    monkeypatch.setenv("GRADER_TOKEN", SECRET)
    text = f'#include "{planted}"\n{PRELUDE}{FINISH}'
    with pytest.raises(KernelFault) as caught:
        nvcc.compile_submission(
            simulated.submission(text), toolchain.nvcc(), "sm_80", tmp_path / "cache"
        )
    assert SECRET not in str(caught.value.findings)


@needs_nvcc
def test_a_kernel_is_not_told_where_it_is_compiled(tmp_path: Path) -> None:
    body = '    if (M == 0) printf("%s %s", __FILE__, __BASE_FILE__);'
    made = nvcc.compile_submission(
        simulated.submission(PRELUDE + body + FINISH), toolchain.nvcc(), "sm_80", tmp_path
    )
    with made.cubin.open("rb") as stream:
        sections = {one.name: one.data() for one in ELFFile(stream).iter_sections()}
    told = [name for name, data in sections.items() if str(tmp_path).encode() in data]
    assert all("debug" in name for name in told)  # which no kernel can read
    assert any(b"kernel.cu" in data for name, data in sections.items() if name not in told)


def test_hostile_fixtures_are_many_and_nvcc_does_not_change_what_they_get() -> None:
    assert len(HOSTILE) >= 40
    check = compiler_check(simulated.TARGET)
    if check is None:
        pytest.skip("needs nvcc")
    exercises = load_all(PROJECT)
    for name in ("calls_system_through_a_pointer", "runs_for_a_first_value", "asm_put_together"):
        fixture = next(one for one in HOSTILE if one.name == name)
        exercise = find(exercises, fixture.exercise)
        given = entry(exercise, fixture.path, fixture.path.parent)
        with pytest.raises(KernelFault) as caught:
            compile_entry(given, simulated.device("g++"), simulated.TARGET, check)
        assert caught.value.findings[0].verdict == fixture.verdict


@both_compilers
def test_headers_may_be_links_to_a_store_elsewhere(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, include = tmp_path / "store", tmp_path / "include"
    shutil.copytree(failures.INCLUDE, store)
    include.mkdir()
    for header in store.iterdir():
        (include / header.name).symlink_to(header)
    monkeypatch.setattr(compilers, "INCLUDE", include)
    monkeypatch.setattr(failures, "INCLUDE", include)
    folder = tmp_path / "kernel"
    folder.mkdir()
    text = PRELUDE + FINISH
    assert compile_kernel(compiler(family), (9, 0), text, folder).is_file()
