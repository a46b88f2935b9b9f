"""Names of kernels as a student wrote them."""

from __future__ import annotations

import shutil

import pytest

from grader import mangling

needs_cxxfilt = pytest.mark.skipif(shutil.which("c++filt") is None, reason="needs c++filt")


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("matmul_tiled", "matmul_tiled"),
        (
            "_Z12matmul_tiledPfPKfS1_iii",
            "matmul_tiled(float*, const float*, const float*, int, int, int)",
        ),
        ("_Z12matmul_tieldPKfS0_Pfyi6float4",
         "matmul_tield(const float*, const float*, float*, unsigned long long, int, float4)"),
        ("_Z1fv", "f()"),
        ("_Z1fRKfPPKfS3_", "f(const float&, const float**, const float**)"),
        ("_Z1fPKPKc", "f(const char* const*)"),
        ("_Z1fP6float4PKS_S0_", "f(float4*, const float4*, float4*)"),
    ],
)  # fmt: skip
def test_plain_signatures_are_read_without_any_tool(
    symbol: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    assert mangling.demangle(symbol) == name


@needs_cxxfilt
@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z12matmul_tiledILi16EfEvPKT0_PKjPfiii",
         "matmul_tiled<16, float>(const float*, const unsigned int*, float*, int, int, int)"),
        ("_ZN3foo12matmul_naiveIfEEvPT_i", "foo::matmul_naive<float>(float*, int)"),
    ],
)  # fmt: skip
def test_templates_and_namespaces_are_written_as_in_the_source(symbol: str, name: str) -> None:
    assert mangling.demangle(symbol) == name


def test_without_cxxfilt_a_template_still_has_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    mangling._filtered.cache_clear()
    assert mangling.demangle("_Z12matmul_tiledILi16EEvPKfS1_Pfiii") == "matmul_tiled"
    mangling._filtered.cache_clear()


@pytest.mark.parametrize(
    "name",
    ["mm", "mm(int)", "mm<16>(int)", "a::b::mm<a::x>(a::y)", "(anonymous namespace)::mm(int)"],
)
def test_the_base_name_has_no_scope_and_no_arguments(name: str) -> None:
    assert mangling.base_name(name) == "mm"


def test_names_inside_a_message_are_replaced() -> None:
    text = mangling.demangle_text("Unresolved extern function '_Z5undeff'")
    assert text == "Unresolved extern function 'undef(float)'"
