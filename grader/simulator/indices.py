"""Which indices of LLVM's intermediate form stay near: those that count loops, and what is worked
out from them and small numbers. No pointer comes into them, and no loop runs so long that they
reach another variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_FARTHEST = 64  # of a step, and of what an index is multiplied by in all
_DEEPEST = 6  # of expressions: of longer ones nothing is said
_NUMBER = re.compile(r"-?\d+")
_TWO = re.compile(r"(?P<what>\w+) (?:(?:nuw|nsw|exact) )*i\d+ (?P<left>[^ ,]+), (?P<right>[^ ,]+)")
_WIDENED = re.compile(r"(?:zext|sext|trunc) (?P<type>i\d+) (?P<from>[^ ,]+) to ")
_CHOICE = re.compile(r"select i1 [^ ,]+, i\d+ (?P<left>[^ ,]+), i\d+ (?P<right>[^ ,]+)")
_LOOP = re.compile(r"phi i\d+ ")
_INCOMING = re.compile(r"\[ ([^ ,]+), ")


def is_near(value: str, made: Mapping[str, str], reach: int = _FARTHEST, depth: int = 0) -> bool:
    """Whether `value`, times what is left of `reach`, is such a one; `made` says how each value
    comes about."""
    how = made.get(value, "")
    if not how or depth == _DEEPEST:
        return _is_small(value)
    if widened := _WIDENED.match(how):
        return widened["type"] == "i1" or is_near(widened["from"], made, reach, depth + 1)
    if _LOOP.match(how):
        incoming = _INCOMING.findall(how)
        return all(_is_small(one) or _is_step(made.get(one, ""), value) for one in incoming)
    if pair := _CHOICE.match(how):
        return all(is_near(pair[side], made, reach, depth + 1) for side in ("left", "right"))
    pair = _TWO.match(how)
    return pair is not None and _is_worked_out(pair, made, reach, depth + 1)


def _is_worked_out(pair: re.Match[str], made: Mapping[str, str], reach: int, depth: int) -> bool:
    what, left, right = pair["what"], pair["left"], pair["right"]
    if what in ("mul", "shl"):
        factor = int(right) if _is_small(right) else 0
        reach //= 1 << factor if what == "shl" and factor > 0 else max(factor, 1)
        return factor > 0 and reach > 0 and is_near(left, made, reach, depth)
    if what in ("and", "urem"):
        return _is_small(right) and not right.startswith("-")
    known = what in ("add", "sub", "or", "xor")
    return known and all(is_near(side, made, reach, depth) for side in (left, right))


def _is_small(value: str) -> bool:
    return _NUMBER.fullmatch(value) is not None and abs(int(value)) <= _FARTHEST


def _is_step(how: str, counter: str) -> bool:
    step = _TWO.match(how)
    known = step is not None and (step["what"], step["left"]) == ("add", counter)
    return step is not None and known and _is_small(step["right"])
