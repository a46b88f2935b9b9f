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
# For larger ones: the search found no smaller one for which the kernel is wrong.
_BY_HAND = (
    "Take one element that is wrong: which block and which thread compute it, and which elements "
    "of A and B do they read?"
)
_NOT_WRITTEN = (
    "Which thread should write the first element that is missing, and what keeps it from that?"
)
# Verdicts whose kinds have so little in common that the verdict's hint is for few of them.
_OF_MANY_KINDS = (Verdict.COMPILE_ERROR, Verdict.WRONG_ANSWER)
# The values are right, so that printing them shows nothing.
_COUNTED = (
    Verdict.UNCOALESCED,
    Verdict.TOO_MUCH_TRAFFIC,
    Verdict.BANK_CONFLICTS,
    Verdict.TOO_SLOW,
)
_KNOWN_TO_THE_GPU = (
    "The GPU knows the value of a const or constexpr number, and what is declared as __device__ or "
    "__constant__, and nothing else that stands outside of functions."
)
_OF_A_WARP = (
    "Every lane that a mask names and that has not returned must come to the same call with the "
    "same mask, and no other lane: which condition lies around that call?"
)
# For faults that mean the same in every exercise; an exercise.toml may still say it otherwise.
_HINTS = {
    "compile_error": "The compiler names the line where it noticed the mistake, which is often on "
    "that line or on the one above: look there for a missing semicolon or bracket and for a "
    "misspelt name.",
    "forbidden_include": "launch.cuh brings CUDA's own names, and printf comes from cstdio; "
    "README.md lists every header that may be included.",
    "copy_uncommitted": "__pipeline_commit closes a batch of a thread's own copies, and "
    "__pipeline_wait_prior waits for batches: which batch does each of the copies belong to?",
    "foreign_local": "A thread's variables are its own. Which of yours do other threads of the "
    "block read, and what must its declaration say for that?",
    "host_constant": _KNOWN_TO_THE_GPU,
    "host_variable": _KNOWN_TO_THE_GPU,
    "telling_condition": "A condition may ask for __CUDA_ARCH__, __CUDACC__, __NVCC__, the version "
    "of CUDA or of C++, and for whatever the file itself defines.",
    "lane_not_in_mask": _OF_A_WARP,
    "lanes_missed": _OF_A_WARP,
    "one_step_more": "A step that loads the tile of the next one has nothing to load when it is "
    "the last: a clamped index loads all the same.",
    "ragged_rows": "A sector begins at every eighth word of A and of B: at which word of one does "
    "the second tile of a row begin, and who fetches the rest of that sector?",
    "register_array": "Each dimension of an array has its own length: which loop counts the index "
    "of this one, and does it stop before that length?",
    "shared_access": "An index of a tile starts at 0 again in every block and every step: which "
    "loop or thread counts this one, and does it stop before the length of the array?",
    "shared_first_value": "A block finds in shared memory whatever the one before it left there.",
    "tile_missed": "Which type has each number that goes into row and col, and how many rows and "
    "columns can a matrix of 2^31 elements have?",
    "two_writers": "Each element of C is one thread's to store, and so is each word of a tile in "
    "one step: work out the index for both threads that are named. Where several arrays share one "
    "piece of memory, where does each of them begin, and how many words has it?",
    "unroll_macro": "A constexpr int is known in such a line, a #define is not.",
    "wrong_when_large": "Which type has each number that goes into this index (a float holds whole "
    "numbers up to 2^24), and how many rows and columns can a matrix of 2^31 elements have?",
}
_DYNAMIC = "It counts bytes, of which a float has 4, for all that a block keeps in that memory."


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
    if private := _private_tile(finding):
        return private
    if "dynamic_bytes" in finding.facts:
        return _DYNAMIC
    keys = [finding.kind]
    # A diagnosis that knows what went wrong asks its own question; a general hint would mislead.
    explained = finding.verdict in _OF_MANY_KINDS or "k" in finding.facts
    if not explained or finding.kind.startswith(_UNEXPLAINED):
        keys.append(finding.verdict.value)
    for key in keys:
        if key in exercise.hints:
            return exercise.hints[key]
        if key in _HINTS:
            return _HINTS[key]
    if finding.verdict in _COUNTED:
        return f"make inspect EX={exercise.short} shows every line that touches memory in numbers."
    if finding.shape is not None and max(finding.shape) <= _LARGEST_PRINTED:
        shape = f"EX={exercise.short} SHAPE={finding.shape}"
        return f"make run {shape} prints A, B, C and what C should be."
    if finding.verdict is Verdict.WRONG_ANSWER:
        return _NOT_WRITTEN if finding.kind in values.UNWRITTEN else _BY_HAND
    return f"exercises/{exercise.name}/README.md says what the kernel is given and what is checked."


def _private_tile(finding: Finding) -> str:
    """What the text says of a tile that is not shared; "" where it is, or other words say more."""
    facts = finding.facts
    if name := facts.get("unshared"):
        return (
            f"{name}, declared in line {facts['unshared_line']}, is an ordinary array: each thread "
            "has one of its own and sees nothing of what the others store in theirs."
        )
    general = finding.kind.startswith((*_UNEXPLAINED, "nan_", "unset_"))
    if "unshared" in facts and general:
        return "The file declares nothing as __shared__: what one thread loads, no other one sees."
    return ""
