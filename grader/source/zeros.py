"""Arrays of vectors that are cleared by one zero: `float4 sums[4] = {0.0f};`.

In CUDA, whose vectors have no constructors, the zero is the first member's and nothing the others';
the simulator's vectors have some, and would take no number. Without it, the braces mean the same to
both.
"""

from __future__ import annotations

import re

from grader.source.unions import VECTORS

_RENAMED = re.compile(r"\busing\s+(\w+)\s*=\s*(\w+)\s*;|\btypedef\s+(\w+)\s+(\w+)\s*;")
_VALUES = r"\{[{\s]*(?:0+|0*\.0+|0+\.0*)[fF]?\s*[}\s]*\}"
_ARRAY = rf"\w+\s*(?:\[[^][;{{}}]+\]\s*)+=?\s*{_VALUES}"
_LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def drop(text: str) -> str:
    """`text`, the output of a preprocessor, without these zeros."""
    if not re.search(rf"\][\s=]*{_VALUES}", text):
        return text
    vectors = set(VECTORS)
    for new, old, typed, name in _RENAMED.findall(text):
        if {old, typed} & vectors:
            vectors.add(new or name)
    named = "|".join(map(re.escape, sorted(vectors)))
    cleared = rf"{_LITERAL}|\b(?:{named})\s+{_ARRAY}(?:\s*,\s*{_ARRAY})*"
    return re.sub(cleared, _without_zeros, text)


def _without_zeros(found: re.Match[str]) -> str:
    if found[0].startswith('"'):
        return found[0]
    return re.sub(_VALUES, _empty, found[0])


def _empty(values: re.Match[str]) -> str:
    """`{}`, in as many lines."""
    balanced = values[0].count("{") == values[0].count("}")
    return "{" + "\n" * values[0].count("\n") + "}" if balanced else values[0]
