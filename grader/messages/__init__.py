"""Findings in words: the one place that turns kinds and facts into sentences.

A table per family maps a kind to its text: a format string over the facts and a few phrases (see
`wording.phrases`), or a function of the finding where the text depends on the facts. A message
states a fact, its place, and a next step; it never shows the repair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from grader.exercise import Exercise
from grader.finding import Finding
from grader.messages import building, efficiency, files, memory, running, speed, values
from grader.messages.wording import Template, phrases
from grader.verdict import Verdict

__all__ = ["TEXTS", "Message", "describe", "say"]

# Kinds of a wrong C that say where it is wrong, not why.
_UNEXPLAINED = ("wrong_everywhere", "wrong_last", "wrong_blocks", "wrong_places", "wrong_somewhere")
# What `make run` prints in a terminal; larger matrices say less than one element does.
_LARGEST_PRINTED = 16


@dataclass(frozen=True)
class Message:
    """`text` says what is wrong; `hint` is one sentence more, for those who want it."""

    text: str
    hint: str


TEXTS: Mapping[str, Template] = MappingProxyType(
    {
        **files.TEXTS,
        **building.TEXTS,
        **memory.TEXTS,
        **running.TEXTS,
        **values.TEXTS,
        **efficiency.TEXTS,
        **speed.TEXTS,
    }
)


def describe(finding: Finding, exercise: Exercise) -> Message:
    """The words for a finding; raises KeyError for a kind that has none."""
    return Message(say(finding), _hint(finding, exercise))


def say(finding: Finding) -> str:
    """The words without a hint, for kernels of no exercise; KeyError as with `describe`."""
    template = TEXTS[finding.kind]
    return template(finding) if callable(template) else template.format_map(phrases(finding))


def _hint(finding: Finding, exercise: Exercise) -> str:
    """The exercise's own hint for this kind, or for this verdict, or where to look."""
    keys = [finding.kind]
    # A diagnosis that knows what went wrong asks its own question; a general hint would mislead.
    if finding.verdict is not Verdict.WRONG_ANSWER or finding.kind.startswith(_UNEXPLAINED):
        keys.append(finding.verdict.value)
    for key in keys:
        if key in exercise.hints:
            return exercise.hints[key]
    shape = finding.shape
    if shape is not None and max(shape) <= _LARGEST_PRINTED:
        return f"make run EX={exercise.short} SHAPE={shape} prints A, B, C and what C should be."
    return f"exercises/{exercise.name}/README.md says what the kernel is given and what is checked."
