"""Extensions of the compilers by which a text could do more than compute: attributes, pragmas,
directives and built-in functions.

They are looked for in the text, and again after preprocessing, where no macro hides them. What a
kernel may use is listed; the rest reaches the linker, the loader or the compiler's own options (a
constructor runs before everything else, `no_sanitize` blinds the simulator), or is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from grader.source.directives import Item, Line
from grader.source.tokens import Kind, Token


class Extension(NamedTuple):
    """One that a kernel may not use. `form` is "attribute", "pragma", "directive", "literal" or
    "builtin"."""

    line: int
    form: str
    name: str


# With or without the underscores around them.
ATTRIBUTES = frozenset(
    """
    aligned always_inline artificial assume cold const convergent deprecated fallthrough flatten
    format gnu hot leaf likely malloc may_alias maybe_unused nodiscard noinline nomerge nonnull
    noreturn nothrow nv_diag_suppress no_unique_address packed pure restrict returns_nonnull
    unlikely unused used vector_size warn_unused_result clang nvcc
    constant device device_builtin global grid_constant host launch_bounds managed shared
    """.split()
)

# The first words of a pragma. Compilers ignore those of others (`omp`), and some only tidy a file.
PRAGMAS = frozenset(
    """
    acc diag_default diag_error diag_remark diag_suppress diag_warning endregion
    hd_warning_disable ivdep loop mark message nounroll novector nv_diag_default nv_diag_error
    nv_diag_once nv_diag_remark nv_diag_suppress nv_diag_warning nv_diagnostic
    nv_exec_check_disable omp once pack region simd STDC unroll vector warning
    """.split()
)
_OF_COMPILERS = {
    "GCC": frozenset({"diagnostic", "error", "ivdep", "unroll", "warning"}),
    "clang": frozenset({"diagnostic", "fp", "loop"}),
}

# Of warnings that the simulator takes for errors, where its compilers would go wrong; or spelt so
# that nobody sees which one it is.
_DOWNGRADED = re.compile(r"vla|invalid-memory-model|reorder-init-list|\\")

# Directives that C++ does not have and compilers take: the first two write into the assembly.
DIRECTIVES = frozenset(
    "ident sccs assert unassert __include_macros __private_macro __public_macro".split()
)

# Directly behind another literal, compilers take these letters for a suffix of that one.
_RAW = re.compile(r'(?:u8|[uUL])?R"')

# By the preprocessor, so that none is left to be seen.
EXECUTED = frozenset({"dependency", "poison", "system_header", "push_macro", "pop_macro"})

# Functions of the compiler that compute, and nothing else.
_COMPUTING = re.compile(
    r"__builtin_(?:"
    r"(?:add|sub|mul|[su](?:add|sub|mul)l{0,2})_overflow(?:_p)?"
    r"|(?:clz|ctz|ffs|clrsb|parity|popcount|abs|labs|llabs)(?:l|ll|g)?|bswap\d+|bitreverse\d+"
    r"|rotate(?:left|right)\d+"
    r"|(?:a?(?:cos|sin|tan)h?|atan2|cbrt|ceil|copysign|erfc?|exp|exp2|exp10|expm1|fabs|fdim|floor"
    r"|fma|fmax|fmin|fmod|huge_val|hypot|inf|ldexp|l?lrint|l?lround|lgamma|log|log10|log1p"
    r"|log2|logb|nans?|nearbyint|nextafter|pow|powi|remainder|rint|round|roundeven|scalbl?n"
    r"|signbit|sqrt|tgamma|trunc)[fl]?"
    r"|is(?:finite|greater|greaterequal|inf|inf_sign|less|lessequal|lessgreater|nan|normal"
    r"|unordered|fpclass)|fpclassify|flt_rounds"
    r"|alloca|align_(?:up|down)|is_aligned"
    r"|align__|addressof|assume|assume_aligned|bit_cast|choose_expr|constant_p|convertvector"
    r"|expect|expect_with_probability|unpredictable|has_attribute|is_constant_evaluated|launder"
    r"|nontemporal_(?:load|store)|object_size|dynamic_object_size|offsetof|prefetch|shuffle"
    r"|shufflevector|reduce_\w+|elementwise_\w+|speculation_safe_value|trap|types_compatible_p"
    r"|unreachable|va_\w+|FILE|FUNCTION|LINE|COLUMN|return_address|frame_address"
    r")"
)
_BUILTIN = re.compile(r"__(?:builtin|sync|atomic|asan|cyg|sanitizer|tsan|ubsan|msan|gcov|cxa)_\w+")
# Atomics of the host's compiler compute, too.
_ATOMIC = re.compile(r"__(?:sync|atomic)_\w+")

# Macros of the simulator's header stand for these: a text may name them, a preprocessed one not.
REPLACED = frozenset(
    f"__builtin_{name}"
    for name in "memcpy memmove memset sincos sincosf modf modff frexp frexpf".split()
)

# Longer names are cut: only what they begin with matters to a reader.
_LONGEST = 60
_SPELT = frozenset({"__attribute__", "__attribute", "__declspec"})


def forbidden(items: Sequence[Item], is_macro: Callable[[str], bool]) -> Iterator[Extension]:
    """What must not be used, in no order. Names for which `is_macro` holds are skipped: what they
    stand for is seen in their definition, or after preprocessing."""
    for item in items:
        if isinstance(item, Line) and item.name == "pragma":
            yield from _pragma(item.line, [token.text for token in item.rest])
        elif isinstance(item, Line) and item.name in DIRECTIVES:
            yield Extension(item.line, "directive", f"#{item.name}")
        if isinstance(item, Line):
            yield from _literals(item.rest)
    every = list(rows(items))
    yield from _literals(every[0])
    for row in every:
        yield from _of_row(row, is_macro)
    if any(_is_computed(row) for row in every):
        for row in every:
            yield from _executed(row)


def _literals(row: Sequence[Token]) -> Iterator[Extension]:
    """Raw strings that are none for the compilers, which find their end elsewhere."""
    for before, token in pairwise(row):
        quoted = before.kind in (Kind.STRING, Kind.CHARACTER) and not token.spaced
        if quoted and (raw := _RAW.match(token.text)):
            yield Extension(token.line, "literal", raw[0])


def may_hide_pragmas(items: Sequence[Item]) -> bool:
    """Whether a `_Pragma`, or its text, may be put together by macros: then the preprocessor may
    execute it, so that none is left to be seen."""
    return any(_is_computed(row) or any(token.text == "##" for token in row) for row in rows(items))


def rows(items: Iterable[Item]) -> Iterator[list[Token]]:
    """The code, then the body of each macro."""
    code: list[Token] = []
    bodies: list[list[Token]] = []
    for item in items:
        if isinstance(item, Token):
            code.append(item)
        elif item.name == "define":
            bodies.append(list(item.rest))
    yield code
    yield from bodies


def _of_row(row: list[Token], is_macro: Callable[[str], bool]) -> Iterator[Extension]:
    yield from _attributes(row, is_macro)
    for index, token in enumerate(row):
        following = row[index + 1].text if index + 1 < len(row) else ""
        if token.kind is Kind.NAME:
            if token.text in ("_Pragma", "__pragma") and following == "(":
                yield from _operator(row, index)
            elif _is_reaching(token.text) and not is_macro(token.text):
                yield Extension(token.line, "builtin", token.text[:_LONGEST])


def _is_reaching(name: str) -> bool:
    if not _BUILTIN.fullmatch(name):
        return False
    return not _COMPUTING.fullmatch(name) and not _ATOMIC.fullmatch(name)


def _attributes(row: list[Token], is_macro: Callable[[str], bool]) -> Iterator[Extension]:
    """The names between the two opening brackets of each attribute and their partners, but none of
    the arguments; `__declspec` has one pair only."""
    depth = 0
    within: list[tuple[int, int]] = []  # attributes that are open: depth before, deepest of names
    for index, token in enumerate(row):
        if deepest := _deepest(row, index):
            within.append((depth, deepest))
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        while within and depth <= within[-1][0]:
            within.pop()
        # Each is deeper than the one before it: the names of any other are not so deep.
        if any(depth - before <= most for before, most in within[-2:]):
            yield from _attribute(row, index, is_macro)


def _deepest(row: list[Token], index: int) -> int:
    """How deep the names of the attribute stand whose first bracket is at `index`; 0: none is."""
    before = row[index - 1].text if index else ""
    after = row[index + 1].text if index + 1 < len(row) else ""
    if (row[index].text == "[" == after and before != "[") or (before in _SPELT and after == "("):
        return 2
    return 1 if before in _SPELT else 0


def _attribute(
    row: list[Token], index: int, is_macro: Callable[[str], bool]
) -> Iterator[Extension]:
    """The name at `index`, where it begins one."""
    token, before = row[index], row[index - 1].text
    first = before in ("(", "[", ",", ":", "::", "using")
    if token.kind is not Kind.NAME or token.text == "using" or not first:
        return
    bare = token.text.removeprefix("__").removesuffix("__")
    if bare not in ATTRIBUTES and not is_macro(token.text):
        yield Extension(token.line, "attribute", token.text[:_LONGEST])


def _is_computed(row: list[Token]) -> bool:
    """Whether there is a `_Pragma` whose text is not written out: `_Pragma(#x)`."""
    return any(
        token.text == "_Pragma" and opening.text == "(" and inside.kind is not Kind.STRING
        for token, opening, inside in zip(row, row[1:], row[2:], strict=False)
    )


def _executed(row: list[Token]) -> Iterator[Extension]:
    """Words that make a pragma which the preprocessor executes."""
    for token in row:
        words = re.findall(r"\w+", token.text) if token.kind is Kind.STRING else [token.text]
        for word in EXECUTED.intersection(words):
            yield Extension(token.line, "pragma", f"GCC {word}")


def _operator(row: list[Token], index: int) -> Iterator[Extension]:
    """`_Pragma("...")`, or the `__pragma(...)` of other compilers."""
    inside = row[index + 2 : index + 6]
    if inside and inside[0].kind is Kind.STRING:
        if name := refused_pragma(inside[0].text.removesuffix('"')):
            yield Extension(row[index].line, "pragma", name)
    elif row[index].text == "__pragma":
        yield from _pragma(row[index].line, [token.text for token in inside])


def refused_pragma(text: str) -> str:
    """The name of the pragma in the string of a `_Pragma`, which `text` is without its end, unless
    it may be used; else "". No raw string may: its fence is no word of the pragma."""
    prefix, _, words = text.partition('"')
    if prefix.endswith("R"):
        return f'{prefix}"'
    return _refused(re.findall(r"\w+|[^\w\s]", words.replace('\\"', '"')))


def _pragma(line: int, words: list[str]) -> Iterator[Extension]:
    if name := _refused(words):
        yield Extension(line, "pragma", name)


def _downgrades(words: list[str]) -> bool:
    return _DOWNGRADED.search("".join(words).replace('"', "")) is not None


def _refused(words: list[str]) -> str:
    if not words:
        return ""
    known = words[0] in PRAGMAS
    if words[0] in _OF_COMPILERS and len(words) > 1:
        known = words[1] in _OF_COMPILERS[words[0]] and not _downgrades(words)
    if known:
        return ""
    return " ".join(words[: 2 if words[0] in (*_OF_COMPILERS, "STDC") else 1])[:_LONGEST]
