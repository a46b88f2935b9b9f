"""The GitHub workflows: no findings of the linters, and their steps do what they say when run."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import pytest

from grader import cli
from grader.classroom import snapshot
from grader.exercise import CHECKS, PROJECT, load_all
from grader.formats import reading, validation
from grader.formats.options import FORMATS
from grader.formats.reading import RecordProblem
from grader.handout import contents, manifest
from grader.tests import runner
from grader.tree import tree_sha256, version

WORKFLOWS = PROJECT / ".github" / "workflows"
FILES = sorted(WORKFLOWS.glob("*.yml"))
BIN = Path(sys.executable).parent
GRADED = tuple(exercise for exercise in load_all(PROJECT) if exercise.graded)
# What a student may write into a file, or a hostile worker into the record.
HOSTILE = "::error file=README.md,line=1::forged\n::set-output name=x::y</td><img src=x> @everyone"
VALUES = {
    "needs.take.outputs.commit": "c0ffee" * 6 + "beef",
    "steps.write.outputs.token": "ghs_write",
    "github.repository_owner": "course",
    "inputs.repository": "ada",
}


def test_zizmor_finds_nothing() -> None:
    done = subprocess.run(
        [BIN / "zizmor", "--offline", "--no-progress", "--no-ignores", WORKFLOWS.parent],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert all(path.name in done.stderr for path in FILES)


def test_the_workflows_satisfy_their_schema() -> None:
    schema = ("--builtin-schema", "vendor.github-workflows")
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *schema, *FILES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_step_calls_make_or_the_grader_and_takes_values_from_env_only(path: Path) -> None:
    for _, step in runner.steps(runner.load(path)):
        if "run" in step:
            assert re.search(r"\bmake |-m grader |\.ci/run|gh api ", step["run"]), step["run"]
            assert "${{" not in step["run"]


@pytest.mark.parametrize("name", ["grade", "class"])
def test_no_secret_is_where_a_students_code_runs(name: str) -> None:
    jobs = runner.load(WORKFLOWS / f"{name}.yml")["jobs"]
    on_gpu = {key: job for key, job in jobs.items() if "self-hosted" in job["runs-on"]}
    assert len(on_gpu) == 1
    for job in on_gpu.values():
        assert not re.search(r"\$\{\{[^}]*\bsecrets\b", json.dumps(job))
        assert "environment" not in job
        assert job["permissions"] == {"contents": "read"}
    for key, job in jobs.items():
        if key not in on_gpu:
            assert not re.search(r"-m grader grade|make (class|grade|test)\b", json.dumps(job))


def test_only_the_last_job_can_write_to_a_students_repository() -> None:
    jobs = runner.load(WORKFLOWS / "grade.yml")["jobs"]
    holders = [name for name, job in jobs.items() if "GRADER_PRIVATE_KEY" in json.dumps(job)]
    assert holders == ["publish"]
    (token,) = (one for one in jobs["publish"]["steps"] if one.get("id") == "write")
    granted = {key: value for key, value in token["with"].items() if key.startswith("permission-")}
    assert granted == {"permission-checks": "write"}


def test_what_a_class_has_graded_is_kept_also_when_its_time_is_over() -> None:
    steps = runner.load(WORKFLOWS / "class.yml")["jobs"]["class"]["steps"]
    (kept,) = (one for one in steps if "upload-artifact" in one.get("uses", ""))
    assert kept["if"] == "always()"  # a job beyond its time counts as cancelled


def test_one_student_is_looked_for_in_the_whole_repository_as_the_class_is() -> None:
    steps = runner.load(WORKFLOWS / "grade.yml")["jobs"]["take"]["steps"]
    (taken,) = (one for one in steps if one.get("id") == "submission")
    assert not [key for key in taken["with"] if key.startswith(("sparse", "filter"))]


@pytest.mark.parametrize(("name", "job"), [("grade", "grade"), ("class", "class")])
def test_a_seed_that_was_committed_to_can_be_given(name: str, job: str) -> None:
    found = runner.load(WORKFLOWS / f"{name}.yml")
    assert json.dumps(found["jobs"][job]).count("${{ inputs.seed }}") == 1
    for inputs in (one["inputs"] for one in found["on"].values() if one and "inputs" in one):
        assert inputs["seed"]["default"] == ""


# --- A repository of teachers and one of students --------------------------------------------


@pytest.fixture(scope="module")
def names() -> list[str]:
    command = ["git", "-C", str(PROJECT), "ls-files", "-z", "--cached", "--others"]
    done = subprocess.run([*command, "--exclude-standard"], check=True, capture_output=True)
    found = done.stdout.decode().split("\0")
    return [name for name in found if name and (PROJECT / name).is_file()]


def put(folder: Path, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def set_up(folder: Path) -> None:
    """As `make setup` leaves it, with this Python's packages."""
    python = folder / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (PROJECT / ".cache").mkdir(exist_ok=True)
    (folder / ".cache").symlink_to(PROJECT / ".cache")  # the simulator is built once


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """`make` that sets nothing up, and a `gh` that writes down what it is called with."""
    folder = tmp_path / "tools"
    folder.mkdir()
    (folder / "make").write_text("#!/bin/sh\necho make $@\n")
    (folder / "gh").write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$GH_TOKEN" "$@" > "{tmp_path}/gh.called"\n'
    )
    for tool in folder.iterdir():
        tool.chmod(0o755)
    return folder


@pytest.fixture
def handout(names: list[str], tmp_path: Path) -> Path:
    """A student's repository as it is handed out."""
    folder = tmp_path / "student"
    files = dict(contents.selected(PROJECT, names))
    listed = manifest.of(files, version(PROJECT), tree_sha256(PROJECT))
    put(folder, {**files, manifest.NAME: manifest.write(listed)})
    set_up(folder)
    return folder


@pytest.fixture
def workspace(names: list[str], tmp_path: Path) -> Path:
    """A runner's folder with the teachers' repository in it, and one submission."""
    folder = tmp_path / "workspace"
    repository = folder / "autograder"
    repository.mkdir(parents=True)
    for top in {name.partition("/")[0] for name in names}:
        (repository / top).symlink_to(PROJECT / top)
    set_up(repository)
    put(
        folder / "submission" / "starter",
        {f"{one.name}.cu": b"__global__ void mine() {}\n" for one in GRADED},
    )
    return folder


def feedback(handout: Path, tools: Path) -> runner.Job:
    return runner.run(runner.load(WORKFLOWS / "feedback.yml"), "simulator", handout, tools, {})


def real_record(handout: Path) -> reading.Record:
    """What the grader wrote is what the validation accepts."""
    return validation.read(handout / "results" / "results.json", handout / "starter")


# --- feedback.yml ----------------------------------------------------------------------------


def test_an_untouched_starter_gets_no_tick_and_is_told_so(handout: Path, tools: Path) -> None:
    job = feedback(handout, tools)
    assert [step.status for step in job.steps] == [0, 0, 0, 1]
    assert job.summary.startswith(
        "## 0 of 75 gradable points (25 not graded)\n\nNothing was handed"
    )
    assert real_record(handout).untouched
    assert [one.name for one in job.step("Result").commands] == ["notice"]


def test_a_hostile_file_is_marked_at_its_line_and_forges_nothing(
    handout: Path, tools: Path
) -> None:
    text = '#include "launch.cuh"\n#error ::error file=README.md,line=1::forged <img src=x>\n'
    text += "// ::stop-commands::x\n#error ::notice::forged\n"
    (handout / "starter" / "02_tiled.cu").write_text(text)
    job = feedback(handout, tools)
    assert [step.status for step in job.steps] == [0, 0, 0, 1]
    assert "forged" in job.step("Grade").log, "the compiler's words are shown"
    assert job.step("Grade").commands == ()
    (error,) = (one for one in job.step("Result").commands if one.name == "error")
    assert error.properties["file"] == "starter/02_tiled.cu"
    assert error.properties["line"] == "2"
    assert error.properties["title"] == "02_tiled: compiles"
    assert "forged" in error.text
    outside = re.sub(r"^```.*?^```", "", job.summary, flags=re.S | re.M)
    assert "<img" not in outside
    assert real_record(handout).earned == 0


def test_a_complete_record_gets_the_tick(handout: Path, tools: Path) -> None:
    put(handout, {"results/results.json": json.dumps(record(handout / "starter")).encode()})
    workflow = runner.load(WORKFLOWS / "feedback.yml")
    workflow["jobs"]["simulator"]["steps"] = workflow["jobs"]["simulator"]["steps"][-2:]
    job = runner.run(workflow, "simulator", handout, tools, {})
    assert [(step.name, step.status) for step in job.steps] == [("Summary", 0), ("Result", 0)]


def test_without_a_record_the_steps_say_what_is_missing(handout: Path, tools: Path) -> None:
    (handout / "grader" / "commands.py").write_text("raise RuntimeError('broken by the student')\n")
    job = feedback(handout, tools)
    assert [step.status != 0 for step in job.steps] == [False, True, True, True]
    assert "results/results.json cannot be read: No such file" in job.step("Result").log


def test_changed_files_outside_starter_are_named_with_the_command_that_restores_them(
    handout: Path, tools: Path
) -> None:
    (handout / "tests" / "test_checks.py").write_text("def test_all() -> None: ...\n")
    (handout / "README.md").unlink()
    told = feedback(handout, tools).step("Grade").log
    assert (
        "Changed outside starter/: README.md, tests/test_checks.py: they are not used in grading. "
        "Restore them: make restore"
    ) in " ".join(told.split())


# --- grade.yml -------------------------------------------------------------------------------


def record(starter: Path, text: str = "") -> dict[str, Any]:
    """A grading of these files in which everything passes, or, with a text of a student's, in which
    the second exercise has a race."""
    exercises: list[dict[str, Any]] = []
    for exercise in GRADED:
        checks: list[dict[str, Any]] = []
        for name in CHECKS:
            points = exercise.points[name]
            checks.append({
                "name": name, "description": "", "status": "pass", "reason": "", "verdict": "",
                "also": [], "earned": points, "points": points, "message": "", "hint": "",
                "shape": None, "locations": [], "command": "", "seconds": 1.0, "notes": [],
            })  # fmt: skip
        checks[-1] |= {"status": "not_graded", "reason": "no_gpu", "earned": 0}
        place = starter / f"{exercise.name}.cu"
        exercises.append({
            "name": exercise.name, "status": "pass", "checks": checks, "timing": {}, "build": {},
            "sha256": hashlib.sha256(place.read_bytes()).hexdigest(), "counters": {"lines": []},
        })  # fmt: skip
    if text:
        file = "starter/02_tiled.cu"
        exercises[1]["status"] = "fail"
        exercises[1]["checks"][1] |= {
            "status": "fail", "earned": 0, "verdict": "race", "message": text, "hint": text,
            "command": text, "locations": [{"file": file, "line": 28, "role": text}],
        }  # fmt: skip
    data = {
        "schema": "matmul-results/v1",
        "grader": {"version": version(PROJECT), "tree_sha256": tree_sha256(PROJECT)},
        "submission": "../submission/starter", "seed": 7, "created": "2026-03-04T05:06:07+00:00",
        "devices": [{"kind": "gpu", "name": text}], "exercises": exercises,
    }  # fmt: skip
    return added_up(data)


def added_up(data: dict[str, Any]) -> dict[str, Any]:
    """With sums that fit, so that only what was changed is wrong."""
    checks = [check for exercise in data["exercises"] for check in exercise["checks"]]
    for exercise in data["exercises"]:
        for key in ("earned", "points"):
            exercise[key] = sum(check[key] for check in exercise["checks"])
    undecided = [one for one in checks if one["status"] in ("not_graded", "grader_error")]
    data["score"] = {
        "earned": sum(one["earned"] for one in checks),
        "points": sum(one["points"] for one in checks),
        "not_graded": sum(one["points"] for one in undecided),
    }
    return data


def publish(workspace: Path, tools: Path, data: Any) -> runner.Job:
    put(workspace, {"raw/results.json": json.dumps(data).encode()})
    return runner.run(runner.load(WORKFLOWS / "grade.yml"), "publish", workspace, tools, VALUES)


def test_a_sound_record_becomes_a_check_run_of_the_students_commit(
    workspace: Path, tools: Path
) -> None:
    job = publish(workspace, tools, record(workspace / "submission" / "starter", HOSTILE))
    assert job.succeeded, job.steps[-1].log
    token, *words = (workspace.parent / "gh.called").read_text().splitlines()
    assert token == "ghs_write"
    assert words == [
        "api", "--silent", "--method", "POST", "repos/course/ada/check-runs", "--input",
        "../check-run.json",
    ]  # fmt: skip
    assert [name for name in ("GH_TOKEN",) if name in job.step("Validate").environment] == []
    sent = json.loads((workspace / "check-run.json").read_text())
    assert (sent["head_sha"], sent["conclusion"]) == (
        VALUES["needs.take.outputs.commit"],
        "failure",
    )
    assert sent["output"]["title"] == "72 of 75 gradable points (25 not graded)"
    (mark,) = sent["output"]["annotations"]
    assert (mark["path"], mark["start_line"]) == ("starter/02_tiled.cu", 28)


def test_a_hostile_record_breaks_out_of_neither_page_nor_log(workspace: Path, tools: Path) -> None:
    job = publish(workspace, tools, record(workspace / "submission" / "starter", HOSTILE))
    assert [one for step in job.steps for one in step.commands] == []
    sent = json.loads((workspace / "check-run.json").read_text())
    for page in (job.summary, sent["output"]["summary"]):
        outside = re.sub(r"^```.*?^```", "", page, flags=re.S | re.M)
        assert "<img" not in outside
        assert "@everyone" not in outside
    assert job.files["GITHUB_OUTPUT"] == job.files["GITHUB_ENV"] == ""


Change = Callable[[dict[str, Any]], object]


def of(data: dict[str, Any], exercise: int, check: str) -> dict[str, Any]:
    checks: list[dict[str, Any]] = data["exercises"][exercise]["checks"]
    return checks[CHECKS.index(check)]


FORGED: dict[str, tuple[Change, str]] = {
    "more points than exercise.toml gives": (
        lambda data: of(data, 3, "efficient").update(points=90, earned=90),
        "04_tuned: efficient: 90 of 90 points, by the rules 11 of 11",
    ),
    "points moved without a reason": (
        lambda data: (
            of(data, 1, "fast").update(points=0),
            of(data, 1, "efficient").update(points=17, earned=17),
        ),
        "02_tiled: efficient: 17 of 17 points, by the rules 12 of 12",
    ),
    "full points for a quarter of the speed": (
        lambda data: (
            of(data, 3, "fast").update(status="pass", reason="", earned=15),
            data["exercises"][3].update(timing={"quarters": 1}),
        ),
        "04_tuned: fast: 15 of 15 points, by the rules 4 of 15",
    ),
    "quarters beyond four": (
        lambda data: data["exercises"][3].update(timing={"quarters": 9}),
        "04_tuned: timing.quarters is no count up to 4",
    ),
    "full points for efficiency without any shape": (
        lambda data: (
            of(data, 1, "any_shape").update(status="fail", earned=0, verdict="wrong_answer"),
            data["exercises"][1].update(status="fail"),
        ),
        "02_tiled: efficient: 12 of 12 points, by the rules 6 of 12",
    ),
    "a check that could not have run": (
        lambda data: (
            of(data, 1, "compiles").update(status="fail", verdict="compile_error"),
            data["exercises"][1].update(status="fail"),
        ),
        "02_tiled: safe: pass without compiles",
    ),
    "an exercise that passes with a failed check": (
        lambda data: of(data, 0, "safe").update(status="fail", earned=0, verdict="race"),
        "01_naive: status 'pass', its checks say fail",
    ),
    "a verdict that is none": (
        lambda data: (
            of(data, 0, "safe").update(status="fail", earned=0, verdict="x" * 99),
            data["exercises"][0].update(status="fail"),
        ),
        "is no verdict",
    ),
    "a failure that was accepted": (
        lambda data: (
            of(data, 0, "safe").update(status="fail", earned=0, verdict="accepted"),
            data["exercises"][0].update(status="fail"),
        ),
        "'accepted' is no verdict",
    ),
    "a failure without a verdict": (
        lambda data: (
            of(data, 0, "safe").update(status="fail", earned=0),
            data["exercises"][0].update(status="fail"),
        ),
        "01_naive: safe: fail with the verdict ''",
    ),
    "a reason that is none": (
        lambda data: of(data, 0, "fast").update(reason="holidays"),
        "01_naive: fast: not_graded for 'holidays'",
    ),
    "another student's file": (
        lambda data: data["exercises"][2].update(sha256="0" * 64),
        "03_padded: sha256 is not that of the file",
    ),
    "an exercise left out": (
        lambda data: data["exercises"].pop(2),
        "the exercises are not those of this course",
    ),
    "a check left out": (
        lambda data: data["exercises"][2]["checks"].pop(1),
        "03_padded: the checks are not",
    ),
    "a file that was there, as missing": (
        lambda data: data["exercises"][2].update(status="missing"),
        "03_padded: status 'missing', its checks say pass",
    ),
    "another grader": (
        lambda data: data["grader"].update(tree_sha256="0" * 64),
        "another grader than this one",
    ),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_record_is_refused(name: str, tmp_path: Path) -> None:
    change, told = FORGED[name]
    put(tmp_path, {f"{one.name}.cu": b"__global__ void mine() {}\n" for one in GRADED})
    data = record(tmp_path)
    assert validation.validate(data, tmp_path).earned == 75
    change(data)
    with pytest.raises(RecordProblem, match=re.escape(told)):
        validation.validate(added_up(data), tmp_path)


def test_sums_that_do_not_add_up_are_refused(tmp_path: Path) -> None:
    put(tmp_path, {f"{one.name}.cu": b"__global__ void mine() {}\n" for one in GRADED})
    data = record(tmp_path)
    data["score"]["earned"] = 99
    with pytest.raises(RecordProblem, match=r"score\.earned is 99"):
        validation.validate(data, tmp_path)


def test_a_speed_in_quarters_and_moved_points_are_accepted(tmp_path: Path) -> None:
    put(tmp_path, {f"{one.name}.cu": b"__global__ void mine() {}\n" for one in GRADED})
    data = record(tmp_path)
    of(data, 3, "fast").update(status="pass", reason="", earned=11)
    data["exercises"][3]["timing"] = {"quarters": 3}
    of(data, 1, "fast").update(reason="no_gap", points=0)
    of(data, 1, "efficient").update(points=17, earned=17)
    assert validation.validate(added_up(data), tmp_path).earned == 91


def test_nothing_handed_in_is_a_record_that_holds(tmp_path: Path) -> None:
    put(tmp_path, {f"{one.name}.cu": b"__global__ void mine() {}\n" for one in GRADED})
    data = record(tmp_path)
    for place in tmp_path.iterdir():
        place.unlink()
    for exercise in data["exercises"]:
        exercise.update(status="missing", sha256="")
        for check in exercise["checks"]:
            check.update(status="skipped", reason="missing", earned=0)
    assert validation.validate(added_up(data), tmp_path).untouched


@pytest.mark.parametrize("raw", [b"", b"[" * 100_000, b'{"schema": 1}', b"x" * (5 << 20)])
def test_what_is_no_record_is_refused_and_nothing_is_sent(
    workspace: Path, tools: Path, raw: bytes
) -> None:
    put(workspace, {"raw/results.json": raw})
    job = runner.run(runner.load(WORKFLOWS / "grade.yml"), "publish", workspace, tools, VALUES)
    assert [step.name for step in job.steps if step.status] == ["Validate"]
    assert "Traceback" not in job.steps[-1].log
    assert not (workspace.parent / "gh.called").exists()


def test_only_the_four_files_are_taken_and_changed_files_are_told_to_the_student(
    workspace: Path, handout: Path, tools: Path
) -> None:
    (handout / "grader" / "score.py").write_text("raise SystemExit('run by mistake')\n")
    (handout / "starter" / "conftest.py").write_text("raise SystemExit('run by mistake')\n")
    shutil.rmtree(workspace / "submission")
    shutil.copytree(handout, workspace / "submission", symlinks=True)
    values = {**VALUES, "secrets.SUBMISSIONS_TOKEN": "ghp_read"}
    job = runner.run(runner.load(WORKFLOWS / "grade.yml"), "take", workspace, tools, values)
    assert job.succeeded, job.steps[-1].log
    taken = {path.relative_to(workspace / "taken").as_posix()
             for path in (workspace / "taken").rglob("*") if path.is_file()}  # fmt: skip
    assert taken == {"snapshot.json", *(f"starter/{one.name}.cu" for one in GRADED)}
    shutil.rmtree(workspace / "submission")
    (workspace / "taken").rename(workspace / "submission")
    data = record(workspace / "submission" / "starter")
    for exercise in data["exercises"]:
        exercise["status"] = "not_started"
        for check in exercise["checks"]:
            check.update(status="skipped", reason="not_started", earned=0)
    assert publish(workspace, tools, added_up(data)).succeeded
    sent = json.loads((workspace / "check-run.json").read_text())
    assert sent["conclusion"] == "failure"
    assert sent["output"]["summary"].startswith(
        "Changed outside starter/&#58; grader/score.py&#58; they are not used in grading."
    )


# --- class.yml -------------------------------------------------------------------------------


def test_a_class_is_collected_where_the_token_is(workspace: Path, tools: Path) -> None:
    repository = workspace / "autograder"
    put(repository, {"roster.csv": b"student,source\nada,in/ada\nbob,in/bob\n-cy,\n"})
    shutil.copytree(workspace / "submission", repository / "in" / "ada")
    values = {
        "inputs.roster || 'roster.csv'": "roster.csv",
        "secrets.SUBMISSIONS_TOKEN": "ghp_read",
        "github.workspace": str(repository),
    }
    job = runner.run(runner.load(WORKFLOWS / "class.yml"), "collect", repository, tools, values)
    assert job.succeeded, job.steps[-1].log
    _, total, *refused = job.step("Collect").log.splitlines()
    assert total == "3 students. nothing handed in: 1, taken: 1."
    assert [line.partition(" (line 4: ")[0] for line in refused] == [
        "  -cy: the roster's line cannot be used"
    ]
    (ada,) = (repository / "class" / "students").glob("ada-*")
    assert len(list((ada / "submission").iterdir())) == len(GRADED)


def test_the_guide_and_the_workflows_call_verbs_that_exist() -> None:
    guide = (PROJECT / "grader" / "classroom" / "README.md").read_text()
    text = "\n".join([guide, *(path.read_text() for path in FILES)])
    called = {*re.findall(r"-m grader ([a-z][a-z-]*)", text)}
    assert {"grade", "export", "check-run", "take", "collect"} <= called
    for verb in called:
        with pytest.raises(SystemExit) as ended:
            cli.main([verb, "--help"])
        assert ended.value.code == 0, verb
    assert {*re.findall(r"grader export ([a-z][a-z0-9-]*)", text)} <= {*FORMATS}
    makefiles = "".join((PROJECT / name).read_text() for name in ("Makefile", "teachers.mk"))
    targets = re.findall(r"^([a-z-]+):", makefiles, re.M)
    assert {*re.findall(r"\bmake ([a-z-]+)\b", text)} <= {*targets}


class Guarded(BaseHTTPRequestHandler):
    """A server that asks for a name and a password, and lets nobody in."""

    seen: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        told = self.headers.get("Authorization")
        if told:
            self.seen.append(base64.b64decode(told.removeprefix("Basic ")).decode())
        self.send_response(403 if told else 401)
        self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


def test_a_repository_is_fetched_with_the_token_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_ASKPASS", str(PROJECT / "grader" / "classroom" / "askpass"))
    monkeypatch.setenv("GIT_TOKEN", "ghp_read")
    monkeypatch.setenv("HOME", str(tmp_path))  # without this machine's own credentials
    with HTTPServer(("127.0.0.1", 0), Guarded) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/course/ada"
        taken = snapshot.take(address, tmp_path, ["01_naive.cu"], tmp_path / "taken")
        server.shutdown()
    assert taken.status == "unreachable"
    assert Guarded.seen == ["x-access-token:ghp_read"]
    assert "ghp_read" not in taken.detail


def test_a_record_is_complete_only_if_every_exercise_passes(tmp_path: Path) -> None:
    put(tmp_path, {f"{one.name}.cu": b"__global__ void mine() {}\n" for one in GRADED})
    data = record(tmp_path)
    assert reading.parse(data).complete
    data["exercises"][3]["status"] = "not_started"
    for check in data["exercises"][3]["checks"]:
        check.update(status="skipped", reason="not_started", earned=0)
    assert not reading.parse(added_up(data)).complete
