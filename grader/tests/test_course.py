"""course.toml and the limits of GPU models."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course import CourseError, load, target
from grader.exercise import PROJECT


def refusal(root: Path, text: str) -> str:
    (root / "course.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError) as caught:
        load(root)
    return str(caught.value)


def test_the_shipped_course_grades_on_an_h200() -> None:
    gpu = load(PROJECT).target
    assert (gpu.name, gpu.compute_capability, gpu.architecture) == ("H200", "9.0", "sm_90")
    assert gpu.shared_per_block_optin == 227 * 1024
    assert gpu.shared_per_block == 49152
    assert gpu.max_threads_per_block == 1024
    assert gpu.max_grid_y == 65535


@pytest.mark.parametrize(
    ("word", "capability", "shared_kib"),
    [
        ("T4", "7.5", 64),
        ("A100", "8.0", 163),
        ("RTX 3090", "8.6", 99),
        ("RTX 4090", "8.9", 99),
        ("H100", "9.0", 227),
        ("B200", "10.0", 227),
        ("RTX 5090", "12.0", 99),
        ("sm_80", "8.0", 163),
        ("sm_100", "10.0", 227),
    ],
)
def test_a_model_or_architecture_has_its_published_limits(
    word: str, capability: str, shared_kib: int
) -> None:
    found = target(word)
    assert found.compute_capability == capability
    assert found.shared_per_block_optin == shared_kib * 1024


@pytest.mark.parametrize(
    "word", ["NVIDIA GeForce RTX 4090", "rtx4090", "GeForce-RTX-4090", "RTX_4090"]
)
def test_a_model_is_known_however_it_is_written(word: str) -> None:
    assert target(word).name == "RTX 4090"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["target_gpu is missing", "a string"]),
        ("target_gpu = 200", ["target_gpu is 200 (an integer)", "a string"]),
        ('target_gpu = "H20"', ["course.toml: target_gpu", '"H20"', 'mean "H200"?', "sm_90"]),
        ('target_gpu = "sm_91"', ['"sm_91"', "sm_89, sm_90"]),
        ('target_gpu = ""', ["target_gpu", "one line of text"]),
        ('target_gpus = "H200"', ['unknown key "target_gpus"', 'mean "target_gpu"?']),
        ("target_gpu", ["course.toml: not valid TOML"]),
    ],
)
def test_an_error_names_file_key_and_what_is_allowed(
    tmp_path: Path, text: str, words: list[str]
) -> None:
    message = refusal(tmp_path, text)
    assert all(word in message for word in ["course.toml", *words])


def test_a_missing_course_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="course.toml: cannot be read: No such file"):
        load(tmp_path)
