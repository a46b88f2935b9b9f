"""A text cannot hold one kernel for nvcc and another one for the simulator."""

from __future__ import annotations

import re

import pytest

from grader.exercise import PROJECT
from grader.simulator.failure import INCLUDE
from grader.tests.test_source import found, only

# Macros of C and CUDA, which a kernel may ask for.
SHARED = re.compile(
    r"assert|offsetof|NULL|INFINITY|NAN|M_\w+|(?:FLT|DBL)_\w+|U?(?:CHAR|SHRT|INT|L?LONG)_(?:MAX|MIN)"
    r"|SCHAR_(?:MAX|MIN)|CHAR_BIT|U?INT\d+_(?:MAX|MIN)|U?INT\d+_C|HUGE_VALF?|CUDART_VERSION"
    r"|(?:SIZE|U?INTPTR|PTRDIFF|INTMAX)_MAX|U[CSL]\w+_MAX"
    r"|__(?:global|device|host|constant|shared|grid_constant|launch_bounds|maxnreg|forceinline|nv_pure)__"
    r"|__(?:builtin_)?align__|__NVCC\w*__|__CUDA\w+__"
)
OURS = sorted(
    {
        name
        for path in INCLUDE.iterdir()
        for name in re.findall(r"^ *# *define (\w+)", path.read_text("utf-8"), re.MULTILINE)
        if not SHARED.fullmatch(name)
    }
)


def test_each_macro_that_only_the_simulator_has_cannot_be_asked_for() -> None:
    assert {"threadIdx", "alignas", "SIM_PLACE", "atomicAdd_block"} <= set(OURS)
    for name in OURS:
        finding = only(f"#ifdef {name}\n#endif")
        assert (finding.kind, finding.facts["name"]) == ("telling_condition", name)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("#if X\n#elif defined(threadIdx)\n#endif", "threadIdx"),
        ("#if !defined blockIdx\n#endif", "blockIdx"),
        ("#ifndef __clang__\n#endif", "__clang__"),
        ("#if __clang_major__ > 14\n#endif", "__clang_major__"),
        ("#if __GNUC__ >= 12\n#endif", "__GNUC__"),
        ("#if defined(__GNUC__) && __GNUC_MINOR__\n#endif", "__GNUC_MINOR__"),
        ("#define NEW __GNUC__ > 4\n#define WIDE NEW\n#if WIDE\n#endif", "__GNUC__"),
        ("#ifdef __SANITIZE_THREAD__\n#endif", "__SANITIZE_THREAD__"),
        ("#if defined(__OPTIMIZE__)\n#endif", "__OPTIMIZE__"),
        ("#if __has_feature(thread_sanitizer)\n#endif", "__has_feature"),
        ("#ifdef _STDLIB_H\n#endif", "_STDLIB_H"),
        ("#if #system(linux)\n#endif", "#"),
        ("#define ASK #cpu(x86_64)\n#define X ASK\n#if X\n#endif", "ASK"),
    ],
)
def test_a_condition_cannot_tell_the_simulator_from_nvcc(text: str, name: str) -> None:
    finding = only(text)
    assert (finding.kind, finding.facts["name"]) == ("telling_condition", name)


@pytest.mark.parametrize(
    "condition",
    [
        *("ifdef __CUDA_ARCH__", "if __CUDA_ARCH__ >= 800", "ifdef __CUDACC__", "ifdef __NVCC__"),
        *("ifdef __cplusplus", "if __cplusplus >= 201703L", "if defined(__CUDACC_VER_MAJOR__)"),
        *("if __CUDACC_VER_MAJOR__ < 11", "if CUDART_VERSION >= 12000", "ifdef __GNUC__"),
        *("if defined(__GNUC__) || defined(_MSC_VER)", "ifdef DEBUG", "ifndef NDEBUG"),
        *("ifdef __INTELLISENSE__", "if defined(__HIPCC__)", "ifndef M_PI", "if INT_MAX > 1"),
        *("ifndef __launch_bounds__", "ifdef __linux__", "if USE_FLOAT4 && !defined(TUNED)"),
    ],
)
def test_what_both_compilers_answer_alike_may_be_asked(condition: str) -> None:
    assert found(f"#{condition}\n#endif") == []


def test_a_file_may_have_constants_with_defaults_and_a_guard_of_its_own() -> None:
    assert found("#ifndef TILE\n#define TILE 16\n#endif\n#if TILE > 16\n#endif") == []
    assert found("#ifndef _TILED_H_\n#define _TILED_H_\n#endif") == []


def test_the_simulator_is_as_new_as_the_nvcc_that_the_course_installs() -> None:
    pinned = (PROJECT / "requirements" / "nvcc.txt").read_text("utf-8")
    header = (INCLUDE / "cuda_runtime.h").read_text("utf-8")
    version = re.findall(r"define __CUDACC_VER_(?:MAJOR|MINOR|BUILD)__ (\d+)", header)
    assert f"nvidia-cuda-nvcc=={'.'.join(version)} " in pinned
