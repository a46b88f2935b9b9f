"""What the text of a submission alone tells: code that has no place in it.

This is the first fence, for clear messages, not the last one: what it lets through meets the
compilers' sandbox, the linker's list of symbols and the worker's limits. So it never guesses. Code
under `#if 0` is not looked at, code under other conditions is, whatever they say here.

Findings, all with verdict `rejected` and one location:

- forbidden_include {header, allowed, form, nearest}. `allowed` lists the headers that may be
  included. `form` says what `header` is: "header" (a name that is not on the list), "path" (an
  absolute path or one with `..`), "macro" (#include of something that is not spelt out), "probe"
  (`__has_include`), "directive" (`#include_next`, `#import`, `#embed`), "incbin" (in inline PTX).
  `nearest` is the allowed header that was probably meant, or "".
- asm_outside_function {}
- host_code {name, form}. `form`: "function" (no `__global__` or `__device__` before it), "main",
  "launch" (`<<<...>>>`; `name` is the kernel, or "a kernel" where it cannot be told).
- tensor_cores {what}: the header, name or instruction ("mma.h", "nvcuda::wmma", "mma.sync").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from grader import settings
from grader.finding import Finding, Location
from grader.source.directives import Item, Line, Macros, live
from grader.source.heads import Function
from grader.source.scopes import Survey, survey
from grader.source.tokens import Kind, Token
from grader.verdict import Verdict

if TYPE_CHECKING:  # a submission is read with the tokens of this package
    from grader.submission import Submission

# The headers that a kernel of this course can need: the contract, CUDA's own for device code, and
# those of the C and C++ libraries whose contents nvcc accepts in device code. All others stay out:
# a library would do the exercise (cuBLAS, CUTLASS), and system headers reach the machine.
ALLOWED_HEADERS = (
    "launch.cuh",
    "cuda_runtime.h",
    "cuda_pipeline.h",
    "cooperative_groups.h",
    "device_launch_parameters.h",
    "vector_types.h",
    "algorithm",
    "assert.h",
    "cassert",
    "cfloat",
    "climits",
    "cmath",
    "cstddef",
    "cstdint",
    "cstdio",
    "cstring",
    "float.h",
    "limits",
    "limits.h",
    "math.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "string.h",
    "type_traits",
    "utility",
)

# Device features with a header of their own that the simulator does not have: they are accepted
# and graded where a GPU is. The value is how a report names the feature.
UNSUPPORTED_HEADERS = {
    "cuda/pipeline": "cuda::pipeline",
    "cuda/barrier": "cuda::barrier",
    "cooperative_groups/memcpy_async.h": "cooperative_groups::memcpy_async",
    "cooperative_groups/reduce.h": "cooperative_groups::reduce",
}

_ASM = frozenset({"asm", "__asm", "__asm__"})
_DEVICE = frozenset({"__device__", "__global__", "constexpr", "consteval"})
_PROBES = frozenset({"__has_include", "__has_include_next", "__has_embed"})
_INCLUDES = frozenset({"include", "include_next", "import", "embed"})
_CUDA_NAMES = {"pipeline": "cuda::pipeline", "barrier": "cuda::barrier"}
_MOST = 20  # findings of one file; more would only bury the first ones

_TENSOR_HEADERS = frozenset({"mma.h", "crt/mma.h"})
_TENSOR_NAME = re.compile(r"__(?:[bdhis]?mma|nvvm_w?g?mma)_\w+")  # the compiler's own functions
_TENSOR_INSTRUCTION = re.compile(r"\b(?:w?g?mma\.\w+|tcgen05\.\w+)")
_INCBIN = re.compile(r"\.incbin\b")


def inspect(submission: Submission) -> tuple[Finding, ...]:
    """What must not be in a submission, in the order of lines; empty when nothing was found."""
    items = _items(submission.text)
    macros = Macros(items)
    found = [
        *_includes(items),
        *_tensor_cores(items, macros),
        *_outside(survey(items, macros), items, macros),
    ]
    distinct: dict[tuple[str, str], _Found] = {}
    for line, kind, facts in sorted(found, key=lambda entry: entry[0]):
        distinct.setdefault((kind, str(facts)), (line, kind, facts))
    return tuple(
        Finding(Verdict.REJECTED, kind, facts, (Location(submission.name, line, "error"),))
        for line, kind, facts in list(distinct.values())[:_MOST]
    )


def uses_inline_ptx(submission: Submission) -> bool:
    """Whether an `asm` statement, or a macro that stands for one, is used."""
    items = _items(submission.text)
    return _uses_asm(items, Macros(items))


def uses_unsupported(submission: Submission) -> str:
    """The features that only a GPU has: "inline PTX", "cuda::pipeline, cuda::barrier", or ""."""
    items = _items(submission.text)
    used = {"inline PTX": None} if uses_inline_ptx(submission) else {}
    for item in items:
        if isinstance(item, Line) and item.name == "include" and item.rest:
            feature = UNSUPPORTED_HEADERS.get(_header(item.rest[0].text))
            used |= {feature: None} if feature else {}
    words = [item.text for item in items if isinstance(item, Token)]
    for first, colons, second in zip(words, words[1:], words[2:], strict=False):
        if (first, colons) == ("cuda", "::") and second in _CUDA_NAMES:
            used |= {_CUDA_NAMES[second]: None}
    return ", ".join(used)


_Found = tuple[int, str, Mapping[str, object]]  # line, kind, facts


@lru_cache(maxsize=8)  # every function here starts with it, for the same text
def _items(text: str) -> tuple[Item, ...]:
    return tuple(live(text))


def _header(spelt: str) -> str:
    return spelt[1:-1] if spelt[:1] in ("<", '"') else spelt


def _includes(items: Iterable[Item]) -> Iterator[_Found]:
    """Headers that are not allowed, and ways around the list."""
    for item in items:
        if not isinstance(item, Line):
            continue
        for probe, after in pairwise(item.rest):
            if probe.text in _PROBES and after.text == "(":
                yield _forbidden(probe.line, probe.text, "probe")
        if item.name not in _INCLUDES or not item.rest:
            continue
        first = item.rest[0]
        header = _header(first.text)
        if header in _TENSOR_HEADERS:
            continue  # the other finding says more
        if item.name != "include":
            yield _forbidden(item.line, f"#{item.name} {first.text}", "directive")
        elif first.kind is not Kind.HEADER:
            yield _forbidden(item.line, first.text, "macro")
        elif header.startswith(("/", "\\", "~")) or ".." in header or ":" in header:
            yield _forbidden(item.line, header, "path")
        elif header not in ALLOWED_HEADERS and header not in UNSUPPORTED_HEADERS:
            yield _forbidden(item.line, header, "header")


def _forbidden(line: int, header: str, form: str) -> _Found:
    base = header.replace("\\", "/").rsplit("/", 1)[-1]
    # `launch.h` is a slip; `cstdlib` is another library, however much it looks like cstdio.
    near = settings.nearest(base, ALLOWED_HEADERS, 0.85) if form in ("header", "path") else ""
    allowed = list(ALLOWED_HEADERS)
    facts = {"header": header, "allowed": allowed, "form": form, "nearest": near}
    return line, "forbidden_include", facts


def _tensor_cores(items: tuple[Item, ...], macros: Macros) -> Iterator[_Found]:
    """Tensor cores by header, by name, and in the text of inline PTX (with .incbin)."""
    for item in items:
        if isinstance(item, Line) and item.name in _INCLUDES and item.rest:
            header = _header(item.rest[0].text)
            if header in _TENSOR_HEADERS:
                yield item.line, "tensor_cores", {"what": header}
    row = list(_all_tokens(items))
    for token, after in pairwise(row):
        if token.kind is not Kind.NAME:
            continue
        if token.text == "nvcuda" or (token.text == "wmma" and after.text == "::"):
            yield token.line, "tensor_cores", {"what": "nvcuda::wmma"}
        elif _TENSOR_NAME.fullmatch(token.text):
            yield token.line, "tensor_cores", {"what": token.text}
    if _uses_asm(items, macros):
        yield from _instructions(row)


def _instructions(row: list[Token]) -> Iterator[_Found]:
    """Looks through string literals; neighbours are one text, as for the compiler."""
    text, line = "", 0
    for token in [*row, Token(Kind.MARK, "", 0)]:
        if token.kind is Kind.STRING:
            line = line if text else token.line
            text += token.text.partition('"')[2].removesuffix('"')
            continue
        for match in _TENSOR_INSTRUCTION.finditer(text):
            yield line, "tensor_cores", {"what": match[0]}
        if _INCBIN.search(text):
            yield _forbidden(line, ".incbin", "incbin")
        text = ""


def _all_tokens(items: Iterable[Item]) -> Iterator[Token]:
    """The tokens of the code and of macros' bodies."""
    for item in items:
        if isinstance(item, Token):
            yield item
        elif item.name == "define":
            yield from item.rest


def _uses_asm(items: Iterable[Item], macros: Macros) -> bool:
    reaching = macros.reaching(_ASM)
    return any(isinstance(item, Token) and item.text in reaching for item in items)


def _outside(found: Survey, items: Iterable[Item], macros: Macros) -> Iterator[_Found]:
    """Host code and `asm` outside of functions."""
    hosts = list(_hosts(found, macros)) if found.sound else []
    for function in hosts:
        form = "main" if function.name == "main" else "function"
        yield function.line, "host_code", {"name": function.name, "form": form}
    told = frozenset(hosts)
    for launch in found.launches:
        if launch.inside not in told:
            yield launch.line, "host_code", {"name": launch.kernel or "a kernel", "form": "launch"}
    for item in items:
        if isinstance(item, Line) and item.name == "define":
            for before, mark in pairwise(item.rest):
                if mark.text == "<<<":
                    yield mark.line, "host_code", {"name": before.text, "form": "launch"}
    if found.sound:
        reaching = macros.reaching(_ASM, outside_braces=True)
        for token in found.outside:
            if token.text in reaching:
                yield token.line, "asm_outside_function", {}


def _hosts(found: Survey, macros: Macros) -> Iterator[Function]:
    """The functions that run on the host: nothing in head or declaration says otherwise."""
    marks = macros.reaching(_DEVICE)
    declared: set[str] = set()
    for names in found.declared:
        declared |= names if names & marks else frozenset()
    for function in found.functions:
        # nvcc lets a definition leave out the `__device__` that its declaration had.
        marked = function.names & marks or function.name.rsplit("::", 1)[-1] in declared
        if function.name == "main" or not marked:
            yield function
