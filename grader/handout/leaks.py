"""Looks for solutions in what students get: runs of tokens that only a solution has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.exercise import load_all
from grader.source.tokens import tokens
from grader.starters import generate, solution_regions

# So many tokens in a row are one or two statements. Shorter runs also stand in handouts, which show
# single expressions, and in every CUDA program.
RUN = 24


@dataclass(frozen=True)
class Leak:
    """`file` of the hand-out holds a run of tokens of `solution`, from line `line` on."""

    file: str
    line: int
    solution: str


def leaks(root: Path, files: Mapping[str, bytes]) -> Iterator[Leak]:
    """Every file of the hand-out that holds a part of a solution of the repository at `root`."""
    secret = _secret_runs(root)
    for name, content in files.items():
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError:
            continue  # no source text
        for line, run in _runs(text):
            if run in secret:
                yield Leak(name, line, secret[run])
                break


def _secret_runs(root: Path) -> dict[tuple[str, ...], str]:
    """Run -> exercise, of all that lies between the solutions' markers and in no starter."""
    secret: dict[tuple[str, ...], str] = {}
    public: set[tuple[str, ...]] = set()
    for exercise in load_all(root):
        text = (exercise.folder / "solution.cu").read_text("utf-8")
        public.update(run for _, run in _runs(generate(text, exercise.name)))
        for region in solution_regions(text):
            secret.update((run, exercise.name) for _, run in _runs(region))
    return {run: name for run, name in secret.items() if run not in public}


def _runs(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Every run of RUN tokens with the line on which it begins."""
    found = list(tokens(text))
    words = [token.text for token in found]
    for start in range(len(words) - RUN + 1):
        yield found[start].line, tuple(words[start : start + RUN])
