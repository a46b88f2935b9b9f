"""A class on a cluster: what the profile asks for, which GPU a job takes, what it records."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from grader.classroom import command, folder, job
from grader.driver import Driver, Gpu
from grader.exercise import PROJECT
from grader.finding import GraderFault
from grader.proof.slurm import __main__ as proof
from grader.proof.slurm import cluster

PROFILE = PROJECT / "grader" / "classroom" / "profiles" / "slurm"
TWO = Driver((12, 4), tuple(Gpu(n, "Test GPU", (9, 0), 1) for n in range(2)), library="libcuda")


@pytest.fixture
def profile() -> dict[str, Any]:
    read: dict[str, Any] = YAML(typ="safe").load((PROFILE / "config.yaml").read_text())
    return read


@pytest.fixture
def machine_with_two_gpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "find_driver", lambda: TWO)
    for name in ("SLURM_JOB_ID", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(name, raising=False)


def a_class(tmp_path: Path, device: str = "auto") -> folder.Class:
    return folder.Class(tmp_path, tmp_path, 7, device, ())


def gpus(one: folder.Class) -> str | None:
    with job.pinned(one) as environment:
        return environment.get("CUDA_VISIBLE_DEVICES")


def test_the_profile_gives_each_job_one_gpu_and_a_grading_the_time_it_may_take(
    profile: dict[str, Any],
) -> None:
    assert profile["executor"] == "slurm"
    assert profile["default-resources"] == {"gpu": 1}
    assert profile["set-resources"]["grade"]["runtime"] * 60 > job._LIMIT_S


def test_jobs_on_the_command_line_go_before_the_profiles() -> None:
    assert command._where(None, PROFILE, "gpu") == ["--profile", str(PROFILE)]
    assert command._where(7, PROFILE, "gpu")[2:] == ["--jobs", "7"]


@pytest.mark.parametrize(
    "usable, gpus, device, jobs",
    [
        (32, 2, "gpu", 8),
        (32, 2, "simulator", 16),
        (6, 2, "gpu", 3),
        (32, 0, "auto", 16),
        (1, 0, "auto", 1),
    ],
)
def test_without_a_number_cores_and_gpus_decide_how_many_are_graded_at_once(
    monkeypatch: pytest.MonkeyPatch, usable: int, gpus: int, device: str, jobs: int
) -> None:
    monkeypatch.setattr("grader.cores.usable", lambda: usable)
    monkeypatch.setattr(command, "find_driver", lambda: Driver(gpus=TWO.gpus[:gpus]))
    assert command.at_once(device) == jobs
    assert command._where(None, None, device)[:2] == ["--cores", str(jobs)]


def test_a_folder_that_is_no_profile_is_refused_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: object())
    options = argparse.Namespace(verb="class", profile=tmp_path, output=tmp_path / "class")
    with pytest.raises(GraderFault, match=r"no config\.yaml\. Next: PROFILE=grader/classroom/"):
        command.main(options)
    assert not options.output.exists()


@pytest.mark.usefixtures("machine_with_two_gpus")
def test_a_slurm_job_takes_the_gpu_it_was_given_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    assert gpus(a_class(tmp_path)) == ""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert gpus(a_class(tmp_path)) == "1"
    assert job._where()["slurm_job"] == "12"
    assert job._where()["gpus"] == "1"


@pytest.mark.usefixtures("machine_with_two_gpus")
def test_gradings_go_to_the_gpu_with_the_fewest_and_none_waits_for_one(tmp_path: Path) -> None:
    one = a_class(tmp_path)
    running = [job.pinned(one) for _ in range(6)]
    assert [each.__enter__()["CUDA_VISIBLE_DEVICES"] for each in running] == ["0", "1"] * 3
    for each in (running[1], running[3]):
        each.__exit__(None, None, None)
    assert [gpus(one), gpus(one)] == ["1", "1"]


@pytest.mark.usefixtures("machine_with_two_gpus")
def test_machines_that_share_a_folder_count_their_own_gradings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = a_class(tmp_path)
    with job.pinned(one), job.pinned(one):
        monkeypatch.setattr("socket.gethostname", lambda: "another")
        assert gpus(one) == "0"


def test_a_file_system_without_locks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        pytest.raises(GraderFault, match=r"cannot be locked .*Next: OUTPUT=dir"),
        folder.locked(tmp_path / ".lock", wait=True),
    ):
        pass


def test_without_slurm_the_proof_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster, "_PATH", str(tmp_path))
    monkeypatch.setattr(proof, "find_driver", lambda: Driver(problem="none"))
    assert proof.main([str(tmp_path / "proof"), "--students", "1"]) == 2
    assert "Next: sudo apt install slurm-wlm munge" in capsys.readouterr().err


def test_a_daemon_that_does_not_start_is_named_with_its_last_words(tmp_path: Path) -> None:
    words = ["sh", "-c", "echo no such host >&2; exit 1"]
    with (
        pytest.raises(GraderFault, match="sh did not start:\n  no such host\nLog: "),
        cluster._daemon(tmp_path, words, dict(os.environ), lambda: False),
    ):
        pass


def test_a_daemon_ends_with_what_it_was_started_for(tmp_path: Path) -> None:
    words = ["sh", "-c", f"echo $$ > {tmp_path}/pid; exec sleep 60"]

    def started() -> bool:
        return (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().endswith("\n")

    with cluster._daemon(tmp_path, words, dict(os.environ), started):
        pid = int((tmp_path / "pid").read_text())
        os.kill(pid, 0)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


@pytest.mark.long
@pytest.mark.parametrize("device, wanted", [("simulator", "gpu=0"), ("gpu", "gpu=1")])
def test_a_job_on_the_simulator_asks_for_no_gpu(tmp_path: Path, device: str, wanted: str) -> None:
    (tmp_path / "keys.txt").write_text("ada")
    (tmp_path / "class.json").write_text(json.dumps({"device": device}))
    shutil.copytree(PROFILE, tmp_path / "profile")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", "--snakefile", str(command._SNAKEFILE), "--directory",
         str(tmp_path), "--dry-run", "--profile", str(tmp_path / "profile")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    asked = [line for line in (done.stdout + done.stderr).splitlines() if "runtime=35" in line]
    assert asked
    assert all(wanted in line for line in asked)
