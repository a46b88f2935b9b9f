"""What counters mean: each limit of an exercise, and the check `efficient` that applies them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import pytest

from grader import grading
from grader.checks.listener import Ledger
from grader.checks.outcome import Outcome
from grader.checks.plan import Plan
from grader.counted_shapes import aligned_shape, drawn_aligned, drawn_ragged
from grader.counters import Counters, LineCounter, Request
from grader.device import Build, Launch, LaunchConfig
from grader.efficiency import judge_counters, judge_traffic
from grader.exercise import PROJECT, Exercise, load_all
from grader.finding import Finding
from grader.messages import describe
from grader.problems.matmul import Case, Shape, prepare
from grader.report.words import explanation
from grader.tests.fake_device import (
    CONFIG,
    TEXT,
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    changed,
    check,
    healthy,
    ragged,
    shape_of,
    statuses,
    verdicts,
    wrong_at,
)
from grader.verdict import Verdict

NAIVE = {"max_sector_ratio": 1.5, "max_output_ratio": 2.0}
TILED = {**NAIVE, "min_tile_m": 8.0, "min_tile_n": 8.0, "max_word_ratio": 1.0}
TILED |= {"max_tile_stores": 4.0}
PADDED = {**TILED, "max_conflict_share": 0.15, "max_shared_wavefronts": 4.0}
ALIGNED = aligned_shape(CONFIG)
# What the check draws with the seed of `a_plan`.
COUNTED = drawn_aligned(a_plan().seed, an_exercise(), CONFIG)
RAGGED = drawn_ragged(a_plan().seed, an_exercise(), CONFIG)


def exercise(limits: Mapping[str, float]) -> Exercise:
    return an_exercise(limits=limits)


def built(limits: Mapping[str, float]) -> Build:
    submission = an_entry().submission
    assert submission is not None
    return Build(exercise(limits), submission, "simulator", config=CONFIG)


def launch(shape: Shape) -> Launch:
    return prepare(an_exercise(), CONFIG, Case(shape), 0x7FA00001)


COUNTERS = healthy(launch(ALIGNED))


def of(counters: Counters, line: int, name: str, field: str) -> int:
    (found,) = (c for c in counters.lines if (c.line, c.name) == (line, name))
    return int(getattr(found, field))


def times(line: int, name: str, factor: float, *fields: str) -> Counters:
    """Healthy counters at ALIGNED, some of them multiplied."""
    grown = {field: round(of(COUNTERS, line, name, field) * factor) for field in fields}
    return changed(COUNTERS, line, name, **grown)


def add(counters: Counters, line: LineCounter) -> Counters:
    return dataclasses.replace(counters, lines=(*counters.lines, line))


def judged(limits: Mapping[str, float], counters: Counters) -> tuple[Finding, ...]:
    return judge_counters(built(limits), ALIGNED, counters)


def places(finding: Finding) -> list[tuple[str, int, str]]:
    return [(place.file, place.line, place.role) for place in finding.locations]


@pytest.mark.parametrize("limits", [NAIVE, TILED, PADDED])
def test_healthy_counters_pass(limits: Mapping[str, float]) -> None:
    assert judged(limits, COUNTERS) == ()
    assert judge_traffic(built(limits), RAGGED, healthy(launch(RAGGED))) == ()


def test_where_counters_had_no_room_neither_shape_passes() -> None:
    full, ragged = (
        dataclasses.replace(counters, uncounted=1)
        for counters in (COUNTERS, healthy(launch(RAGGED)))
    )
    found = (*judged(NAIVE, full), *judge_traffic(built(NAIVE), RAGGED, ragged))
    assert [finding.kind for finding in found] == ["uncounted"] * 2


@pytest.mark.parametrize(
    ("limits", "line", "name", "access"),
    [
        (NAIVE, 21, "B", "load"),
        (NAIVE, 25, "C", "store"),
        (TILED, 20, "A", "load"),
        (TILED, 21, "B", "load"),
    ],
)
def test_lanes_far_apart_are_uncoalesced(
    limits: Mapping[str, float], line: int, name: str, access: str
) -> None:
    (found,) = judged(limits, times(line, name, 8, "sectors"))
    assert (found.verdict, found.kind) == (Verdict.UNCOALESCED, "uncoalesced")
    assert (found.facts["name"], found.facts["access"]) == (name, access)
    assert found.facts["ratio"] == 8
    assert (found.facts["sectors_per_request"], found.facts["ideal"]) == (32, 4)
    assert places(found) == [("starter/02_tiled.cu", line, access)]
    assert (found.shape, found.device) == (ALIGNED, "simulator")


def request(line: LineCounter, words_apart: int) -> Request:
    offsets = tuple(4 * words_apart * lane for lane in range(32))
    where = (line.line, line.access, line.space, line.name, line.bytes)
    return Request(*where, cost=16, ideal=4, group=32, warp=0, block=(0, 0), offsets=offsets)


@pytest.mark.parametrize("apart", [4, 40])
def test_the_distance_of_neighbouring_lanes_is_told_of_the_line_that_is_blamed(apart: int) -> None:
    wide = times(21, "B", 4, "sectors")
    worst = tuple(request(line, apart if line.name == "B" else 1) for line in wide.lines)
    (found,) = judged(TILED, dataclasses.replace(wide, worst=worst))
    assert (found.kind, found.facts["words_apart"]) == ("uncoalesced", apart)
    (unknown,) = judged(TILED, wide)
    assert unknown.facts["words_apart"] == 0


@pytest.mark.parametrize(
    ("tile", "words_in_a_sector", "kind"),
    [
        (10, 4.5, "ragged_rows"),
        (10, 1, "uncoalesced"),  # down a column
        (12, 4, "uncoalesced"),  # down a column, a float4 each
        (4, 4, "ragged_rows"),
        (16, 4, "uncoalesced"),
        (1, 4, "uncoalesced"),  # of a LAUNCH_CONFIG that does not name tile_k
    ],
)
def test_rows_that_end_within_sectors_are_told_from_columns(
    tile: int, words_in_a_sector: float, kind: str
) -> None:
    words = of(COUNTERS, 20, "A", "words")
    fields = {"requests": words // 32, "sectors": round(words / words_in_a_sector)}
    config = dataclasses.replace(CONFIG, tile_k=tile)
    build = dataclasses.replace(built(TILED), config=config)
    counters = changed(COUNTERS, 20, "A", ideal_sectors=words // 8, **fields)
    (found,) = judge_counters(build, ALIGNED, counters)
    assert (found.verdict, found.kind) == (Verdict.UNCOALESCED, kind)
    assert found.facts.get("row_words") == (tile if kind == "ragged_rows" else None)


@pytest.mark.parametrize(
    ("limits", "line", "name"),
    [(NAIVE, 20, "A"), (TILED, 25, "C")],
)
def test_what_an_exercise_does_not_ask_for_is_not_judged(
    limits: Mapping[str, float], line: int, name: str
) -> None:
    assert judged(limits, times(line, name, 8, "sectors")) == ()


def test_up_to_the_limit_sectors_are_no_fault() -> None:
    assert judged(NAIVE, times(21, "B", 1.5, "sectors")) == ()
    assert len(judged(NAIVE, times(21, "B", 1.51, "sectors"))) == 1


def alone(counters: Counters, line: int, name: str) -> Counters:
    """The same words, each in a request and a sector of its own."""
    words = of(counters, line, name, "words")
    fields = dict.fromkeys(("requests", "sectors", "ideal_sectors"), words)
    return changed(counters, line, name, **fields)


@pytest.mark.parametrize(
    ("limits", "line", "name", "access"),
    [(NAIVE, 25, "C", "store"), (TILED, 20, "A", "load"), (TILED, 21, "B", "load")],
)
def test_a_request_of_one_lane_is_not_coalesced(
    limits: Mapping[str, float], line: int, name: str, access: str
) -> None:
    (found,) = judged(limits, alone(COUNTERS, line, name))
    assert (found.verdict, found.kind) == (Verdict.UNCOALESCED, "few_lanes")
    assert (found.facts["ratio"], found.facts["words_per_request"]) == (8, 1)
    assert places(found) == [("starter/02_tiled.cu", line, access)]


@pytest.mark.parametrize(("lanes", "kinds"), [(8, []), (6, []), (5, ["few_lanes"])])
def test_requests_count_by_words_below_a_whole_sector(lanes: int, kinds: list[str]) -> None:
    requests = of(COUNTERS, 20, "A", "words") // lanes
    fields = dict.fromkeys(("requests", "sectors", "ideal_sectors"), requests)
    found = judged(TILED, changed(COUNTERS, 20, "A", words=requests * lanes, **fields))
    assert [finding.kind for finding in found] == kinds


def test_all_lines_of_an_array_are_judged_together_and_the_worst_is_named() -> None:
    (load,) = (c for c in COUNTERS.lines if c.name == "B")
    few = dataclasses.replace(load, line=22, requests=1, words=0, sectors=1, ideal_sectors=1)
    assert judged(TILED, add(COUNTERS, dataclasses.replace(few, sectors=8))) == ()
    wide = times(21, "B", 4, "sectors")
    assert places(judged(TILED, add(wide, few))[0])[0][1] == 21


@pytest.mark.parametrize(("line", "name"), [(20, "A"), (21, "B")])
@pytest.mark.parametrize("shape", [ALIGNED, RAGGED], ids=["aligned", "ragged"])
def test_words_loaded_more_than_once_are_too_much_traffic(
    line: int, name: str, shape: Shape
) -> None:
    counters = healthy(launch(shape))
    allowed = of(counters, line, name, "words")
    twice = changed(counters, line, name, words=2 * allowed)
    judge = judge_counters if shape is ALIGNED else judge_traffic
    (found,) = judge(built(TILED), shape, twice)
    assert (found.verdict, found.kind) == (Verdict.TOO_MUCH_TRAFFIC, "too_much_traffic")
    assert found.facts["name"] == name
    assert (found.facts["words"], found.facts["allowed"]) == (2 * allowed, allowed)
    assert found.facts["ratio"] == 2
    assert (found.facts["tile_m"], found.facts["tile_n"]) == (8, 8)
    assert places(found) == [("starter/02_tiled.cu", line, "load")]
    assert found.shape == shape


def test_the_words_allowed_are_those_of_the_formula_in_the_handout() -> None:
    m, n, k = ALIGNED
    (found,) = judged(TILED, times(20, "A", 2, "words"))
    assert found.facts["allowed"] == m * k * n // CONFIG.tile_n
    (found,) = judged(TILED, times(21, "B", 2, "words"))
    assert found.facts["allowed"] == k * n * m // CONFIG.tile_m


def test_one_word_too_many_is_too_many_and_fewer_are_welcome() -> None:
    words = of(COUNTERS, 20, "A", "words")
    assert len(judged(TILED, changed(COUNTERS, 20, "A", words=words + 1))) == 1
    assert judged(TILED, changed(COUNTERS, 20, "A", words=words - 1)) == ()


def test_at_a_ragged_shape_only_the_words_are_judged() -> None:
    counters = changed(healthy(launch(RAGGED)), 20, "A", sectors=10**6)
    counters = changed(counters, 23, "Bs", wavefronts=10**6, merged_wavefronts=10**6)
    assert judge_traffic(built(PADDED), RAGGED, counters) == ()


@pytest.mark.parametrize("shape", [ALIGNED, RAGGED], ids=["aligned", "ragged"])
@pytest.mark.parametrize("limits", [NAIVE, PADDED], ids=["naive", "padded"])
def test_sums_that_live_in_c_are_too_much_traffic(
    limits: Mapping[str, float], shape: Shape
) -> None:
    counters = healthy(launch(shape))
    elements = of(counters, 25, "C", "words")
    (store,) = counters.select("global", "store", "C")
    stored = changed(counters, 25, "C", words=3 * elements)
    both = add(stored, dataclasses.replace(store, line=24, access="load", words=4 * elements))
    judge = judge_counters if shape is ALIGNED else judge_traffic
    for wasteful, access, line, words in ((stored, "store", 25, 3), (both, "load", 24, 4)):
        (found,) = judge(built(limits), shape, wasteful)
        assert (found.verdict, found.kind) == (Verdict.TOO_MUCH_TRAFFIC, "output_traffic")
        assert (found.facts["stored"], found.facts["elements"]) == (3 * elements, elements)
        assert (found.facts["ratio"], found.shape) == (words, shape)
        assert places(found) == [("starter/02_tiled.cu", line, access)]


def test_clearing_c_and_adding_to_it_once_is_no_fault() -> None:
    elements = of(COUNTERS, 25, "C", "words")
    (store,) = COUNTERS.select("global", "store", "C")
    load = dataclasses.replace(store, line=24, access="load")
    cleared = changed(COUNTERS, 25, "C", words=2 * elements)
    assert judged(TILED, add(cleared, load)) == ()


@pytest.mark.parametrize(
    ("depth", "tile_k", "kind"),
    [
        (48, 1, "unnamed_depth"),  # a step of 16 reaches past K = 40
        (80, 1, "too_much_traffic"),  # everything twice
        (48, 2, "too_much_traffic"),  # steps of two reach past nothing here
        (48, 8, "one_step_more"),
        (56, 8, "too_much_traffic"),
    ],
)
def test_a_step_past_k_is_told_from_words_loaded_again(depth: int, tile_k: int, kind: str) -> None:
    shape = Shape(9, 15, 40)
    config = dataclasses.replace(CONFIG, tile_k=tile_k)
    build = dataclasses.replace(built(TILED), config=config)
    words = 16 * 2 * depth  # two rows and two columns of tiles of 8 x 8
    counters = changed(healthy(launch(shape)), 20, "A", words=words)
    (found,) = judge_traffic(build, shape, changed(counters, 21, "B", words=1))
    assert (found.kind, found.facts["allowed"], found.shape) == (kind, 16 * 2 * 40, shape)


@pytest.mark.parametrize("limit", ["min_tile_m", "min_tile_n"])
def test_a_tile_smaller_than_asked_for_is_too_small(limit: str) -> None:
    (found,) = judged({**TILED, limit: 16.0}, COUNTERS)
    assert (found.verdict, found.kind) == (Verdict.TOO_MUCH_TRAFFIC, "tile_too_small")
    assert (found.facts["tile_m"], found.facts["tile_n"]) == (8, 8)
    assert {found.facts["least_m"], found.facts["least_n"]} == {8, 16}
    assert (found.shape, found.device) == (None, "simulator")


@pytest.mark.parametrize(
    ("fields", "kinds"),
    [
        (("wavefronts",), []),
        (("merged_wavefronts",), []),
        (("wavefronts", "merged_wavefronts"), ["bank_conflicts"]),
    ],
)
def test_bank_conflicts_must_show_in_both_readings(
    fields: tuple[str, ...], kinds: list[str]
) -> None:
    found = judged(PADDED, times(23, "Bs", 32, *fields))
    assert [finding.kind for finding in found] == kinds


def test_bank_conflicts_come_with_their_share_and_their_worst_line() -> None:
    (found,) = judged(PADDED, times(23, "Bs", 32, "wavefronts", "merged_wavefronts"))
    shared = COUNTERS.select("shared")
    before = sum(line.wavefronts for line in shared)
    more = 31 * of(COUNTERS, 23, "Bs", "wavefronts")
    assert found.verdict == Verdict.BANK_CONFLICTS
    assert found.facts["share"] == found.facts["merged_share"] == more / (before + more)
    assert (found.facts["name"], found.facts["access"]) == ("Bs", "load")
    assert (found.facts["wavefronts_per_request"], found.facts["ideal"]) == (32, 1)
    assert places(found) == [("starter/02_tiled.cu", 23, "load")]


def test_the_share_of_conflicts_is_that_of_all_shared_accesses() -> None:
    # Bs is read in 8 of 18 wavefronts: read twice as often, 8 of 26 are conflicts, 31 %.
    limit = {**PADDED, "max_conflict_share": 0.31}
    counters = times(23, "Bs", 2, "wavefronts", "merged_wavefronts")
    assert judged(limit, counters) == ()
    assert len(judged({**PADDED, "max_conflict_share": 0.30}, counters)) == 1


def wavefronts(number: float, *fields: str) -> Counters:
    """So many for 32 multiply-adds, all without conflicts."""
    others = sum(c.wavefronts for c in COUNTERS.select("shared") if (c.line, c.name) != (23, "Bs"))
    count = round(number * ALIGNED.multiply_adds / 32) - others
    ideal = {f.replace("wavefronts", "ideal_wavefronts"): count for f in fields}
    return changed(COUNTERS, 23, "Bs", **dict.fromkeys(fields, count), **ideal)


BOTH = ("wavefronts", "merged_wavefronts")


@pytest.mark.parametrize(
    ("number", "fields", "kinds"),
    [
        (4.0, BOTH, []),
        (4.1, BOTH, ["shared_wavefronts"]),
        (4.1, ("wavefronts",), []),
    ],
)
def test_wavefronts_are_limited_also_without_conflicts(
    number: float, fields: tuple[str, ...], kinds: list[str]
) -> None:
    found = judged(PADDED, wavefronts(number, *fields))
    assert [finding.kind for finding in found] == kinds
    for finding in found:
        assert finding.verdict is Verdict.TOO_MUCH_TRAFFIC
        assert finding.facts["wavefronts"] == pytest.approx(number, rel=1e-3)
        assert places(finding) == [("starter/02_tiled.cu", 23, "load")]


TILES = of(COUNTERS, 20, "A", "words") + of(COUNTERS, 21, "B", "words")


@pytest.mark.parametrize("more", [0, 1])
def test_words_of_tiles_may_be_stored_as_often_as_the_limit_says(more: int) -> None:
    others = sum(c.words for c in COUNTERS.select("shared", "store") if c.name != "As")
    words = 4 * TILES - others + more
    (store,) = (c for c in COUNTERS.select("shared", "store") if c.name == "As")
    counters = changed(COUNTERS, store.line, "As", words=words)
    for read, kinds in ((3, ["surplus_steps"] * more), (2, [])):  # what is no tile, as sums are
        found = judged(TILED, changed(counters, 23, "As", words=read * words))
        assert [finding.kind for finding in found] == kinds
        for finding in found:
            assert finding.verdict is Verdict.TOO_MUCH_TRAFFIC
            assert finding.facts["allowed"] == TILES
            assert places(finding) == [("starter/02_tiled.cu", store.line, "store")]


def test_without_shared_memory_there_are_no_conflicts() -> None:
    lines = COUNTERS.select("global")
    assert judged(PADDED, dataclasses.replace(COUNTERS, lines=lines)) == ()


def test_an_exercise_without_limits_judges_nothing() -> None:
    for fields in (("sectors",), ("words",)):
        counters = times(21, "B", 9, *fields)
        counters = changed(counters, 23, "Bs", wavefronts=10**6, merged_wavefronts=10**6)
        assert judged({}, counters) == ()
        assert len(judged(PADDED, counters)) == 2


def test_the_sectors_of_loads_that_are_no_tile_loads_are_not_judged() -> None:
    wasteful = times(21, "B", 9, "sectors", "words")
    assert [found.kind for found in judged(TILED, wasteful)] == ["too_much_traffic"]
    assert [found.kind for found in judged(NAIVE, wasteful)] == ["uncoalesced"]


def test_stores_of_c_that_nobody_needs_hide_none_that_waste() -> None:
    (store,) = (line for line in COUNTERS.lines if line.name == "C")
    thrifty = {field: 30 * getattr(store, field) for field in ("words", "sectors", "ideal_sectors")}
    wide = add(times(25, "C", 8, "sectors"), dataclasses.replace(store, line=26, **thrifty))
    (found,) = judged({"max_sector_ratio": 1.5}, wide)
    assert (found.verdict, found.facts["name"]) == (Verdict.UNCOALESCED, "C")


@pytest.mark.parametrize("more", [0, 1])
def test_variables_in_global_memory_may_be_loaded_as_often_as_all_tiles_and_c(more: int) -> None:
    tiles = of(COUNTERS, 20, "A", "words") + of(COUNTERS, 21, "B", "words")
    words = tiles + ALIGNED.m * ALIGNED.n
    kept = LineCounter(30, "store", "global", "tiles", 4, requests=1, words=32)
    loaded = dataclasses.replace(kept, line=31, access="load", words=words + more)
    found = judged(TILED, add(add(COUNTERS, kept), loaded))
    assert [one.kind for one in found] == ["variable_traffic"] * more


def test_the_limits_of_the_course_are_those_that_measurements_support() -> None:
    limits = {one.name[:2]: dict(one.limits) for one in load_all(PROJECT) if one.graded}
    assert limits["01"] == NAIVE
    assert limits["02"] == TILED
    assert limits["03"] == PADDED
    assert limits["04"] == {**PADDED, "min_tile_m": 32, "min_tile_n": 32}


# The check `efficient`, on a device that counts as told.


def plan_of(limits: Mapping[str, float], shape: Shape | None = None) -> Plan:
    return a_plan(an_entry(exercise(limits)), shape=shape)


def loads_twice(where: Callable[[Shape], bool]) -> FakeDevice:
    """A device on which the kernel loads each word of A twice, for the shapes named."""

    def count(launch: Launch) -> Counters:
        counters = healthy(launch)
        if not where(shape_of(launch)):
            return counters
        return changed(counters, 20, "A", words=2 * of(counters, 20, "A", "words"))

    return FakeDevice(counting=count)


def efficient(ledger: Ledger, device: str = "simulator") -> Outcome:
    return next(o for o in ledger.outcomes if (o.check, o.device) == ("efficient", device))


def test_a_wasteful_kernel_fails_efficient_and_nothing_else() -> None:
    ledger = check(plan_of(TILED), loads_twice(lambda shape: True))
    failed = [check for check, status in statuses(ledger).items() if status == "fail"]
    assert failed == ["efficient"]
    assert verdicts(ledger) == {"efficient": ["too_much_traffic"]}


def test_the_words_are_also_counted_at_a_ragged_shape() -> None:
    (found,) = efficient(check(plan_of(TILED), loads_twice(ragged))).findings
    assert (found.kind, found.shape) == ("too_much_traffic", RAGGED)


def test_a_kernel_for_whole_tiles_only_is_not_counted_at_a_ragged_shape() -> None:
    device = FakeDevice(wrong_at(ragged), counting=loads_twice(ragged).counting)
    ledger = check(plan_of(TILED), device)
    assert (statuses(ledger)["any_shape"], statuses(ledger)["efficient"]) == ("fail", "pass")
    assert device.counted == [COUNTED]


def test_a_small_tile_is_placed_at_the_launch_configuration() -> None:
    (found,) = efficient(check(plan_of({**TILED, "min_tile_m": 16}), FakeDevice())).findings
    assert places(found) == [("starter/02_tiled.cu", 2, "error")]
    assert TEXT.splitlines()[1].startswith("LAUNCH_CONFIG")


def test_the_cause_of_several_is_told_first() -> None:
    def count(launch: Launch) -> Counters:
        counters = changed(healthy(launch), 23, "Bs", wavefronts=10**6, merged_wavefronts=10**6)
        return changed(counters, 21, "B", sectors=10**7)

    ledger = check(plan_of(PADDED), FakeDevice(counting=count))
    assert verdicts(ledger) == {"efficient": ["uncoalesced", "bank_conflicts"]}


def test_one_shape_of_whole_tiles_and_sectors_is_all_that_is_counted_when_asked_for() -> None:
    device = FakeDevice()
    ledger = check(plan_of(TILED, Shape(16, 24, 8)), device)
    assert statuses(ledger)["efficient"] == "pass"
    assert device.counted == [Shape(16, 24, 8)]
    wasteful = check(plan_of(TILED, Shape(16, 24, 8)), loads_twice(lambda shape: True))
    assert efficient(wasteful).findings[0].shape == Shape(16, 24, 8)


@pytest.mark.parametrize(
    ("config", "shape"),
    [
        (CONFIG, Shape(9, 10, 11)),
        (LaunchConfig(12, 12, 12, 12, 12), Shape(12, 12, 12)),  # whole tiles, but no whole sectors
    ],
)
def test_a_shape_that_cannot_be_judged_is_skipped_and_says_why(
    config: LaunchConfig, shape: Shape
) -> None:
    device = FakeDevice()
    device.config = config
    outcome = efficient(check(plan_of(TILED, shape), device))
    assert (outcome.status, outcome.reason) == ("skipped", "other_shape")
    assert explanation(outcome) == "counts only at multiples of the tile and of 8"
    assert device.counted == []


def test_a_wrong_answer_at_the_counted_shape_is_no_pass() -> None:
    ledger = check(plan_of(TILED), FakeDevice(wrong_at(lambda shape: shape == COUNTED)))
    assert (statuses(ledger)["whole_tiles"], statuses(ledger)["efficient"]) == ("pass", "fail")
    assert efficient(ledger).findings[0].verdict == Verdict.WRONG_ANSWER


def test_a_device_that_does_not_count_says_so() -> None:
    outcome = efficient(check(plan_of(TILED), FakeDevice(kind="gpu", counting=None)), "gpu")
    assert (outcome.status, outcome.reason) == ("not_graded", "feature")
    assert explanation(outcome) == "the gpu does not count"


@pytest.mark.parametrize(
    ("simulator", "status"),
    [
        (FakeDevice(), "pass"),
        (loads_twice(lambda shape: True), "fail"),
        (FakeDevice(wrong_at(lambda shape: True)), "skipped"),
    ],
    ids=["pass", "fail", "skipped"],
)
def test_beside_a_gpu_the_answer_is_the_simulators(simulator: FakeDevice, status: str) -> None:
    plan = plan_of(TILED)
    ledger = check(plan, simulator, FakeDevice(kind="gpu", counting=None))
    assert statuses(ledger, "gpu")["efficient"] == "not_graded"
    (score,) = grading.score(plan, ledger).exercises
    outcome = next(one.outcome for one in score.checks if one.outcome.check == "efficient")
    assert outcome.status == status


def test_every_finding_has_words_with_its_numbers() -> None:
    def told(counters: Counters, **limits: float) -> list[str]:
        return [describe(f, an_exercise()).text for f in judged({**PADDED, **limits}, counters)]

    (small,) = told(COUNTERS, min_tile_n=16.0)
    assert "The tile of C is 8 x 8" in small
    assert "at least 8 x 16" in small
    (uncoalesced,) = told(times(21, "B", 8, "sectors"))
    assert "load of B touches 32 sectors of 32 bytes, 4 would do" in uncoalesced
    (traffic,) = told(times(21, "B", 8, "words"))
    assert "368,640 words of B, 8 times the 46,080 that do" in traffic
    (conflicts,) = told(times(23, "Bs", 32, "wavefronts", "merged_wavefronts"))
    assert "93 % are bank conflicts" in conflicts
    assert "takes 32 wavefronts, 1 would do" in conflicts
