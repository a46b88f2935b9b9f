"""The hand-out: no solution in it, the same grader, and updates that leave students' work alone."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader import cli
from grader.exercise import PROJECT, load_all
from grader.finding import GraderFault
from grader.handout import contents, making, manifest, protection, update
from grader.handout.leaks import leaks
from grader.starters import solution_regions
from grader.submission import status
from grader.tests.repositories import commit, git, make_teachers
from grader.tree import tree_sha256


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_teachers(tmp_path_factory.mktemp("teachers"))


@pytest.fixture(scope="module")
def fresh(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("made") / "handout"
    making.make(repository, output)
    return output


@pytest.fixture
def copy(fresh: Path, tmp_path: Path) -> Path:
    """A student's clone."""
    folder = tmp_path / "student"
    shutil.copytree(fresh, folder)
    return folder


def test_students_get_one_commit_and_no_solution(fresh: Path) -> None:
    assert len(git(fresh, "log", "--format=%H").split()) == 1
    assert not list(fresh.rglob("solution.cu"))
    names = {path.relative_to(fresh).as_posix() for path in fresh.rglob("*")}
    assert not names & {"grader/tests", "grader/proof", "exercises/calibration/kernels", ".ci"}
    assert {"starter/02_tiled.cu", "exercises/02_tiled/README.md", "tests/test_checks.py"} <= names


def test_a_clone_whose_git_writes_line_ends_of_windows_is_as_it_was_handed_out(
    fresh: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "--quiet", "-c", "core.autocrlf=true", str(fresh), "clone")
    assert protection.changed_outside(tmp_path / "clone") == ()


def targets(makefile: Path) -> set[str]:
    return {*re.findall(r"^([a-z-]+):", makefile.read_text(), re.MULTILINE)}


def make(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run make in a copy, with this Python in place of one that it would set up."""
    python = folder / ".venv/bin/python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    for name in ("base", "gpu"):
        (folder / f".venv/{name}.stamp").touch()
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *words], cwd=folder, env=kept, capture_output=True, text=True, check=False
    )


def test_make_in_the_handout_lists_what_works_there(fresh: Path, copy: Path) -> None:
    listed = {*re.findall(r"^  make ([a-z-]+) +\S", make(copy).stdout, re.MULTILINE)}
    assert listed == targets(fresh / "Makefile") - {"help", "known"}
    text = (fresh / "Makefile").read_text()
    for module in {*re.findall(r'"\$\(PY\)" -m (grader[a-z.]*)', text)}:
        path = fresh / module.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), module
    for name in {*re.findall(r"requirements/[a-z]+\.txt", text)}:
        assert (fresh / name).is_file(), name


def test_a_teachers_command_is_unknown_in_the_handout(copy: Path) -> None:
    for target in targets(PROJECT / "teachers.mk"):
        done = make(copy, target)
        assert re.search(f"No rule to make target .{target}'", done.stderr), target


def test_what_students_read_names_no_command_that_they_lack(fresh: Path) -> None:
    known = targets(fresh / "Makefile")
    texts = [fresh / "README.md", *fresh.glob(".github/workflows/*"), *fresh.rglob("*/README.md")]
    assert len(texts) > len(load_all(PROJECT))
    for path in texts:
        named = {*re.findall(r"(?:`|    |run: )make ([a-z-]+)\b", path.read_text())}
        assert named <= known, path
    assert "setup" in re.findall(r"run: make ([a-z-]+)", texts[1].read_text())


@pytest.mark.long
def test_every_command_of_students_works_in_the_handout(fresh: Path, copy: Path) -> None:
    naive = (PROJECT / "exercises/01_naive/solution.cu").read_text()
    (copy / "starter/01_naive.cu").write_text(naive)
    record = ("RESULT=results/results.json", "SUBMISSION=starter")
    calls = {
        "test": ("EX=naive",), "run": ("EX=naive", "SHAPE=3x3x3"), "inspect": ("EX=naive",),
        "bench": ("EX=naive",), "sweep": ("EX=naive", "SHAPE=64x64x64"), "grade": ("EX=naive",),
        "verify": record, "update": (f"FROM={fresh}",), "restore": (), "doctor": (), "starter": (),
    }  # fmt: skip
    installing = {"setup", "nvcc", "wheelhouse", "clean"}
    assert {*calls} == targets(fresh / "Makefile") - installing - {"help", "known"}
    for target, words in calls.items():
        done = make(copy, target, *words, "DEVICE=simulator")
        assert done.returncode == 0, (target, done.stdout[-2000:], done.stderr)
        assert "Traceback" not in done.stderr
    assert "Which kernel? Next: make bench EX=" in make(copy, "bench", "DEVICE=simulator").stderr


def test_a_students_copy_makes_no_handout(copy: Path, tmp_path: Path) -> None:
    for verb in (making.make, making.release):
        with pytest.raises(GraderFault, match="is a students' copy, without solutions"):
            verb(copy, tmp_path / "out")


def test_the_handout_is_the_same_grader(repository: Path, fresh: Path) -> None:
    assert tree_sha256(fresh) == tree_sha256(repository) == manifest.read(fresh).tree_sha256
    assert manifest.compare(manifest.read(fresh), fresh).names == ()


def test_its_starters_are_untouched_and_its_exercises_complete(fresh: Path) -> None:
    exercises = load_all(fresh)
    assert [one.name for one in exercises] == [one.name for one in load_all(PROJECT)]
    states = {status(fresh / "starter" / f"{one.name}.cu", one) for one in exercises if one.graded}
    assert states == {"not_started"}


def test_the_readme_of_students_speaks_to_students(fresh: Path) -> None:
    text = (fresh / "README.md").read_text()
    assert "## For students" in text
    assert not re.search("## For (teachers|developers)|make demo|make check|teachers -->", text)
    links = re.findall(r"\]\(([^):#]+)[^):]*\)", text)
    assert links
    assert [link for link in links if not (fresh / link).exists()] == []


def test_a_solution_in_any_file_is_found(repository: Path) -> None:
    for exercise in load_all(repository):
        region = max(solution_regions((exercise.folder / "solution.cu").read_text()), key=len)
        hidden = "Notes.\n" + region.replace("\n", "  // as in class\n")
        found = [one.solution for one in leaks(repository, {"docs/notes.md": hidden.encode()})]
        assert found in ([exercise.name], []), exercise.name
        assert found or not exercise.graded or len(region) < 200, f"{exercise.name} was not found"


def test_nothing_is_handed_out_when_a_solution_is_in_it(repository: Path, tmp_path: Path) -> None:
    root = tmp_path / "leaky"
    shutil.copytree(repository, root)
    solution = (root / "exercises/02_tiled/solution.cu").read_text()
    (root / "exercises/02_tiled/README.md").write_text(solution)
    commit(root)
    with pytest.raises(GraderFault, match=r"02_tiled/README\.md:\d+ \(02_tiled\)"):
        making.make(root, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_sheet_that_promises_other_points_is_not_handed_out(
    repository: Path, tmp_path: Path
) -> None:
    root = tmp_path / "other"
    shutil.copytree(repository, root)
    toml, sheet = (root / "exercises/01_naive" / name for name in ("exercise.toml", "README.md"))
    toml.write_text(toml.read_text().replace("any_shape = 6", "any_shape = 10"))
    commit(root)
    told = "01_naive/README.md: any shape 6 instead of 10, nowhere 24 points, the sum. Next: mend"
    with pytest.raises(GraderFault, match=told):
        making.make(root, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    text = sheet.read_text()
    sheet.write_text(text.replace("any shape | 6 |", "any shape | 10 |").replace("20 p", "24 p"))
    commit(root)
    assert making.make(root, tmp_path / "out")
    sheet.write_text(text.replace("What is checked", "Was geprüft wird"))  # translated
    commit(root)
    assert making.make(root, tmp_path / "translated")


def test_what_is_not_committed_is_not_handed_out(repository: Path, tmp_path: Path) -> None:
    root = tmp_path / "dirty"
    shutil.copytree(repository, root)
    (root / "grades.csv").write_text("ada,100\n")
    with pytest.raises(GraderFault, match=r"not committed: grades\.csv"):
        making.make(root, tmp_path / "out")
    (root / "grades.csv").unlink()
    for name in ("class/gradebook.csv", "results/results.json", "out.svg"):  # as `make` calls them
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    assert contents.files(root)


def test_a_folder_with_something_in_it_is_left_alone(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("years of work")
    with pytest.raises(GraderFault, match="is not empty"):
        making.make(repository, tmp_path)


def texts(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*")
            if p.is_file() and ".git" not in p.parts}  # fmt: skip


def newer_handout(fresh: Path, output: Path, files: dict[str, str], without: str = "") -> Path:
    """A hand-out of version 9.9: the fresh one with these files, and one of them gone."""
    shutil.copytree(fresh, output)
    for name, text in files.items():
        (output / name).write_text(text)
    if without:
        (output / without).unlink()
    listed = manifest.of(texts(output), "9.9", "0" * 64)
    (output / manifest.NAME).write_bytes(manifest.write(listed))
    return output


def test_an_update_takes_the_newer_grader_and_keeps_the_students_work(
    fresh: Path, copy: Path, tmp_path: Path
) -> None:
    changes = {
        "grader/judge.py": "# better\n",
        "grader/added.py": "# new\n",
        "starter/05_more.cu": "// new exercise\n",
        "starter/01_naive.cu": "// newer starter\n",
    }
    newer = newer_handout(fresh, tmp_path / "newer", changes, without="grader/demo.py")
    (copy / "starter/01_naive.cu").write_text("// my work\n")
    done = update.update(copy, str(newer))
    assert done.version == "9.9"
    assert set(done.written) == {"grader/judge.py", "grader/added.py"}
    assert done.removed == ("grader/demo.py",)
    assert done.overwritten == ()
    assert done.new_starters == ("starter/05_more.cu",)
    assert (copy / "starter/01_naive.cu").read_text() == "// my work\n"
    assert manifest.compare(manifest.read(copy), copy).names == ()
    assert update.update(copy, str(newer)).written == ()


@pytest.fixture
def newer(fresh: Path, tmp_path: Path) -> Path:
    """A newer hand-out that writes and removes files of `worked_on`."""
    changes = {f"exercises/host_program/{name}": "// newer\n" for name in ("main.cu", "READ.md")}
    return newer_handout(
        fresh, tmp_path / "newer", changes, without="exercises/host_program/README.md"
    )


@pytest.fixture
def worked_on(copy: Path) -> Path:
    """A copy whose student also wrote outside starter/."""
    for name in ("main.cu", "READ.md", "README.md"):
        (copy / "exercises/host_program" / name).write_text("my own\n")
    return copy


YOURS = tuple(f"exercises/host_program/{name}" for name in ("READ.md", "README.md", "main.cu"))


def test_an_update_overwrites_nothing_of_a_student_that_is_in_no_commit(
    worked_on: Path, newer: Path
) -> None:
    (worked_on / ".git/info/exclude").write_text("READ.md\n")
    git(worked_on, "update-index", "--assume-unchanged", YOURS[2])
    before = texts(worked_on)
    with pytest.raises(
        GraderFault, match=r"in no commit: .*READ\.md, .*main\.cu\. .* Next: git add"
    ):
        update.update(worked_on, str(newer))
    shutil.rmtree(worked_on / ".git")
    with pytest.raises(GraderFault, match=r"in no commit: .* Next: git init && git add --all"):
        update.update(worked_on, str(newer))
    assert texts(worked_on) == before


def test_a_full_disk_leaves_the_copy_as_it_was(
    copy: Path, newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = texts(copy)

    def write(source: Path, target: Path) -> None:
        if source.name == manifest.NAME:
            raise OSError(errno.ENOSPC, "No space left on device")
        target.write_bytes(source.read_bytes())

    monkeypatch.setattr(shutil, "copy", write)
    with pytest.raises(OSError, match="No space left"):
        update.update(copy, str(newer))
    assert texts(copy) == before


def test_what_a_killed_update_left_is_removed_and_never_committed(copy: Path, newer: Path) -> None:
    (copy / ".update-x1").mkdir()
    (copy / ".update-x1/0").touch()
    assert git(copy, "status", "--porcelain") == ""
    update.update(copy, str(newer))
    assert not list(copy.glob(".update-*"))


@pytest.mark.parametrize("make", [making.make, making.release])
def test_what_is_handed_out_is_there_in_full_or_not_at_all(
    repository: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path, Path], object],
) -> None:
    real, left = Path.write_bytes, [2]

    def write(path: Path, content: bytes) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(path, content)

    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(GraderFault, match="No space left"):
        make(repository, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_an_update_overwrites_is_named_and_in_the_history(
    worked_on: Path, newer: Path
) -> None:
    commit(worked_on)
    done = update.update(worked_on, str(newer))
    assert tuple(sorted(done.overwritten)) == YOURS
    assert (worked_on / YOURS[2]).read_text() == "// newer\n"
    assert not (worked_on / YOURS[1]).exists()
    assert [git(worked_on, "show", f"HEAD:./{name}") for name in YOURS] == ["my own\n"] * 3


def test_a_clone_with_line_ends_of_windows_is_updated(
    fresh: Path, newer: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "-c", "core.autocrlf=true", str(fresh), "clone")
    (folder / ".gitattributes").write_text("* text=auto\n")
    commit(folder)
    (folder / "grader/judge.py").unlink()
    git(folder, "checkout", "--", "grader/judge.py")
    assert b"\r\n" in (folder / "grader/judge.py").read_bytes()
    assert "grader/judge.py" in update.update(folder, str(newer)).overwritten


@pytest.mark.parametrize("way", ["link", "folder", "file"])
def test_what_stands_in_the_way_of_a_file_is_named_and_stays(
    way: str, copy: Path, newer: Path, tmp_path: Path
) -> None:
    place, elsewhere = copy / "exercises/host_program", tmp_path / "elsewhere"
    place.rename(elsewhere)
    (elsewhere / "main.cu").write_text("my own\n")
    if way == "link":
        place.symlink_to(elsewhere)
    elif way == "folder":
        (place / "main.cu").mkdir(parents=True)
    else:
        place.write_text("my own\n")
    for verb, act in (
        ("update", lambda: update.update(copy, str(newer))),
        ("restore", lambda: update.restore(copy)),
    ):
        with pytest.raises(GraderFault, match=f"host_program.* is in the way.* then {verb} again"):
            act()
    assert (elsewhere / "main.cu").read_text() == "my own\n"
    assert manifest.read(copy).version != "9.9"


def test_an_update_from_a_clone_address_works(fresh: Path, copy: Path) -> None:
    (copy / "grader/judge.py").unlink()
    assert update.update(copy, fresh.as_uri()).written == ("grader/judge.py",)


def test_an_update_writes_a_starter_that_is_lost_or_empty(fresh: Path, copy: Path) -> None:
    (copy / "starter/01_naive.cu").unlink()
    (copy / "starter/02_tiled.cu").write_text("\n")
    (copy / "starter/03_padded.cu").unlink()
    (copy / "starter/03_padded.cu").symlink_to("work.cu")  # a student's link, whatever it leads to
    done = update.update(copy, str(fresh))
    assert done.new_starters == ("starter/01_naive.cu", "starter/02_tiled.cu")


@pytest.mark.parametrize("content", [None, "{"])
def test_a_lost_manifest_is_restored_from_the_history(content: str | None, copy: Path) -> None:
    handed_out = (copy / manifest.NAME).read_bytes()
    (copy / manifest.NAME).unlink()
    if content:
        (copy / manifest.NAME).write_text(content)
        commit(copy)
    (copy / "grader/score.py").unlink()
    assert update.restore(copy) == (manifest.NAME, "grader/score.py")
    assert (copy / manifest.NAME).read_bytes() == handed_out
    assert manifest.compare(manifest.read(copy), copy).names == ()


def test_an_update_brings_back_a_manifest_that_the_history_lacks(copy: Path, newer: Path) -> None:
    shutil.rmtree(copy / ".git")
    (copy / manifest.NAME).unlink()
    with pytest.raises(
        GraderFault, match=r"handout\.json cannot be read: .* Next: make update FROM"
    ):
        update.restore(copy)
    (copy / YOURS[2]).unlink()  # nobody knows any more whose this is
    update.update(copy, str(newer))
    assert manifest.compare(manifest.read(copy), copy).names == ()


def test_an_update_from_a_broken_source_changes_nothing(
    fresh: Path, copy: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(fresh, broken)
    (broken / "grader/judge.py").write_text("# tampered\n")
    before = manifest.compare(manifest.read(fresh), copy)
    with pytest.raises(GraderFault, match=r"grader/judge\.py differ"):
        update.update(copy, str(broken))
    assert manifest.compare(manifest.read(fresh), copy) == before


@pytest.mark.parametrize("source", ["/nowhere/at/all", "-oProxyCommand=true"])
def test_an_address_that_cannot_be_read_is_told(copy: Path, source: str) -> None:
    with pytest.raises(GraderFault, match=f"{source}.*(could not be fetched|is no address)"):
        update.update(copy, source)


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/passwd", "starter/01_naive.cu", ".git/config"]
)
def test_a_manifest_cannot_reach_beyond_its_folder(copy: Path, name: str) -> None:
    listed = manifest.read(copy)
    forged = manifest.Manifest("1", listed.tree_sha256, {**listed.files, name: "0" * 64})
    (copy / manifest.NAME).write_bytes(manifest.write(forged))
    with pytest.raises(GraderFault, match=r"handout\.json does not list what was handed out"):
        manifest.read(copy)


def test_changed_and_removed_files_are_named_and_restored(copy: Path) -> None:
    (copy / "tests/test_checks.py").write_text("def test_all(): pass\n")
    (copy / "grader/score.py").unlink()
    (copy / "starter/02_tiled.cu").write_text("// my work\n")
    commit(copy, "cheat")
    found = manifest.compare(manifest.read(copy), copy)
    assert found == manifest.Difference(("tests/test_checks.py",), ("grader/score.py",))
    assert update.restore(copy) == ("grader/score.py", "tests/test_checks.py")
    assert manifest.compare(manifest.read(copy), copy).names == ()
    assert (copy / "starter/02_tiled.cu").read_text() == "// my work\n"


def test_a_copy_inside_another_repository_is_restored_from_its_history(
    fresh: Path, tmp_path: Path
) -> None:
    inner = tmp_path / "outer" / "course"
    shutil.copytree(fresh, inner, ignore=shutil.ignore_patterns(".git"))
    git(tmp_path, "init", "--quiet", "outer")
    commit(tmp_path / "outer")
    (inner / "README.md").write_text("mine\n")
    assert update.restore(inner) == ("README.md",)
    assert manifest.compare(manifest.read(inner), inner).names == ()


def test_lost_starters_are_written_anew_in_a_copy_and_work_stays(copy: Path) -> None:
    naive, tiled, padded = (copy / f"starter/{n}.cu" for n in ("01_naive", "02_tiled", "03_padded"))
    handed_out = [path.read_bytes() for path in (naive, tiled)]
    for path in (naive, padded):
        path.write_text("__global__ void mine() { }\n")
    commit(copy)
    naive.unlink()
    tiled.write_text("\n")
    done = make(copy, "starter")
    assert done.stdout.splitlines() == [
        "starter/01_naive.cu: written, as it was handed out. "
        "What you last committed is another: git checkout -- starter/01_naive.cu",
        "starter/02_tiled.cu: written, as it was handed out",
    ]
    assert [path.read_bytes() for path in (naive, tiled)] == handed_out
    assert "mine" in padded.read_text()
    assert make(copy, "starter").stdout == "No file of starter/ is missing.\n"
    git(copy, "checkout", "--", "starter/01_naive.cu")
    assert "mine" in naive.read_text()


def test_a_starter_that_the_history_lacks_is_named_with_the_next_step(copy: Path) -> None:
    shutil.rmtree(copy / ".git")
    (copy / "starter/01_naive.cu").unlink()
    done = make(copy, "starter")
    assert done.returncode != 0
    assert "history: starter/01_naive.cu. Next: make update FROM=" in done.stderr


@pytest.mark.parametrize(("verb", "step"), [("restore", "git restore"), ("update", "git pull")])
def test_what_mends_a_copy_says_what_to_do_in_the_courses_repository(
    verb: str, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([verb, *(["anywhere"] if verb == "update" else [])]) == cli.ERROR
    told = capsys.readouterr().err
    assert f"make {verb} is for students' copies" in told
    assert f"Next: {step}" in told.replace("git status, then: ", "")


def test_what_the_history_lacks_is_named_with_the_next_step(copy: Path) -> None:
    shutil.rmtree(copy / ".git")
    (copy / "Makefile").write_text("all:\n")
    with pytest.raises(GraderFault, match=r"Makefile\. Next: make update FROM="):
        update.restore(copy)


def test_released_solutions_have_no_markers_and_all_the_code(
    repository: Path, tmp_path: Path
) -> None:
    names = making.release(repository, tmp_path / "solutions")
    assert "02_tiled.cu" in names
    for name in names:
        text = (tmp_path / "solutions" / name).read_text()
        assert "SOLUTION" not in text
        assert "//STARTER" not in text
        original = (repository / "exercises" / name.removesuffix(".cu") / "solution.cu").read_text()
        assert all(region in text for region in solution_regions(original))


@pytest.mark.parametrize(
    ("name", "text", "call"),
    [
        ("grader/report/words.py", "frm grader import checks\n", ("doctor",)),  # all import it
        ("grader/score.py", "// hi\n", ("test", "EX=warmup")),
        ("grader/git.py", None, ("starter",)),
        ("grader/handout/update.py", "restore = 1\n", ("update", "FROM=nowhere")),
    ],
)
def test_a_grader_that_was_broken_is_told_as_such_and_restored(
    name: str, text: str | None, call: tuple[str, ...], copy: Path
) -> None:
    handed_out = (copy / name).read_text()
    (copy / name).unlink()
    if text is not None:
        (copy / name).write_text(text)
    (copy / "README.md").write_text("my notes\n")
    told = f"Changed outside starter/: {name}. Next: make restore\n"
    assert make(copy, *call).stderr.startswith(told)
    done = make(copy, "restore")
    assert (done.returncode, done.stdout) == (0, f"Restored: README.md, {name}\n")
    assert (copy / name).read_text() == handed_out
    assert make(copy, "restore").stdout == "Nothing outside starter/ was changed.\n"


def test_a_broken_grader_that_the_history_lacks_is_told_with_the_next_step(copy: Path) -> None:
    for name in ("git", "finding"):
        (copy / f"grader/{name}.py").unlink()
    commit(copy)
    forget = "git rm -q --cached --ignore-unmatch grader/git.py"
    git(copy, "filter-branch", "--index-filter", forget)
    done = make(copy, "restore")
    assert done.returncode == 2
    assert done.stdout == "Restored: grader/finding.py\n"
    assert done.stderr.startswith(
        "Not in this repository's history as handed out: grader/git.py. Next: get the hand-out anew"
    )


def test_a_fault_in_a_changed_file_has_the_command_that_restores_it(copy: Path) -> None:
    (copy / "exercises/01_naive/exercise.toml").unlink()
    done = make(copy, "test", "EX=naive")
    assert done.stderr.splitlines()[:2] == [
        "exercises/01_naive/exercise.toml: cannot be read: No such file or directory.",
        "Changed outside starter/: exercises/01_naive/exercise.toml. Next: make restore",
    ]
    git(copy, "checkout", "--", "exercises")
    (copy / "compile_flags.txt").unlink()  # what the fault does not name
    assert "Changed" not in make(copy, "test", "EX=nvaie").stderr
