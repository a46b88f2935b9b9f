"""C++ names of kernels in words: `_Z1fPKfi` is `f(const float*, int)`.

Kernels of students have plain parameter lists, so a small reader of such lists does most of the
work; templates and namespaces go to c++filt, which comes with every host compiler.
"""

from __future__ import annotations

import re
import subprocess
from functools import cache

_BUILTIN = {
    "v": "void", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char",
    "s": "short", "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long",
    "m": "unsigned long", "x": "long long", "y": "unsigned long long", "f": "float",
    "d": "double",
}  # fmt: skip
_NAME = re.compile(r"\d+")
_SUBSTITUTION = re.compile(r"S([0-9A-Z]*)_")
_CXXFILT_LIMIT_S = 10.0


class _Unknown(Exception):
    """A part of a name that the small reader does not know."""


class _Reader:
    """Reads one mangled name from left to right (Itanium C++ ABI)."""

    def __init__(self, text: str) -> None:
        self._rest = text
        self._seen: list[str] = []  # what S_, S0_, S1_, ... stand for

    def function(self) -> str:
        name = self._source_name()
        types = []
        while self._rest:
            types.append(self._type())
        return f"{name}({', '.join(types)})".replace("(void)", "()")

    def _source_name(self) -> str:
        match = _NAME.match(self._rest)
        if match is None:
            raise _Unknown
        start, size = match.end(), int(match[0])
        name = self._rest[start : start + size]
        self._rest = self._rest[start + size :]
        return name

    def _type(self) -> str:
        code = self._rest[0]
        if code in _BUILTIN:
            self._rest = self._rest[1:]
            return _BUILTIN[code]
        if code == "S":
            return self._substitution()
        if code.isdigit():
            return self._remember(self._source_name())
        if code in "PRKVr":
            self._rest = self._rest[1:]
            return self._remember(_wrap(code, self._type()))
        raise _Unknown

    def _substitution(self) -> str:
        match = _SUBSTITUTION.match(self._rest)
        if match is None:
            raise _Unknown
        self._rest = self._rest[match.end() :]
        place = int(match[1], 36) + 1 if match[1] else 0
        if place >= len(self._seen):
            raise _Unknown
        return self._seen[place]

    def _remember(self, text: str) -> str:
        self._seen.append(text)
        return text


def _wrap(code: str, inner: str) -> str:
    if code in "PR":
        return inner + ("*" if code == "P" else "&")
    word = {"K": "const", "V": "volatile", "r": "__restrict__"}[code]
    return f"{inner} {word}" if inner.endswith(("*", "const")) else f"{word} {inner}"


def demangle(symbol: str) -> str:
    """The name as a programmer writes it; a symbol that is not mangled comes back as it is."""
    if not symbol.startswith("_Z"):
        return symbol
    try:
        return _Reader(symbol[2:]).function()
    except (_Unknown, IndexError):
        return _filtered(symbol)


def base_name(demangled: str) -> str:
    """`matmul` of `ns::matmul<16>(int)`: no scope, no template arguments, no parameters."""
    plain = re.sub(r"\(anonymous namespace\)::", "", demangled)
    head = re.split(r"[<(]", plain, maxsplit=1)[0]
    return head.rsplit("::", 1)[-1].rsplit(" ", 1)[-1]


def demangle_text(text: str) -> str:
    """A compiler's message with every mangled name in it replaced."""
    return re.sub(r"\b_Z\w+", lambda match: demangle(match[0]), text)


@cache
def _filtered(symbol: str) -> str:
    try:
        done = subprocess.run(
            ["c++filt", symbol], capture_output=True, text=True, timeout=_CXXFILT_LIMIT_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return _longest_name(symbol)
    text = done.stdout.strip()
    if done.returncode != 0 or not text or text == symbol:
        return _longest_name(symbol)
    # "float const*" is the same as "const float*", which is how the contract writes it.
    text = re.sub(r"((?:unsigned |long )*\w+) const(?=[*&])", r"const \1", text)
    return re.sub(r"^void (?=\S+.*\()", "", text)


def _longest_name(symbol: str) -> str:
    """Without c++filt: the name alone, which is the part that a student recognises."""
    match = re.match(r"_ZN?\d*?(\d+)(\D\w*)", symbol)
    return match[2][: int(match[1])] if match else symbol
