"""The heads of C++ declarations: what the brace after one opens, and the name of a function.

A head is what stands between the end of the last declaration and a brace. It is not parsed; a few
words in it decide.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from grader.source.brackets import closing
from grader.source.directives import Macros
from grader.source.tokens import Kind, Token

_CLASSES = frozenset({"struct", "class", "union"})
# What may stand between a parameter list and a body.
_QUALIFIERS = frozenset({"const", "volatile", "noexcept", "override", "final", "&", "&&", "try"})
# Words whose parentheses are not those of parameters.
_ATTRIBUTES = frozenset(
    {
        "alignas",
        "decltype",
        "explicit",
        "noexcept",
        "requires",
        "throw",
        "LAUNCH_CONFIG",
        "_Pragma",
        "__align__",
        "__attribute",
        "__attribute__",
        "__block_size__",
        "__builtin_align__",
        "__cluster_dims__",
        "__declspec",
        "__launch_bounds__",
        "__maxnreg__",
    }
)


class Opens(Enum):
    """What a brace opens."""

    NAMESPACE = auto()
    CLASS = auto()
    FUNCTION = auto()
    VALUE = auto()  # an initialiser, an enumeration: anything else


@dataclass(frozen=True)
class Function:
    """The definition of a function outside of functions; `names` are those of its head."""

    name: str  # "dot", "Tile::load", "operator+"
    line: int
    names: frozenset[str]


def names_of(head: Iterable[Token]) -> frozenset[str]:
    return frozenset(token.text for token in head if token.kind is Kind.NAME)


def opened(head: list[Token], macros: Macros) -> tuple[Opens, Function | None]:
    """What a brace after this head opens, and the function that it defines, if any."""
    bare = _bare(head, macros)
    words = _top(bare)
    if not words or words[0] == "catch":  # nonsense; the handler of a function's own try
        return Opens.FUNCTION, None
    if "namespace" in words or (words[0] == "extern" and len(words) == 2):
        return Opens.NAMESPACE, None
    if any(word == "=" and words[i - 1] != "operator" for i, word in enumerate(words)):
        return Opens.VALUE, None
    while words and words[-1] in _QUALIFIERS:
        words.pop()
    if words[-1:] != [")"] and "->" not in words:
        if "enum" in words:
            return Opens.VALUE, None
        if _CLASSES & set(words):
            return Opens.CLASS, None
    if "(" not in words:
        spelt = any(macros.has_parentheses(name) for name in names_of(head))
        return (Opens.FUNCTION if spelt else Opens.VALUE), None
    if ":" in words[words.index(")") :] and words[-1] not in (")", "}"):
        return Opens.VALUE, None  # `Tile() : rows{4}`: a member, not yet the body
    return Opens.FUNCTION, Function(_name(bare), _line(bare), names_of(head))


def _bare(head: list[Token], macros: Macros) -> list[Token]:
    """The head without `template <...>` and without the arguments of attributes and macros."""
    bare: list[Token] = []
    index = 0
    while index < len(head):
        token = head[index]
        index += 1
        following = head[index].text if index < len(head) else ""
        if token.text == "template" and following == "<":
            index = past_angles(head, index)
            continue
        if following == "(" and (token.text in _ATTRIBUTES or macros.takes_arguments(token.text)):
            index = closing(head, index) + 1
        bare.append(token)
    return bare


def past_angles(head: Sequence[Token], index: int) -> int:
    """The index behind the `>` that closes the `<` at `index`; parentheses hide comparisons."""
    depth, parentheses = 0, 0
    for place in range(index, len(head)):
        text = head[place].text
        parentheses += (text == "(") - (text == ")")
        if parentheses == 0:
            depth += (text == "<") - (text == ">")
            if depth == 0:
                return place + 1
    return len(head)


def without_angles(row: list[Token]) -> list[Token]:
    """`row` without the template arguments at its end."""
    depth, parentheses = 0, 0
    for place in range(len(row) - 1, -1, -1):
        text = row[place].text
        parentheses += (text == ")") - (text == "(")
        if parentheses == 0:
            depth += (text == ">") - (text == "<")
            if depth == 0:
                return row[:place] if text == "<" else row
    return row


def _top(bare: list[Token]) -> list[str]:
    """The texts outside of all parentheses and brackets, and the outermost parentheses."""
    words: list[str] = []
    depth = 0
    for token in bare:
        if token.text in ("(", "["):
            depth += 1
            if depth == 1 and token.text == "(":
                words.append("(")
        elif token.text in (")", "]"):
            depth -= 1
            if depth == 0 and token.text == ")":
                words.append(")")
        elif depth == 0:
            words.append(token.text)
    return words


def _parameters(bare: list[Token]) -> int:
    """The index of the parenthesis that opens the parameters; `operator()` has one before."""
    texts = [token.text for token in bare]
    start = texts.index("operator") + 2 if "operator" in texts else 0
    return texts.index("(", start) if "(" in texts[start:] else texts.index("(")


def _name(bare: list[Token]) -> str:
    """The function's name with its classes: `Tile::load`, `operator+`."""
    before = bare[: _parameters(bare)]
    texts = [token.text for token in before]
    if "operator" in texts:
        after = before[texts.index("operator") + 1 :]
        between = " " if after and after[0].kind is Kind.NAME else ""
        return "operator" + between + between.join(token.text for token in after)
    name = ""
    while before:
        before = without_angles(before)
        if not before or before[-1].kind is not Kind.NAME:
            break
        name = before.pop().text + name
        if before and before[-1].text == "~":
            name = before.pop().text + name
        if not before or before[-1].text != "::":
            break
        name = before.pop().text + name
    return name or (texts[-1] if texts else "")


def _line(bare: list[Token]) -> int:
    """The line of the function's name."""
    return bare[max(_parameters(bare) - 1, 0)].line
