"""Words for launches that did not end as they should, or do not repeat."""

from __future__ import annotations

from collections.abc import Mapping

from grader.finding import Finding
from grader.messages.wording import Template, at, clipped, counted, number, pair, who


def _assertion(finding: Finding) -> str:
    facts = finding.facts
    expression = clipped(facts["expression"])
    failed = f"assert({expression})" if expression else "an assert"
    return f"{who(facts)} failed {failed}{at(finding)}. Which values did it compare?"


def _timeout(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"The kernel was stopped after {facts['limit_s']:g} s{at(finding)}; {_lower(who(facts))} "
        "was still running. Does every loop end, and does each thread compute its own share of C "
        "only?"
    )


def _lanes_missed(finding: Finding) -> str:
    facts = finding.facts
    such = "such as " if facts["missing"] > 1 else ""
    there = "at a barrier" if facts["other_at"] == "barrier" else "with another mask"
    return (
        f"{who(facts)} waits for ever at a warp-level operation{at(finding)}, for "
        f"{counted(facts['missing'], 'lane')} of its mask, {such}{_other(facts)}, which waits "
        f"{there}. Do all lanes that the mask names come to this line?"
    )


def _lane_not_in_mask(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{who(facts)} is lane {facts['lane']} of its warp and waits for ever at a warp-level "
        f"operation{at(finding)}, whose mask 0x{facts['mask']:x} does not name this lane. Which "
        "lanes come to this line?"
    )


def _barrier_missed(finding: Finding) -> str:
    facts = finding.facts
    other = f", for example {_other(facts)}" if facts.get("other") else ""
    return (
        f"{who(facts)} waits at a barrier{at(finding)} that {counted(facts['missing'], 'thread')} "
        f"of the block left out{other}. Can a thread return, or skip the barrier, before it?"
    )


def _barrier_split(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{who(facts)} waits at one barrier, {_other(facts)} of the same block at another"
        f"{at(finding)}. Do all threads of a block take the same branches?"
    )


def _other(facts: Mapping[str, list[int]]) -> str:
    return f"thread {pair(facts['other'])}"


def _lower(phrase: str) -> str:
    return phrase[0].lower() + phrase[1:]


def _async_copy_size(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{who(facts)} starts an asynchronous copy of {counted(facts['bytes'], 'byte')}, "
        f"{facts['zero_filled']} of them filled with zeros{at(finding)}. A copy moves 4, 8 or 16 "
        "bytes and fills no more than that: what is its size here?"
    )


def _not_deterministic(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"C[{facts['row']}][{facts['col']}] is {number(facts['first'])} in one run and "
        f"{number(facts['second'])} in the next{at(finding)}; {facts['count']} of "
        f"{counted(facts['of'], 'element')} differ. "
        "Do two threads write one place, or does one read before another has written?"
    )


TEXTS: Mapping[str, Template] = {
    "assertion": _assertion,
    "trap": "{who} stopped the kernel with a trap{at}. What leads it there?",
    "stack_overflow": (
        "{who} used more stack than a thread has{at}. How large are its local arrays, and how deep "
        "do its calls go?"
    ),
    "signal": "{who} crashed with {name}{at}. Which pointer or division does that line use?",
    "gpu_error": "The GPU stopped the kernel with {name} (code {code}){at}. What does the "
    "simulator find on this shape?",
    "forbidden_system_call": "{who} made a system call ({name}){at}. A kernel computes; it has no "
    "files, processes or network. What is that code for?",
    "print_format": "{who} calls printf with {name}{at}, which CUDA's printf does not have. "
    "Which of d, i, u, o, x, c, f, e, g, a, p and s fits the argument?",
    "process_lost": "The kernel brought down the process that ran it ({name}){at}, twice. "
    "Does it write to memory that is not its own, or jump to what is no function?",
    "forged_answer": "What came back from the kernel's process{at} was not the simulator's answer. "
    "A kernel writes to C and to shared memory only: what else does it write to?",
    "timeout": _timeout,
    "timeout_gpu": "The kernel was stopped after {limit_s:g} s on the GPU{at}. "
    "Does every loop end, and does each thread compute its own share of C only?",
    "timeout_all": "The {shapes} shapes up to this one{at} took more than {limit_s:g} s together, "
    "where a good kernel takes a few. What makes each launch slow?",
    "output_limit": "The kernel printed more than {limit_bytes} bytes{at}; the rest was dropped. "
    "Print from one thread only?",
    "lanes_missed": _lanes_missed,
    "lane_not_in_mask": _lane_not_in_mask,
    "barrier_missed": _barrier_missed,
    "barrier_split": _barrier_split,
    "async_copy_size": _async_copy_size,
    "not_deterministic": _not_deterministic,
}
