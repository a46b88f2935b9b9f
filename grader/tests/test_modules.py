"""The package as a whole: every module stands on its own and does one thing."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from grader.settings import PROJECT

GRADER = PROJECT / "grader"
# Not to be imported: programs of their own, and what needs PyCUDA or PyOpenCL.
PROGRAMS = {
    "grader.__main__",
    "grader.bench.opencl_launch",
    "grader.gpu.device",
    "grader.gpu.worker",
    "grader.proof.__main__",
}
LONGEST_MODULE = 350  # lines; a longer one does more than one thing


def modules() -> list[str]:
    paths = [path for path in GRADER.rglob("*.py") if "tests" not in path.parts]
    names = (path.relative_to(PROJECT).with_suffix("").parts for path in paths)
    return sorted({".".join(name).removesuffix(".__init__") for name in names} - PROGRAMS)


@pytest.mark.long
def test_every_module_can_be_imported_first() -> None:
    program = (
        "import importlib, sys\n"
        "for name in sys.argv[1:]:\n"
        "    for loaded in [m for m in sys.modules if m.split('.')[0] == 'grader']:\n"
        "        del sys.modules[loaded]\n"
        "    importlib.import_module(name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *modules()], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr.splitlines()[-1]


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads as Linux lists them")
def test_arithmetic_leaves_the_other_cores_to_kernels() -> None:
    program = (
        "import os, grader.judge, numpy\n"
        "numpy.ones((400, 400)) @ numpy.ones((400, 400))\n"
        "print(len(os.listdir('/proc/self/task')))"
    )
    environment = {k: v for k, v in os.environ.items() if k != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=PROJECT, env=environment, stdout=subprocess.PIPE,
        text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "1"


def test_no_module_is_too_long() -> None:
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for path in GRADER.rglob("*.py")
        if "tests" not in path.parts
    }
    assert {path for path, length in lengths.items() if length > LONGEST_MODULE} == set()


def rows_below(text: str) -> list[str]:
    """The rows of the tables between this text of the architecture page and the next heading."""
    page = (GRADER / "README.md").read_text(encoding="utf-8").partition(text)[2]
    return [line for line in page.partition("\n## ")[0].splitlines() if line.startswith("| ")]


def test_the_table_of_rules_names_files_that_are_there() -> None:
    rows = rows_below("## Where is which rule")
    named = {name for row in rows for name in re.findall(r"`(/?[a-z_/]+\.(?:py|cpp|toml))`", row)}
    assert len(named) > 15
    places = (GRADER, PROJECT, PROJECT / "exercises" / "01_naive")
    lost = {name for name in named if not any((p / name.lstrip("/")).is_file() for p in places)}
    assert lost == set()


def test_the_table_of_observers_names_them_all() -> None:
    told = {
        row.split("`")[1]
        for row in rows_below("one file under `simulator/observers/`")
        if "`" in row
    }
    parts = {"merging", "occurrences", "order_tables", "warp_access"}
    there = {path.stem for path in (GRADER / "simulator" / "observers").glob("*.cpp")}
    assert told == there - parts
