"""What the text of a submission alone tells: code that has no place in it.

This is the first fence, for clear messages, not the last one: what it lets through meets the
compilers' sandbox, the linker's list of symbols and the worker's limits. So it never guesses. Code
under `#if 0` is not looked at, code under other conditions is, whatever they say here.

Findings, all with verdict `rejected` and one location:

- forbidden_include {header, allowed, form, nearest}. `allowed` lists the headers that may be
  included. `form` says what `header` is: "header" (a name that is not on the list), "path" (an
  absolute path or one with `..`), "macro" (#include of something that is not spelt out), "probe"
  (`__has_include`), "condition" (an #if whose macros may put that together; `header` is the macro),
  "directive" (`#include_next`, `#import`, `#embed`), "incbin" (in inline PTX).
  `nearest` is the allowed header that was probably meant, or "".
- forbidden_line {what}: a `#line` that names another file, or no line of any file
- telling_condition {name}: an #if that tells the simulator from nvcc
- forbidden_extension {form, name}: an "attribute", a "pragma", a "directive" or a "builtin"
  function that is not on the lists of `extensions`
- asm_outside_function {}
- host_code {name, form}. `form`: "function" (no `__global__` or `__device__` before it), "kernel"
  (the same, of a function that the contract declares as a kernel), "main",
  "launch" (`<<<...>>>`; `name` is the kernel, or "a kernel" where it cannot be told), "call" (a
  function of CUDA's runtime, such as cudaMalloc, where nothing else is host code).
- tensor_cores {what}: the header, name or instruction ("mma.h", "nvcuda::wmma", "mma.sync").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from grader.finding import Finding, Location
from grader.source import extensions
from grader.source.conditions import telling
from grader.source.directives import Item, Line, Macros, live
from grader.source.expanded import ASM
from grader.source.heads import Function
from grader.source.inclusion import (
    ALLOWED_HEADERS,
    INCLUDES,
    TENSOR_HEADERS,
    UNSUPPORTED_HEADERS,
    Found,
    forbidden,
    header,
    inclusions,
)
from grader.source.lacking import lacking
from grader.source.scopes import Survey, survey
from grader.source.tokens import Kind, Token
from grader.verdict import Verdict

if TYPE_CHECKING:  # a submission is read with the tokens of this package
    from grader.submission import Submission

__all__ = [
    "ALLOWED_HEADERS",
    "UNSUPPORTED_HEADERS",
    "inspect",
    "uses_inline_ptx",
    "uses_unsupported",
]

_DEVICE = frozenset({"__device__", "__global__", "constexpr", "consteval"})
_CUDA_NAMES = {"pipeline": "cuda::pipeline", "barrier": "cuda::barrier"}
_MOST = 20  # findings of one file; more would only bury the first ones

_TENSOR_NAME = re.compile(r"__(?:[bdhis]?mma|nvvm_w?g?mma)_\w+")  # the compiler's own functions
# ptxas allows white space and comments before the modifiers.
_TENSOR_INSTRUCTION = re.compile(r"\b(w?g?mma|tcgen05)\s*(\.\w+)")
_PTX_COMMENT = re.compile(r"//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\([nrtfv\\\"'])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f", "v": "\v"}
_DECLARED = re.compile(r"__global__ void (\w+)\(")
_RUNTIME = re.compile(r"cuda(?:Malloc|Free|Mem|Device|Get|Set|Stream|Event|Launch|Func)[A-Za-z_]*")
_INCBIN = re.compile(r"\.incbin\b")


def inspect(submission: Submission) -> tuple[Finding, ...]:
    """What must not be in a submission, in the order of lines; empty when nothing was found."""
    items = _items(submission.text)
    macros = Macros(items)
    surveyed = survey(items, macros)
    found = [
        *inclusions(items, macros, submission.name),
        *telling(items, macros),
        *_extensions(items, macros),
        *_tensor_cores(items, macros),
        *_outside(surveyed, items, macros),
    ]
    if not any(kind == "host_code" for _, kind, _ in found):
        found += _runtime_calls(surveyed, items, macros)
    distinct: dict[tuple[str, str], Found] = {}
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
            feature = UNSUPPORTED_HEADERS.get(header(item.rest[0].text))
            used |= {feature: None} if feature else {}
    words = [item.text for item in items if isinstance(item, Token)]
    for first, colons, second in zip(words, words[1:], words[2:], strict=False):
        if (first, colons) == ("cuda", "::") and second in _CUDA_NAMES:
            used |= {_CUDA_NAMES[second]: None}
    used |= dict.fromkeys(lacking(items))
    return ", ".join(used)


@cache
def _kernels() -> frozenset[str]:
    """The kernels that the contract declares, which a submission defines."""
    contract = Path(__file__).parents[1] / "include" / "launch.cuh"
    return frozenset(_DECLARED.findall(contract.read_text(encoding="utf-8")))


@lru_cache(maxsize=8)  # every function here starts with it, for the same text
def _items(text: str) -> tuple[Item, ...]:
    return tuple(live(text))


def _extensions(items: tuple[Item, ...], macros: Macros) -> Iterator[Found]:
    """Attributes, pragmas, directives and built-in functions that are not on their list."""
    for one in extensions.forbidden(
        items, lambda name: name in macros or name in extensions.REPLACED
    ):
        yield one.line, "forbidden_extension", {"form": one.form, "name": one.name}


def _tensor_cores(items: tuple[Item, ...], macros: Macros) -> Iterator[Found]:
    """Tensor cores by header, by name, and in the text of inline PTX (with .incbin)."""
    for item in items:
        if isinstance(item, Line) and item.name in INCLUDES and item.rest:
            name = header(item.rest[0].text)
            if name in TENSOR_HEADERS:
                yield item.line, "tensor_cores", {"what": name}
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


def _instructions(row: list[Token]) -> Iterator[Found]:
    """Looks through string literals; neighbours are one text, as for the compiler."""
    text, line = "", 0
    for token in [*row, Token(Kind.MARK, "", 0)]:
        if token.kind is Kind.STRING:
            line = line if text else token.line
            text += token.text.partition('"')[2].removesuffix('"')
            continue
        text = _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[1]), text)
        # Also with the comments: what looks like one may stand in a string of PTX.
        for spelling in (text, _PTX_COMMENT.sub(" ", text)):
            for match in _TENSOR_INSTRUCTION.finditer(spelling):
                yield line, "tensor_cores", {"what": match[1] + match[2]}
        if _INCBIN.search(text):
            yield forbidden(line, ".incbin", "incbin")
        text = ""


def _all_tokens(items: Iterable[Item]) -> Iterator[Token]:
    """The tokens of the code and of macros' bodies."""
    for item in items:
        if isinstance(item, Token):
            yield item
        elif item.name == "define":
            yield from item.rest


def _uses_asm(items: Iterable[Item], macros: Macros) -> bool:
    reaching = macros.reaching(ASM)
    return any(isinstance(item, Token) and item.text in reaching for item in items)


def _outside(found: Survey, items: Iterable[Item], macros: Macros) -> Iterator[Found]:
    """Host code and `asm` outside of functions."""
    hosts = list(_hosts(found, macros)) if found.sound else []
    for function in hosts:
        form = "main" if function.name == "main" else "function"
        if function.name in _kernels():
            form = "kernel"
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
        reaching = macros.reaching(ASM, outside_braces=True)
        for token in found.outside:
            if token.text in reaching:
                yield token.line, "asm_outside_function", {}


def _runtime_calls(found: Survey, items: Iterable[Item], macros: Macros) -> Iterator[Found]:
    """nvcc takes them in a kernel, but what they need on a device is not linked to it."""
    own = {function.name for function in found.functions}
    for name, mark in pairwise(item for item in items if isinstance(item, Token)):
        is_own = name.text in own or name.text in macros
        if mark.text == "(" and _RUNTIME.fullmatch(name.text) and not is_own:
            yield name.line, "host_code", {"name": name.text, "form": "call"}


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
