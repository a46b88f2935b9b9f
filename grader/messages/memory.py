"""Words for accesses where none is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.finding import Finding
from grader.messages.wording import (
    Template,
    at,
    clipped,
    counted,
    listed,
    pair,
    size,
    subscripts,
    who,
)

_DOES = {"read": "reads", "write": "writes"}


def _global_access(finding: Finding) -> str:
    facts = finding.facts
    rows, cols, name = facts["rows"], facts["cols"], facts["operand"]
    size = f"is {rows} x {cols}" if rows else f"has {counted(cols, 'element')}"
    if facts["index"] < 0:
        place = f"{counted(-facts['index'], 'element')} before the start of {name}"
    else:
        index = [facts["row"], facts["col"]] if rows else [facts["index"]]
        beyond = facts["index"] - max(rows, 1) * cols + 1
        place = name + subscripts(index)
        place += f", index {facts['index']}" if rows else ""
        place += f", {counted(beyond, 'element')} past the end" if beyond > 0 else ""
    wide, left = facts.get("bytes", 4) // 4, max(rows, 1) * cols - facts["index"]
    if facts["index"] >= 0 and 0 < left < wide:
        return (
            f"{who(facts)} {_DOES[facts['access']]} {4 * wide} bytes at once from {place} on; "
            f"{name} {size}{at(finding)} and ends after {left} of these {wide} elements. Which "
            "threads may take so many at once, and what do the others do?"
        )
    does = f"{who(facts)} {_DOES[facts['access']]} {place}; {name} {size}{at(finding)}."
    if "k" in facts:
        return (
            f"{does} The thread has work, and for its element of C that is k = {facts['k']} where "
            f"K={facts['k']}: which values does k take?"
        )
    if facts["index"] < 0:
        return (
            f"{does} Which part of its index is below 0, and has every variable in it a first "
            "value?"
        )
    return (
        f"{does} "
        "Is there work for this thread at all, and if so, which row length does its index use?"
    )


def _shared_access(finding: Finding) -> str:
    facts = finding.facts
    name = clipped(facts["variable"])
    does = f"{who(facts)} {_DOES[facts['access']]}"
    dynamic = facts.get("dynamic_bytes")
    if dynamic == 0:
        return (
            f"{does} dynamic shared memory (extern __shared__), of which the launch has none"
            f"{at(finding)}. What does .dynamic_shared in LAUNCH_CONFIG say?"
        )
    if not facts["index"]:
        return f"{does} shared memory outside any array{at(finding)}. Which index is too large?"
    past = facts["bytes_past"]
    distance = f"{counted(abs(past), 'byte')} " if past else "right "
    where = distance + ("before the start" if past < 0 else "past the end")
    if dynamic and past >= 0:
        return (
            f"{does} {name}{subscripts(facts['index'])}, {where} of it{at(finding)}. "
            f"LAUNCH_CONFIG sets .dynamic_shared to {counted(dynamic, 'byte')}: does what is kept "
            "there take more, or does an index run too far?"
        )
    declared = f", declared {subscripts(facts['dims'])}" if facts["dims"] else ""
    last = f", also in the last of {size(facts['threads'])} threads" if past >= 0 else ""
    rows = ", and is it made with the length of this array's rows" if facts.get("product") else ""
    return (
        f"{does} {name}{subscripts(facts['index'])}{_same_word(name, facts)}, {where} of "
        f"{name}{declared}{at(finding)}. Does each index stay inside{last}{rows}?"
    )


def _same_word(name: str, facts: Mapping[str, Any]) -> str:
    """The first words past an array of rows are also those past the end of its last row."""
    dims, index = facts["dims"], facts["index"]
    if len(dims) != 2 or index[0] != dims[0]:
        return ""
    return f" (or {name}{subscripts([index[0] - 1, dims[1] + index[1]])})"


def _register_array(finding: Finding) -> str:
    facts = finding.facts
    name = clipped(facts.get("variable") or "an array")
    length = facts.get("length", 0)
    valid = f" Valid are 0 to {length - 1}." if length else ""
    question = "Where does the loop over it end"
    if facts.get("product"):
        question += ", and how long is one of its rows, by which the index multiplies"
    return (
        f"{who(facts)} uses index {facts['index']} of {name}, a {clipped(facts['type'])}"
        f"{at(finding)}.{valid} {question}?"
    )


def _foreign_local(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{who(facts)} {_DOES[facts['access']]} a local variable of thread {pair(facts['other'])}"
        f"{at(finding)}. Local variables and arrays are private to a thread: on a GPU that address "
        "is memory of the thread that uses it. Which memory do the threads of a block share?"
    )


def _misaligned(finding: Finding) -> str:
    facts = finding.facts
    index = facts["index"] if isinstance(facts["index"], list | tuple) else [facts["index"]]
    name = clipped(facts["operand_or_variable"])
    place = f"{name}{subscripts(index)}" if name else "an address"
    does = "copies" if facts["access"] == "copy" else _DOES[facts["access"]]
    start = "from" if facts["access"] == "copy" else "at"
    return (
        f"{who(facts)} {does} {facts['bytes']} bytes at once {start} {place}, which "
        f"does not lie on a multiple of {facts['bytes']} bytes{at(finding)}. "
        "Where do the rows of that array start, and where in a row does a thread begin?"
    )


def _guard_written(finding: Finding) -> str:
    facts = finding.facts
    side = "before the start" if facts["before"] else "past the end"
    return (
        f"Memory {counted(facts['offset'], 'element')} {side} of {facts['operand']} was written"
        f"{at(finding)}, {counted(facts['count'], 'element')} in all. "
        "Is every store guarded by the size of the matrix?"
    )


def _input_modified(finding: Finding) -> str:
    facts = finding.facts
    element = facts["operand"] + subscripts(facts.get("index", [facts["row"], facts["col"]]))
    by = f" by {who(facts).replace('Thread', 'thread')}" if facts.get("thread") else ""
    inputs = facts.get("inputs", ["A", "B"])
    return (
        f"{element} was overwritten{by}{at(finding)}. {listed(inputs)} "
        f"{'are' if inputs[1:] else 'is'} only to be read: "
        f"which store goes to {facts['operand']}?"
    )


# Lanes of one warp: did they meet in between?
_ORDERS_NOTHING = {
    False: ", and being lanes of one warp orders nothing",
    True: ", and a vote or a shuffle orders no memory (__syncwarp does)",
}
_DID = {"read": "read by", "write": "written by"}


def _race(finding: Finding) -> str:
    """Both parties as the program orders them."""
    facts = finding.facts
    if facts["asynchronous"]:
        return _copy_race(finding)
    first = f"{_element(facts)}: {_DID[facts['other_access']]} thread {pair(facts['other'])}"
    second = f"thread {pair(facts['thread'])} of block {pair(facts['block'])}"
    lanes = _ORDERS_NOTHING[facts.get("met", False)] if facts["same_warp"] else ""
    does, question = _second_party(finding)
    return f"{first}, {does} {second}, no barrier between{lanes}{at(finding)}. {question}"


def _race_of_blocks(finding: Finding) -> str:
    """Both parties as they met."""
    facts = finding.facts
    question = "Which block does this element belong to?"
    if facts["name"] != "C":
        question = "Does each block need a part of its own there, or to read what others wrote?"
    return (
        f"{_element(facts)}: {_DID[facts['other_access']]} thread {pair(facts['other'])} of block "
        f"{pair(facts['other_block'])} and {_DID[facts['access']]} thread {pair(facts['thread'])} "
        f"of block {pair(facts['block'])}; nothing orders two blocks{at(finding)}. {question}"
    )


def _one_word_for_all(finding: Finding) -> str:
    facts = finding.facts
    where = "a block" if facts["space"] == "shared" else "the grid"
    return (
        f"{_element(facts)} is one word for all threads of {where}: in one line it is "
        f"{_DID[facts['other_access']]} thread {pair(facts['other'])} and {_DID[facts['access']]} "
        f"thread {pair(facts['thread'])} of block {pair(facts['block'])}, in no order"
        f"{at(finding)}. Is it meant to be one for all, or each thread's own?"
    )


def _second_party(finding: Finding) -> tuple[str, str]:
    """What comes second in the program's order, and what to ask."""
    facts = finding.facts
    does, waits = _DID[facts["access"]], f"What makes thread {pair(facts['thread'])} wait until"
    if facts["space"] == "global":
        return does, "Which of the two must come first, and what makes the other one wait?"
    if facts["access"] == "read":
        return does, f"{waits} it is written?"
    lines = [place.line for place in finding.locations]
    # The loop has gone round in between where the word is overwritten further up.
    step = "in the next step " if len(lines) == 2 and lines[1] < lines[0] else ""
    return f"overwritten {step}by", f"{waits} the others have read it?"


def _two_writers(finding: Finding) -> str:
    facts = finding.facts
    start = f"{_element(facts)}: written by thread {pair(facts['other'])}"
    question = "Which of the two threads is to write it?"
    if facts["other_block"] != facts["block"]:
        start += f" of block {pair(facts['other_block'])}"
        question = "Which block does this element belong to?"
    elif facts["space"] == "shared" and len({place.line for place in finding.locations}) == 2:
        question = f"Do both lines mean this word? {_if_not(facts)}?"
    return (
        f"{start} and by thread {pair(facts['thread'])} of block {pair(facts['block'])}, with "
        f"different values and in no order{at(finding)}. {question}"
    )


def _if_not(facts: Mapping[str, Any]) -> str:
    """How two lines can come to one word that is not meant by both."""
    dims, index = facts.get("dims", []), facts["index"]
    if len(dims) == 2 and index[0] > 0:
        other = facts["name"] + subscripts([index[0] - 1, index[1] + dims[1]])
        return f"It is also {other}: does one of them run past the end of a row"
    return "If not, where do their arrays begin and end"


def _copy_race(finding: Finding) -> str:
    facts = finding.facts
    start = f"{_element(facts)}: an asynchronous copy of thread {pair(facts['other'])}"
    met = f"it was {_DID[facts['access']]} thread {pair(facts['thread'])}{at(finding)}"
    if facts.get("overwriting"):
        return (
            f"{start} is to overwrite it, with no barrier between where that began and where {met}."
            " Until when do the other threads need what lies there?"
        )
    return f"{start} was still under way when {met}. Which wait and which barrier come before that?"


def _copy_uncommitted(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{_element(facts)}: an asynchronous copy of thread {pair(facts['other'])} was not "
        f"committed when it was {_DID[facts['access']]} thread {pair(facts['thread'])}"
        f"{at(finding)}, and only those that are can be waited for. Which __pipeline_commit comes "
        "between that copy and its wait?"
    )


def _element(facts: Mapping[str, Any]) -> str:
    return f"{clipped(facts['name'])}{subscripts(facts['index'])}"


def _repeated_store(finding: Finding) -> str:
    facts = finding.facts
    blocks = facts["other_block"], facts["block"]
    apart = [axis for axis, one, other in zip("xyz", *blocks, strict=False) if one != other]
    fact = "Every block has a tile of C of its own"
    if len(apart) == 1:
        fact = f"They differ in blockIdx.{apart[0]} alone"
    return (
        f"{_element(facts)} is stored by block {pair(blocks[0])} and again, with the same value, "
        f"by block {pair(blocks[1])}{at(finding)}. {fact}: which rows and columns does each of "
        "them compute, and are those as many as tile_m and tile_n say?"
    )


def _unset(finding: Finding) -> str:
    facts = finding.facts
    before = "this launch" if finding.kind == "unset_output" else "this block"
    output = "" if finding.kind == "unset_output" else facts.get("output", "C")
    matters = f", and {output} depends on it" if output else ""
    return (
        f"{who(facts)} reads {_element(facts)} before {before} wrote it{matters}{at(finding)}. "
        "Where does its first value come from?"
    )


_BRINGS_NOTHING = {
    "unnamed": "which the mask does not name",
    "returned": "which has returned",
    "missing": "which the block does not have",
}


def _unset_lane(finding: Finding) -> str:
    facts = finding.facts
    output = facts.get("output", "C")
    matters = f", and {output} depends on what it gets" if output else ""
    return (
        f"{who(facts)} takes a value from lane {facts['lane']} of its warp, "
        f"{_BRINGS_NOTHING[facts['why']]}{matters}{at(finding)}. Which lanes come to this line, "
        "and which of them does each one read from?"
    )


TEXTS: Mapping[str, Template] = {
    "global_access": _global_access,
    "shared_access": _shared_access,
    "register_array": _register_array,
    "wild_access": lambda finding: (
        f"{who(finding.facts)} {_DOES[finding.facts['access']]} an address that belongs to no "
        f"array{at(finding)}. How is that pointer or index computed?"
    ),
    "illegal_address": (
        "The GPU stopped the kernel at an access to memory that it does not have{at}. "
        "A GPU does not say where: what does the simulator find on this shape?"
    ),
    "foreign_local": _foreign_local,
    "misaligned": _misaligned,
    "misaligned_gpu": (
        "The GPU stopped the kernel at an access that is not aligned to its own size{at}. "
        "A GPU does not say where: what does the simulator find on this shape?"
    ),
    "guard_written": _guard_written,
    "input_modified": _input_modified,
    "index_overflow": (
        "{who} computes {expression}, which does not fit in an int{at}, although every matrix has "
        "fewer than 2^31 elements. Which factors does this index multiply, and in which order?"
    ),
    "overflow_beyond": (
        "The index {expression} does not fit in an int{at}: no fault, as matrices here have fewer "
        "than 2^31 elements. Which type holds a larger index?"
    ),
    "race": _race,
    "race_of_blocks": _race_of_blocks,
    "one_word_for_all": _one_word_for_all,
    "repeated_store": _repeated_store,
    "copy_uncommitted": _copy_uncommitted,
    "two_writers": _two_writers,
    "unset_shared": _unset,
    "unset_output": _unset,
    "unset_lane": _unset_lane,
}
