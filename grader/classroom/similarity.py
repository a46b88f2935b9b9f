"""Submissions that are alike: a lead for the teacher, never a verdict.

Winnowing (Schleimer, Wilkerson, Aiken: "Winnowing: local algorithms for document fingerprinting",
2003) over tokens, with names and numbers made equal, so that renaming hides nothing. What the
starter shows and what many of the class wrote is left out: short kernels have textbook parts.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from grader import atomic
from grader.classroom.folder import Class
from grader.classroom.roster import Student
from grader.exercise import PROJECT, load_all
from grader.formats.escape import csv_table
from grader.settings import STARTER
from grader.source.tokens import Kind, tokens

# A run of tokens as long as a statement, and one fingerprint in each window of as many runs.
_RUN = 18
_WINDOW = 6
# What more than this share of the class (and more than three students) has is common knowledge.
_COMMON = 0.05
# Below this share of common fingerprints two kernels are alike by their subject alone.
LEAST = 0.5
_FEWEST = 8

_KEYWORDS = frozenset(
    "if else for while do return break continue const float int __shared__".split()
)


@dataclass(frozen=True)
class Pair:
    """Two students' files of one exercise; `share` of the smaller one's rare fingerprints is in
    the other, `common` of them."""

    exercise: str
    first: Student
    second: Student
    share: float
    common: int


def pairs(one: Class) -> tuple[Pair, ...]:
    """The most alike first; nobody is compared within a group."""
    found = []
    for exercise in load_all(PROJECT):
        texts = {
            student: _read(one.of(student) / "submission" / f"{exercise.name}.cu")
            for student in one.graded
        }
        starter = _read(STARTER / f"{exercise.name}.cu")
        found += _alike(exercise.name, {s: t for s, t in texts.items() if t}, starter)
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.exercise, pair.first.line)))


def write(path: Path, found: Sequence[Pair]) -> None:
    rows = [(pair.exercise, pair.first.name, pair.second.name, f"{pair.share:.2f}", pair.common,
             "a lead, not a verdict: read both files") for pair in found]  # fmt: skip
    head = ("exercise", "student", "other", "share", "common", "note")
    atomic.write_text(path, csv_table([head, *rows]))


def _alike(exercise: str, texts: Mapping[Student, str], starter: str) -> list[Pair]:
    prints = {student: fingerprints(text) for student, text in texts.items()}
    count = Counter(one for found in prints.values() for one in found)
    most = most_often(len(texts))
    usual = {one for one, times in count.items() if times > most} | set(_hashes(starter))
    rare = {student: found - usual for student, found in prints.items()}
    result = []
    for first, second in combinations(rare, 2):
        common = len(rare[first] & rare[second])
        smaller = min(len(rare[first]), len(rare[second]))
        apart = not first.group or first.group != second.group
        if apart and common >= _FEWEST and common / smaller >= LEAST:
            result.append(Pair(exercise, first, second, common / smaller, common))
    return result


def most_often(students: int) -> int:
    """What more of so many students wrote is common knowledge."""
    return max(3, int(_COMMON * students))


def fingerprints(text: str) -> frozenset[int]:
    """The winnowed hashes of a file's runs of tokens."""
    hashes = _hashes(text)
    last = max(1, len(hashes) - _WINDOW + 1)
    return frozenset(min(hashes[start : start + _WINDOW]) for start in range(last) if hashes)


def _hashes(text: str) -> list[int]:
    words = [_plain(token.kind, token.text) for token in tokens(text)]
    runs = ("\0".join(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1))
    return [int.from_bytes(hashlib.blake2b(r.encode(), digest_size=8).digest()) for r in runs]


def _plain(kind: Kind, text: str) -> str:
    if kind is Kind.NAME:
        return text if text in _KEYWORDS else "n"
    return "0" if kind is Kind.NUMBER else text


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
