"""`inspect`: any kernel's memory traffic line by line, its faults, and pictures of requests."""

from __future__ import annotations

import functools
import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from grader import cli
from grader.counters import Request
from grader.exercise import load_all
from grader.finding import GraderFault
from grader.inspect import picture, warp
from grader.inspect.arguments import bind, parse
from grader.inspect.expression import evaluate
from grader.inspect.marks import degree, reason
from grader.settings import PROJECT
from grader.simulator.signature import Parameter, Signature
from grader.submission import Submission
from grader.tests.simulated import device

KERNELS = Path(__file__).parent / "kernels"
PADDED = (PROJECT / "exercises" / "03_padded" / "solution.cu").read_text(encoding="utf-8")
Entry = Mapping[str, Any]
# One test holds clang++ to the counts of g++; the others with it are left to `make check-all`.
compilers = pytest.mark.parametrize(
    "family", ["g++", pytest.param("clang++", marks=pytest.mark.long)]
)


@functools.cache
def inspected(*words: str) -> tuple[int, str]:
    """Exit status and output of one call."""
    from contextlib import redirect_stdout
    from io import StringIO

    with redirect_stdout(StringIO()) as output:
        status = cli.main(["inspect", *words])
    return status, output.getvalue()


def data(*words: str) -> dict[str, Any]:
    _status, output = inspected(*words, "--json")
    found: dict[str, Any] = json.loads(output)
    return found


def kernel(name: str, kernel: str, family: str, *words: str) -> dict[str, Any]:
    """A kernel of this folder, found to be without fault."""
    device(family)  # skips where there is no such compiler
    file = str(KERNELS / f"{name}.cu")
    found = data(file, "--kernel", kernel, "--compiler", family, *words)
    assert found["findings"] == found["notes"] == []
    return found


def entry(found: Entry, access: str, name: str) -> dict[str, Any]:
    """The only line with this access to this array."""
    lines = [e for e in found["counters"]["lines"] if (e["access"], e["name"]) == (access, name)]
    assert len(lines) == 1, lines
    line: dict[str, Any] = lines[0]
    return line


def marked(found: Entry) -> list[tuple[int, str, str]]:
    lines = found["counters"]["lines"]
    return [(e["line"], e["name"], e["mark"]["title"]) for e in lines if e["mark"]]


@pytest.fixture
def unpadded(tmp_path: Path) -> Path:
    path = tmp_path / "unpadded.cu"
    path.write_text(PADDED.replace("[TILE + 1]", "[TILE]"), encoding="utf-8")
    return path


def line_of(text: str, code: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if code in line)


@compilers
def test_the_unpadded_tile_is_marked_where_a_warp_reads_its_column(
    unpadded: Path, family: str
) -> None:
    device(family)
    words = ("--exercise", "padded", "--shape", "97x97x97", "--compiler", family, str(unpadded))
    found = data(*words)
    line = line_of(PADDED, "Bs[tx][k]")
    assert marked(found) == [(line, "Bs", "32-way bank conflict")]
    (read,) = (e for e in found["counters"]["lines"] if e["mark"])
    assert (read["access"], read["bank_conflicts"]) == ("load", 2_031_616)  # measured on an H200
    assert read["merged_wavefronts"] - read["merged_ideal_wavefronts"] == 458_752  # this, too
    status, shown = inspected(*words)
    assert status == 0
    assert f">>{line:>5}  sum += As[ty][k] * Bs[tx][k];" in shown
    assert shown.endswith("Values are not checked: make test EX=padded does that.\n")
    assert "32 lanes want 32 words of bank 0: neighbouring lanes are 32 words apart." in shown


@pytest.mark.parametrize("name", ["01_naive", "02_tiled", "03_padded", "04_tuned"])
def test_nothing_is_marked_in_a_solution(name: str) -> None:
    file = str(PROJECT / "exercises" / name / "solution.cu")
    # Where K and N are no multiples of 4, 04 loads and stores word by word, and that costs sectors.
    shapes: list[tuple[str, ...]] = [(), ("--shape", "97x97x97" if name < "04" else "100x100x100")]
    for shape in shapes:
        found = data("--exercise", name, *shape, file)
        assert marked(found) == found["findings"] == found["notes"] == []
        assert inspected("--exercise", name, *shape, file)[0] == 0


SUBMISSIONS = Path(__file__).parent / "submissions"


@pytest.mark.parametrize(
    "name",
    [
        "01_naive/accepted/one_dimensional_block",
        "01_naive/accepted/registers_only_4x4",  # two rows of A in a warp: two sectors
        "02_tiled/accepted/four_rows_a_thread",
        "03_padded/accepted/padded_17",  # each store meets one conflict
        "03_padded/accepted/xor_swizzle",
    ],
)
def test_healthy_kernels_are_not_marked(name: str) -> None:
    file = str(SUBMISSIONS / f"{name}.cu")
    assert marked(data("--exercise", name[:2], file)) == []


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("01_naive/uncoalesced/threads_down_the_columns", ["uncoalesced", "uncoalesced"]),
        ("03_padded/uncoalesced/b_loaded_down_its_columns", ["uncoalesced"]),
        ("03_padded/bank_conflicts/no_padding", ["32-way bank conflict"]),
    ],
)
def test_wasteful_kernels_are_marked(name: str, titles: list[str]) -> None:
    file = str(SUBMISSIONS / f"{name}.cu")
    assert [title for _, _, title in marked(data("--exercise", name[:2], file))] == titles


def test_every_solution_agrees_with_the_counters_of_the_check() -> None:
    """Intensity and totals come from the same launch that `efficient` judges."""
    found = data("--exercise", "tiled", str(PROJECT / "exercises/02_tiled/solution.cu"))
    totals, (m, n, k) = found["counters"]["totals"], found["shape"]
    assert totals["bytes_moved"] == 32 * totals["global"]["sectors"]
    assert totals["arithmetic_intensity"] == 2 * m * n * k / totals["bytes_moved"]
    assert totals["shared"]["bank_conflicts"] == 0


@compilers
def test_a_reduction_with_shuffles_loads_each_word_once(family: str) -> None:
    arguments = ("--grid", "8", "--block", "256", "--args", "f32[n] f32[8] n=10000")
    found = kernel("reduction", "block_sums", family, *arguments)
    assert found["kernel"] == "block_sums<256>(const float *in, float *out, int n)"
    loads, stores = entry(found, "load", "in"), entry(found, "store", "out")
    assert (loads["requests"], loads["words"], loads["sectors"]) == (313, 10_000, 1_250)
    assert (stores["requests"], stores["words"], stores["sectors"]) == (8, 8, 8)
    kept, read = entry(found, "store", "partial"), entry(found, "load", "partial")
    assert (kept["requests"], kept["wavefronts"]) == (64, 64)  # lane 0 of each of 64 warps
    assert (read["requests"], read["words"], read["wavefronts"]) == (8, 64, 8)
    assert found["counters"]["totals"]["barriers"] == 8
    assert marked(found) == []


TRANSPOSE = (
    "--grid", "m/32,n/32".replace("m", "128").replace("n", "96"), "--block", "32,32",
    "--args", "in=f32[n][m] out=f32[m][n] n=96 m=128",
)  # fmt: skip
REQUESTS = 96 * 128 // 32


@compilers
def test_a_naive_transpose_writes_32_sectors_a_request(family: str) -> None:
    found = kernel("transpose", "transpose_naive", family, *TRANSPOSE)
    load, store = entry(found, "load", "in"), entry(found, "store", "out")
    assert (load["requests"], load["sectors"]) == (REQUESTS, 4 * REQUESTS)
    assert (store["requests"], store["sectors"]) == (REQUESTS, 32 * REQUESTS)
    assert store["ideal_sectors"] == 4 * REQUESTS
    assert marked(found) == [(10, "out", "uncoalesced")]
    assert store["mark"]["reason"] == (
        "32 lanes touch 32 sectors, 4 would do: neighbouring lanes are 96 words apart."
    )


@compilers
@pytest.mark.parametrize(("name", "ways"), [("transpose_tiled", 32), ("transpose_padded", 1)])
def test_padding_takes_the_conflicts_out_of_a_transpose(family: str, name: str, ways: int) -> None:
    found = kernel("transpose", name, family, *TRANSPOSE)
    for access, array in (("load", "in"), ("store", "out")):
        assert entry(found, access, array)["sectors"] == 4 * REQUESTS
    read, write = entry(found, "load", "tile"), entry(found, "store", "tile")
    assert (read["requests"], read["wavefronts"]) == (REQUESTS, ways * REQUESTS)
    assert (write["requests"], write["wavefronts"]) == (REQUESTS, REQUESTS)
    assert marked(found) == ([(31, "tile", "32-way bank conflict")] if ways == 32 else [])


@compilers
def test_a_histogram_counts_bytes_and_names_its_atomics(family: str) -> None:
    arguments = ("--grid", "4", "--block", "64", "--args", "u8[n] u32[16]=0 n=1000")
    found = kernel("histogram", "histogram", family, *arguments)
    loads = entry(found, "load", "data")
    # Three rounds of 256 bytes and one of 232: 8 warps each, a sector of 32 bytes a warp.
    assert (loads["bytes"], loads["requests"], loads["sectors"]) == (1, 32, 32)
    assert loads["ideal_sectors"] == 32
    assert entry(found, "store", "own")["requests"] == 4
    atomics = [(a["line"], a["space"], a["name"], a["operations"])
               for a in found["counters"]["atomics"]]  # fmt: skip
    assert atomics == [(12, "shared", "own", 1000), (18, "global", "bins", 64)]
    shown = inspected(str(KERNELS / "histogram.cu"), *arguments)[1]
    assert "atomic own          1,000 by lanes" in shown
    assert "1,064 operations by lanes; their cost is not counted" in shown


def test_the_data_holds_everything_and_is_the_same_each_time() -> None:
    words = (str(KERNELS / "transpose.cu"), "--kernel", "transpose_tiled", *TRANSPOSE)
    found = data(*words)
    assert set(found) == {
        "schema", "file", "kernel", "compiler", "grid", "block", "dynamic_shared", "arguments",
        "shape", "counters", "findings", "notes", "output", "nvcc",
    }  # fmt: skip
    assert found["schema"] == "matmul-inspection/v1"
    assert (found["grid"], found["block"]) == ([4, 3, 1], [32, 32, 1])
    assert found["arguments"] == ["in[96][128]", "out[128][96]"]
    assert found["shape"] is None
    read = entry(found, "load", "tile")
    assert read["source"].strip() == "float value = tile[tx][ty];"
    assert read["worst_request"] == {
        "cost": 32, "ideal": 1, "lanes_together": 32, "block": [0, 0], "warp": 0,
        "offsets": [128 * lane for lane in range(32)],
    }  # fmt: skip
    inspected.cache_clear()
    assert data(*words) == found


def test_gcc_and_clang_see_the_same(unpadded: Path) -> None:
    device("clang++")
    for words in (
        ("--exercise", "padded", "--shape", "33x17x65", str(unpadded)),
        (str(KERNELS / "transpose.cu"), "--kernel", "transpose_tiled", *TRANSPOSE),
    ):
        gcc, clang = (data(*words, "--compiler", name) for name in ("g++", "clang++"))
        assert gcc["counters"] == clang["counters"]


@pytest.mark.long
def test_gcc_and_clang_count_the_same_where_they_name_other_lines() -> None:
    """When clang makes one load of two inlined ones, it names the line of the call."""
    device("clang++")
    words = ("--exercise", "tuned", str(PROJECT / "exercises/04_tuned/solution.cu"))
    gcc, clang = (totals(data(*words, "--compiler", name)) for name in ("g++", "clang++"))
    assert gcc == clang


def totals(found: dict[str, Any]) -> dict[tuple[str, ...], Counter[str]]:
    """Counters by kind of access and array, over all lines."""
    sums: dict[tuple[str, ...], Counter[str]] = {}
    for line in found["counters"]["lines"]:
        kind = (line["space"], line["access"], line["name"])
        numbers = {k: v for k, v in line.items() if type(v) is int and k not in ("line", "bytes")}
        sums.setdefault(kind, Counter()).update(numbers)
    return sums


# What one warp does, so that the picture can be compared with the machine's counters.
PATTERNS = """
__global__ void patterns(const float4 *in, float *out, const double *d) {
    __shared__ float s[32 * 20];
    __shared__ float4 v[128];
    int t = threadIdx.x;
    for (int i = t; i < 640; i += 32) s[i] = 0;
    for (int i = t; i < 128; i += 32) v[i] = in[i];
    __syncwarp();
    s[t * 20 + 7] = in[t * 2].x + d[t];
    __syncwarp();
    float4 w = v[t % 4 * 32 + t / 4];
    float4 same = v[t / 2];
    if (t < 20) out[t * 3] = s[t * 4] + w.x + same.y;
}
"""


def requests(found: Entry) -> list[Request]:
    kept = []
    for line in found["counters"]["lines"]:
        worst = line["worst_request"]
        names = ("line", "access", "space", "name", "bytes")
        kept.append(Request(
            **{name: line[name] for name in names}, cost=worst["cost"], ideal=worst["ideal"],
            group=worst["lanes_together"], warp=worst["warp"], block=tuple(worst["block"]),
            offsets=tuple(worst["offsets"]),
        ))  # fmt: skip
    return kept


def test_the_picture_counts_as_the_machine_does(tmp_path: Path) -> None:
    file = tmp_path / "patterns.cu"
    file.write_text(PATTERNS)
    found = data(str(file), "--grid", "1", "--block", "32", "--args", "f32[512] f32[64] f64[32]")
    assert found["findings"] == []
    seen = requests(found)
    for exercise in load_all(PROJECT):
        seen += requests(data("--exercise", exercise.name, str(exercise.folder / "solution.cu")))
    assert len(seen) > 25
    for request in seen:
        if request.space == "global":
            assert len(warp.sectors(request)) == request.cost, request
        else:
            groups = range(warp.group_count(request))
            assert sum(warp.group_wavefronts(request, g) for g in groups) == request.cost, request
    ways = {(r.line, r.name): degree(r) for r in seen[: len(found["counters"]["lines"])]
            if r.space == "shared"}  # fmt: skip
    assert ways[9, "s"] == 4
    assert ways[11, "v"] == 4  # sixteen bytes a lane: four of eight lanes want one bank
    assert ways[12, "v"] == 1
    worst = next(r for r in seen if (r.line, r.access) == (9, "store"))
    assert reason(worst) == (
        "32 lanes want 4 words of bank 3 and as many of 7 other banks: "
        "neighbouring lanes are 20 words apart."
    )


SVG = "{http://www.w3.org/2000/svg}"


def drawing(path: Path) -> tuple[ElementTree.Element, list[str]]:
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    return root, [element.text or "" for element in root.iter(f"{SVG}text")]


def test_the_picture_of_shared_memory_names_the_busiest_bank(
    unpadded: Path, tmp_path: Path
) -> None:
    out = tmp_path / "line.svg"
    line = line_of(PADDED, "Bs[tx][k]")
    words = ("--exercise", "padded", str(unpadded), "--line", str(line), "--svg", str(out))
    assert inspected(*words)[0] == 0
    root, texts = drawing(out)
    assert "busiest: bank 0: 32 words, so 32 wavefronts" in texts
    assert f"unpadded.cu:{line}, load of Bs: 32 wavefronts, 1 would do" in texts
    assert "sum += As[ty][k] * Bs[tx][k];" in texts
    numbers = [text for text in texts if text.isdigit()]
    assert sorted(map(int, numbers)) == sorted([*range(32), *range(32), 32])  # lanes, banks, words
    assert len(list(root.iter(f"{SVG}path"))) == 32
    assert "32 words of bank 0" in root.attrib["aria-label"]


def test_the_picture_of_global_memory_shows_what_moves_in_vain(tmp_path: Path) -> None:
    out = tmp_path / "line.svg"
    file = str(KERNELS / "transpose.cu")
    words = ("--kernel", "transpose_naive", *TRANSPOSE, "--svg", str(out))
    assert inspected(file, *words)[0] == 0  # without --line: the line that wastes most
    _root, texts = drawing(out)
    assert "transpose.cu:10, store of out: 32 sectors, 4 would do" in texts
    moved = "1,024 bytes move, and 128 of them (blue) are asked for."
    assert any(text.endswith(moved) for text in texts)
    starts = texts[texts.index("at word") + 1 :][:32]
    assert starts == [f"{96 * lane:,}" for lane in range(32)]
    inspected(file, *words, "--array", "in")
    assert "transpose.cu:9, load of in: 4 sectors, 4 would do" in drawing(out)[1]


def test_text_of_a_kernel_cannot_break_the_picture() -> None:
    offsets = tuple(4 * lane for lane in range(32))
    request = Request(1, "load", "shared", "a<&>", 4, 1, 1, 32, 0, (0, 0), offsets)
    file = Submission("x.cu", Path("x.cu"), 's["<&>"] = 1; // \u2026', "")
    assert ElementTree.fromstring(picture.draw(request, file)) is not None


SMALL = (
    "__global__ void k(const float *in, float *out, int n) {\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    out[i] = in[i];\n"
    "}\n"
)


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.cu"
    path.write_text(SMALL)
    return str(path)


LAUNCH = ("--grid", "1", "--block", "8")


def test_an_access_past_the_end_is_told_by_the_name_of_its_array(small: str) -> None:
    status, shown = inspected(small, *LAUNCH, "--args", "f32[8] f32[7] 8", "--plain")
    assert status == 1
    assert "writes out[7], 1 element past the end; out has 7" in " ".join(shown.split())
    assert "small.cu:3 (write)" in shown
    assert shown.endswith("1 fault found.\n")


def test_the_end_of_an_array_of_bytes_is_known_to_the_byte(tmp_path: Path) -> None:
    file = tmp_path / "bytes.cu"
    file.write_text("__global__ void k(unsigned char *b) { b[threadIdx.x] = 1; }\n")
    assert inspected(str(file), *LAUNCH, "--args", "u8[8]")[0] == 0
    (found,) = data(str(file), *LAUNCH, "--args", "u8[7]")["findings"]
    assert (found["kind"], found["facts"]["index"]) == ("global_access", 7)


def found_in(tmp_path: Path, text: str, *words: str) -> dict[str, Any]:
    file = tmp_path / "kernel.cu"
    file.write_text(text)
    return data(str(file), *words)


def test_a_pointer_to_const_is_only_to_be_read(tmp_path: Path) -> None:
    text = "__global__ void k(const int *in, int *out) { ((int *)in)[threadIdx.x] = out[0]; }\n"
    (found,) = found_in(tmp_path, text, *LAUNCH, "--args", "i32[8] i32[8]")["findings"]
    assert found["kind"] == "input_modified"
    assert found["text"].startswith("in[0] was overwritten by thread (0, 0) of block (0, 0). in is")


def test_races_are_seen_in_every_array_that_may_be_written(tmp_path: Path) -> None:
    text = "__global__ void k(int *a, int *b) { a[threadIdx.x] = 1; b[0] = threadIdx.x; }\n"
    (found,) = found_in(tmp_path, text, *LAUNCH, "--args", "i32[8] i32[8]")["findings"]
    assert (found["verdict"], found["facts"]["name"]) == ("race", "b")
    shifted = "__global__ void k(int *a, int *b) { b[threadIdx.x] = a[threadIdx.x + 1]; "
    shifted += "a[threadIdx.x] = 2; }\n"
    (found,) = found_in(tmp_path, shifted, *LAUNCH, "--args", "i32[9] i32[8]")["findings"]
    assert (found["verdict"], found["facts"]["name"]) == ("race", "a")


UNSET = """
__global__ void k(int *out) {
    __shared__ int s[8];
    int value = s[threadIdx.x];
    __syncthreads();
    s[threadIdx.x] = 1;
    out[threadIdx.x] = USE;
}
"""


@pytest.mark.parametrize(("use", "where"), [("value", "findings"), ("value == 12345", "notes")])
def test_unset_shared_memory_is_a_fault_only_where_a_result_depends_on_it(
    tmp_path: Path, use: str, where: str
) -> None:
    found = found_in(tmp_path, UNSET.replace("USE", use), *LAUNCH, "--args", "i32[8]")
    (one,) = found[where]
    assert len(found["findings"]) + len(found["notes"]) == 1
    assert (one["kind"], one["facts"]["name"]) == ("unset_shared", "s")
    assert ("out depends on it" in one["text"]) == (where == "findings")


def test_a_launch_that_cannot_end_says_so_and_counts_nothing(tmp_path: Path) -> None:
    text = "__global__ void k(int *out) { volatile int x = 0; while (x == 0) out[0] = 1; }\n"
    file = tmp_path / "hang.cu"
    file.write_text(text)
    status, shown = inspected(str(file), *LAUNCH, "--args", "i32[1]", "--timeout", "0.2")
    assert status == 1
    assert "No counts: the launch did not end." in shown
    assert "timeout: The kernel was stopped after 0.2 s" in shown


@compilers
def test_templates_namespaces_three_axes_and_dynamic_shared_memory(
    tmp_path: Path, family: str
) -> None:
    device(family)
    text = """
namespace deep {
template <typename T, unsigned N> static __global__ void fill(T *out, T value, size_t n) {
    extern __shared__ float tile[];
    size_t block = ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    tile[t] = N;
    __syncthreads();
    size_t i = block * blockDim.x * blockDim.y * blockDim.z + t;
    if (i < n) out[i] = value + tile[t ^ 1];
}
}
"""
    words = ("--grid", "2,2,2", "--block", "4,2,2", "--shared", "16*4", "--compiler", family)
    which = ("--kernel", "deep::fill<double, 3>", "--args", "f64[127] 1.5 n=128")
    (found,) = found_in(tmp_path, text, *which, *words)["findings"]
    assert found["text"].startswith("Thread (3, 1, 1) of block (1, 1, 1) writes out[127], 1 elem")


def test_scalars_of_every_type_arrive_as_they_were_written(tmp_path: Path) -> None:
    text = (
        "__global__ void k(bool b, double d, float f, unsigned char c, long long big, unsigned u) {"
        '\n    printf("%d %g %g %d %lld %u", b, d, f, c, big, u);\n}\n'
    )
    values = "1 -1.25e3 2.5f 25*8 -5000000000 4000000000"
    found = found_in(tmp_path, text, "--grid", "1", "--block", "1", "--args", values)
    assert found["output"] == "1 -1250 2.5 200 -5000000000 4000000000"


def test_eight_arrays_can_be_given(tmp_path: Path) -> None:
    names = "abcdefgh"
    parameters = ", ".join(f"int *{name}" for name in names)
    total = " + ".join(f"{name}[threadIdx.x]" for name in names)
    text = f'__global__ void k({parameters}) {{\n    printf("%d ", {total});\n}}\n'
    arguments = " ".join(f"i32[8]={number}" for number in range(1, 9))
    found = found_in(tmp_path, text, *LAUNCH, "--args", arguments)
    assert found["output"] == "36 " * 8
    assert {entry["name"] for entry in found["counters"]["lines"]} == set(names)


def test_a_compile_error_is_told_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "wrong.cu"
    file.write_text("__global__ void k(int a) {\n    float x = b;\n}\n")
    status, shown = inspected(str(file), *LAUNCH, "--args", "1")
    assert status == 1
    assert "compile_error" in shown
    assert "wrong.cu:2 (error)" in shown


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_a_picture_that_was_written_is_told(
    more: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out.svg"
    file = str(KERNELS / "transpose.cu")
    words = ("inspect", file, "--kernel", "transpose_naive", *TRANSPOSE, "--svg", str(path))
    assert cli.main([*words, *more]) == 0
    told = capsys.readouterr()
    assert path.is_file()
    assert (told.err if more else told.out).endswith(f"Wrote {path}.\n")
    if more:
        json.loads(told.out)
    else:
        assert "Values are not checked.\n" in told.out


def test_the_file_of_a_folder_is_inspected_by_its_exercise(tmp_path: Path) -> None:
    (tmp_path / "03_padded.cu").write_text(PADDED.replace("[TILE + 1]", "[TILE]"), "utf-8")
    found = data(str(tmp_path), "--exercise", "padded", "--shape", "33x33x33")
    assert [title for *_, title in marked(found)] == ["32-way bank conflict"]


def test_only_one_line_is_shown_when_asked_for() -> None:
    file = str(KERNELS / "transpose.cu")
    shown = inspected(file, "--kernel", "transpose_naive", *TRANSPOSE, "--line", "9")[1]
    assert "float value = in[row * m + col];" in shown
    assert "out[col * n + row]" not in shown
    assert "Totals" not in shown


@pytest.mark.parametrize(
    ("content", "told"),
    [(None, "is a pipe"), ("k".encode("utf-16"), "UTF-16"), (b"\xfc", "UTF-8"), (b"", "empty")],
)
def test_a_file_of_any_origin_is_read_as_carefully_as_a_submission(
    tmp_path: Path, content: bytes | None, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "k.cu"
    if content is None:
        os.mkfifo(path)
    else:
        path.write_bytes(content)
    assert inspected(str(path), *LAUNCH, "--args", "f32[8] 8")[0] == 2
    assert told in capsys.readouterr().err


def test_a_slip_in_the_frame_is_told_as_the_checks_tell_it(tmp_path: Path) -> None:
    path = tmp_path / "02_tiled.cu"
    path.write_text(PADDED.replace(".block_y", ".blok_y").replace("matmul_padded", "matmul_tiled"))
    for words in (("--exercise", "tiled"), (*LAUNCH, "--args", "f32[8] f32[8] f32[8] 1 1 1")):
        status, shown = inspected(str(path), *words)
        assert status == 1
        assert "Is .block_y meant?" in " ".join(shown.split())


ARRAYS = "f32[8] f32[8] 8"
NO_FILE = ("nowhere.cu", *LAUNCH, "--args", ARRAYS)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ((), "inspect FILE.cu with what --help lists"),
        ((), "For example: inspect --exercise EX"),
        (("nowhere.cu",), "nowhere.cu cannot be read: No such file or directory."),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--line", "99"), "no memory. Lines that do: 3."),
        (NO_FILE, "nowhere.cu cannot be read: No such file or directory."),
        (("SMALL", *LAUNCH), "--args is missing"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--kernel", "other"), "no kernel named other. Its"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--kernel", "k;"), "is not a name"),
        (("SMALL", *LAUNCH, "--args", "f32[8] f32[8]"), "takes 3 arguments, --args gives 2."),
        (("SMALL", *LAUNCH, "--args", "f32[8] f64[8] 8"), "has elements of f32, not f64"),
        (("SMALL", *LAUNCH, "--args", "f32[8] 8 8"), "Argument 2 (float *out) is an array"),
        (("SMALL", *LAUNCH, "--args", "f32[8] f32[8] i32[1]"), "Argument 3 (int n) is one number"),
        (("SMALL", *LAUNCH, "--args", "f32[8] f32[8] 1.5"), "is an integer"),
        (("SMALL", *LAUNCH, "--args", "f32[8] f32[8] 2147483648"), "does not fit into i32"),
        (("SMALL", *LAUNCH, "--args", "out=f32[8] in=f32[8] 8"), "kernel's order"),
        (("SMALL", *LAUNCH, "--args", "f32[8] f32[8 8"), "is not an expression"),
        (("SMALL", *LAUNCH, "--args", "f32[exit()] f32[8] 8"), "is not an expression"),
        (("SMALL", *LAUNCH, "--args", "f32[2**64] f32[8] 8"), "is not an expression"),
        (("SMALL", *LAUNCH, "--args", "f32[8/0] f32[8] 8"), "divides by zero"),
        (("SMALL", *LAUNCH, "--args", "f32[q] f32[8] n=8"), "no number named q. Known are n."),
        (("SMALL", *LAUNCH, "--args", "f32[0] f32[8] 8"), "sizes are at least 1"),
        (("SMALL", *LAUNCH, "--args", "f32[9999*99999] f32[8] 8"), "at most 64 MiB"),
        (("SMALL", *LAUNCH, "--args", "f16[8] f32[8] 8"), '"f16" is no kind'),
        (("SMALL", "--grid", "1", "--block", "2000", "--args", ARRAYS), "1 to 1024"),
        (("SMALL", "--grid", "1", "--block", "50,40", "--args", ARRAYS), "has 2000 threads"),
        (("SMALL", "--grid", "1,70000", "--block", "1", "--args", ARRAYS), "1 to 65535"),
        (("SMALL", "--grid", "1", "--block", "1,1,1,1", "--args", ARRAYS), "has 4 sizes"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--shared", "300000"), "allows 232448"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--line", "x"), "invalid number value"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--line", "2", "--svg", "x"), "Lines that do: 3"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--svg", "/nowhere/x"), "cannot be written"),
        (("SMALL", *LAUNCH, "--args", ARRAYS, "--shape", "1x1x1"), "belongs to --exercise"),
        (("--exercise", "tiled", "--grid", "1"), "is known for an exercise"),
        (("--exercise", "nothing"), "There is no exercise"),
        (("--exercise", "tiled", "--shape", "3x3"), "is not of the form MxNxK"),
        (("--exercise", "tiled", "--shape", "9000x9000x1", "TILED"), "is too large to follow"),
        (("--exercise", "tiled", "nowhere.cu"), "nowhere.cu does not exist"),
        (("--exercise", "tiled", "FOLDER"), "02_tiled.cu is missing. Next: put 02_tiled.cu into "),
        (("FOLDER",), "is a folder. Name the exercise, too: --exercise EX"),
        (("HOST", *LAUNCH, "--args", "1"), "is host code"),
        (("AMBIGUOUS", *LAUNCH, "--args", "1"), "has several kernels named k: k(int a); k(float a"),
        (("STRUCT", *LAUNCH, "--args", "1"), "p is a pair; only arrays and numbers can be given."),
    ],
)
def test_bad_input_costs_one_clear_line(
    words: tuple[str, ...], told: str, small: str, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(small).parent
    texts = {
        "AMBIGUOUS": "__global__ void k(int a) {}\n__global__ void k(float a) {}\n",
        "STRUCT": "struct pair { int a, b; };\n__global__ void k(pair p) {}\n",
        "HOST": SMALL + "int main() { k<<<1, 1>>>(0, 0, 0); }\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    places = {name: str(folder / name) for name in texts}
    places |= {
        "FOLDER": str(folder),
        "SMALL": small,
        "TILED": str(PROJECT / "exercises/02_tiled/solution.cu"),
    }
    more = ("--kernel", "k") if "AMBIGUOUS" in words else ()
    try:
        status = cli.main(["inspect", *(places.get(word, word) for word in words), *more])
    except SystemExit as ended:  # argparse
        status = int(str(ended.code))
    output = capsys.readouterr()
    assert status == 2
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert told in output.err


@pytest.mark.parametrize(
    ("text", "value"),
    [("97*97", 9409), ("(n + 31) / 32", 4), ("2 - -3", 5), ("7 % 4 + 10 // 3", 6), (" 0 ", 0)],
)
def test_sizes_are_expressions(text: str, value: int) -> None:
    assert evaluate(text, {"n": 97}) == value


@pytest.mark.parametrize(
    "text",
    ["", "1 +", "1.5", "True", "'a'", "[1]", "f(1)", "a.b", "1 if 1 else 2", "9**9**9", "~1",
     "1 << 4", "lambda: 1", "(" * 150 + "1" + ")" * 150, "9" * 30, "1\n2", "x" * 300],
)  # fmt: skip
def test_nothing_but_arithmetic_is_read(text: str) -> None:
    with pytest.raises(GraderFault):
        evaluate(text)


SIGNATURE = Signature(
    "k",
    "k",
    1,
    (
        Parameter("a", "const float *", "f32", pointer=True, constant=True),
        Parameter("b", "int *", "i32", pointer=True),
        Parameter("n", "int", "i32"),
    ),
)


def test_contents_depend_on_the_seed_alone() -> None:
    def words(seed: int, text: str = "f32[5][40] i32[200] 3") -> list[Any]:
        operands, _scalars = bind(parse(text), SIGNATURE, seed)
        return [operand.image[operand.guard : -operand.guard] for operand in operands]

    first, again, other = words(0), words(0), words(1)
    for one, two, three in zip(first, again, other, strict=True):
        assert np.array_equal(one, two)
        assert not np.array_equal(one, three)
    floats, integers = first[0].view(np.float32), first[1].view(np.int32)
    assert -1 <= floats.min() < 0 < floats.max() <= 1
    assert set(integers) == set(range(16))
    filled = words(0, "f32[4]=2.5 i32[4]=7 3")
    assert set(filled[0].view(np.float32)) == {2.5}
    assert set(filled[1]) == {7}
