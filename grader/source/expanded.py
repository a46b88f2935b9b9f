"""What a text is after preprocessing: no macro, paste, splice or condition hides anything there.

`scan` reads the preprocessor's output for the simulator's compiler, that is, exactly the tokens
which are compiled next. Findings of a compiled text come as (line, kind, facts), the first in the
file first; line 0 where a header's line holds what the student's macros made of it:

- forbidden_extension {form, name}
- hidden_word {name}: `asm`, or a name of the simulator's own, that the text itself does not show
- nested_too_deep {limit}, compile_too_large {limit}: alone, before anything else is looked for
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping

from grader.source.directives import Item, Line, items_of
from grader.source.extensions import EXECUTED, forbidden, refused_pragma
from grader.source.tokens import Kind, Token, scan_tokens

Found = tuple[int, str, Mapping[str, object]]  # line, kind, facts

ASM = frozenset({"asm", "__asm", "__asm__"})
# As clang++: beyond it the compilers run out of stack.
DEEPEST = 256
# No kernel has as many; a table that has them is generated, and would take minutes to look through.
MOST_TOKENS = 150_000

# An option of preprocessors: `_Pragma("...")` is left in the output, put together, not executed.
PRAGMAS_STAY = "-D_Pragma(text)=_Pragma(text)"
_OPERATOR = re.compile(r'\b_Pragma\s*\(\s*\w*"(?P<text>(?:[^"\\\n]|\\.)*)')
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\\n]|\\.)*)"', re.MULTILINE)

_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


def scan(output: str, source: str, reserved: Collection[str]) -> list[Found]:
    """What must not be in the text of `source` with the headers it includes, in order of places.

    `reserved` are names that only our headers may use, and that none of their macros stand for.
    """
    items: list[Item] = []
    depth = 0
    for item in _placed(output, source):
        items.append(item)
        if isinstance(item, Token) and item.kind is Kind.MARK:
            depth = max(0, depth + (item.text in _OPENING) - (item.text in _CLOSING))
        if depth > DEEPEST:
            return [(item.line, "nested_too_deep", {"limit": DEEPEST})]
        if len(items) > MOST_TOKENS:
            return [(0, "compile_too_large", {"limit": MOST_TOKENS})]
    found: list[Found] = [
        (one.line, "forbidden_extension", {"form": one.form, "name": one.name})
        for one in forbidden(items, lambda name: False)
    ]
    found += [
        (item.line, "hidden_word", {"name": item.text})
        for item in items
        if isinstance(item, Token)
        and item.kind is Kind.NAME
        and (item.text in ASM or (item.line and item.text in reserved))
    ]
    return sorted(found, key=lambda one: (one[0] == 0, one[0]))


def pragmas(output: str, source: str) -> list[Found]:
    """The pragmas of `source` that must not be, in an `output` with PRAGMAS_STAY, in order of
    places; outside of its lines only those that reach out of the text."""
    marks = [(match.end(), match) for match in _MARKER.finditer(output)]
    ends = [match.start() for match in re.finditer("\n", output)]  # of lines
    found: list[Found] = []
    for match in _OPERATOR.finditer(output):
        spot = bisect_right(marks, match.start(), key=lambda mark: mark[0]) - 1
        end, mark = marks[spot] if spot >= 0 else (0, None)
        line = 0
        if mark is not None and mark["file"] == source:
            passed = bisect_right(ends, match.start()) - bisect_right(ends, end - 1)
            line = int(mark["line"]) + passed - 1
        name = refused_pragma(match["text"])
        if name and (line or EXECUTED.intersection(re.findall(r"\w+", match["text"]))):
            found.append((line, "forbidden_extension", {"form": "pragma", "name": name}))
    return found


def _placed(output: str, source: str) -> Iterator[Item]:
    """The items with their lines in `source`; line 0 for those of other files."""
    own, offset = False, 0
    for item in items_of(scan_tokens(output)):
        marker = isinstance(item, Line) and not item.name and bool(item.rest)
        if isinstance(item, Line) and marker and item.rest[0].kind is Kind.NUMBER:
            # The line after `# 7 "kernel.cu" 2` is line 7.
            own = len(item.rest) > 1 and item.rest[1].text == f'"{source}"'
            offset = int(item.rest[0].text) - item.line - 1
            continue
        yield item._replace(line=item.line + offset if own else 0)
