"""The zip for Gradescope, run in a bare folder of Gradescope's layout."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.gradescope import autograder, bundle
from grader.starters import plain_solution
from grader.tests.repositories import make_teachers

SCHEMA = json.loads(Path(__file__).with_name("data").joinpath("gradescope.schema.json").read_text())
GRADED = tuple(exercise for exercise in load_all(PROJECT) if exercise.graded)
SOLUTION = plain_solution((PROJECT / "exercises/01_naive/solution.cu").read_text())


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip, made from a commit of the files of this repository."""
    root = make_teachers(tmp_path_factory.mktemp("teachers"))
    output = tmp_path_factory.mktemp("made") / "autograder.zip"
    assert bundle.make(root, output) > 100
    return output


@pytest.fixture(scope="module")
def image(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Gradescope's folder as its harness makes it from the zip."""
    root = tmp_path_factory.mktemp("gradescope") / "autograder"
    (root / "submission").mkdir(parents=True)
    (root / "results").mkdir()
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    (root / "run_autograder").chmod(0o755)
    (root / "submission_metadata.json").write_text('{"id": 1, "users": [{"name": "Ada"}]}')
    (PROJECT / ".cache").mkdir(exist_ok=True)
    (root / "source" / ".cache").symlink_to(PROJECT / ".cache")  # the simulator is built once
    return root


@pytest.fixture
def root(image: Path) -> Path:
    """The same folder, with nothing handed in and no results."""
    for name in ("submission", "results"):
        shutil.rmtree(image / name)
        (image / name).mkdir()
    return image


def run(root: Path, **environment: str) -> dict[str, Any]:
    """What run_autograder leaves, from a folder that is none of ours and without our modules."""
    told = {"AUTOGRADER_ROOT": str(root), "AUTOGRADER_PYTHON": sys.executable}
    done = subprocess.run(
        [root / "run_autograder"], cwd=root, check=False, capture_output=True, text=True,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(root), **told, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads((root / "results" / "results.json").read_text())
    jsonschema.validate(result, SCHEMA)
    return result


def of(result: dict[str, Any], name: str) -> dict[str, Any]:
    return next(test for test in result["tests"] if test["name"] == name)


def test_the_zip_has_its_two_scripts_on_top_and_no_solution(archive: Path) -> None:
    with zipfile.ZipFile(archive) as opened:
        names = {entry.filename: entry.external_attr >> 16 for entry in opened.infolist()}
    assert names["setup.sh"] & 0o111
    assert names["run_autograder"] & 0o111
    assert {"grader/score.py", "tests/test_checks.py", "requirements/base.txt"} <= set(names)
    assert not [name for name in names if "solution" in name or name.startswith("grader/tests")]
    assert not [name for name in names if name.startswith(("starter/", ".github/"))]


def test_a_zip_that_is_there_is_not_replaced(archive: Path) -> None:
    with pytest.raises(GraderFault, match=r"autograder\.zip exists\. Next: name another file"):
        bundle.make(next(archive.parent.parent.glob("teachers*")), archive)


def test_half_a_zip_is_left_to_nobody(
    archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(zipfile.ZipFile, "writestr", full)
    with pytest.raises(GraderFault, match="No space left"):
        bundle.make(next(archive.parent.parent.glob("teachers*")), tmp_path / "made.zip")
    assert not (tmp_path / "made.zip").exists()


def test_a_right_file_gets_its_points_and_missing_ones_are_named(root: Path) -> None:
    (root / "submission" / "01_naive.cu").write_text(SOLUTION)
    result = run(root)
    assert result["score"] == GRADED[0].total
    assert of(result, "01_naive: any shape")["status"] == "passed"
    assert of(result, "02_tiled: any shape")["output"].startswith("there is no such file")
    assert result["output"].startswith("20 of 75 gradable points (25 not graded)")


def test_a_wrong_file_is_told_why_and_gets_no_points(root: Path) -> None:
    (root / "submission" / "starter").mkdir()  # as a repository is handed in
    wrong = '#include "launch.cuh"\nint oops = ;\n'
    (root / "submission" / "starter" / "01_naive.cu").write_text(wrong)
    result = run(root)
    assert result["score"] == 0
    failed = of(result, "01_naive: compiles")
    assert failed["status"] == "failed"
    assert "At: starter/01_naive.cu:2 (error)" in failed["output"]
    assert re.search(r"^make test EX=naive SEED=[0-9]+$", failed["output"], re.M)


def test_nothing_handed_in_is_no_points_and_no_fault(root: Path) -> None:
    result = run(root)
    assert result["score"] == 0
    assert {test["score"] for test in result["tests"]} == {0}
    assert "This is not about your kernel" not in json.dumps(result)


def test_a_grader_that_cannot_start_says_that_it_is_not_the_students_fault(root: Path) -> None:
    result = run(root, AUTOGRADER_PYTHON="/nowhere/python")
    assert "did not start. This is not about your kernel" in result["tests"][0]["output"]


def test_a_grading_whose_time_is_over_leaves_what_was_known(root: Path) -> None:
    for exercise in GRADED:
        text = (exercise.folder / "solution.cu").read_text()
        (root / "submission" / f"{exercise.name}.cu").write_text(plain_solution(text))
    result = run(root, AUTOGRADER_LIMIT_S="4")
    words = json.dumps(result)
    assert "before this check. This is not about your kernel." in words or "left no record" in words
    assert result["score"] < 75


def test_a_record_that_cannot_be_read_is_a_fault_of_ours(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(autograder, "grade", lambda root, limit_s: 1 / 0)
    assert autograder.main([str(root)]) == 0
    result = json.loads((root / "results" / "results.json").read_text())
    jsonschema.validate(result, SCHEMA)
    assert result["output"].startswith("The grader failed (ZeroDivisionError). This is not about")
