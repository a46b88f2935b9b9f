"""Asks nvcc what becomes of a plan's files on other GPUs, while the checks run."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from grader import source, toolchain
from grader.checks.plan import Entry
from grader.course import Target
from grader.exercise import Exercise
from grader.finding import GraderFault
from grader.gpu import architectures
from grader.submission import Submission
from grader.toolchain import Nvcc

# How long an interrupted grading waits for nvcc to end: no note is worth more.
_PATIENCE_S = 5.0

# exercise, submission, nvcc, architectures, "stop now" -> what nvcc said
Ask = Callable[[Exercise, Submission, Nvcc, Sequence[str], threading.Event], architectures.Survey]


def ask_nvcc(
    exercise: Exercise,
    submission: Submission,
    compiler: Nvcc,
    names: Sequence[str],
    stop: threading.Event,
) -> architectures.Survey:
    return architectures.survey(exercise.kernel, submission, compiler, names, stop=stop)


class Surveyor:
    """A thread that waits for nvcc, one file after another. Without nvcc it has nothing to say,
    and nothing that goes wrong here is anybody's fault: the answers are notes, not checks."""

    def __init__(
        self,
        entries: Sequence[Entry],
        target: Target,
        compiler: Nvcc | None = None,
        ask: Ask = ask_nvcc,
        patience_s: float = _PATIENCE_S,
    ) -> None:
        """`compiler` is found when it is not given."""
        self._patience_s = patience_s
        self._entries = [one for one in entries if one.state == "started"]
        self._target = target
        self._compiler = compiler
        self._ask = ask
        self._stop = threading.Event()
        self._facts: dict[str, Mapping[str, Any]] = {}
        self._thread = threading.Thread(target=self._work, name="survey", daemon=True)
        self._thread.start()

    def __enter__(self) -> Surveyor:
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()  # nvcc would outlive us, and leave its working folder

    def results(self) -> Mapping[str, Mapping[str, Any]]:
        """By exercise, the entry `nvcc` of `build` in results.json; waits until all are there."""
        self._thread.join()
        return self._facts

    def stop(self) -> Mapping[str, Mapping[str, Any]]:
        """What is known by now; ends nvcc. Does not wait for one that does not end: signals are not
        heard meanwhile."""
        self._stop.set()
        self._thread.join(self._patience_s)
        return dict(self._facts)

    def _work(self) -> None:
        compiler = self._compiler or toolchain.find_nvcc()
        if compiler is None:
            return
        names = architectures.architectures(compiler, self._target.architecture)
        for entry in self._entries:
            if self._stop.is_set():
                return
            # The fence in front of nvcc: a file that is rejected is not compiled at all.
            if entry.submission is None or source.inspect(entry.submission):
                continue
            try:
                seen = self._ask(entry.exercise, entry.submission, compiler, names, self._stop)
            except (GraderFault, OSError, MemoryError):
                continue
            self._facts[entry.exercise.name] = {
                **seen.facts(),
                "target": self._target.architecture,
            }
