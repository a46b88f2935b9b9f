"""The grader's own kernels: sound and coalesced in the simulator, and compiled by nvcc."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from grader import cli, toolchain
from grader.gpu import nvcc, own_kernels

COMPILER = toolchain.find_nvcc()
needs_nvcc = pytest.mark.skipif(COMPILER is None, reason="needs nvcc")

CONTENTS = "key=11 coins=12 heads=7 tails=900"
# Kernel: grid, block, arguments. Rows of 64, so that a warp's 32 words are whole sectors.
LAUNCHES = {
    "fill_matrix": ("1,5", "32,8", f"matrix=f32[35][64] rows=35 cols=64 {CONTENTS} k_is_row=1"),
    "weigh_rows": (
        *("1,5", "32,8"),
        f"B=f32[35][64]=1.0 weights=u64[35]=0 changed=u64[1]=0 rows=35 cols=64 {CONTENTS} lot=5",
    ),
    "weigh_columns": (
        *("2,2", "32,8"),
        f"B=f32[35][64]=1.0 weights=u64[64]=0 changed=u64[1]=0 rows=35 cols=64 {CONTENTS} lot=5",
    ),
    "subtract_expected": (
        *("1,5", "32,8"),
        "A=f32[35][64]=1.0 weights=u64[64]=3 sums=u64[35]=0 changed=u64[1]=0 rows=35 cols=64 "
        + CONTENTS,
    ),
    "add_results": (
        *("1,5", "32,8"),
        "C=f32[35][64]=1.0 sums=u64[35]=0 refused=u64[35]=0 rows=35 cols=64 lot=9",
    ),
    "count_rows": ("3,1", "256", "sums=u64[600]=1 refused=u64[600]=0 findings=u64[4]=9 rows=600"),
    "count_changed": ("4,1", "256", "guard=u32[1024]=1 changed=u64[1]=0 words=1000 expected=2"),
}


def home(kernel: str) -> str:
    """The file of a kernel."""
    [name] = [n for n in own_kernels.NAMES if re.search(rf"\b{kernel}\(", own_kernels.text(n))]
    return name


@pytest.mark.parametrize("kernel", LAUNCHES)
def test_no_race_no_access_out_of_bounds_and_every_access_coalesced(
    kernel: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grid, block, arguments = LAUNCHES[kernel]
    path = tmp_path / f"{home(kernel)}.cu"
    path.write_text(own_kernels.text(home(kernel)))
    words = ["--kernel", kernel, "--grid", grid, "--block", block, "--args", arguments, "--json"]
    assert cli.main(["inspect", str(path), *words]) == 0
    seen: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert seen["findings"] == seen["notes"] == []
    lines = [line for line in seen["counters"]["lines"] if line["space"] == "global"]
    assert lines
    assert all(line["sectors"] == line["ideal_sectors"] for line in lines)


@needs_nvcc
@pytest.mark.parametrize(
    "architecture",
    ["sm_90", *(pytest.param(a, marks=pytest.mark.long) for a in ("sm_75", "sm_80", "sm_100"))],
)
def test_nvcc_compiles_them_without_spills(architecture: str, tmp_path: Path) -> None:
    assert COMPILER is not None
    if not COMPILER.knows(nvcc.capability(architecture)):
        pytest.skip(f"needs an nvcc that knows {architecture}")
    made = own_kernels.compile_all(COMPILER, architecture, tmp_path)
    assert set(made) == set(own_kernels.NAMES)
    for cubin in made.values():
        log = nvcc.Compiled(cubin.parent).log
        assert set(re.findall(r"(\d+) bytes spill", log)) == {"0"}
        assert set(re.findall(r"(\d+) bytes stack frame", log)) == {"0"}


@needs_nvcc
def test_the_baseline_is_the_plain_loop_unrolled_by_four(tmp_path: Path) -> None:
    """Two loads and a multiply-add for each k, nothing shared: what the textbook compiles to."""
    assert COMPILER is not None
    cubin = own_kernels.compile_all(COMPILER, "sm_90", tmp_path)["baseline"]
    ptx = nvcc.Compiled(cubin.parent).ptx
    assert ".shared" not in ptx
    loops = [block for block in re.split(r"^\w+:$", ptx, flags=re.MULTILINE) if "fma" in block]
    fullest = max(loops, key=lambda block: block.count("fma.rn.f32"))
    assert fullest.count("fma.rn.f32") == 4
    assert fullest.count("ld.global") == 8
