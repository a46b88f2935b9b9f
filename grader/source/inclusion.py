"""Which other files a text takes in, asks for, or claims to be.

Yields (line, kind, facts) of `forbidden_include` and `forbidden_line`, as `grader.source` lists
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from grader import settings
from grader.source.directives import Item, Line, Macros
from grader.source.tokens import Kind, Token

Found = tuple[int, str, Mapping[str, object]]  # line, kind, facts

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

TENSOR_HEADERS = frozenset({"mma.h", "crt/mma.h"})  # another finding says more of these
INCLUDES = frozenset({"include", "include_next", "import", "embed"})
_PROBES = frozenset({"__has_include", "__has_include_next", "__has_embed"})
# Of a line's number in `#line`. Compilers count with 32 bits, and from there on with negative ones.
_LONGEST_NUMBER = len("1'000'000")
# What a condition may ask a compiler, besides names of the form __NAME__.
_ASKED = frozenset(
    {
        "__cplusplus",
        "__has_attribute",
        "__has_builtin",
        "__has_cpp_attribute",
        "__has_extension",
        "__has_feature",
        "_LIBCPP_VERSION",
        "_MSC_VER",
        "_OPENMP",
        "_WIN32",
        "_WIN64",
    }
)


def header(spelt: str) -> str:
    """The name inside the quotes or angles of an #include."""
    return spelt[1:-1] if spelt[:1] in ("<", '"') else spelt


def inclusions(items: Iterable[Item], macros: Macros, name: str) -> Iterator[Found]:
    """All findings of a text; `name` is what the file is called."""
    leading = macros.leading_to(lambda name: _puts_together(name, macros))
    for item in items:
        if not isinstance(item, Line):
            continue
        for probe, after in pairwise(item.rest):
            if probe.text in _PROBES and after.text == "(":
                yield forbidden(probe.line, probe.text, "probe")
        if item.spelt in ("if", "elif"):
            yield from _built(item, macros, leading)
        if item.name in INCLUDES and item.rest:
            yield from _include(item, item.rest[0])
        yield from _forged(item, name)


def forbidden(line: int, name: str, form: str) -> Found:
    base = name.replace("\\", "/").rsplit("/", 1)[-1]
    # `launch.h` is a slip; `cstdlib` is another library, however much it looks like cstdio.
    near = settings.nearest(base, ALLOWED_HEADERS, 0.85) if form in ("header", "path") else ""
    allowed = list(ALLOWED_HEADERS)
    facts = {"header": name, "allowed": allowed, "form": form, "nearest": near}
    return line, "forbidden_include", facts


def _include(line: Line, first: Token) -> Iterator[Found]:
    """A header that is not allowed, or a way around the list."""
    name = header(first.text)
    if name in TENSOR_HEADERS:
        return
    if line.name != "include":
        yield forbidden(line.line, f"#{line.name} {first.text}", "directive")
    elif first.kind is not Kind.HEADER:
        yield forbidden(line.line, first.text, "macro")
    elif name.startswith(("/", "\\", "~")) or ".." in name or ":" in name:
        yield forbidden(line.line, name, "path")
    elif name not in ALLOWED_HEADERS and name not in UNSUPPORTED_HEADERS:
        yield forbidden(line.line, name, "header")


def _built(line: Line, macros: Macros, leading: Mapping[str, str]) -> Iterator[Found]:
    """A condition that may put `__has_include` together: nothing of it is left after preprocessing.

    Names are put together by a macro with ##, of this file or of a header (`__CONCAT`). What is
    behind `defined` is not expanded.
    """
    asked = {
        token.text
        for place, token in enumerate(line.rest)
        if token.kind is Kind.NAME and not of_defined(line.rest, place)
    }
    asked -= _PROBES
    found = {leading[name] for name in asked if name in leading}
    found |= {name for name in asked if _puts_together(name, macros)}
    if found:
        name = min(found)
        yield forbidden(line.line, name, "probe" if name in _PROBES else "condition")


def _puts_together(name: str, macros: Macros) -> bool:
    """Whether the name is none that a condition has a use for, or a macro with ##."""
    strange = name.startswith("_") and name not in macros and not _may_ask(name)
    return strange or macros.pastes(name)


def of_defined(row: tuple[Token, ...], place: int) -> bool:
    """Whether the token is `defined`, or its operand, with or without parentheses."""
    before = [token.text for token in row[max(0, place - 2) : place]]
    return row[place].text == "defined" or before[-1:] == ["defined"] or before == ["defined", "("]


def _may_ask(name: str) -> bool:
    usual = name.startswith("__") and name.endswith("__")
    return usual or name in _ASKED or name.startswith("__builtin_")


def _forged(line: Line, name: str) -> Iterator[Found]:
    """`#line` with another file's name, also as preprocessors write it (`# 7 "file"`), or with a
    number that is none of a line."""
    words = line.rest
    marker = not line.name and bool(words) and words[0].kind is Kind.NUMBER
    if line.name == "line":
        own = len(words) == 1 or (len(words) == 2 and words[1].text == f'"{name}"')
        if not own or words[0].kind is not Kind.NUMBER or len(words[0].text) > _LONGEST_NUMBER:
            yield line.line, "forbidden_line", {"what": "#line"}
    elif marker:
        yield line.line, "forbidden_line", {"what": f"# {words[0].text}"}
