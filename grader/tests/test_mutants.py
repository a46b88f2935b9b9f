"""The mutation tool changes what it says it does, and its judgement of a mutant is sound."""

from __future__ import annotations

import pytest

from grader.exercise import load_all
from grader.settings import PROJECT
from grader.source.tokens import canonical
from grader.tests.mutants import equivalence, grading, session, source, table
from grader.tests.mutants.collection import OPERATORS, mutants_of, sample, solutions
from grader.tests.mutants.grading import Grade
from grader.tests.mutants.mutant import Mutant
from grader.tests.mutants.session import grade_all, grade_one

TEXTS = solutions(load_all(PROJECT))
MUTANTS = tuple(mutant for name, text in TEXTS.items() for mutant in mutants_of(name, text))

KERNEL = """#include "launch.cuh"
constexpr int T = 16;
__global__ void matmul_tiled(const float *A, const float *B, float *C, int M, int N, int K) {
    __shared__ float As[T][T];
    float sum = 0.0f;  // of one element
    for (int k0 = 0; k0 < K; k0 += T) {
        As[threadIdx.y][threadIdx.x] = k0 < K && M > 0 ? A[k0 * K] : 0.0f;
        __syncthreads();
        sum += As[threadIdx.y][threadIdx.x];
    }
    if (M < N) C[threadIdx.x] = sum;
}
"""


def changes(operator: str) -> set[str]:
    found = mutants_of("02_tiled", KERNEL)
    return {f"{one.before} -> {one.after}" for one in found if one.operator == operator}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_without_a_change_is_the_solution_line_by_line(name: str) -> None:
    plain = source.read(name, TEXTS[name]).text()
    assert canonical(plain) == canonical(TEXTS[name])
    where = {n for n, line in enumerate(plain.splitlines(), 1) if "LAUNCH_CONFIG" in line}
    assert where <= {n for n, line in enumerate(TEXTS[name].splitlines(), 1) if "LAUNCH_" in line}


def test_every_mutant_differs_in_name_and_text_from_all_others() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
    assert len({(mutant.exercise, mutant.text) for mutant in MUTANTS}) == len(MUTANTS)
    plain = {name: source.read(name, text).text() for name, text in TEXTS.items()}
    assert all(mutant.text != plain[mutant.exercise] for mutant in MUTANTS)


def test_there_are_mutants_of_every_operator_and_every_exercise() -> None:
    assert {mutant.operator for mutant in MUTANTS} == set(OPERATORS)
    assert {mutant.exercise for mutant in MUTANTS} == set(TEXTS)
    assert len(MUTANTS) >= 150


def test_the_same_text_gives_the_same_mutants() -> None:
    assert mutants_of("02_tiled", TEXTS["02_tiled"]) == mutants_of("02_tiled", TEXTS["02_tiled"])


@pytest.mark.parametrize(
    "operator, change",
    [
        ("dimension", "; k0 < K; k0 += -> ; k0 < M; k0 +="),
        ("comparison", "0; k0 < K; k0 -> 0; k0 <= K; k0"),
        ("rounding", "0; k0 < K; k0 -> 0; k0 + T <= K; k0"),
        ("guard", "if (M < N) C[threadIdx -> C[threadIdx"),
        ("guard", "x] = k0 < K && M > 0 -> x] = M > 0"),
        ("stride", "[k0 * K] : 0.0f -> [k0 * (K + 1)] : 0.0f"),
        ("constant", "; k0 += T) { -> ; k0 += (T + 1) ) {"),
        ("initial value", "float sum = 0.0f; -> float sum;"),
        ("initial value", "float sum = 0.0f; -> float sum = 1.0f;"),
        ("assignment", "sum += As[threadIdx -> sum = As[threadIdx"),
        ("barrier dropped", "__syncthreads(); -> nothing"),
        ("barrier of a warp", "__syncthreads(); -> __syncwarp();"),
        ("barrier moved", "__syncthreads(); -> after `sum += As[threadIdx.y]`"),
    ],
)
def test_an_operator_makes_the_change_that_its_name_says(operator: str, change: str) -> None:
    assert change in changes(operator)


def test_a_moved_barrier_is_moved_and_nothing_else_changes() -> None:
    moved = [one for one in mutants_of("02_tiled", KERNEL) if one.operator == "barrier moved"]
    words = canonical(KERNEL).replace("__syncthreads();", "")
    assert moved
    for one in moved:
        assert canonical(one.text).count("__syncthreads();") == 1
        assert canonical(one.text).replace("__syncthreads();", "") == words


@pytest.mark.long
def test_an_equivalent_mutant_is_told_from_one_that_only_passes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A larger array changes nothing; a step of zeros more costs shared accesses."""
    monkeypatch.setattr(equivalence, "SHAPES", 25)  # here a few are enough, also of those drawn
    monkeypatch.setattr(grading, "EXAMPLES", 5)
    session.original_of.cache_clear()
    plain = source.read("02_tiled", TEXTS["02_tiled"]).text()
    larger = plain.replace("float As[TILE][TILE]", "float As[TILE + 1][TILE]")
    longer = plain.replace("k0 < K; k0", "k0 <= K; k0")
    assert plain not in (larger, longer)
    assert grade_one(Mutant("02_tiled", 1, "test", "", "", larger)).fate == "equivalent"
    assert grade_one(Mutant("02_tiled", 1, "test", "", "", longer)).fate == "missed"
    session.original_of.cache_clear()


def test_a_sample_has_every_operator() -> None:
    assert [one.operator for one in sample(MUTANTS)] == list(OPERATORS)


@pytest.mark.parametrize("mutant", sample(MUTANTS), ids=lambda mutant: mutant.operator)
def test_a_mutant_of_each_operator_is_caught_or_the_same_program(mutant: Mutant) -> None:
    (grade,) = grade_all([mutant], jobs=1)
    assert grade.fate in ("caught", "same_program")


def test_the_table_counts_by_fate_and_names_what_was_not_caught() -> None:
    def grade(name: str, fate: str, verdict: str = "") -> Grade:
        return Grade(Mutant("02_tiled", 3, "guard", name, "x", name), fate, verdict=verdict)

    caught = [grade(str(n), "caught", "race") for n in range(40)]
    lines = list(table.lines([*caught, grade("e", "equivalent")]))
    assert any("guard" in line and " 40 " in line and "race 40" in line for line in lines)
    assert "equivalent: 02_tiled:3 guard: e -> x" in lines
    assert lines[-1] == "All 41 as they should be."
    assert "1 of 41 mutants: missed" in table.conclusion([*caught, grade("m", "missed")])
    assert "are equivalent, at most" in table.conclusion([*caught[:5], grade("e", "equivalent")])
