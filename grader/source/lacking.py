"""What CUDA has for device code and the simulator does not, by name.

A kernel that uses it is right for nvcc, so it is graded where a GPU is and refused nowhere. Names
that a file defines itself are its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from grader.source.directives import Item, Line
from grader.source.extensions import rows
from grader.source.tokens import Kind, Token
from grader.source.unions import VECTORS

_FUNCTIONS = re.compile(
    # Two or four numbers in a word, and what takes a smallest or greatest of several.
    r"__v(?:abs|add|avg|cmp|hadd|i|max|min|neg|sad|set|sub)\w*"
    # Arithmetic that does not round to the nearest number.
    r"|__[fd](?:add|sub|mul|div|rcp|sqrt)_r[zud]|__fmaf?_(?:ieee_r[nzud]|r[zud])"
    r"|__(?:double|u?int|u?ll)2(?:float|double)_r[zud]"
    # Address spaces, clusters of blocks, textures, memory from a heap.
    r"|__is(?:Global|Shared|Constant|Local|GridConstant|CtaShared|ClusterShared)|__cvta_\w+"
    r"|__cluster\w*|this_cluster|invoke_one|__threadfence_cluster"
    r"|(?:tex|surf)(?:[123]D|Cubemap)\w*|malloc"
    r"|(?:binary|labeled)_partition|block_tile_memory"
    r"|__fns|__barrier_sync(?:_count)?|__uni_sync|__prof_trigger|__brkpt|__dp2a_(?:lo|hi)|__pm[0-3]"
    # Functions that no library for the CPU has.
    r"|r?norm[34]df?|normcdf(?:inv)?f?|erfc?invf?|erfcxf?|(?:sin|cos|sincos)pif?"
    r"|cyl_bessel_i[01]f?|remquof?|scalblnf?|ilogbf?"
)
_TYPES = re.compile(r"(?:make_)?(?:u?long|u?longlong|double)4(?:_(?:16|32)a)?")
_BEFORE_A_USE = frozenset({"return", "else", "do", "case", "sizeof", "typename"})


def lacking(items: Sequence[Item]) -> Iterator[str]:
    """What a text uses of it, in the order of the text."""
    every = list(rows(items))
    own = {name for row in every for name in _declared(row)}
    defined = (item.rest for item in items if isinstance(item, Line) and item.name == "define")
    own |= {rest[0].text for rest in defined if rest}
    for row in every:
        for index, token in enumerate(row):
            member = index > 0 and row[index - 1].text in (".", "->")
            if token.kind is Kind.NAME and token.text not in own and not member:
                if _FUNCTIONS.fullmatch(token.text) or _TYPES.fullmatch(token.text):
                    yield token.text
                elif token.text in VECTORS and _is_designated(row, index):
                    yield f"the members of {token.text} by name, as in {{.x = 1}},"


def _declared(row: list[Token]) -> Iterator[str]:
    """Functions' names behind a type: `float norm3d(...)`."""
    for before, token in pairwise(row):
        typed = before.kind is Kind.NAME and before.text not in _BEFORE_A_USE
        if (typed or before.text in ("*", "&")) and _FUNCTIONS.fullmatch(token.text):
            yield token.text


def _is_designated(row: list[Token], index: int) -> bool:
    """Whether a vector is given values by name: `float4{.x`, `float4 v{.x`, `float4 v = {.x`."""
    after = [token.text for token in row[index + 1 : index + 5]]
    return any(after[at : at + 2] == ["{", "."] for at in (0, 1, 2))
