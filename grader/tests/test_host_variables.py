"""Variables of the host in code of the device: what nvcc refuses is found, and nothing else."""

from __future__ import annotations

import pytest

from grader.source.directives import Macros, live
from grader.source.host_variables import Use, first_use

KERNEL = "__global__ void k(float *C, int i) {\n"


def found(text: str) -> Use | None:
    items = tuple(live(text))
    return first_use(items, Macros(items))


@pytest.mark.parametrize(
    ("outside", "body", "name"),
    [
        ("int tile = 16;", "C[i] = tile;", "tile"),
        ("static unsigned int tile = 16;", "C[i * tile] = 0;", "tile"),
        ("int a = 1, tile = 16;", "C[blockIdx.x * tile] = 0;", "tile"),
        ("namespace { float scale; }", "C[i] *= scale;", "scale"),
        ("auto ceil = [](int a) { return a + 1; };", "C[ceil(i)] = 0;", "ceil"),
        ("int tile = 16;", "C[(i * tile + 1)] = 0;", "tile"),
        ("int tile = 16;", "for (int k = 0; k < tile; ++k) C[k] = 0;", "tile"),
    ],
)
def test_a_variable_of_the_host_is_found(outside: str, body: str, name: str) -> None:
    assert found(f"{outside}\n{KERNEL}{body}\n}}") == Use(name, 3, array=False)


@pytest.mark.parametrize("kind", ["const", "constexpr", "static const"])
def test_an_array_of_constants_is_found(kind: str) -> None:
    use = found(f"{kind} int steps[2] = {{0, 1}};\n{KERNEL}C[steps[i]] = 0;\n}}")
    assert use == Use("steps", 3, array=True)


@pytest.mark.parametrize(
    "body",
    [
        "if (steps[1] == 1) C[i] = 0;",
        "constexpr int a = steps[1]; C[i] = a + steps[0];",
        "for (int k = 0; k < steps[1]; ++k) C[k] = 0;",
        "float sum[2][steps[1]]; C[i] = sum[i][steps[0]];",
    ],
)
def test_an_array_of_constants_is_found_where_the_device_reads_it(body: str) -> None:
    use = found(f"constexpr int steps[2] = {{0, 1}};\n{KERNEL}{body}\n}}")
    assert use == Use("steps", 3, array=True)


@pytest.mark.parametrize(
    "body",
    [
        'static_assert(steps[1] % 2 == 1, "odd");',
        "constexpr int a = steps[1] + 1, b = a ? 1 : steps[0]; C[i] = a + b;",
        "float sum[2], more[steps[1]][steps[1]]; __shared__ float tile[4][steps[1] + 1];",
        "[&] { if constexpr (steps[1] == 1) C[i] = 0; }();",
        "C[i] = first<steps[1] * 2>(i);",
        "switch (i) { case steps[1]: C[i] = 0; }",
    ],
)
def test_the_compiler_may_read_an_array_of_constants(body: str) -> None:
    assert found(f"constexpr int steps[2] = {{0, 1}};\n{KERNEL}{body}\n}}") is None


@pytest.mark.parametrize(
    ("outside", "body"),
    [
        ("const int tile = 16;", "C[i] = tile;"),
        ("constexpr float tile = 16;", "C[i] = tile;"),
        ("__device__ int tile = 16;", "C[i] = tile;"),
        ("__constant__ int tile[2] = {1, 2};", "C[i] = tile[i];"),
        ("#define ON_GPU __device__\nON_GPU int tile = 16;", "C[i] = tile;"),
        ("#define tile 16\nint x = tile;", "C[i] = tile;"),
        ("enum { tile = 16 };", "C[i] = tile;"),
        ("struct Tile { int tile; };", "C[i] = Tile{1}.tile;"),
        ("int tile(int x);", "C[i] = tile(1);"),
        ("int tile = 16;", "int tile = 3; C[i] = tile;"),
        ("int tile = 16;", "int a = 3, tile = 3; C[i] = tile;"),
        ("int tile = 16;", "for (auto tile : {1, 2}) C[tile] = 0;"),
        ("int tile = 16;", "float *tile = C; *tile = 0;"),
        ("int tile = 16;", "auto f = [](const int &tile) { return tile; }; C[i] = f(i);"),
        ("int tile = 16;", "C[i] = sizeof(tile);"),
        ("int tile = 16;", "C[i] = i;"),
        ("int i = 16;", "C[i] = 0;"),
    ],
)
def test_what_the_device_knows_is_no_variable_of_the_host(outside: str, body: str) -> None:
    assert found(f"{outside}\n{KERNEL}{body}\n}}") is None


def test_functions_of_the_host_may_use_its_variables() -> None:
    table = "constexpr int steps[2] = {1, 2};\nconstexpr int first() { return steps[0]; }\n"
    assert found(f"{table}{KERNEL}C[i] = first();\n}}") is None
