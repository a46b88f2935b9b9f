"""Words for kernels that are right but waste memory traffic."""

from __future__ import annotations

from collections.abc import Mapping

from grader.finding import Finding
from grader.messages.wording import Template, at, clipped


def _uncoalesced(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"Each warp-wide {facts['access']} of {facts['name']} touches "
        f"{facts['sectors_per_request']:.3g} sectors of 32 bytes, {facts['ideal']:.3g} would do"
        f"{at(finding)}. Do neighbouring lanes (threadIdx.x) walk along a row of {facts['name']}, "
        "or down a column?"
    )


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


def _tile_too_small(finding: Finding) -> str:
    facts = finding.facts
    return (
        f"The tile of C is {facts['tile_m']} x {facts['tile_n']} (tile_m x tile_n); this exercise "
        f"asks for at least {facts['least_m']} x {facts['least_n']}. "
        "How many times is each word that is loaded used?"
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


TEXTS: Mapping[str, Template] = {
    "uncoalesced": _uncoalesced,
    "too_much_traffic": _too_much_traffic,
    "tile_too_small": _tile_too_small,
    "bank_conflicts": _bank_conflicts,
}
