"""Launch configurations that a GPU can and cannot start."""

from __future__ import annotations

from typing import Any

import pytest

from grader.course import target
from grader.device import LaunchConfig
from grader.exercise import PROJECT, load_all
from grader.finding import Finding, Location
from grader.limits import check_grid, check_launch
from grader.messages import describe
from grader.verdict import Verdict

NAIVE = load_all(PROJECT)[1]
H200 = target("H200")
PLACE = (Location("starter/01_naive.cu", 9, "error"),)


def check(static_shared: int = 0, gpu: str = "H200", **changes: int) -> tuple[Finding, ...]:
    values = {"block_x": 16, "block_y": 16, "tile_m": 16, "tile_n": 16, **changes}
    return check_launch(LaunchConfig(**values), static_shared, target(gpu), PLACE)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"block_x": 1024, "block_y": 1},
        {"block_x": 1, "block_y": 1024},
        {"block_x": 32, "block_y": 32},
        {"tile_m": 1, "tile_n": 1, "tile_k": 1},
        {"static_shared": 49152},
        {"static_shared": 49152, "dynamic_shared": 232448 - 49152},
        {"static_shared": 0, "dynamic_shared": 232448},
        {"gpu": "T4", "dynamic_shared": 65536},
    ],
)
def test_what_a_gpu_can_start_is_no_finding(changes: dict[str, Any]) -> None:
    assert check(**changes) == ()


@pytest.mark.parametrize(
    ("changes", "kind", "what", "value", "limit"),
    [
        ({"block_x": 0}, "not_positive", "block_x", 0, 1),
        ({"block_y": -16}, "not_positive", "block_y", -16, 1),
        ({"tile_m": 0}, "not_positive", "tile_m", 0, 1),
        ({"tile_n": -1}, "not_positive", "tile_n", -1, 1),
        ({"tile_k": 0}, "not_positive", "tile_k", 0, 1),
        ({"tile_k": 1_000_003}, "tile_too_large", "tile_k", 1_000_003, 4096),
        ({"tile_m": 1025}, "tile_too_large", "tile_m", 1025, 1024),
        ({"block_x": 2000, "block_y": 1}, "block_too_wide", "block_x", 2000, 1024),
        ({"block_x": 1, "block_y": 1025}, "block_too_wide", "block_y", 1025, 1024),
        ({"block_x": 50, "block_y": 40}, "too_many_threads", "block_x * block_y", 2000, 1024),
        ({"block_x": 33, "block_y": 32}, "too_many_threads", "block_x * block_y", 1056, 1024),
        ({"dynamic_shared": -4}, "negative_shared", "dynamic_shared", -4, 0),
        (
            {"static_shared": 49156},
            "too_much_static_shared",
            "static shared memory",
            49156,
            49152,
        ),
        (
            {"static_shared": 4, "dynamic_shared": 232448},
            "too_much_shared",
            "shared memory of a block",
            232452,
            232448,
        ),
        (
            {"gpu": "T4", "dynamic_shared": 65540},
            "too_much_shared",
            "shared memory of a block",
            65540,
            65536,
        ),
    ],
)
def test_each_limit_is_named_with_number_and_bound(
    changes: dict[str, Any], kind: str, what: str, value: int, limit: int
) -> None:
    (finding,) = check(**changes)
    assert (finding.verdict, finding.kind) == (Verdict.BAD_LAUNCH, kind)
    assert finding.locations == PLACE
    facts = finding.facts
    assert (facts["what"], facts["value"], facts["limit"]) == (what, value, limit)


def test_a_product_of_two_negative_sizes_is_no_number_of_threads() -> None:
    assert [f.kind for f in check(block_x=-64, block_y=-64)] == ["not_positive", "not_positive"]


def test_several_faults_are_all_told() -> None:
    found = check(static_shared=50000, block_x=64, block_y=64, tile_n=0)
    assert [f.kind for f in found] == [
        "not_positive",
        "too_many_threads",
        "too_much_static_shared",
    ]


def test_a_small_tile_is_no_fault_of_the_launch() -> None:
    assert load_all(PROJECT)[2].limits["min_tile_m"] > 1
    assert check_launch(LaunchConfig(16, 16, 1, 1), 0, H200) == ()


def test_a_grid_has_at_most_65535_block_rows() -> None:
    config = LaunchConfig(16, 16, tile_m=4, tile_n=16)
    assert check_grid(config, 4 * 65535, H200) == ()
    (finding,) = check_grid(config, 4 * 65535 + 1, H200, PLACE)
    assert finding.kind == "too_many_block_rows"
    assert finding.facts == {"what": "tile_m", "value": 65536, "limit": 65535, "rows": 262141}


def test_every_kind_has_words_that_hold_the_numbers() -> None:
    found = [
        *check(block_x=0),
        *check(block_x=2000),
        *check(block_x=64, block_y=64),
        *check(static_shared=50000),
        *check(dynamic_shared=-8),
        *check(dynamic_shared=300000),
        *check_grid(LaunchConfig(16, 16, 1, 1), 70000, H200, PLACE),
    ]
    assert len(found) == 7
    for finding in found:
        text = describe(finding, NAIVE).text
        assert str(finding.facts["value"]) in text.replace(",", "")
