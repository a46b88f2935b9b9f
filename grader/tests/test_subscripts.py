"""Which object an index belongs to, as far as the text tells."""

from __future__ import annotations

import pytest

from grader.source.subscripts import indexed
from grader.source.tokens import tokens


def names(text: str, place: int) -> str:
    row = tokens(text)
    (number,) = (n for n, token in enumerate(row) if token.place == place)
    return ".".join(token.text for token in indexed(row, number))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = reg[k];", "reg"),
        ("x = As[i][k];", "As"),
        ("x = As[reg[1] > 3 ? 0 : 1][k];", "As"),
        ("x = strip.v[k];", "strip.v"),
        ("x = strips[i].v[k];", "strips.v"),
        ("x = ours::As[i][k];", "As"),
        ("x = (As[0])[k];", "As"),
        ("float (&r)[4] = reg; x = r[k];", "reg"),
        ("auto &r = As[0]; auto p = &r; x = (*p)[k];", "As"),
        ("float (*p)[4] = As; x = p[i][k];", "As"),
        ("void f() { auto &r = As[0]; } void g() { float r[4]; x = r[k];", "r"),
        ("void f(float (&r)[4]) { x = r[k];", "r"),
        ("auto &r = r; x = r[k];", "r"),
    ],
)
def test_first_token_and_closing_bracket_lead_to_the_same_object(text: str, told: str) -> None:
    assert names(text, text.rindex("x = ") + 4) == told  # as clang++ says it
    assert names(text, text.rindex("]")) == told  # as g++ says it


@pytest.mark.parametrize(
    "text", ["]", "[", "[k]", "= [k];", "3[k]", ")[k]", "auto r = ", "&r)[ = r["]
)
def test_any_tokens_have_an_answer(text: str) -> None:
    row = tokens(text)
    for number in range(len(row)):
        indexed(row, number)
