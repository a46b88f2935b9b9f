"""The checks in tests/, run on a device that misbehaves in known ways."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies

from grader.caller import make_variable
from grader.checks import session
from grader.checks.listener import Ledger
from grader.checks.plan import (
    GRADING_EXAMPLES,
    PRACTICE_EXAMPLES,
    PRACTICE_SEED,
    Entry,
    case_arguments,
)
from grader.checks.plugin import CheckPlugin
from grader.checks.search import Drawing, FaultSearch
from grader.checks.subject import Surroundings
from grader.checks.trial import try_shape
from grader.counted_shapes import drawn_aligned, drawn_ragged
from grader.device import Build, Launch, Run
from grader.exercise import PROJECT, Exercise
from grader.finding import Finding, GraderFault, KernelFault
from grader.problems.matmul import (
    PINNED,
    Shape,
    deep_shapes,
    deeper_shape,
    large_shapes,
    smaller_like,
    usual_shapes,
    zeros_shapes,
)
from grader.submission import Submission
from grader.tests.fake_device import (
    CONFIG,
    LARGE,
    OUTSIDE,
    SYNTAX,
    TARGET,
    FakeDevice,
    a_plan,
    an_entry,
    an_exercise,
    check,
    never_ends,
    ragged,
    right,
    seen_at,
    shape_of,
    statuses,
    verdicts,
    wrong_at,
)
from grader.tests.fake_stopwatch import TimedDevice
from grader.verdict import Verdict

BUILT = ("compiles", "safe", "whole_tiles", "any_shape", "efficient")
# The fake device has no stopwatch.
UNTIMED = {"fast": "not_graded"}


def test_a_right_kernel_passes_everything_that_is_built() -> None:
    ledger = check(a_plan(), FakeDevice())
    assert statuses(ledger) == dict.fromkeys(BUILT, "pass") | UNTIMED
    assert {o.reason for o in ledger.outcomes if o.check in UNTIMED} == {"no_gpu"}


class Announced(Ledger):
    """Hears which checks start; `broken` raises when one does."""

    def __init__(self, broken: bool = False) -> None:
        super().__init__()
        self.names: list[str] = []
        self._broken = broken

    def check(self, exercise: str, device: str, check: str) -> None:
        self.names.append(f"{exercise} {check}")
        if self._broken:
            raise GraderFault("nobody listens")


def test_only_checks_of_a_file_with_work_in_it_are_announced() -> None:
    untouched = an_entry(an_exercise("01_naive"), "not_started")
    plan, heard = a_plan(untouched, an_entry()), Announced()
    session.run_checks(session.subjects_of(plan, [FakeDevice()], Surroundings(TARGET)), heard)
    assert heard.names == [f"02_tiled {name}" for name in (*BUILT, *UNTIMED)]


def test_a_fault_before_a_check_begins_is_a_grader_error() -> None:
    heard = Announced(broken=True)
    subjects = session.subjects_of(a_plan(), [FakeDevice()], Surroundings(TARGET))
    session.run_checks(subjects, heard)
    assert statuses(heard) == dict.fromkeys((*BUILT, *UNTIMED), "grader_error")
    assert heard.outcomes[0].detail == "nobody listens"


def test_each_check_brings_a_sentence_for_the_student() -> None:
    ledger = check(a_plan(), FakeDevice())
    assert all(outcome.description.endswith(".") for outcome in ledger.outcomes)


def test_as_many_shapes_are_drawn_as_the_plan_says_and_none_is_launched_anew() -> None:
    device = FakeDevice()
    check(a_plan(examples=40), device)
    launches = Counter(device.launches) - Counter(device.counted)
    drawn = set(launches) - set(PINNED)
    assert len(drawn) >= 40
    # Rounding errors are not judged so deep.
    assert {launches.pop(shape) for shape in deep_shapes(CONFIG)} == {1}
    assert {launches.pop(shape) for shape in zeros_shapes(CONFIG)} == {4}
    assert set(launches.values()) == {3}  # exact, real, and real again
    plan = a_plan(examples=40)
    counted = [
        draw(plan.seed, plan.entries[0].exercise, CONFIG) for draw in (drawn_aligned, drawn_ragged)
    ]
    assert device.counted == counted


def test_a_grading_goes_deeper_than_16_bits_and_practice_does_not() -> None:
    deeper = deeper_shape(CONFIG)
    assert deeper is not None
    for examples, tried in ((GRADING_EXAMPLES, 1), (PRACTICE_EXAMPLES, 0)):
        device = FakeDevice(wrong_at(lambda shape: shape == deeper))
        found = check(a_plan(examples=examples), device)
        assert device.launches.count(deeper) == tried
        assert statuses(found)["any_shape"] == ("fail" if tried else "pass")


@pytest.mark.parametrize(("k", "launches"), [(4096, 3), (4097, 1)])
def test_rounding_is_judged_as_deep_as_its_bound_holds(k: int, launches: int) -> None:
    device, entry = FakeDevice(), an_entry()
    assert entry.submission is not None
    build = device.build(entry.exercise, entry.submission)
    assert try_shape(device, build, Shape(8, 8, k), seed=1) == ()
    assert len(device.launches) == launches


def with_special_numbers(chosen: str) -> Callable[[Build, Launch, int], Run]:
    """Wrong where A holds a 0, or nothing but positive numbers."""

    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = right(build, launch, number)
        a, c = launch.operands[0], launch.operands[2]
        values = a.values(a.image)
        if (values == 0).any() if chosen == "zeros" else (values > 0).all() and values.size > 9:
            c.values(run.images[2])[:] += 1
        return run

    return behave


@pytest.mark.parametrize(
    ("chosen", "check_name"), [("zeros", "whole_tiles"), ("positive", "any_shape")]
)
def test_what_only_special_numbers_show_is_told_so_and_shown_again_by_shape_and_seed(
    chosen: str, check_name: str
) -> None:
    for plan in (a_plan(), replace(a_plan(), seed=7)):
        device = FakeDevice(with_special_numbers(chosen))
        found = next(o for o in check(plan, device).outcomes if o.check == check_name).findings[0]
        assert (found.verdict, found.kind) == (Verdict.WRONG_ANSWER, f"wrong_with_{chosen}")
        again = check(replace(plan, shape=found.shape), FakeDevice(with_special_numbers(chosen)))
        repeated = [f for o in again.outcomes for f in o.findings]
        assert {f.kind for f in repeated} == {found.kind}
        assert {f.facts["expected"] for f in repeated} == {found.facts["expected"]}


def test_what_other_numbers_show_as_well_is_not_put_down_to_special_ones() -> None:
    deep = deep_shapes(CONFIG)[0]
    found = check(a_plan(), FakeDevice(wrong_at(lambda shape: shape == deep)))
    kinds = [f.kind for o in found.outcomes for f in o.findings]
    assert kinds
    assert not any(kind.startswith("wrong_with") for kind in kinds)


def outside_at(shape: Shape) -> Callable[[Launch], tuple[Finding, ...]]:
    found = (replace(OUTSIDE, kind="global_access"),)
    return lambda launch: found if shape_of(launch) == shape else ()


def test_a_fault_of_a_large_shape_fails_safe_and_any_shape_and_asks_no_question_of_guards() -> None:
    for shape, kind in (
        (usual_shapes(CONFIG)[0], "global_access_usual"),
        (large_shapes(CONFIG)[1], "global_access_when_large"),
    ):
        device = FakeDevice()
        device.probe = outside_at(shape)
        ledger = check(a_plan(), device)
        found = statuses(ledger)
        assert (found["safe"], found["whole_tiles"], found["any_shape"]) == ("fail", "pass", "fail")
        told = {(f.kind, f.shape) for o in ledger.outcomes for f in o.findings}
        assert told == {(kind, shape)}


def test_a_fault_of_a_large_shape_is_told_of_a_small_one_that_has_it_too() -> None:
    large = large_shapes(CONFIG)[0]
    small = smaller_like(large, CONFIG)[0]
    device = FakeDevice(seen_at(lambda shape: shape == small, OUTSIDE))
    device.probe = outside_at(large)
    found = check(a_plan(), device)
    assert {f.shape for o in found.outcomes for f in o.findings} == {small}


@pytest.mark.parametrize(
    ("least", "kind", "shape"),
    [
        (LARGE.m, "wrong_with_large_sizes", LARGE),
        (128, "constant_offset", Shape(128, 128, 128)),
    ],
)
def test_a_gpu_runs_large_shapes_whole(least: int, kind: str, shape: Shape) -> None:
    device = TimedDevice(behave=wrong_at(lambda one: one.m == one.n == one.k >= least))
    found = check(a_plan(), device)
    told = [(o.check, f.kind, f.shape) for o in found.outcomes for f in o.findings]
    assert told == [("any_shape", kind, shape)]


def slow_at(slow: Shape | None) -> Callable[[Build, Launch, int], Run]:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        return (never_ends if shape_of(launch) == slow else right)(build, launch, number)

    return behave


def test_a_kernel_that_is_slow_there_passes_all_the_same() -> None:
    device = FakeDevice(slow_at(deeper_shape(CONFIG)))
    found = check(a_plan(examples=GRADING_EXAMPLES), device)
    assert statuses(found) == dict.fromkeys(BUILT, "pass") | UNTIMED


def test_nor_does_one_fail_that_is_slow_at_large_shapes_on_a_gpu() -> None:
    found = check(a_plan(), TimedDevice(behave=slow_at(LARGE)))
    assert statuses(found, "gpu")["any_shape"] == "pass"
    assert not any(outcome.findings for outcome in found.outcomes)


def test_the_same_seed_draws_the_same_shapes_and_another_seed_others() -> None:
    first, again, other = FakeDevice(), FakeDevice(kind="gpu"), FakeDevice()
    check(a_plan(seed=7), first)
    check(a_plan(seed=7), again)
    check(a_plan(seed=8), other)
    assert first.launches == again.launches
    assert first.launches != other.launches


def test_a_compile_error_skips_all_that_needs_a_kernel() -> None:
    device = FakeDevice()
    device.refuse = (SYNTAX,)
    ledger = check(a_plan(), device)
    skipped = dict.fromkeys(BUILT[1:], "skipped")
    assert statuses(ledger) == {"compiles": "fail"} | skipped | UNTIMED
    assert device.builds == 1


def test_a_kernel_without_guards_keeps_whole_tiles() -> None:
    ledger = check(a_plan(), FakeDevice(wrong_at(ragged)))
    found = statuses(ledger)
    assert (found["safe"], found["whole_tiles"], found["any_shape"]) == ("pass", "pass", "fail")
    assert verdicts(ledger)["any_shape"] == ["wrong_answer"]


def test_a_wrong_whole_tile_skips_any_shape() -> None:
    found = statuses(check(a_plan(), FakeDevice(wrong_at(lambda shape: True))))
    assert (found["whole_tiles"], found["any_shape"]) == ("fail", "skipped")


def test_a_failure_is_shrunk_to_the_smallest_shape() -> None:
    ledger = check(a_plan(), FakeDevice(wrong_at(lambda shape: shape.k > 8)))
    ledger_of_k = check(a_plan(), FakeDevice(wrong_at(lambda s: s.k > 8 and ragged(s))))
    assert statuses(ledger)["whole_tiles"] == "fail"
    shape = next(o.findings[0].shape for o in ledger_of_k.outcomes if o.check == "any_shape")
    assert shape is not None
    assert shape.k == 9
    assert shape.m * shape.n <= 2


@pytest.mark.parametrize(
    ("bad", "smallest"),
    [
        (lambda s: s.n % 4 == s.k % 4 == 0 and ragged(s), Shape(1, 4, 4)),
        (lambda s: s.m > 1 and s.n % 4 == 0 and s.k % 4 and ragged(s), Shape(2, 4, 1)),
        (lambda s: s.m > 1 and s.n % 4 and s.k % 4 == 0 and ragged(s), Shape(2, 1, 4)),
    ],
)
def test_a_failure_at_multiples_of_four_is_told_at_a_small_one(
    bad: Callable[[Shape], bool], smallest: Shape
) -> None:
    found = check(a_plan(), FakeDevice(wrong_at(bad))).outcomes
    assert [o.findings[0].shape for o in found if o.check == "any_shape"] == [smallest]


def test_a_drawn_shape_that_does_not_shrink_is_told_at_a_small_one() -> None:
    def findings_at(shape: Shape) -> tuple[Finding, ...]:
        bad = shape.m > 1 and shape.n % 4 == 0 and shape.k % 4
        return (Finding(Verdict.WRONG_ANSWER, "transposed", {}, shape=shape),) if bad else ()

    drawing = Drawing(strategies.just(Shape(61, 60, 1)), 1, 1, 1.0)
    with pytest.raises(KernelFault) as caught:
        FaultSearch(findings_at, frozenset({Verdict.WRONG_ANSWER})).run([], drawing)
    assert caught.value.findings[0].shape == Shape(2, 4, 1)


def test_what_the_device_sees_fails_safe_and_skips_nothing() -> None:
    ledger = check(a_plan(), FakeDevice(seen_at(ragged, OUTSIDE)))
    found = statuses(ledger)
    assert (found["safe"], found["whole_tiles"], found["any_shape"]) == ("fail", "pass", "fail")
    assert verdicts(ledger)["any_shape"] == ["out_of_bounds"]


@pytest.mark.parametrize("verdict", Verdict)
def test_safe_answers_for_behaviour_and_not_for_what_is_computed(verdict: Verdict) -> None:
    behaviour = """rejected index_overflow out_of_bounds misaligned input_modified
        divergent_barrier race uninitialised crash timeout output_limit""".split()
    found = check(a_plan(), FakeDevice(seen_at(lambda shape: True, Finding(verdict, "x"))))
    assert statuses(found)["safe"] == ("fail" if verdict.value in behaviour else "pass")


def test_the_cause_comes_before_the_wrong_answer_it_gives() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = wrong_at(lambda shape: True)(build, launch, number)
        return replace(run, findings=(OUTSIDE,))

    found = verdicts(check(a_plan(), FakeDevice(behave)))
    assert found["whole_tiles"][0] == "out_of_bounds"
    assert "wrong_answer" in found["whole_tiles"]


def test_a_timeout_is_waited_for_once_and_once_more_for_whole_tiles() -> None:
    device = FakeDevice(never_ends)
    ledger = check(a_plan(), device)
    assert [ragged(shape) for shape in device.launches] == [True, False]
    failed = dict.fromkeys(("safe", "whole_tiles"), "fail")
    skipped = dict.fromkeys(("any_shape", "efficient"), "skipped")
    assert statuses(ledger) == {"compiles": "pass", **failed, **skipped} | UNTIMED
    assert verdicts(ledger)["whole_tiles"] == ["timeout"]


def test_a_timeout_at_a_drawn_shape_is_not_shrunk() -> None:
    known = set(PINNED)

    def behave(build: Build, launch: Launch, number: int) -> Run:
        shape = shape_of(launch)
        ends = shape in known or not ragged(shape)
        return (right if ends else never_ends)(build, launch, number)

    device = FakeDevice(behave)
    ledger = check(a_plan(), device)
    assert sum(ragged(shape) and shape not in known for shape in device.launches) == 1
    assert verdicts(ledger) == {"safe": ["timeout"], "any_shape": ["timeout"]}


def test_what_hangs_at_ragged_shapes_alone_keeps_the_points_of_whole_tiles() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        return (never_ends if ragged(shape_of(launch)) else right)(build, launch, number)

    device = FakeDevice(behave)
    ledger = check(a_plan(), device)
    assert verdicts(ledger) == {"safe": ["timeout"], "any_shape": ["timeout"]}
    assert statuses(ledger)["efficient"] == "pass"
    assert sum(map(ragged, device.launches)) == 1


def test_a_fault_of_ours_is_no_failure_and_is_not_shrunk() -> None:
    faults = 0

    def behave(build: Build, launch: Launch, number: int) -> Run:
        nonlocal faults
        if ragged(shape_of(launch)) and shape_of(launch) not in PINNED:
            faults += 1
            raise GraderFault("The worker ended. This is not about your kernel.")
        return right(build, launch, number)

    found = statuses(check(a_plan(), FakeDevice(behave)))
    assert (found["safe"], found["any_shape"]) == ("grader_error", "grader_error")
    assert found["whole_tiles"] == "pass"
    assert faults == 2  # one for each check that met it


def test_an_unexpected_exception_is_the_graders_error_and_is_logged() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        raise ZeroDivisionError("a bug of ours")

    ledger = check(a_plan(), FakeDevice(behave))
    outcome = next(o for o in ledger.outcomes if o.check == "whole_tiles")
    assert outcome.status.value == "grader_error"
    assert "a bug of ours" not in outcome.detail
    assert "a bug of ours" in outcome.log


def test_a_result_that_changes_between_runs_is_found() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = right(build, launch, number)
        c = launch.operands[2].values(run.images[2])
        c *= 1 + (number % 2) * 2.0**-22  # within rounding, but not the same bits
        return run

    found = verdicts(check(a_plan(), FakeDevice(behave)))
    assert found["whole_tiles"] in (["not_deterministic"], ["wrong_answer"])


@pytest.mark.parametrize("state", ["missing", "not_started"])
def test_a_file_that_is_not_there_or_untouched_is_not_built(state: str) -> None:
    device = FakeDevice()
    ledger = check(a_plan(an_entry(state=state)), device)
    assert device.builds == 0
    assert statuses(ledger) == dict.fromkeys(BUILT, "skipped") | UNTIMED
    assert {o.reason for o in ledger.outcomes if o.status.value == "skipped"} == {state}


def test_one_shape_is_all_that_runs_when_one_is_asked_for() -> None:
    device = FakeDevice()
    ledger = check(a_plan(shape=Shape(9, 10, 11)), device)
    assert set(device.launches) == {Shape(9, 10, 11)}
    found = statuses(ledger)
    assert (found["whole_tiles"], found["any_shape"]) == ("skipped", "pass")


def test_nvcc_decides_what_compiles_where_there_is_one() -> None:
    def rejects(exercise: Exercise, submission: Submission) -> tuple[Finding, ...]:
        return (SYNTAX,)

    ledger = check(a_plan(), FakeDevice(), nvcc=rejects)
    assert statuses(ledger)["compiles"] == "fail"


def test_what_only_the_simulators_compiler_rejects_is_not_graded() -> None:
    device = FakeDevice()
    device.refuse = (SYNTAX,)
    found = statuses(check(a_plan(), device, nvcc=lambda exercise, submission: ()))
    assert (found["compiles"], found["whole_tiles"]) == ("pass", "not_graded")


def test_all_devices_of_an_exercise_come_before_the_next_exercise() -> None:
    plan = a_plan(an_entry(), an_entry(an_exercise("03_padded")))
    ledger = check(plan, FakeDevice(), FakeDevice(kind="gpu"))
    order = list(dict.fromkeys((o.exercise, o.device) for o in ledger.outcomes))
    pairs = [(e, d) for e in ("02_tiled", "03_padded") for d in ("simulator", "gpu")]
    assert order == pairs


def test_a_kernel_that_is_slow_on_every_shape_runs_out_of_time_altogether() -> None:
    device = FakeDevice(lambda *launched: replace(right(*launched), seconds=9.0))
    ledger = check(a_plan(), device, budget_s=26.0)
    assert set(device.launches) == {PINNED[0]}
    assert verdicts(ledger) == {"safe": ["timeout"], "whole_tiles": ["timeout"]}


def test_the_time_that_a_busy_machine_takes_is_not_the_kernels() -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        if number < 3:
            time.sleep(0.1)
        return right(build, launch, number)

    assert verdicts(check(a_plan(), FakeDevice(behave), budget_s=0.2)) == {}


def test_plain_pytest_shows_messages_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    device = FakeDevice(wrong_at(lambda shape: True))
    subjects = session.subjects_of(a_plan(), (device,), Surroundings(TARGET))
    options = ["-q", "-rs", "-p", "no:cacheprovider", "--import-mode=importlib"]
    ended = pytest.main([*options, str(session.TESTS)], plugins=[CheckPlugin(subjects)])
    told = capsys.readouterr().out
    assert ended == pytest.ExitCode.TESTS_FAILED
    assert "test_whole_tiles[02_tiled-simulator]" in told
    assert "expected" in told
    assert "skipped: needs whole tiles" in told
    assert "not graded: needs a GPU" in told
    assert "grader/checks" not in told


def test_a_check_that_hangs_is_cut_short_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def behave(build: Build, launch: Launch, number: int) -> Run:
        time.sleep(60)
        return right(build, launch, number)

    monkeypatch.setitem(session.CHECK_LIMIT_S, "simulator", 1)
    ledger = check(a_plan(shape=Shape(8, 8, 8)), FakeDevice(behave))
    outcome = next(one for one in ledger.outcomes if one.check == "whole_tiles")
    assert outcome.status.value == "grader_error"
    assert "Timeout" in outcome.log


def test_a_shape_with_too_many_block_rows_is_not_launched() -> None:
    device = FakeDevice()
    ledger = check(a_plan(shape=Shape(8 * 65536, 8, 8)), device)
    assert device.launches == []
    assert verdicts(ledger)["whole_tiles"] == ["bad_launch"]


def test_the_command_names_the_submission_and_the_seed_where_they_matter(tmp_path: Path) -> None:
    exercise = an_exercise()
    own = Entry(exercise, PROJECT / "starter" / "02_tiled.cu", "started")
    theirs = Entry(exercise, tmp_path / "a folder" / "02_tiled.cu", "started")
    solution = Entry(exercise, exercise.folder / "solution.cu", "started")
    practice, graded = a_plan(own, seed=PRACTICE_SEED), a_plan(theirs, seed=77)
    assert case_arguments(practice, own) == ""
    assert case_arguments(graded, theirs) == f"SUBMISSION='{tmp_path}/a folder' SEED=77"
    assert case_arguments(graded, solution) is None


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("name", ["a$b", "it's $$5", "a folder", "$(shell id)"])
def test_make_takes_the_folder_of_a_command_as_it_is_called(tmp_path: Path, name: str) -> None:
    (tmp_path / "Makefile").write_text('export SUBMISSION\nt:\n\t@echo "$$SUBMISSION"\n')
    command = f"make -s -C {tmp_path} t {make_variable('SUBMISSION', name)}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == f"{name}\n"


@pytest.mark.parametrize(("column", "told"), [(1.0, Shape(4, 8, 12)), (0.0, Shape(32, 32, 32))])
def test_an_unexplained_fault_in_whole_tiles_is_told_where_its_cause_shows(
    column: float, told: Shape
) -> None:
    """In the small shape, all columns are alike, or zero, which has other causes there."""

    def behave(build: Build, launch: Launch, number: int) -> Run:
        run, shape = right(build, launch, number), shape_of(launch)
        c = launch.operands[2].values(run.images[2])
        if not ragged(shape):
            c += np.arange(c.size).reshape(c.shape) % 7 + 1
        if shape == Shape(4, 8, 12):
            c[:] = column * c[:, :1]
        return run

    (found,) = [o for o in check(a_plan(), FakeDevice(behave)).outcomes if o.findings]
    assert (found.check, found.findings[0].shape) == ("whole_tiles", told)
    assert found.findings[0].kind == ("all_alike" if column else "wrong_everywhere")
    asked = a_plan(shape=Shape(32, 32, 32))
    (found, *_) = [o for o in check(asked, FakeDevice(behave)).outcomes if o.findings]
    assert found.findings[0].kind == "wrong_everywhere"


def test_a_wrong_answer_is_looked_at_again_with_every_access_followed() -> None:
    race = Finding(Verdict.RACE, "race", {})

    def behave(build: Build, launch: Launch, number: int) -> Run:
        run = wrong_at(lambda shape: not ragged(shape))(build, launch, number)
        seen = launch.watch and not ragged(shape_of(launch))
        return replace(run, findings=(race,)) if seen else run

    device = FakeDevice(behave)
    (outcome,) = [o for o in check(a_plan(), device).outcomes if o.check == "whole_tiles"]
    assert outcome.findings[0].verdict is Verdict.RACE
