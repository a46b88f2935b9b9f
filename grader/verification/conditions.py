"""Whether a record can be repeated here: the same grader, the same files, the same devices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from grader import record
from grader.checks.plan import Entry
from grader.driver import find_driver
from grader.exercise import CHECKS, PROJECT
from grader.formats.reading import Record
from grader.tree import SHORT
from grader.verification.origin import commit_of

_NO_RECORD = "Next: give the results.json as `make grade` wrote it"

# What a device says of itself that may change a message, but no verdict.
_MINOR = ("compiler", "driver", "cuda", "nvcc")


def obstacles(data: Mapping[str, Any], told: Record, entries: Sequence[Entry]) -> Iterator[str]:
    """Why the record cannot be compared, each with what to do."""
    yield from _other_grader(told, str(data.get("created")))
    yield from _other_checks(told)
    yield from _other_files(told, entries)
    yield from _other_devices(data)


def _other_grader(told: Record, created: str) -> Iterator[str]:
    ours = record.identity()
    if told.tree_sha256 != ours["tree_sha256"]:
        commit = commit_of(PROJECT, told.tree_sha256, created)
        there = (
            f"git worktree add ../{commit} {commit}"
            if commit
            else "check out its commit, with the same course.toml and calibrations; "
            "of a student's, update to the hand-out of then"
        )
        yield (
            f"Another grader made the record: version {told.version}, tree_sha256 "
            f"{told.tree_sha256[:SHORT]}; this copy is version {ours['version']}, "
            f"{ours['tree_sha256'][:SHORT]}. Next: verify with the copy that graded: {there}"
        )


def _other_checks(told: Record) -> Iterator[str]:
    if not told.exercises:
        yield f"The record is about no exercise. {_NO_RECORD}"
    for exercise in told.exercises:
        if tuple(check.name for check in exercise.checks) != CHECKS:
            yield f"{exercise.name}: the record's checks are not {', '.join(CHECKS)}. {_NO_RECORD}"


def _other_files(told: Record, entries: Sequence[Entry]) -> Iterator[str]:
    for exercise, entry in zip(told.exercises, entries, strict=True):
        then = exercise.sha256
        now = entry.submission.sha256 if entry.submission else ""
        if then != now:
            yield (
                f"{entry.path} is not the file that was graded (sha256 {_short(then)} then, "
                f"{_short(now)} now). Next: give the folder as it was handed in; "
                "of a class, class/students/KEY/submission"
            )


def _short(digest: str) -> str:
    return digest[:SHORT] or "of no readable file"


def _other_devices(data: Mapping[str, Any]) -> Iterator[str]:
    names = {str(one.get("kind")): str(one.get("name", "")) for one in data["devices"]}
    if not names:
        yield "The record names no device: the grading ended before it began. Next: grade again"
    if "gpu" not in names:
        return
    here = [gpu.name for gpu in find_driver().gpus]
    if not here or here[0] != names["gpu"]:
        have = f"this machine has a {here[0]}" if here else "this machine has no GPU"
        yield (
            f"The record was made on a {names['gpu'] or 'GPU that failed'}, and {have}. "
            "Next: verify on a machine with that GPU"
        )


def minor_differences(then: Sequence[Any], now: Sequence[Any]) -> Iterator[str]:
    """What differs between the devices of two records and should not change a verdict."""
    before = {one.get("kind"): one for one in then}
    for device in now:
        other = before.get(device["kind"], {})
        for key in _MINOR:
            if other.get(key) != device.get(key):
                yield (
                    f"{device['kind']}: {key} was {other.get(key, 'unknown')}, "
                    f"is {device.get(key, 'unknown')}; messages may differ"
                )
