"""nvcc and other GPUs than the course's: what is compiled, what is told, and what it may cost."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jsonschema
import pytest

from grader import cache_folder, cli, fence, grading, toolchain
from grader.checks.listener import Ledger
from grader.checks.plan import Entry
from grader.checks.survey import Surveyor
from grader.exercise import PROJECT, Exercise
from grader.finding import GraderFault
from grader.gpu import architectures, nvcc
from grader.gpu.architectures import Compilation, Survey
from grader.problems.matmul import Shape
from grader.record import SCHEMA_FILE
from grader.report.architectures import note_lines, table_lines
from grader.submission import Submission
from grader.tests.fake_device import TARGET, a_plan, an_entry
from grader.tests.gpu_samples import EXERCISE, kernel, submission
from grader.toolchain import Nvcc

needs_nvcc = pytest.mark.skipif(toolchain.find_nvcc() is None, reason="needs nvcc")
KERNEL = EXERCISE.kernel
FOUR = ("sm_75", "sm_80", "sm_90", "sm_100")
FINE = {"registers": 32, "static_shared": 8192, "spill": 0, "stack": 0}

# Reports as ptxas does for every -gencode it is given; fails where `refuse` is among several, and
# with a message where it is alone. Counts its calls.
FAKE_NVCC = """#!/bin/sh
here=$(dirname "$0")
case "$1" in
--version) echo "release 13.0, V13.0.1"; exit 0 ;;
--list-gpu-code) printf 'sm_75\\nsm_80\\nsm_90\\nsm_100\\n'; exit 0 ;;
--dryrun) exit 0 ;;
esac
echo "$*" >> "$here/calls"
{behaviour}
while [ $# -gt 1 ]; do
  case "$1" in
  -gencode=*code=sm_{refuse}) echo 'starter/02_tiled.cu(4): error: too old'; exit 1 ;;
  -gencode=*)
    echo "ptxas info : Compiling entry function 'matmul_tiled' for '${{1##*code=}}'"
    echo "    8 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads"
    echo "ptxas info : Used ${{1##*sm_}} registers, 64 bytes smem" ;;
  -o) touch "$2" ;;
  esac
  shift
done
"""


def fake_nvcc(folder: Path, behaviour: str = ":", refuse: str = "none") -> Nvcc:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "nvcc"
    script.write_text(FAKE_NVCC.format(behaviour=behaviour, refuse=refuse))
    script.chmod(0o755)
    found = toolchain.find_nvcc({"PATH": f"{folder}:/usr/bin:/bin"})
    assert found is not None
    return found


@pytest.fixture(autouse=True)
def _no_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind it no program may write beside itself."""
    monkeypatch.setattr(fence, "around", lambda command, folder: [])


def calls(compiler: Nvcc) -> list[str]:
    log = compiler.path.parent / "calls"
    return log.read_text().splitlines() if log.exists() else []


def surveyed(compiler: Nvcc, cache: Path, **more: Any) -> Survey:
    return architectures.survey(KERNEL, kernel("  C[0] = A[0];"), compiler, FOUR, cache, **more)


def told(facts: Mapping[str, Any]) -> str:
    return " ".join(line.text.strip() for line in note_lines(facts))


def facts(*compilations: Compilation, target: str = "sm_90") -> dict[str, Any]:
    return {**Survey("nvcc 13.0", compilations).facts(), "target": target}


def test_four_architectures_are_one_call_of_nvcc_and_none_the_second_time(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin")
    first = surveyed(compiler, tmp_path / "cache")
    again = surveyed(compiler, tmp_path / "cache")
    assert len(calls(compiler)) == 1
    assert first == again
    assert [one.architecture for one in first.compilations] == list(FOUR)
    assert [one.resources["registers"] for one in first.compilations] == [75, 80, 90, 100]
    assert first.compilations[0].resources == {
        "registers": 75,
        "static_shared": 64,
        "spill": 40,
        "stack": 8,
    }


def test_what_nvcc_said_is_an_entry_of_the_cache_like_all_others(tmp_path: Path) -> None:
    surveyed(fake_nvcc(tmp_path / "bin"), tmp_path / "cache")
    (entry,) = (tmp_path / "cache").iterdir()
    assert cache_folder.is_whole(entry)
    then = (tmp_path / "cache").stat().st_mtime - 31 * 24 * 3600
    os.utime(entry, (then, then))
    cache_folder.tidy.cache_clear()
    cache_folder.tidy(tmp_path / "cache")
    assert not entry.exists()


def test_another_text_is_surveyed_anew(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin")
    surveyed(compiler, tmp_path / "cache")
    architectures.survey(KERNEL, kernel(" C[0] = 1;"), compiler, FOUR, tmp_path / "cache")
    assert len(calls(compiler)) == 2


def test_one_architecture_that_fails_does_not_hide_the_others(tmp_path: Path) -> None:
    seen = surveyed(fake_nvcc(tmp_path / "bin", refuse="75"), tmp_path / "cache")
    old, *others = seen.compilations
    assert (old.problem, old.line, dict(old.resources)) == ("too old", 4, {})
    assert [one.resources["registers"] for one in others] == [80, 90, 100]


def test_an_nvcc_that_breaks_is_a_fault_of_the_machine(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin", "echo 'sh: 1: gcc: not found'; exit 1")
    with pytest.raises(GraderFault, match="not about your kernel"):
        surveyed(compiler, tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_compiler_is_ended_at_once_when_the_grading_ends(tmp_path: Path) -> None:
    stop = threading.Event()
    threading.Timer(0.2, stop.set).start()
    begin_s = time.monotonic()
    with pytest.raises(GraderFault, match="was stopped"):
        surveyed(fake_nvcc(tmp_path / "bin", "sleep 30"), tmp_path / "cache", stop=stop)
    assert time.monotonic() - begin_s < 10


def test_only_architectures_that_nvcc_knows_are_asked_for_and_the_courses_is_among_them() -> None:
    old = Nvcc(Path("nvcc"), (11, 8), Path("/"), "PATH", (75, 80, 89, 90))
    assert architectures.architectures(old, "sm_89") == ("sm_75", "sm_80", "sm_89", "sm_90")
    assert architectures.architectures(old, "sm_120") == ("sm_75", "sm_80", "sm_90")


def entries() -> tuple[Entry, ...]:
    good = an_entry()
    assert good.submission is not None
    rejected = replace(good.submission, text=good.submission.text + "int main() {}\n")
    return (
        good,
        replace(good, exercise=replace(good.exercise, name="03_padded"), submission=rejected),
        replace(good, exercise=replace(good.exercise, name="04_tuned"), state="not_started"),
    )


class Asked:
    """Answers for nvcc, and remembers for which exercises."""

    def __init__(self, fault: GraderFault | None = None, pause_s: float = 0.0) -> None:
        self.names: list[str] = []
        self._fault = fault
        self._pause_s = pause_s

    def __call__(
        self,
        exercise: Exercise,
        submission: Submission,
        compiler: Nvcc,
        names: Sequence[str],
        stop: threading.Event,
    ) -> Survey:
        self.names.append(exercise.name)
        stop.wait(self._pause_s)
        if self._fault:
            raise self._fault
        return Survey("nvcc 13.0", tuple(Compilation(name, FINE) for name in names))


NVCC = Nvcc(Path("nvcc"), (13, 0), Path("/"), "PATH", (75, 80, 90, 100))


def test_files_that_are_rejected_or_untouched_never_reach_nvcc() -> None:
    asked = Asked()
    results = Surveyor(entries(), TARGET, NVCC, asked).results()
    assert asked.names == list(results) == ["02_tiled"]
    assert results["02_tiled"]["target"] == "sm_90"
    assert set(results["02_tiled"]["architectures"]) == set(FOUR)


def test_a_fault_of_nvcc_costs_nothing() -> None:
    assert Surveyor(entries(), TARGET, NVCC, Asked(GraderFault("no gcc"))).results() == {}


def test_without_nvcc_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toolchain, "find_nvcc", lambda: None)
    assert Surveyor(entries(), TARGET).results() == {}
    assert list(note_lines({})) == list(table_lines({})) == []


def test_an_interrupted_grading_waits_for_no_compiler() -> None:
    asked = Asked(pause_s=30.0)
    surveyor = Surveyor((entries()[0],) * 3, TARGET, NVCC, asked)
    begin_s = time.monotonic()
    with pytest.raises(GraderFault), surveyor:
        raise GraderFault("too large to follow")
    assert time.monotonic() - begin_s < 10
    assert len(asked.names) <= 1
    surveyor.results()  # its thread has ended
    assert time.monotonic() - begin_s < 10


def test_an_interrupted_grading_does_not_wait_for_what_does_not_end() -> None:
    going_on = threading.Event()
    begun = threading.Semaphore(0)

    def deaf(exercise: Exercise, *_: Any) -> Survey:
        begun.release()
        if exercise.name != "01_naive":
            going_on.wait()
        return Survey("nvcc 13.0", ())

    last = entries()[0]
    first = replace(last, exercise=replace(last.exercise, name="01_naive"))
    surveyor = Surveyor((first, last), TARGET, NVCC, deaf, patience_s=0.01)
    begun.acquire()
    begun.acquire()  # the first one is known
    assert list(surveyor.stop()) == ["01_naive"]
    going_on.set()
    assert set(surveyor.results()) == {"01_naive", "02_tiled"}


def test_a_grading_keeps_what_nvcc_said_and_one_shape_does_not_ask(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(grading, "Crew", lambda *_: SimpleNamespace(run=lambda listener: None))
    monkeypatch.setattr(
        grading, "Surveyor", lambda found, target: Surveyor(found, target, NVCC, Asked())
    )
    plan = a_plan(an_entry())
    whole = grading.grade(plan, ("simulator",), TARGET, Ledger())
    assert set(whole.ledger.builds["02_tiled", "nvcc"]["architectures"]) == set(FOUR)
    one = grading.grade(replace(plan, shape=Shape(3, 3, 3)), ("simulator",), TARGET, Ledger())
    assert one.ledger.builds == {}


def test_a_kernel_that_is_fine_everywhere_gets_no_line() -> None:
    assert told(facts(*(Compilation(name, FINE) for name in FOUR))) == ""


def test_spills_are_one_line_that_names_every_gpu_with_its_bytes() -> None:
    spilled = (Compilation("sm_75", {**FINE, "spill": 2320}), Compilation("sm_90", FINE))
    text = told(facts(*spilled, Compilation("sm_100", {**FINE, "spill": 16})))
    assert "registers spill on sm_75 (2,320 bytes), sm_100 (16 bytes)" in text
    assert "sm_90" not in text


def test_another_gpu_that_cannot_have_the_kernel_is_a_note_and_costs_nothing() -> None:
    text = told(
        facts(Compilation("sm_75", problem="no cp.async", line=7), Compilation("sm_90", FINE))
    )
    assert "does not compile for sm_75: no cp.async (line 7). This costs nothing" in text
    assert text.endswith("the course's GPU is sm_90.")


def test_what_does_not_compile_for_the_courses_gpu_is_left_to_the_check() -> None:
    broken = (Compilation(name, problem="expected a ;", line=3) for name in FOUR)
    assert told(facts(*broken)) == ""


def test_the_table_has_a_row_for_every_architecture() -> None:
    rows = [
        line.text
        for line in table_lines(
            facts(Compilation("sm_80", {**FINE, "spill": 40}), Compilation("sm_75", problem="no"))
        )
    ]
    assert "nvcc 13.0" in rows[1]
    assert rows[3].split() == ["sm_80", "32", "8,192", "40"]
    assert rows[4].split(maxsplit=1) == ["sm_75", "does not compile: no"]


@needs_nvcc
def test_nvcc_itself_reports_every_architecture_and_the_line_of_an_error(tmp_path: Path) -> None:
    compiler = toolchain.nvcc()
    names = architectures.architectures(compiler, "sm_90")
    body = "#if __CUDA_ARCH__ < 800\n#error too old\n#endif\n  C[0] = A[0];"
    seen = architectures.survey(KERNEL, submission(kernel(body).text), compiler, names, tmp_path)
    for one in seen.compilations:
        if nvcc.capability(one.architecture) < (8, 0):
            assert (one.problem, one.line) == ("#error too old", 5)
        else:
            assert one.resources["registers"] > 0


@needs_nvcc
def test_inspect_lists_every_architecture(capsys: pytest.CaptureFixture[str]) -> None:
    solution = PROJECT / "exercises" / "02_tiled" / "solution.cu"
    words = ["inspect", str(solution), "--exercise", "tiled", "--shape", "32x32x32", "--plain"]
    assert cli.main(words) == cli.OK
    told = capsys.readouterr().out
    assert "Compiled by nvcc" in told
    for name in FOUR:
        assert f"  {name} " in told


def test_what_nvcc_said_has_its_place_in_the_schema() -> None:
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    place = jsonschema.Draft202012Validator({**schema["$defs"]["nvcc"], "$defs": schema["$defs"]})
    place.validate(facts(Compilation("sm_75", problem="no", line=3), Compilation("sm_90", FINE)))
    assert not place.is_valid({"compiler": "nvcc 13.0", "target": "sm_90", "architectures": 4})
