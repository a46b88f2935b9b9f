"""Words for kernels that are right but waste memory traffic."""

from __future__ import annotations

from collections.abc import Mapping

from grader.counters import SECTOR_WORDS
from grader.finding import Finding
from grader.messages.wording import Template, at, clipped


def _uncoalesced(finding: Finding) -> str:
    facts = finding.facts
    if 1 < facts["words_apart"] < SECTOR_WORDS:
        return (
            f"{_sectors(finding)}. Neighbouring lanes (threadIdx.x) are {facts['words_apart']} "
            "words apart along a row: which lane would best take the words between them?"
        )
    return (
        f"{_sectors(finding)}. Do neighbouring lanes (threadIdx.x) walk along a row of "
        f"{facts['name']}, or down a column?"
    )


def _sectors(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"Each warp-wide {facts['access']} of {facts['name']} touches "
        f"{facts['sectors_per_request']:.3g} sectors of 32 bytes, {facts['ideal']:.3g} would do"
        f"{at(finding)}"
    )


def _ragged_rows(finding: Finding) -> str:
    facts = finding.facts
    whose = "the block" if facts["size"] == "block_x" else "its tile"
    return (
        f"{_sectors(finding)}: a row of {whose} has {_some(facts['row_words'], 'word')} "
        f"({facts['size']}), a sector 8, so rows begin or end within sectors. "
        f"Which {facts['size']} fills every sector that a row touches?"
    )


def _few_lanes(finding: Finding) -> str:
    facts = finding.facts
    access, name = facts["access"], facts["name"]
    return (
        f"A warp-wide {access} of {name} asks for {_some(facts['words_per_request'], 'word')} at a "
        f"time and touches {_some(facts['sectors_per_request'], 'sector')} of 8 words for it"
        f"{at(finding)}: {facts['ratio']:.3g} times the sectors that would do. "
        f"How many lanes of a warp take part in one {access} of {name}?"
    )


def _some(number: float, thing: str) -> str:
    """`1 word`, `1.5 words`"""
    return f"{number:.3g} {thing}" + ("" if number == 1 else "s")


def _too_much_traffic(finding: Finding) -> str:
    facts = finding.facts
    more = facts["words"] - facts["allowed"]
    much = f"{facts['ratio']:.3g} times" if facts["ratio"] > 1.1 else f"{more:,} more than"
    return (
        f"All threads together load {facts['words']:,} words of {facts['name']}, "
        f"{much} the {facts['allowed']:,} that do for tiles of "
        f"{facts['tile_m']} x {facts['tile_n']} of C{at(finding)}. "
        f"Is each element of a tile of {facts['name']} loaded once by the whole block?"
    )


def _one_step_more(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"All threads together load {facts['words']:,} words of {facts['name']} for tiles of "
        f"{facts['tile_m']} x {facts['tile_n']} of C{at(finding)}: the {facts['allowed']:,} that "
        f"do, and those of one step of {facts['tile_k']} along K more. Who uses what is loaded in "
        "the last step?"
    )


def _variable_traffic(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"All threads together load {facts['words']:,} words of device variables, most of them of "
        f"{clipped(facts['name'])}, where {facts['allowed']:,} are allowed{at(finding)}. These lie "
        "in global memory, as A and B do. In which memory does a block keep what it reads again?"
    )


def _output_traffic(finding: Finding) -> str:
    facts = finding.facts
    loaded = f" and load {facts['loaded']:,}" if facts["loaded"] else " and load none"
    question = (
        "Where does a sum live until it is complete?"
        if facts["loaded"]
        else "Which loop does that store stand in?"
    )
    return (
        f"All threads together store {facts['stored']:,} words of C{loaded}{at(finding)}: "
        f"{facts['ratio']:.3g} times the {facts['elements']:,} elements that its tiles have. "
        f"{question}"
    )


def _unnamed_depth(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"All threads together load {facts['words']:,} words of {facts['name']}, where "
        f"{facts['allowed']:,} would do{at(finding)}: the last step along K reaches past its end, "
        "and LAUNCH_CONFIG does not name tile_k, the depth of a step, within which that is "
        "allowed. How deep is a step of this kernel?"
    )


def _tile_too_small(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"The tile of C is {facts['tile_m']} x {facts['tile_n']} (tile_m x tile_n); this exercise "
        f"asks for at least {facts['least_m']} x {facts['least_n']}. "
        "How many times is each word that is loaded used?"
    )


def _uncounted(finding: Finding) -> str:
    return (
        f"The counters had no room for {finding.facts['accesses']:,} accesses of this kernel"
        f"{at(finding)}: it touches memory at more places of its text, or more often between two "
        "barriers, than they can keep apart, so nobody can say that its accesses are few. "
        "Which of its lines could be a loop?"
    )


def _bank_conflicts(finding: Finding) -> str:
    facts = finding.facts
    name = clipped(facts["name"])
    return (
        f"Of the shared-memory wavefronts, {100 * facts['share']:.0f} % are bank conflicts"
        f"{at(finding)}: a "
        f"{facts['access']} of {name} takes {facts['wavefronts_per_request']:.3g} "
        f"wavefronts, {facts['ideal']:.3g} would do. "
        f"In which bank lies the element of {name} that each lane wants?"
    )


def _surplus_steps(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"All threads together store {facts['words']:,} words in shared tiles{at(finding)}, "
        f"{facts['ratio']:.3g} times the {facts['allowed']:,} that the tiles of A and B have. How "
        f"many steps along K does the kernel make for K = {facts['k']}, and how many are needed?"
    )


def _shared_wavefronts(finding: Finding) -> str:
    facts = finding.facts
    name = clipped(facts["name"])
    return (
        f"Shared memory takes {facts['wavefronts']:.3g} wavefronts for 32 multiply-adds"
        f"{at(finding)}; at most {facts['limit']:.3g} are allowed. Most of them go to the "
        f"{facts['access']} of {name}. How many lanes of a warp take part in one {facts['access']} "
        "of it, and how often does a lane want the same word?"
    )


TEXTS: Mapping[str, Template] = {
    "uncoalesced": _uncoalesced,
    "ragged_rows": _ragged_rows,
    "few_lanes": _few_lanes,
    "too_much_traffic": _too_much_traffic,
    "one_step_more": _one_step_more,
    "variable_traffic": _variable_traffic,
    "output_traffic": _output_traffic,
    "unnamed_depth": _unnamed_depth,
    "tile_too_small": _tile_too_small,
    "uncounted": _uncounted,
    "bank_conflicts": _bank_conflicts,
    "surplus_steps": _surplus_steps,
    "shared_wavefronts": _shared_wavefronts,
}
