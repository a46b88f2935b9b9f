"""Conditions by which a text could hold two kernels, one for nvcc and one for the simulator.

The points for correctness come from the simulator, those for speed from a GPU, so both must compile
the same kernel. What CUDA and C++ define is the same for both (simulator/compiler.py) and may be
asked; what tells one compiler or its headers from another may not. Yields (line, kind, facts) of
`telling_condition`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from grader.source.directives import Item, Line, Macros
from grader.source.inclusion import Found, of_defined
from grader.source.tokens import Kind

# Macros of the simulator's headers that are none in CUDA, those of one compiler, of how it was
# called, and of the system's headers, which the simulator does not have.
_TELLING = re.compile(
    r"(?:sim|SIM)_\w+|threadIdx|blockIdx|blockDim|gridDim|alignas|__noinline__|atomic[A-Z]\w+"
    r"|__(?:clang|CLANG|llvm)\w*|__GNUC_[A-Z]\w*|__GNUG__|__VERSION__|__GXX_\w+"
    r"|__has_(?:feature|extension)|__SANITIZE_\w+|__(?:NO_)?OPTIMIZE\w*|__NO_MATH_\w+"
    r"|__EXCEPTIONS|__cpp_(?:rtti|exceptions)|__SSP\w*|__(?:PI[CE]|pi[ce])__"
    r"|__GLIBC\w*|__GNU_LIBRARY__|_GLIBCXX\w*|_LIBCUDACXX\w*|_CCCL\w*|_GNU_SOURCE"
)
# Headers' own marks; a file may have one, too.
_GUARD = re.compile(r"_\w+_(?:H|HPP)_*")
_HOST = "__GNUC__"  # nvcc has it from its host compiler: there it is, but with any number
_ASKING = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})


def telling(items: Iterable[Item], macros: Macros) -> Iterator[Found]:
    """The conditions that ask for what differs, each with the first such name."""
    leading = macros.leading_to(
        lambda name: name == _HOST or _tells(name, macros) or macros.asserts(name)
    )
    for item in items:
        if isinstance(item, Line) and item.spelt in _ASKING:
            name = next(_asked(item, macros, leading), None)
            if name is not None:
                yield item.line, "telling_condition", {"name": name}


def _asked(line: Line, macros: Macros, leading: Mapping[str, str]) -> Iterator[str]:
    """The telling names of a condition; those behind `defined` are not expanded."""
    for place, token in enumerate(line.rest):
        name = token.text
        if name == "#":  # `#system(linux)`, which each compiler answers for itself
            yield name
        if token.kind is not Kind.NAME:
            continue
        if line.spelt.endswith("def") or of_defined(line.rest, place):
            if _tells(name, macros) or name.startswith("__builtin_"):
                yield name
        elif name in leading or name == _HOST or _tells(name, macros):
            yield leading.get(name, name)


def _tells(name: str, macros: Macros) -> bool:
    guard = _GUARD.fullmatch(name) is not None and name not in macros
    return guard or _TELLING.fullmatch(name) is not None
