"""`make sweep`: which constants, which variants, which lines; and what becomes of each variant."""

from __future__ import annotations

import io
import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader import cli, toolchain
from grader.bench.progress import silent
from grader.bench.report import Machine
from grader.checks.plan import Entry
from grader.device import Build, LaunchConfig
from grader.exercise import PROJECT, Exercise, find, load_all
from grader.finding import GraderFault
from grader.gpu import nvcc
from grader.problems.matmul import Shape
from grader.submission import Submission
from grader.sweep import table
from grader.sweep.constants import blanked, constants, launch_config, override, tile_constants
from grader.sweep.measurement import (
    MeasuredVariant,
    best,
    common_shape,
    measure,
    memory_cycles,
    name,
)
from grader.sweep.variants import (
    MOST,
    Variant,
    read_values,
    unrolled,
    usual_values,
    variants,
)
from grader.tests.fake_device import SYNTAX, TARGET, FakeDevice, an_entry, right, wrong_at
from grader.tests.fake_stopwatch import FakeStopwatch, TimedDevice

FILE = """#include "launch.cuh"
// constexpr int OLD = 4;
constexpr int TILE = 16;  // the tile
#define PAD 1 /* words */
static constexpr unsigned int DEPTH = TILE / 2, STEPS = 0x4;
const int ROWS{2};
__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    constexpr int inner = 3;
    const char *text = "constexpr int FAKE = 1;";
    for (int k0 = 0; k0 < K; k0 += TILE) {
        __syncthreads();
#pragma unroll 4
        for (int k = 0; k < TILE; ++k) C[0] += A[k];
        for (int k = 0; k < TILE; ++k) { C[0] += A[k]; }  // for good
    }
}
LAUNCH_CONFIG(.block_x = TILE, .block_y = TILE, .tile_m = TILE * STEPS, .tile_n = 2 * DEPTH);
"""
SOLUTIONS = [exercise for exercise in load_all(PROJECT) if exercise.graded]


def submission(text: str = FILE) -> Submission:
    return Submission("starter/02_tiled.cu", Path("starter/02_tiled.cu"), text, "0" * 64)


def solution(exercise: Exercise) -> Submission:
    return submission((exercise.folder / "solution.cu").read_text(encoding="utf-8"))


def test_file_scope_constants_and_macros_are_found_and_nothing_else() -> None:
    found = {one.name: (one.value, one.number) for one in constants(FILE)}
    assert found == {
        "TILE": ("16", 16),
        "PAD": ("1", 1),
        "DEPTH": ("TILE / 2", None),
        "STEPS": ("0x4", 4),
    }


def test_an_override_changes_one_value_and_no_line() -> None:
    text = override(FILE, {"TILE": 8, "PAD": 0, "STEPS": 12})
    assert "constexpr int TILE = 8;  // the tile" in text
    assert "#define PAD 0 /* words */" in text
    assert "DEPTH = TILE / 2, STEPS = 12;" in text
    assert text.count("\n") == FILE.count("\n")
    spread = "constexpr int A = 1 +\n    2;\nint x;\n"
    assert override(spread, {"A": 5}) == "constexpr int A = 5\n;\nint x;\n"


def test_comments_and_literals_are_blank_and_keep_their_places() -> None:
    code = blanked(FILE)
    assert len(code) == len(FILE)
    assert "OLD" not in code
    assert "FAKE" not in code
    assert code.index("TILE = 16") == FILE.index("TILE = 16")


@pytest.mark.parametrize(
    "before",
    [
        "constexpr int A = 1'024;  // it's the depth",
        """constexpr int A = 1024;  // a "quote""",
        """#define TEXT R"x(" constexpr int B = 7;)x"\nconstexpr int A = 0x400;""",
        "struct S <% int x; %>; constexpr int A = 1'0'2'4;",
    ],
)
def test_quotes_hide_no_code_that_follows_them(before: str) -> None:
    text = f"{before}\nconstexpr int B = 2;  // don't\nconstexpr int C = 3;\n"
    assert {one.name: one.number for one in constants(text)} == {"A": 1024, "B": 2, "C": 3}
    changed = override(text, {"A": 512, "B": 5})
    assert constants(changed)[0].number == 512
    assert changed.endswith("constexpr int B = 5;  // don't\nconstexpr int C = 3;\n")


def test_a_macro_that_goes_on_in_the_next_line_is_left_alone() -> None:
    assert (
        constants("#define A 1 \\\n    + 2\n#define B 1 \\  \n + 2\n#define C 3\n")[0].name == "C"
    )


def test_the_tile_comes_from_the_plain_numbers_behind_launch_config() -> None:
    assert [one.name for one in tile_constants(FILE)] == ["TILE", "STEPS"]
    by_position = "constexpr int T = 8;\nLAUNCH_CONFIG(32, 8, T, (2 * T), 1);\n"
    assert launch_config(by_position)["tile_n"] == "(2 * T)"
    assert [one.name for one in tile_constants(by_position)] == ["T"]
    assert tile_constants("LAUNCH_CONFIG(16, 16, 16, 16);\n") == ()
    circular = "#define A B\n#define B A\nLAUNCH_CONFIG(1, 1, A, B);\n"
    assert tile_constants(circular) == ()


@pytest.mark.parametrize("exercise", SOLUTIONS, ids=lambda exercise: exercise.name)
def test_every_solution_has_constants_to_sweep(exercise: Exercise) -> None:
    file = solution(exercise)
    tried = variants(file, usual_values(file), unrolling=True)
    assert len(tried) > 3
    assert tried[0].original
    assert tried[0].submission is file
    assert len({one.submission.text for one in tried}) == len(tried)
    for one in tried:
        assert one.submission.text.count("\n") == file.text.count("\n")


def test_a_file_without_a_constant_is_told_what_to_write() -> None:
    with pytest.raises(GraderFault, match="Next: use one, or name another constant: SWEEP="):
        usual_values(submission("LAUNCH_CONFIG(16, 16, 16, 16);\n"))


def test_values_are_read_and_slips_are_named() -> None:
    assert read_values("TILE=8,16,8 PAD=0x1", submission()) == {"TILE": (8, 16), "PAD": (1,)}
    assert read_values("", submission()) == {}
    with pytest.raises(GraderFault, match='no constant TILES. Did you mean "TILE"'):
        read_values("TILES=8", submission())
    with pytest.raises(GraderFault, match="not of the form NAME=8,16,32"):
        read_values("TILE=a few", submission())


def test_small_tiles_get_the_usual_sizes_and_large_ones_half_and_double() -> None:
    assert usual_values(submission("constexpr int T = 24;\nLAUNCH_CONFIG(1, 1, T, T);")) == {
        "T": (8, 16, 24, 32)
    }
    assert usual_values(submission("constexpr int T = 96;\nLAUNCH_CONFIG(1, 1, T, T);")) == {
        "T": (48, 96, 192)
    }


def test_all_combinations_are_tried_once() -> None:
    values = {"TILE": (8, 16), "PAD": (0, 1)}
    tried = variants(submission(), values, unrolling=False)
    assert [dict(one.values) for one in tried] == [
        {"TILE": 16, "PAD": 1},  # as it is
        {"TILE": 8, "PAD": 0},
        {"TILE": 8, "PAD": 1},
        {"TILE": 16, "PAD": 0},
    ]
    assert len(variants(submission(), values, unrolling=True)) == 9
    with pytest.raises(GraderFault, match=f"more than the {MOST} that are tried"):
        variants(submission(), {"TILE": range(1, 70)}, unrolling=False)


def test_unrolling_marks_inner_loops_alone_and_off_stops_every_loop() -> None:
    on = unrolled(FILE, "on").splitlines()
    assert on[12] == "        for (int k = 0; k < TILE; ++k) C[0] += A[k];"  # has its own pragma
    assert on[13].startswith('        _Pragma("unroll") for (int k')
    assert on[13].endswith("// for good")
    assert on[9].startswith("    for (int k0")  # around a barrier and other loops
    off = unrolled(FILE, "off")
    assert off.count('_Pragma("unroll 1") for (') == 3
    assert "#pragma unroll 4" not in off
    assert off.count("\n") == FILE.count("\n")
    assert unrolled(FILE, "as is") == FILE


def test_a_loop_that_calls_a_function_of_the_file_is_no_inner_loop() -> None:
    text = "__device__ void step(float *x) {}\nvoid f() { for (;;) step(x); for (;;) y(); }\n"
    assert unrolled(text, "on").count("_Pragma") == 1


def test_what_stands_in_literals_and_comments_makes_no_outer_loop() -> None:
    text = 'void f() { for (;;) { puts("for (;;)"); /* for */ y(2); } for (;;) { { } z(); } }\n'
    assert unrolled(text, "on").count("_Pragma") == 2


@pytest.mark.skipif(toolchain.find_nvcc() is None, reason="needs nvcc")
def test_nvcc_obeys_the_pragmas(tmp_path: Path) -> None:
    file = solution(find(SOLUTIONS, "tiled"))
    sizes = {}
    for kind in ("on", "off"):
        text = replace(file, text=unrolled(file.text, kind))
        done = nvcc.compile_submission(text, toolchain.nvcc(), "sm_80", tmp_path)
        sizes[kind] = done.ptx.count("fma.rn.f32")
    assert sizes["off"] == 1
    assert sizes["on"] == 32


def test_all_variants_are_counted_at_one_shape_where_that_is_small_enough() -> None:
    configs = [LaunchConfig(t, t, t, t, t) for t in (8, 16, 24)]
    shape = common_shape(configs)
    assert shape is not None
    assert all(size % 48 == 0 for size in shape)
    assert common_shape([*configs, LaunchConfig(1, 1, 509, 509)]) is None
    assert common_shape([]) is None


class ByTile(FakeDevice):
    """A simulator whose builds have the tile that the text says; some tiles are refused."""

    def build(self, exercise: Exercise, submission: Submission) -> Build:
        tile = next(one.number for one in constants(submission.text) if one.name == "TILE")
        assert tile is not None
        self.refuse = (SYNTAX,) if tile == 5 else ()
        made = super().build(exercise, submission)
        return replace(made, config=None if self.refuse else LaunchConfig(8, 8, tile, tile, 8))


def tried(
    values: dict[str, tuple[int, ...]], unrolling: bool = False
) -> tuple[Entry, tuple[Variant, ...]]:
    entry = an_entry()
    text = FILE.replace("__syncthreads();", "")
    file = replace(submission(text), text=text)
    return replace(entry, submission=file), variants(file, values, unrolling)


def swept(
    machine: Machine, values: dict[str, tuple[int, ...]], **more: Any
) -> tuple[MeasuredVariant, ...]:
    entry, found = tried(values, **more)
    return measure(entry, found, machine, Shape(2048, 2048, 2048), 1, silent)


def shown(
    rows: tuple[MeasuredVariant, ...], timed: bool, plain: bool = True, width: int = 120
) -> str:
    screen = Console(width=width, record=True, file=io.StringIO())
    found = table.Sweep("starter/02_tiled.cu", Shape(2048, 2048, 2048), rows, timed, timed)
    table.print_sweep(found, screen, plain)
    return screen.export_text()


def timing(seconds: Callable[[LaunchConfig], float]) -> TimedDevice:
    class Device(TimedDevice, ByTile):
        pass

    def make(build: Build, shape: Shape) -> FakeStopwatch:
        assert build.config is not None
        return FakeStopwatch(shape, speedup=0.01 / seconds(build.config), baseline_s=0.01)

    return Device(make=make)


def test_variants_that_do_not_compile_or_are_wrong_are_shown_as_such() -> None:
    def wrong_for_four(build: Build, launch: Any, number: int) -> Any:
        assert build.config is not None
        behave = wrong_at(lambda shape: True) if build.config.tile_m == 4 else right
        return behave(build, launch, number)

    rows = swept(Machine(TARGET, ByTile(wrong_for_four)), {"TILE": (4, 5, 8)})
    assert [row.problem for row in rows] == ["", "wrong: wrong answer", "does not compile", ""]
    assert rows[2].detail == "expected ;"
    text = shown(rows, timed=False)
    assert "TILE=5, unroll as is: does not compile" in text
    assert "TILE=5, unroll as is: expected ;" in text


def test_the_fastest_is_the_best_and_the_file_as_it_is_is_named() -> None:
    gpu = timing(lambda config: 0.001 * abs(config.tile_m - 8) + 0.001)
    rows = swept(Machine(TARGET, ByTile(), gpu), {"TILE": (8, 16, 24)})
    (winner,) = best(rows)
    assert dict(winner.variant.values) == {"TILE": 8}
    text = shown(rows, timed=True)
    best_line, now_line = (
        next(line for line in text.splitlines() if word in line)
        for word in ("; best", "as it is now")
    )
    assert best_line.startswith("TILE=8, unroll as is: time ")
    assert now_line.startswith("TILE=16")
    assert "counters only" not in text


def test_without_a_gpu_bank_conflicts_outweigh_a_few_bytes() -> None:
    rows = swept(Machine(TARGET, ByTile()), {"TILE": (8, 16)})
    one, other = rows
    assert one.counted is not None
    assert other.counted is not None
    lines = tuple(
        replace(line, wavefronts=32 * line.wavefronts) if line.space == "shared" else line
        for line in one.counted.counters.lines
    )
    worse = replace(one.counted, counters=replace(one.counted.counters, lines=lines))
    assert memory_cycles(worse) > 10 * memory_cycles(other.counted)
    assert best((replace(one, counted=worse), other)) == (other,)
    text = shown(rows, timed=False)
    assert "fewest cycles" in text
    assert "best" not in text
    assert "an estimate: a GPU can time them in another order." in " ".join(text.split())
    assert "There is no GPU here to time them on: counters only." in text
    assert "Unrolling is left out" in text
    assert "bytes a FMA" in text
    assert "GFLOP/s" not in text


def test_no_variant_that_works_is_no_best() -> None:
    row = swept(Machine(TARGET, ByTile()), {"TILE": (5,)})[1]
    assert best((row,)) == ()


@pytest.mark.parametrize("width", [120, 60])
def test_the_table_fits_or_becomes_lines(width: int) -> None:
    gpu = timing(lambda config: 0.002)
    rows = swept(Machine(TARGET, ByTile(), gpu), {"TILE": (8, 16), "PAD": (0, 1)}, unrolling=True)
    text = shown(rows, timed=True, plain=False, width=width)
    assert "…" not in text
    assert ("TILE=8, PAD=0, unroll on:" in text) == (width == 60)
    assert text.count("as it is now") == 1


def test_every_variant_has_a_name() -> None:
    _, found = tried({"TILE": (8,)}, unrolling=True)
    assert [name(one) for one in found] == [
        "TILE=16, unroll as is",
        "TILE=8, unroll on",
        "TILE=8, unroll off",
    ]


def test_json_holds_every_variant_and_the_best(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "--exercise", "padded", "--solutions", "--device", "simulator"]
    values = ["--values", "TILE=16,64", "--no-unrolling"]
    assert cli.main([*words, *values, "--json"]) == cli.OK
    data = json.loads(capsys.readouterr().out)
    original, smaller, larger = data["variants"]
    assert (original["original"], original["best"], smaller["best"]) == (True, True, False)
    assert (larger["problem"], larger["seconds"]) == ("bad launch", None)
    assert smaller["counters"]["bank_conflicts"] > original["counters"]["bank_conflicts"] == 0


def test_a_variant_of_a_solution_compiles_with_the_simulators_compiler_without_warnings(
    tmp_path: Path,
) -> None:
    compiler = toolchain.host_compiler()
    probe = tmp_path / "probe.cpp"
    probe.write_text(
        "int f(int n) { int s = 0; " + unrolled("for (;s < n;) ++s;", "off") + " return s; }"
    )
    done = subprocess.run(
        [*compiler.command, "-c", str(probe), "-o", str(tmp_path / "probe.o")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_exercise_must_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sweep"]) == cli.ERROR
    assert "make sweep EX=tiled" in capsys.readouterr().err
