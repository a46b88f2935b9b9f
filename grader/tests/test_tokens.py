"""Tokens of C++ as compilers see them, with the right lines, for any text."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.source.directives import Line, Macros, live
from grader.source.tokens import Kind, canonical, tokens


def words(text: str) -> list[str]:
    return [token.text for token in tokens(text)]


def kept(text: str) -> list[str]:
    return [item.name if isinstance(item, Line) else item.text for item in live(text)]


def test_comments_are_gone_and_lines_are_kept() -> None:
    found = tokens("a // b \\\n still comment\n/* c\n d */ e")
    assert [(token.text, token.line) for token in found] == [("a", 1), ("e", 4)]


def test_a_splice_joins_words_and_lines_count_on() -> None:
    found = tokens("ret\\\nurn x;\\  \ny")
    assert [(token.text, token.line) for token in found] == [
        ("return", 1),
        ("x", 2),
        (";", 2),
        ("y", 3),
    ]


def test_what_looks_like_a_comment_in_a_literal_is_none() -> None:
    assert words(r'"/* \" //" x' + "'\"' // y") == [r'"/* \" //"', "x", "'\"'"]


def test_a_raw_string_ends_at_its_own_fence() -> None:
    text = 'R"x(a)" \\\n")y" /*)x" end\nlast'
    assert [(token.kind, token.line) for token in tokens(text)] == [
        (Kind.STRING, 1),
        (Kind.NAME, 2),
        (Kind.NAME, 3),
    ]


def test_the_fence_of_a_raw_string_may_hold_a_quote() -> None:
    assert words('R"x"(")x"" a "b"') == ['R"x"(")x""', "a", '"b"']


def test_a_splice_before_a_raw_string_does_not_move_its_end() -> None:
    assert words('a\\\nb R"(\\\n)" c') == ["ab", 'R"()"', "c"]


def test_digit_separators_are_no_characters() -> None:
    assert words("1'000'000 + 'x' 0x1p-3 1e+5f") == [
        "1'000'000",
        "+",
        "'x'",
        "0x1p-3",
        "1e+5f",
    ]


def test_a_launch_is_one_mark_and_closing_angles_are_two() -> None:
    assert words("k<<<a<<2>>>") == ["k", "<<<", "a", "<<", "2", ">", ">", ">"]


def test_digraphs_are_spelt_out() -> None:
    assert words("%:define X <% a<:0:> %>") == "# define X { a [ 0 ] }".split()


def test_an_angle_before_two_colons_is_no_bracket() -> None:
    assert words("a<::b> c<:::d:> e<::>") == "a < :: b > c [ :: d ] e [ ]".split()


def test_a_quote_without_its_partner_ends_with_its_line() -> None:
    assert words("don't stop\nhere \"too\nend") == ["don", "'t stop", "here", '"too', "end"]


def test_included_names_are_whole() -> None:
    found = [token.text for token in tokens('#include <a//b.h>\n# include"c.h"\n#include M')]
    assert found == ["#", "include", "<a//b.h>", "#", "include", '"c.h"', "#", "include", "M"]


def test_only_a_mark_at_the_start_of_a_line_begins_a_directive() -> None:
    assert [token.directive for token in tokens("/* */ # define A \\\n B\na # b")] == [
        *(1, 1, 1, 1),
        *(0, 0, 0),
    ]


def test_code_under_if_0_is_dead_until_the_branch_ends() -> None:
    text = "#if 0\na don't }\n#if X\nb\n#else\nc\n#endif\n#else\nd\n#endif\ne"
    assert kept(text) == ["d", "e"]


def test_after_a_certain_branch_the_others_are_dead() -> None:
    assert kept("#if 1\na\n#elif X\nb\n#else\nc\n#endif") == ["a"]
    assert kept("#if X\na\n#elif 1\nb\n#else\nc\n#endif") == ["if", "a", "else", "b", "endif"]


def test_an_uncertain_condition_keeps_all_its_branches() -> None:
    text = "#ifdef X\na\n#elif 0\nb\n#elif Y\nc\n#else\nd\n#endif\ne"
    assert kept(text) == ["if", "a", "else", "c", "else", "d", "endif", "e"]
    assert kept("#if 0\na\n#elif Y\nb\n#endif") == ["if", "b", "endif"]


def test_conditions_without_a_beginning_are_ignored() -> None:
    assert kept("#endif\na\n#else\nb\n#elif 0\nc") == ["a", "b", "c"]


def macros(text: str) -> Macros:
    return Macros(live(text))


def test_a_macro_reaches_a_word_through_other_macros() -> None:
    found = macros("#define ONE asm\n#define TWO(x) ONE(x)\n#define OTHER asmx\n#define L L")
    assert found.reaching({"asm"}) == {"asm", "ONE", "TWO"}


def test_pasted_words_count_when_they_are_spelt_out() -> None:
    assert "P" in macros("#define P a ## s##m").reaching({"asm"})
    assert "P" not in macros("#define P as m").reaching({"asm"})


def test_a_macro_that_holds_a_function_does_not_bring_its_statements_out() -> None:
    found = macros('#define F(n) __device__ void n() { asm("x"); }')
    assert "F" in found.reaching({"asm"})
    assert "F" not in found.reaching({"asm"}, outside_braces=True)


def test_only_a_parenthesis_that_touches_the_name_holds_parameters() -> None:
    found = macros("#define F(x) x\n#define G (x)\n")
    assert found.takes_arguments("F")
    assert not found.takes_arguments("G")


@given(st.text(max_size=300) | st.text("#if01 \n\\\"'R(){}/*x<:%>&.", max_size=300))
@settings(max_examples=300, deadline=None)
def test_any_text_has_tokens_in_the_order_of_lines(text: str) -> None:
    lines = [token.line for token in tokens(text)]
    assert lines == sorted(lines)
    assert all(1 <= line <= text.count("\n") + 1 for line in lines)
    list(live(text))


@given(st.lists(st.sampled_from(["a", "1", "+", '"s"', "'c'", "{", "->", ">>", "::"]), max_size=40))
def test_layout_between_tokens_never_shows_in_the_canonical_text(parts: list[str]) -> None:
    assert canonical(" ".join(parts)) == canonical("\n/* x */\t".join(parts))
