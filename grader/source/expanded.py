"""What a text is after preprocessing: no macro, paste, splice or condition hides anything there.

`scan` reads the preprocessor's output for the simulator's compiler, that is, exactly the tokens
which are compiled next. Findings of a compiled text come as (line, kind, facts), the first in the
file first; line 0 where a header's line holds what the student's macros made of it:

- forbidden_extension {form, name}
- hidden_word {name}: `asm`, or a name of the simulator's own, that the text itself does not show
- shared_first_value {name}: a compile error with nvcc
- nested_too_deep {limit}, compile_too_large {limit}: alone, before anything else is looked for
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Mapping

from grader.source.brackets import CLOSING, OPENING
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
_OPERATOR = re.compile(r'\b_Pragma\s*\(\s*(?P<text>\w*"(?:[^"\\\n]|\\.)*)')
_MARKER = re.compile(r'^# (?P<line>\d+) "(?P<file>(?:[^"\\\n]|\\.)*)"', re.MULTILINE)


def own_part(output: str, source: str, header: str) -> int:
    """Where `source` begins in an `output` that begins with `header`, which the compiler was told
    to include first; 0 where it does not. What stands before is the same for every text."""
    at_header = -1
    for match in _MARKER.finditer(output):
        if at_header < 0 and match["file"].endswith(header):
            at_header = match.start()
        elif at_header >= 0 and match["file"] == source:
            return match.start()
    return 0


def scan(output: str, source: str, reserved: Collection[str]) -> list[Found]:
    """What must not be in the text of `source` with the headers it includes, in order of places.

    `reserved` are names that only our headers may use, and that none of their macros stand for.
    """
    items: list[Item] = []
    depth = 0
    for item in placed(output, source):
        items.append(item)
        if isinstance(item, Token) and item.kind is Kind.MARK:
            depth = max(0, depth + (item.text in OPENING) - (item.text in CLOSING))
        if depth > DEEPEST:
            return [(item.line, "nested_too_deep", {"limit": DEEPEST})]
        if len(items) > MOST_TOKENS:
            return [(0, "compile_too_large", {"limit": MOST_TOKENS})]
    found: list[Found] = [
        (one.line, "forbidden_extension", {"form": one.form, "name": one.name})
        for one in forbidden(items, lambda name: False)
    ]
    found += [
        (name.line, "shared_first_value", {"name": name.text})
        for name in shared_values(items, "thread_local")  # what __shared__ stands for
    ]
    found += [
        (item.line, "hidden_word", {"name": item.text})
        for item in items
        if isinstance(item, Token)
        and item.kind is Kind.NAME
        and (item.text in ASM or (item.line and item.text in reserved))
    ]
    return sorted(found, key=lambda one: (one[0] == 0, one[0]))


def shared_values(items: Iterable[Item], mark: str) -> Iterator[Token]:
    """The variables of shared memory, after `mark`, that are given a first value, which CUDA does
    not have."""
    inside, depth, name, before = False, 0, Token(Kind.NAME, "", 0), ""
    for item in items:
        if not isinstance(item, Token):
            continue
        if item.text == mark:
            inside, depth = True, 0
        elif inside:
            if depth == 0 and (item.text == "=" or (item.text, before) == ("{", "]")):
                yield name
            depth += (item.text in OPENING) - (item.text in CLOSING)
            inside = item.text != ";" or depth > 0
            name = item if depth == 0 and item.kind is Kind.NAME else name
        before = item.text


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


def placed(output: str, source: str) -> Iterator[Item]:
    """The items with their lines in `source`; line 0 for those of other files."""
    own, offset = True, 0
    for item in items_of(scan_tokens(output)):
        if isinstance(item, Line) and item.name in ("", "line") and _numbers(item):
            # The line after `# 7 "kernel.cu" 2`, or `#line 7`, is line 7.
            own = item.rest[1].text == f'"{source}"' if len(item.rest) > 1 else own
            offset = int(item.rest[0].text) - item.line - 1
            continue
        yield item._replace(line=item.line + offset if own else 0)


def _numbers(line: Line) -> bool:
    return bool(line.rest) and line.rest[0].text.isdecimal()
