"""Marks of CUDA that nvcc does not take where they stand: a kernel that is called like a function,
a lambda that is marked for the device.

The simulator's compilers see no such mark. Where the text leaves doubt, nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.source.directives import Item, Macros
from grader.source.heads import Function, past_angles
from grader.source.host_variables import may_drop, used
from grader.source.scopes import Survey, survey
from grader.source.tokens import Token

_LAMBDAS = frozenset({"__device__", "__host__"})


def called_kernels(items: Sequence[Item], macros: Macros) -> Iterator[Token]:
    """The names of kernels where code of the device calls them."""
    found = survey(items, macros)
    if not found.sound:
        return
    kernels = _kernels(found, macros)
    for function, body in found.inside.items():
        if "template" in function.names or may_drop(body):
            continue
        hidden = function.names - {_last(function)}
        places = {token.place: number for number, token in enumerate(body)}
        for name in used(body, kernels - hidden):
            if _is_called(body, places[name.place] + 1):
                yield name


def _kernels(found: Survey, macros: Macros) -> frozenset[str]:
    """None that is a macro, too, or that another function shares its name with."""
    marks = macros.reaching({"__global__"})
    kernels = {_last(one) for one in found.functions if one.names & marks}
    others = {_last(one) for one in found.functions if not one.names & marks}
    return frozenset(name for name in kernels - others if name not in macros)


def _is_called(body: list[Token], after: int) -> bool:
    """Whether arguments begin there, or behind the template's."""
    if body[after : after + 1] and body[after].text == "<":
        after = past_angles(body, after)
    return bool(body[after : after + 1]) and body[after].text == "("


def _last(function: Function) -> str:
    return function.name.rsplit("::", 1)[-1]


def marked_lambdas(items: Sequence[Item]) -> Iterator[Token]:
    """The marks behind the brackets of lambdas, which only an option of nvcc's allows."""
    code = [item for item in items if isinstance(item, Token)]
    for before, bracket, mark in zip(code, code[1:], code[2:], strict=False):
        # `[[nodiscard]] __device__` marks a function.
        if mark.text in _LAMBDAS and bracket.text == "]" != before.text:
            yield mark
