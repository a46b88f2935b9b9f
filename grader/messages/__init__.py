"""Findings in words: the one place that turns kinds and facts into sentences.

A table per family maps a kind to its text: a format string over the facts and a few phrases (see
`wording.phrases`), or a function of the finding where the text depends on the facts. A message
states a fact, its place, and a next step; it never shows the repair.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from grader.finding import Finding, is_unexplained
from grader.messages import (
    building,
    efficiency,
    files,
    memory,
    places,
    running,
    special,
    speed,
    unwritten,
    values,
)
from grader.messages.wording import Template, phrases
from grader.verdict import Verdict

if TYPE_CHECKING:  # a hint of an exercise must be for one of these texts
    from grader.exercise import Exercise

__all__ = ["TEXTS", "Message", "describe", "say"]

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
_NARROW = (
    "Which type has each number that goes into this index (a float holds whole numbers up to "
    "2^24), and how many rows and columns can a matrix of 2^31 elements have?"
)
_OTHER_WAY = (
    "Which conditions compare M, N or K with a number or with each other, and what is different "
    "where they hold?"
)
_TYPES = (
    "Go from A and B to C: the tiles, what is read from them, the sum, and what is stored. Each of "
    "these has a type."
)
_INNER_LOOP = (
    "Look at the inner loop: where does it begin and end, and what happens to the sum in each of "
    "its turns?"
)
_DEPTHS = (
    "By how much does the loop over K grow, and is that as many k as a step loads, and as many as "
    "it multiplies?"
)
_AFTER_THE_SUM = (
    "Follow one product: how often is it added to the sum, by how many threads and in how many "
    "turns of a loop, and what happens to the sum until it is stored?"
)
_STORED_AGAIN = (
    "Nothing is added in C itself, so an element needs one store, once its sum is complete: what "
    "happens between two stores of the same one?"
)
_RIGHT_AND_WRONG = (
    "Take one element that is right and one that is wrong: which thread computes each, which words "
    "does it multiply, to which of its sums does it add them, and where does that go?"
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
    "constant_factor": _AFTER_THE_SUM,
    "whole_numbers": _TYPES,
    "reduced_factors": _TYPES,
    "reduced_result": _TYPES,
    "blurred": _TYPES,
    "k_step_missing": _DEPTHS,
    "k_step_twice": _DEPTHS,
    "places_again": "Write down, for three neighbouring threads in the first step, which k each of "
    "them loads, and the place in the tile where it goes.",
    "only_last_term": _INNER_LOOP,
    "tile_stops_early": _INNER_LOOP,
    "tile_starts_late": _INNER_LOOP,
    "lane_not_in_mask": _OF_A_WARP,
    "lanes_missed": _OF_A_WARP,
    "one_word_for_all": "What is declared __shared__ exists once in a block, also a single number, "
    "and what is static or __device__ once on the GPU; other variables of a kernel exist once in "
    "each thread.",
    "one_step_more": "A step that loads the tile of the next one has nothing to load when it is "
    "the last: a clamped index loads all the same.",
    "output_traffic": "C lies in global memory, so what is added to it in a loop is loaded and "
    "stored each time; a variable of a thread's own lies in a register.",
    "race_of_blocks": "A barrier orders the threads of one block only; of two blocks, either may "
    "run first, or both at once.",
    "ragged_rows": "A sector begins at every eighth word of a matrix: at which word of one does "
    "the second tile of a row begin, and who touches the rest of that sector?",
    "register_array": "Each dimension of an array has its own length: which loop counts the index "
    "of this one, and does it stop before that length?",
    "repeated_store": "Write down the first row and column of both blocks: they follow from "
    "blockIdx and from the rows and columns that a block computes, which are tile_m and tile_n.",
    "unset_lane": "A lane brings its value to a shuffle only if the mask names it and it comes to "
    "that call: which of them returned, or skipped the call?",
    "shared_access": "An index of a tile starts at 0 again in every block and every step: which "
    "loop, thread or division gives this one, and does it stay below the length of the array?",
    "shared_first_value": "A block finds in shared memory whatever the one before it left there.",
    "tile_missed": "Which type has each number that goes into row and col, and how many rows and "
    "columns can a matrix of 2^31 elements have?",
    "two_writers": "Each element of C is one thread's to store, and so is each word of a tile in "
    "one step: work out the index for both threads that are named.",
    "unroll_macro": "A constexpr int is known in such a line, a #define is not.",
    "global_access_when_large": _NARROW,
    "wild_access_when_large": _NARROW,
    "wrong_when_large": _NARROW,
    "tile_missed_usual": _OTHER_WAY,
    "wrong_when_large_usual": _OTHER_WAY,
    "unwritten_beyond": "The grid has a block for each tile of tile_m x tile_n elements, so these "
    "are the rows and columns that all threads of a block store together.",
    "wrong_parts": _RIGHT_AND_WRONG,
    "wrong_places": _RIGHT_AND_WRONG,
    "wrong_with_large_sizes": _OTHER_WAY,
    "wrong_with_positive": "A float holds numbers up to 3.4e38: which condition, constant or type "
    "stands between the sum and C?",
    "wrong_with_zeros": "A product with 0 is a term of the sum like any other: which condition of "
    "the kernel looks at a value instead of an index?",
}
_DYNAMIC = (
    ".dynamic_shared counts bytes, of which a float has 4, for all that a block keeps in that "
    "memory. If that is enough, which loop or thread counts the index, and where does it stop?"
)
_OF_SEVERAL_ARRAYS = (
    "Each word of a tile is one thread's to store in one step: work out the index for both threads "
    "that are named. Where several arrays share one piece of memory, where does each of them "
    "begin, and how many words has it?"
)
_FLAT = (
    "Where a row begins in an array of one dimension, its number is multiplied by the length of a "
    "row: by which length does this index multiply, and is it that of the same array's rows?"
)
_BEFORE_THE_START = (
    "An index is below 0 where something is subtracted from it, where it did not fit its type, or "
    "where it holds a variable that was never set: which of these are there in that line?"
)
# What compilers say of mistakes that are no slips of the pen, and what to tell in their place.
_COMPILERS_WORDS = (
    (
        re.compile("pointer-to-object|for array subscript|subscripted value"),
        "What stands before that bracket is a single number. A, B and C are rows of words, however "
        "many dimensions their matrices have: A takes one index, and A[i] is a number.",
    ),
    (
        re.compile("have a constant value|constant.expression|n.t constant|variable.length"),
        "What stands there must be known when the file is compiled, as the size of every array: by "
        "a constexpr int or a #define, not by a variable of the kernel, nor by blockDim.",
    ),
    (
        re.compile(r'no operator "|no match for .operator|invalid operands.*\b(float|int)[234]\b'),
        "One side of that operator is a struct, as float4 and threadIdx are, and CUDA has no such "
        "operator for it: which of its members x, y, z and w is to be used?",
    ),
    (
        re.compile("modifiable lvalue|read-only|const-qualified"),
        "What stands to the left of that operator cannot be changed: it may be const, an array, or "
        "no variable at all. What does its declaration say?",
    ),
    (
        re.compile("return type alone|ambiguating new declaration|only in their return type"),
        "A function of that name and with these parameters is declared with another return type, "
        "as launch.cuh does with the kernel: what does a __global__ function return?",
    ),
    (
        re.compile(r"arithmetic or unscoped|invalid operands.*\[|assignment.*\[|not assignable"),
        "One side of that operator is not a number but an array, or a row of one: has each of its "
        "dimensions an index, in brackets of its own? Of `k, tx` in one pair only tx counts.",
    ),
)


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
        **special.TEXTS,
        **unwritten.TEXTS,
        **values.TEXTS,
        **places.TEXTS,
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
    of_the_text = _other_order(finding) or _private_tile(finding) or _kept_variable(finding)
    if special_hint := of_the_text or _of_the_facts(finding):
        return special_hint
    keys = [finding.kind]
    # A diagnosis that knows what went wrong asks its own question; a general hint would mislead.
    explained = finding.verdict in _OF_MANY_KINDS or "k" in finding.facts
    if not explained or is_unexplained(finding):
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
        return _NOT_WRITTEN if finding.kind in unwritten.TEXTS else _BY_HAND
    return f"exercises/{exercise.name}/README.md says what the kernel is given and what is checked."


def _of_the_facts(finding: Finding) -> str:
    """For findings that share their kind with others of another cause; "" for most."""
    facts = finding.facts
    if "dynamic_bytes" in facts:
        return _DYNAMIC
    if finding.kind == "global_access" and facts["index"] < 0:
        return _BEFORE_THE_START
    if finding.kind == "two_writers" and facts["space"] == "shared":
        return "" if len(facts.get("dims", [])) > 1 else _OF_SEVERAL_ARRAYS
    if facts.get("product"):
        return _FLAT
    if finding.kind == "output_traffic" and not facts["loaded"]:
        return _STORED_AGAIN
    if "tile_is_block" in facts:
        return _NOT_WRITTEN
    if finding.kind == "compile_error":
        return next(
            (hint for words, hint in _COMPILERS_WORDS if words.search(facts["message"])), ""
        )
    return ""


def _other_order(finding: Finding) -> str:
    """What the text says of the order of the sizes; "" where it is as it should be."""
    facts = finding.facts
    if "named_sizes" not in facts:
        return ""
    order = ", ".join(facts["named_sizes"])
    return (
        f"Line {facts['named_in']} names the sizes in the order {order}, but the kernel is called "
        "with M, N, K: is each of them used for what it is?"
    )


def _kept_variable(finding: Finding) -> str:
    """What the text says of a variable of the device, where C is missing or wrong for no reason
    that shows in it."""
    facts = finding.facts
    general = finding.kind in unwritten.TEXTS or is_unexplained(finding)
    if "kept" not in facts or not general:
        return ""
    return (
        f"{facts['kept']}, declared in line {facts['kept_line']}, lies in the GPU's memory and "
        "keeps its value from one launch to the next: what does it hold when a launch begins?"
    )


def _private_tile(finding: Finding) -> str:
    """What the text says of a tile that is not shared; "" where it is, or other words say more."""
    facts = finding.facts
    if name := facts.get("unshared"):
        return (
            f"{name}, declared in line {facts['unshared_line']}, is an ordinary array: each thread "
            "has one of its own and sees nothing of what the others store in theirs."
        )
    general = is_unexplained(finding) or finding.kind.startswith(("nan_", "unset_"))
    if "unshared" in facts and general:
        return "The file declares nothing as __shared__: what one thread loads, no other one sees."
    return ""
