"""Which variable of the device a file declares: it keeps its value from launch to launch.

It is no fault by itself; it explains a kernel that is right in its first launch only.
"""

from __future__ import annotations

from functools import lru_cache

from grader.source.directives import live_tokens

_ENDS = frozenset({"(", "{", "[", ";", "=", ","})
_CONSTANT = frozenset({"const", "constexpr", "__constant__"})


@lru_cache(maxsize=8)
def first_variable(text: str) -> tuple[str, int] | None:
    """Name and line of the first one that a kernel can change; None where there is none."""
    code = live_tokens(text)
    for place, token in enumerate(code):
        if token.text != "__device__":
            continue
        end = next((n for n in range(place + 1, len(code)) if code[n].text in _ENDS), None)
        if end is None or code[end].text in ("(", "{"):  # a function; one with a size in braces
            continue
        if not _CONSTANT & {word.text for word in code[max(place - 2, 0) : end]}:
            return code[end - 1].text, code[end - 1].line
    return None
