"""CI runs the same `make check` as a developer, with what it may touch kept small."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from grader.exercise import PROJECT

RUN = PROJECT / ".ci" / "run"
WORKFLOWS = sorted((PROJECT / ".github" / "workflows").glob("*.yml"))


def run_ci(tmp_path: Path, *missing: str, user: str = "0") -> subprocess.CompletedProcess[str]:
    """.ci/run with every program it calls replaced by one that prints its name and arguments."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("make", "g++", "clang++", "python3", "apt-get"):
        if name not in missing:
            (tools / name).write_text(f'#!/bin/sh\necho {name} "$@"\n')
    (tools / "id").write_text(f"#!/bin/sh\necho {user}\n")
    (tools / "dirname").write_text(f"#!/bin/sh\necho '{RUN.parent}'\n")
    for tool in tools.iterdir():
        tool.chmod(0o755)
    return subprocess.run(
        ["/bin/bash", str(RUN)],
        env={"PATH": str(tools)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ci_runs_make_check_and_expects_only_what_a_machine_may_lack(tmp_path: Path) -> None:
    done = run_ci(tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "make check PYTEST_ARGS=--expected-skips=gpu,nvcc,bwrap"
    assert "apt-get" not in done.stdout


def test_ci_installs_what_is_missing(tmp_path: Path) -> None:
    done = run_ci(tmp_path, "clang++")
    assert "Missing here: clang" in done.stdout
    assert re.search(r"^apt-get install .* clang$", done.stdout, re.MULTILINE)
    assert done.stdout.splitlines()[-1].startswith("make check")


def test_ci_that_may_not_install_says_what_to_install(tmp_path: Path) -> None:
    done = run_ci(tmp_path, "g++", user="1000")
    assert done.returncode == 2
    assert "sudo apt install g++" in done.stderr


def test_ci_can_be_started_by_its_name() -> None:
    assert os.access(RUN, os.X_OK)


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_read_only_and_pin_actions_to_a_commit(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    # For all jobs together, or nothing for all and then for each.
    assert re.search(r"^permissions:(\n  contents: read| \{\})\n\n", text, re.MULTILINE)
    assert not re.search(
        r"^ +(contents|actions|checks|id-token|packages): write", text, re.MULTILINE
    )
    actions = re.findall(r"uses: (\S+)", text)
    assert actions
    assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", action) for action in actions), actions
    assert text.count("actions/checkout@") == text.count("persist-credentials: false")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_job_ends_by_itself(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("runs-on:") == text.count("timeout-minutes:") > 0
