"""Compiling with nvcc: the cache, the limits, and an nvcc that is too old. Most of these run
with a script in the place of nvcc.
"""

from __future__ import annotations

import shutil
import threading
from pathlib import Path

import pytest

from grader import fence, toolchain, tree
from grader.finding import GraderFault, KernelFault
from grader.gpu import architectures, inspection, nvcc, ptx
from grader.settings import PROJECT
from grader.tests.gpu_samples import EXERCISE, RECURSIVE, kernel, submission
from grader.toolchain import Nvcc
from grader.verdict import Verdict

needs_nvcc = pytest.mark.skipif(toolchain.find_nvcc() is None, reason="needs nvcc")

GRADER = PROJECT / "grader"
TILED = kernel("  C[0] = A[0];")

# Answers as nvcc does; compiles by copying, counts its calls in the file `calls` beside itself.
FAKE_NVCC = """#!/bin/sh
here=$(dirname "$0")
case "$1" in
--version) echo "Cuda compilation tools, release {release}, V{release}.1"; exit 0 ;;
--list-gpu-code) printf 'sm_80\\n{newest}\\n'; exit 0 ;;
--dryrun) exit 0 ;;
esac
echo call >> "$here/calls"
{behaviour}
while [ $# -gt 1 ]; do
  case "$1" in --keep-dir) keep=$2 ;; -o) out=$2 ;; esac
  shift
done
cp "$1" "$out"; echo "// no code" > "$keep/kernel.ptx"; echo "ptxas info : none"
"""


def fake_nvcc(
    folder: Path, behaviour: str = ":", release: str = "13.0", newest: str = "sm_90"
) -> Nvcc:
    folder.mkdir(parents=True, exist_ok=True)
    script = folder / "nvcc"
    script.write_text(FAKE_NVCC.format(behaviour=behaviour, release=release, newest=newest))
    script.chmod(0o755)
    found = toolchain.find_nvcc({"PATH": f"{folder}:/usr/bin:/bin"})
    assert found is not None
    assert found.path == script
    return found


@pytest.fixture(autouse=True)
def _no_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind it no program may write beside itself."""
    monkeypatch.setattr(fence, "around", lambda command, folder: [])


def calls(compiler: Nvcc) -> int:
    log = compiler.path.parent / "calls"
    return len(log.read_text().splitlines()) if log.exists() else 0


def test_the_same_text_is_compiled_once(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "a folder")
    first = nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    second = nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    assert first == second
    assert calls(compiler) == 1
    assert TILED.text in first.cubin.read_text()
    assert first.log == "ptxas info : none\n"


def test_another_text_architecture_or_nvcc_is_compiled_anew(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "one")
    newer = fake_nvcc(tmp_path / "two", release="13.1")
    folders = {
        nvcc.compile_submission(text, tool, architecture, tmp_path / "cache").folder
        for text, tool, architecture in [
            (TILED, compiler, "sm_90"),
            (kernel("  C[0] = B[0];"), compiler, "sm_90"),
            (TILED, compiler, "sm_80"),
            (TILED, newer, "sm_90"),
        ]
    }
    assert len(folders) == 4


def test_a_changed_header_is_compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = fake_nvcc(tmp_path / "bin")
    include = tmp_path / "include"
    include.mkdir()
    monkeypatch.setattr(nvcc, "INCLUDE", include)
    for text in ("// one", "// two"):
        (include / "launch.cuh").write_text(text)
        nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    assert calls(compiler) == 2


@pytest.mark.parametrize("name", ["NVCC_APPEND_FLAGS", "NVCC_PREPEND_FLAGS", "NVCC_CCBIN"])
def test_what_nvcc_obeys_in_the_environment_is_compiled_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    compiler = fake_nvcc(tmp_path / "bin")
    for value in ("", "-maxrregcount=16", ""):
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name, raising=False)
        nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    assert calls(compiler) == 2


def test_a_stricter_rule_reaches_what_was_compiled_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = tmp_path / "rules"
    rules.mkdir()
    keys = set()
    for text in ("# lenient", "# strict"):
        (rules / "inspection.py").write_text(text)
        monkeypatch.setattr(nvcc, "_rules", lambda: tree.digest(rules))
        keys.add(nvcc.key(TILED, fake_nvcc(tmp_path / "bin"), ()))
    assert len(keys) == 2
    monkeypatch.undo()
    assert nvcc._rules() == tree.digest(GRADER / "source", GRADER / "gpu")


def test_the_survey_of_other_flags_is_another_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = fake_nvcc(tmp_path / "bin")
    for flags in (("-std=c++17",), ("-std=c++17", "-maxrregcount=32")):
        monkeypatch.setattr(architectures, "_FLAGS", flags)
        architectures.survey("k", TILED, compiler, ("sm_90",), tmp_path / "cache")
    assert len(list((tmp_path / "cache").glob("*/survey.json"))) == 2


def test_gradings_at_the_same_time_share_the_cache(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin", "sleep 0.3")
    results: list[nvcc.Compiled] = []

    def grade() -> None:
        results.append(nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache"))

    threads = [threading.Thread(target=grade) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [results[0].folder.name]


def test_half_an_entry_is_mended(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin")
    entry = nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    entry.cubin.unlink()
    assert nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache").cubin.exists()


def test_a_failure_leaves_nothing_in_the_cache(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin", 'echo "starter/02_tiled.cu(3): error: no"; exit 1')
    with pytest.raises(KernelFault) as raised:
        nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    assert raised.value.findings[0].verdict is Verdict.COMPILE_ERROR
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_compiler_that_never_ends_is_ended(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin", "sleep 600")
    with pytest.raises(KernelFault) as raised:
        nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache", limit_s=0.3)
    assert "0.3 s" in raised.value.findings[0].facts["message"]


@needs_nvcc
def test_the_course_may_lie_in_a_folder_with_a_comma_and_a_quote(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    course = tmp_path / "Smith, Jane's (ä)"
    shutil.copytree(nvcc.INCLUDE, course / "include")
    monkeypatch.setattr(nvcc, "INCLUDE", course / "include")
    compiler = toolchain.find_nvcc()
    assert compiler is not None
    compiled = nvcc.compile_submission(TILED, compiler, "sm_90", course / "cache")
    assert (compiled.folder / "kernel.cubin").is_file()
    found = architectures.survey(
        EXERCISE.kernel, TILED, compiler, ("sm_80", "sm_90"), course / "cache"
    )
    assert [one.problem for one in found.compilations] == ["", ""]


def test_an_nvcc_older_than_the_gpu_is_named(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin", release="11.4", newest="sm_86")
    with pytest.raises(GraderFault, match=r"nvcc 11\.4 .*does not know sm_89") as raised:
        nvcc.compile_submission(TILED, compiler, "sm_89", tmp_path / "cache")
    assert "not about your kernel" in str(raised.value)


def test_an_nvcc_that_breaks_is_not_the_students_fault(tmp_path: Path) -> None:
    compiler = fake_nvcc(tmp_path / "bin", "echo 'sh: 1: gcc: not found'; exit 1")
    with pytest.raises(GraderFault, match=r"gcc: not found.*not about your kernel"):
        nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")


def test_an_nvcc_that_breaks_at_this_text_alone_blames_the_text(tmp_path: Path) -> None:
    at_any_text = "if [ -s kernel.cu ]; then echo 'nvcc gave up, in words of its own'; exit 1; fi"
    compiler = fake_nvcc(tmp_path / "nvcc", behaviour=at_any_text)
    with pytest.raises(KernelFault) as raised:
        nvcc.compile_submission(TILED, compiler, "sm_90", tmp_path / "cache")
    assert raised.value.findings[0].kind == "compile_gave_up"


def test_a_cache_that_cannot_be_written_is_not_the_students_fault(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file in its place")
    with pytest.raises(GraderFault, match="cache folder .* cannot be written"):
        nvcc.compile_submission(TILED, fake_nvcc(tmp_path / "bin"), "sm_90", tmp_path / "cache")


@needs_nvcc
class TestWithNvcc:
    """What nvcc itself says; compiled for the oldest architecture that every release knows."""

    def findings(self, text: str, tmp_path: Path) -> list[tuple[str, dict[str, object], list[int]]]:
        found = nvcc.check_compiles(EXERCISE, submission(text), "sm_80", tmp_path)
        return [(f.kind, dict(f.facts), [place.line for place in f.locations]) for f in found]

    def test_a_right_submission_compiles(self, tmp_path: Path) -> None:
        assert nvcc.check_compiles(EXERCISE, TILED, "sm_80", tmp_path) == ()

    def test_an_error_is_told_with_its_line(self, tmp_path: Path) -> None:
        [(kind, facts, lines)] = self.findings(kernel("  C[0] = nothing;").text, tmp_path)
        assert (kind, facts["message"], lines) == (
            "compile_error",
            'identifier "nothing" is undefined',
            [4],
        )

    def test_a_text_that_ends_too_early_is_the_students(self, tmp_path: Path) -> None:
        text = f"{TILED.text}__device__ int forgotten"
        (found,) = nvcc.check_compiles(EXERCISE, submission(text), "sm_90", tmp_path)
        assert found.kind == "compile_error"
        assert found.facts["message"] == 'expected a ";"'

    def test_swapped_parameters_are_a_wrong_signature(self, tmp_path: Path) -> None:
        text = TILED.text.replace("const float *B, float *C", "float *C, const float *B")
        [(kind, facts, lines)] = self.findings(text, tmp_path)
        assert (kind, lines) == ("wrong_signature", [3])
        assert facts == {
            "kernel": "matmul_tiled",
            "found": "matmul_tiled(const float*, float*, const float*, int, int, int)",
            "expected": "matmul_tiled(const float*, const float*, float*, int, int, int)",
        }

    def test_a_misspelt_kernel_is_missing_and_what_is_there_is_named(self, tmp_path: Path) -> None:
        [(kind, facts, lines)] = self.findings(TILED.text.replace("tiled", "tield"), tmp_path)
        assert (kind, facts) == (
            "missing_kernel",
            {"kernel": "matmul_tiled", "found": ["matmul_tield"]},
        )
        assert lines == [3]

    def test_a_submission_without_configuration_is_told_so(self, tmp_path: Path) -> None:
        text = TILED.text[: TILED.text.index("LAUNCH_CONFIG")]
        assert self.findings(text, tmp_path) == [("missing_config", {}, [5])]

    def test_tensor_cores_are_rejected_with_the_line(self, tmp_path: Path) -> None:
        body = (
            "  float c[4] = {}; unsigned a = M, b = N;\n  asm volatile("
            '"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 '
            '{%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"\n'
            '  : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]) : "r"(a), "r"(b));\n  C[0] = c[0];'
        )
        [(kind, facts, lines)] = self.findings(kernel(body).text, tmp_path)
        assert (kind, facts) == ("tensor_cores", {"what": "mma.sync"})
        assert lines[0] in range(5, 8)

    def test_more_than_a_mebibyte_of_variables_is_rejected(self, tmp_path: Path) -> None:
        text = kernel(
            "  big[M] = A[0]; C[0] = big[N];", before="__device__ float big[300000];"
        ).text
        [(kind, facts, _)] = self.findings(text, tmp_path)
        assert (kind, facts) == ("device_variables", {"bytes": 1200000, "limit": 1 << 20})

    def test_too_much_static_shared_memory_is_a_bad_launch(self, tmp_path: Path) -> None:
        body = "  __shared__ float s[20000]; s[M] = A[0]; __syncthreads(); C[0] = s[N];"
        [(kind, facts, lines)] = self.findings(kernel(body).text, tmp_path)
        assert (kind, facts["value"], facts["limit"]) == ("too_much_static_shared", 80000, 49152)
        assert lines == [3]

    def test_a_kernel_that_calls_itself_is_seen(self, tmp_path: Path) -> None:
        calling = kernel("  C[0] = f(A, M);", before=RECURSIVE)
        done = nvcc.compile_submission(calling, toolchain.nvcc(), "sm_80", tmp_path)
        assert ptx.recursive(done.ptx)
        plain = nvcc.compile_submission(TILED, toolchain.nvcc(), "sm_80", tmp_path)
        assert not ptx.recursive(plain.ptx)

    def test_the_configuration_and_the_resources_are_read_from_the_cubin(
        self, tmp_path: Path
    ) -> None:
        text = kernel(
            "  __shared__ float s[100]; s[M] = A[0]; __syncthreads(); C[0] = s[N];",
            ".block_x = 32, .block_y = 8, .tile_m = 8, .tile_n = 32, .dynamic_shared = 4 * 16",
        )
        done = nvcc.compile_submission(text, toolchain.nvcc(), "sm_80", tmp_path)
        seen = inspection.inspect(EXERCISE, text, done.cubin, done.ptx, done.log)
        assert seen.config is not None
        assert tuple(vars(seen.config).values()) == (32, 8, 8, 32, 1, 64)
        assert seen.resources["static_shared"] == 400
        assert seen.resources["registers"] > 0
        assert seen.resources["spill"] == 0
