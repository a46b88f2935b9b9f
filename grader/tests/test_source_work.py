"""Reading a submission is work in proportion to its length, whatever it holds: a text that is
long, or strange, costs no more than its share, so nobody can keep a grading busy with one."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from grader import source
from grader.classroom.similarity import fingerprints
from grader.source import expanded, extensions, loops, tokens
from grader.source.directives import Macros, items_of, live
from grader.submission import Submission, fingerprint

# What a text is made of, for a size; each met a loop within a loop, or could.
TEXTS: dict[str, Callable[[int], str]] = {
    "parentheses": lambda n: "(" * n,
    "braces": lambda n: "{" * n,
    "attributes": lambda n: "[[used " * n,
    "closed attributes": lambda n: "[[used " * n + "]]" * n,
    "gnu attributes": lambda n: "__attribute__((used " * n,
    "arguments of attributes": lambda n: "__attribute__((aligned(" * n,
    "declspec": lambda n: "__declspec(" * n,
    "pragma operators": lambda n: '_Pragma("loop")\n' * n,
    "open pragma operators": lambda n: "_Pragma(" * n,
    "executed pragmas": lambda n: '_Pragma(x) "poison" ' * n,
    "pragmas": lambda n: "".join(f"#pragma strange{i}\n" for i in range(n)),
    "comments": lambda n: "/* */" * n,
    "open comments": lambda n: "/* " * n,
    "raw strings": lambda n: 'R"a(x)a" ' * n,
    "open raw strings": lambda n: 'R"a(x ' * n,
    "spliced raw strings": lambda n: 'R"a(x\\\n)a" ' * n,
    "splices": lambda n: "a\\\nb " * n,
    "strings": lambda n: '"a" "b\n' * n,
    "backslashes": lambda n: "\\" * n,
    "conditions": lambda n: "#if a\n" * n,
    "closed conditions": lambda n: "#if a\n#elif b\n#else\n#endif\n" * n,
    "branches": lambda n: "#if a\n" + "#elif b\n" * n + "#endif\n",
    "long condition": lambda n: "#if " + "defined(a) || a ||" * n + "0\n",
    "macros in a row": lambda n: chain(n, "a{}") + f"#if a{n}\n#endif\n" * n,
    "macros that end badly": lambda n: "#define a0 _x\n" + chain(n, "a{}") + f"#if a{n}\n" * n,
    "macros that take arguments": lambda n: chain(n, "(x) a{}(x x)") + "a1(a1" * n,
    "macros of assembly": lambda n: chain(n, "a{} asm") + f"a{n} " * n,
    "one macro": lambda n: "#define a b c d\n" * n,
    "pasting": lambda n: "#define a " + "x ## " * n + "y\n",
    "assembly": lambda n: 'asm("mma.sync"); ' * n,
    "a long text of assembly": lambda n: "__device__ void f() {asm(" + '"mma // " ' * n + ");}",
    "host functions": lambda n: "".join(f"void f{i}() {{}}\n" for i in range(n)),
    "declarations": lambda n: "__device__ void f();\n" * n,
    "launches": lambda n: "void f() {" + "k<<<1, 1>>>();" * n + "}",
    "angles": lambda n: "a<" * n + ">" * n,
    "templates": lambda n: "template <" * n,
    "headers": lambda n: "".join(f'#include "x{i}.h"\n' for i in range(n)),
    "loops that are open": lambda n: "#pragma unroll 1\nfor (\n" * n,
    "loops": lambda n: "#pragma unroll 1\nfor (;;)\n" * n,
}


def chain(length: int, body: str) -> str:
    glue = "" if body.startswith("(") else " "
    return "".join(f"#define a{i + 1}{glue}{body.format(i)}\n" for i in range(length))


def read(text: str) -> None:
    """All that is asked of a text before it is compiled, and of what the preprocessor makes of it
    (here the text itself)."""
    submission = Submission("starter/02_tiled.cu", Path("02_tiled.cu"), text, "")
    source.inspect(submission)
    source.uses_unsupported(submission)
    fingerprint(text)
    fingerprints(text)
    extensions.may_hide_pragmas(list(items_of(tokens.tokens(text))))
    expanded.scan(text, "kernel.cu", ())
    expanded.pragmas(text, "kernel.cu")
    loops.mark(text, "sim_next_iteration")


def work(act: Callable[[str], None], text: str) -> int:
    """How many instructions of Python it takes: the same number on every machine."""
    count = 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys._getframe().f_trace_opcodes = True  # from Python 3.12 on, settrace asks who wants them
    sys.settrace(trace)
    try:
        act(text)
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize("name", TEXTS)
def test_twice_the_text_is_twice_the_work(name: str) -> None:
    make = TEXTS[name]
    read(make(41))  # what is imported, compiled or kept at the first call
    small, large = (work(read, make(size)) for size in (40, 80))
    assert large < 2.4 * small


def test_asking_for_a_long_macro_is_no_more_work_than_for_a_short_one() -> None:
    def ask(words: int) -> int:
        macros = Macros(live("#define a" + " b" * words))

        def act(name: str) -> None:
            assert not macros.pastes(name)
            assert not macros.has_parentheses(name)

        return work(act, "a")

    assert ask(400) == ask(40)


def test_work_within_work_would_be_found() -> None:
    def square(text: str) -> None:
        for _ in text:
            for _ in text:
                pass

    assert work(square, "x" * 80) > 3.5 * work(square, "x" * 40)
