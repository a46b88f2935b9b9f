"""Words for a wrong C: one for each mistake that `diagnosis` can tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.finding import Finding
from grader.messages.wording import (
    Template,
    box,
    element,
    listed,
    number,
    share,
    size,
)


def _swapped_parameters(finding: Finding) -> str:
    order = ", ".join(finding.facts["order"])
    return (
        f"{element(finding)}. The kernel is right for parameters in the order {order}, but it is "
        "called with M, N, K: which dimension does each index use?"
    )


def _wrong_stride(finding: Finding) -> str:
    facts = finding.facts
    verb = "writes" if facts["operand"] == "C" else "reads"
    names = facts.get("stride_is", [])
    several = f" ({listed(names)} are the same here)" if len(names) > 1 else ""
    return (
        f"{element(finding)}. This C comes from a kernel that {verb} {facts['used']}{several}"
        f"{_or_turned(finding, facts['operand'])}: how many "
        f"elements lie between neighbouring rows of {facts['operand']} in memory{_and_where(facts)}"
    )


def _b_other_layout(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{element(finding)}. This C comes from reading B as if it were stored {facts['read_as']}, "
        f"but it is stored {facts['stored']}{_or_turned(finding, 'B')}: which elements of B are "
        f"neighbours in memory{_and_where(facts)}"
    )


def _or_turned(finding: Finding, operand: str) -> str:
    """The other mistake that leaves the same C, where the matrix is no larger than a tile."""
    if "turned_tile" not in finding.facts:
        return ""
    tile = finding.facts["turned_tile"]
    return (
        f", or from a {tile} x {tile} tile of {operand} that is stored or read with its indices "
        "swapped"
    )


def _and_where(facts: Mapping[str, Any]) -> str:
    return ", and where in its tile does each one go?" if "turned_tile" in facts else "?"


def _tile_transposed(finding: Finding) -> str:
    """C may be no larger than one tile of a block, and than one of a thread."""
    facts = finding.facts
    edges = (facts["tile"], *facts.get("or_tiles", ()))
    tiles = " or ".join(size((edge, edge)) for edge in edges)
    return (
        f"{element(finding)}. This C comes from transposing each {tiles} tile of "
        f"{facts['operand']}: is it stored and read with the same order of indices?"
    )


def _all_zero(finding: Finding) -> str:
    """Zeros are what guards put in place of a part of a tile; where they do too much, the sizes
    that fill no tile are the suspects."""
    sizes, tile = finding.facts["sizes"], finding.facts["tile"]
    start = f"{element(finding)}. C is zero everywhere"
    short = [i for i in range(3) if sizes[i] < tile[i]]
    if short == [2]:
        return (
            f"{start}. K={sizes[2]} is less than one step of {tile[2]}: how often does the loop "
            "over K run?"
        )
    if short:
        names = listed(["MNK"[i] for i in short])
        fills = "fill no whole tile" if short[1:] else "fills no whole tile"
        return (
            f"{start}. {names} {fills} here ({size(tile)}): which condition of "
            "load, loop or store is false for every thread?"
        )
    held = "Do the tiles hold what was loaded when they are read, is" if tile[2] > 1 else "Is"
    return f"{start}. {held} every product added to the sum, and the sum what is stored?"


# What a sum over a part of K lacks, and what to ask then.
PARTIAL_SUMS = {
    "k_tail_dropped": "the rest lies past the last full K tile. Who adds it?",
    "last_k_tile_missing": "the last K tile is missing. How often does the loop run?",
    "last_k_missing": "the last term is missing. Where does the loop end?",
    "first_k_tile_only": "that is the first K tile. What happens in the second step?",
    "k_stops_early": "where does the loop end?",
    "first_k_step_missing": "the beginning is missing. Is the first tile in place when it is used?",
    "only_last_k_step": "that is the last step. Does every step add to the sum, and is it kept for "
    "the next one?",
    "only_last_term": "that is the last product alone. Does the inner loop add to the sum, or set "
    "it?",
    "k_starts_late": "where does the loop start?",
}


def _sum_over(finding: Finding) -> str:
    facts, question = finding.facts, PARTIAL_SUMS[finding.kind]
    first, end = facts.get("skipped", 0), facts["k"] if "skipped" in facts else facts["used"]
    part = f"{_terms(first, end - 1)} of K={facts['k']}"
    if sizes := facts.get("sizes"):
        part += f", as many as {listed(sizes)}"
        question += " And which size is k compared with?"
    return f"{element(finding)}. The sum holds only {part}: {question}"


def _terms(first: int, last: int) -> str:
    return f"the term k = {first}" if first == last else f"the terms k = {first} to {last}"


def _step(finding: Finding, said: str, question: str) -> str:
    facts = finding.facts
    terms = _terms(facts["first_k"], facts["last_k"])
    if "step" in facts:
        which = f"(step {facts['step'] + 1} of {facts['steps']} along K)"
    else:
        which = f"of K={facts['k']}"
    return f"{element(finding)}. {said[:1].upper()}{said[1:]} {terms} {which}: {question}"


def _part_of_tile(finding: Finding, verb: str) -> str:
    facts = finding.facts
    first, last = facts["first_place"], facts["last_place"]
    part = f"place {first}" if first == last else f"places {first} to {last}"
    return (
        f"{element(finding)}. The sum holds only {part} of the {facts['tile_k']} of each tile "
        f"along K: where does the loop over the tile {verb}?"
    )


def _places_again(finding: Finding) -> str:
    facts = finding.facts
    again, question = "first k", "which thread index is to move that load along k?"
    if facts["used"] > 1:
        again = f"first {facts['used']} k"
        question = "which index moves that load on, from one word of a thread to its next?"
    return (
        f"{element(finding)}. This C comes from a kernel that, in each step along K, takes the "
        f"{again} of {facts['operand']} for all {facts['tile_k']} places of the tile: {question}"
    )


def _stale_step(finding: Finding) -> str:
    used = finding.facts["used_step"] + 1
    return _step(
        finding,
        f"the tile of step {used} stands in the sum for",
        "does each load move on with the step, and of two buffers, which one is filled then and "
        "which one is read?",
    )


def _stale_tail(finding: Finding) -> str:
    facts = finding.facts
    start = f"{element(finding)}. The last K tile, from k = {facts['full']} on, is only partly "
    left = "filled; the sum also holds what an earlier step left in the rest of it"
    if facts["by_one"]:
        return (
            f"{start}{left}, or the second step begins at k = 1. Where does it begin, and what "
            "lies past K?"
        )
    return f"{start}{left}. What should lie there?"


def _ragged(facts: Mapping[str, Any]) -> str:
    """A hint at the tail along K, where there is one."""
    if facts["k"] % facts["tile_k"] == 0:
        return ""
    return f" K={facts['k']} is no multiple of tile_k={facts['tile_k']}."


def _nan_everywhere(finding: Finding) -> str:
    return (
        f"{element(finding)}. C is NaN everywhere.{_ragged(finding.facts)} C holds NaN before the "
        "launch and so does the memory around A and B: does the kernel add to the old C, or read "
        "past an end?"
    )


def _reads_past_end(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"{element(finding)}; {share(facts)} NaN, which comes from memory outside "
        f"{facts['operand']}.{_ragged(facts)} Which index leaves the matrix?"
    )


def _accumulates(finding: Finding) -> str:
    before = number(finding.facts["offset"]) if "offset" in finding.facts else "NaN"
    return (
        f"{element(finding)}. The sum was added to what C held before, {before} here. "
        "C is not zero when the kernel starts: what is the first thing it does with C?"
    )


def _shifted(finding: Finding) -> str:
    facts = finding.facts
    ways = {(1, "d"): "down", (-1, "d"): "up", (1, "r"): "to the right", (-1, "r"): "to the left"}
    moved = [
        f"one {noun} {ways[facts[key], key[0]]}"
        for key, noun in (("down", "row"), ("right", "column"))
        if facts[key]
    ]
    return f"{element(finding)}. C holds the right values {listed(moved)}: where is a 1 too many?"


def _precision(finding: Finding, cause: str) -> str:
    facts = finding.facts
    return (
        f"{element(finding)}. The error is {facts['units']:g} units of rounding where float has "
        f"about 2 and {facts['limit']:g} are allowed; {cause}"
    )


INDICES: Mapping[str, Template] = {
    "swapped_parameters": _swapped_parameters,
    "wrong_stride": _wrong_stride,
    "b_other_layout": _b_other_layout,
    "b_other_layout_turned": "{element}. This C comes from loading B as if its rows were its "
    "columns (it is stored {stored}) into {tile} x {tile} tiles that are then read with their "
    "indices swapped: which elements of B are neighbours in memory?",
    "other_thread_index": "{element}. This C comes from a kernel in which threadIdx.{used} chooses "
    "the {line} of {operand} that a thread reads, but not the {line} of C that it stores: which of "
    "x and y is it to be?",
    "tiles_alike": lambda f: (
        f"{element(f)}. All elements of each {size(f.facts['tile'])} tile of C hold one value: "
        "which thread indices enter the sum, and do those of loads and stores go together?"
    ),
    "transposed": "{element}. C holds the transpose of the right answer: which of its indices "
    "runs along a row?",
    "tile_transposed": _tile_transposed,
    "shifted": _shifted,
    "lines_moved": "{element}. Every wrong {line} of C holds the right values of another {line}, "
    "{line} {to} those of {line} {of}: which {line} does a thread compute, and which one does it "
    "store?",
    "lines_repeated": "{element}. Every wrong {line} of C holds the right values of another "
    "{line}, {line} {to} those of {line} {of}, and some hold the same ones: what tells the "
    "{line}s of a tile apart, in each load, each read of the tile and each store?",
    "sum_carried_on": "{element}. Every wrong element has too much by what C holds {distance} "
    "{lines} before it: does each sum of a thread begin anew?",
    "all_alike": "{element}. All {lines} of C hold the same values: where does the {index} of a "
    "thread enter the sum that it stores?",
}

ALONG_K: Mapping[str, Template] = {
    "all_zero": _all_zero,
    "whole_numbers": "{element}. C holds whole numbers only. It was right where A and B held no "
    "others: which variable on the way of a product into C has no place for a fraction?",
    **dict.fromkeys(PARTIAL_SUMS, _sum_over),
    "tile_stops_early": lambda f: _part_of_tile(f, "end"),
    "tile_starts_late": lambda f: _part_of_tile(f, "start"),
    "k_step_missing": lambda f: _step(f, "the sum lacks", "what skips it?"),
    "k_step_twice": lambda f: _step(f, "the sum holds twice", "what repeats it?"),
    "k_step_stale": _stale_step,
    "first_step_again": "{element}. This C comes from a kernel that takes {operand} from the first "
    "step along K in every step: which index of that load moves on with the step, and of two "
    "buffers, which one is read?",
    "places_again": _places_again,
    "own_place": "{element}. This C comes from a kernel that, in each step, takes one and the same "
    "k for all places of a {line} of {operand}'s tile, and the next k for the next {line}: which "
    "thread index is to move that load along k, and which one chooses the {line}?",
    "crossed_terms": "{element}. Of each {by} terms in a row, the one with k % {by} = {here} takes "
    "{operand} from where k % {by} = {other}: what changes from each of these terms to the next?",
    "k_tail_stale": _stale_tail,
    "steps_by_one": "{element}. This C comes from steps along K that begin at k = 0, 1, 2 and so "
    "on, where a tile is {tile_k} deep: by how much does k0 grow, and is it a step or a k?",
    "step_of_words": "{element}. This C comes from a kernel that moves by words of B from step to "
    "step, where it should move by rows: in the index of B, what is multiplied by N?",
    "even_terms_only": "{element}. The sum holds the terms k = 0, 2, 4 and so on only: by how much "
    "does k grow, and what is added for each?",
    "odd_terms_only": "{element}. The sum holds the terms k = 1, 3, 5 and so on only: by how much "
    "does k grow, and what is added for each?",
    "k_tail_unguarded": lambda f: (
        f"{element(f)}. The sum also holds {_terms(f.facts['k'], f.facts['end'] - 1)}, past "
        f"K={f.facts['k']}: what do the loads of {f.facts['operand']} fetch there?"
    ),
    "k_one_too_far": "{element}. The sum has one term too many, k = {k}, which is not part of the "
    "matrices: where does the loop over K end?",
    "k_loop_bound": "{element}. The sum has {end} terms, as many as {bound}, where there are "
    "K={k}: where does the loop end?",
}

NUMBERS: Mapping[str, Template] = {
    "accumulates_into_c": _accumulates,
    "shared_memory_unset": "{element}; {share} NaN, which comes from shared memory that nobody "
    "had written yet. Which places of the tile are used before they are filled?",
    "unset_variable": "{element}; {share} NaN, which comes from a variable that was never given a "
    "value. Which variable of the kernel is used before it has one?",
    "nan_everywhere": _nan_everywhere,
    "reads_past_end": _reads_past_end,
    "nan_somewhere": lambda f: (
        f"{element(f)}; {share(f.facts)} NaN, in {box(f.facts)}. Does that thread use a value "
        "that was never set, or one from outside the matrices?"
    ),
    "infinite": "{element}; {share} infinite, and no sum of such products is. Does it use a value "
    "that was never set, or one divided by zero?",
    "constant_factor": "{element}. Every element is {factor:g} times what it should be: what is "
    "done too often, or to the sum afterwards?",
    "constant_offset": "{element}. Every element is off by {offset:g}: what does the sum start "
    "with?",
    "reduced_factors": lambda f: _precision(
        f,
        f"C is what A and B rounded to {f.facts['format']} give. Which type holds the factors?",
    ),
    "reduced_result": lambda f: _precision(
        f, f"C is right, rounded to {f.facts['format']}. Which type holds the sum at the end?"
    ),
    "blurred": lambda f: _precision(
        f, "all of C is a little wrong. Which type holds the sum and the factors?"
    ),
}

TEXTS: Mapping[str, Template] = {**INDICES, **ALONG_K, **NUMBERS}
