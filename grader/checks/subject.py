"""A subject: one submission on one device, as the checks in `tests/` see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from grader.checks.build import Compiled, CompilerCheck, compile_entry
from grader.checks.drawing import SHRINK_LIMIT_S, first_shapes
from grader.checks.meter import Meter
from grader.checks.outcome import Outcome, PrerequisiteFailed, Status
from grader.checks.plan import GRADING_EXAMPLES, Entry, Plan
from grader.checks.probing import (
    Blocks,
    large_blocks,
    note_overflow,
    probe_large,
    wrong_tiles,
)
from grader.checks.search import Drawing, FaultSearch, timed_out
from grader.checks.trial import count_shape, try_shape
from grader.counted_shapes import drawn_aligned, drawn_ragged, is_aligned
from grader.counters import Counters
from grader.course import Target
from grader.device import Build, Device, LaunchConfig
from grader.efficiency import judge_counters, judge_traffic
from grader.finding import Finding, GraderFault, KernelFault, Location, NotGraded, ordered
from grader.limits import check_grid
from grader.problems.matmul import (
    PINNED,
    Shape,
    deep_shape,
    deeper_shape,
    draw_seed,
    drawn_shapes,
    ragged_shapes,
    whole_tile_shapes,
)
from grader.speed import Timer, Timing, judge
from grader.timing.device import TimingDevice
from grader.verdict import Verdict

# What `safe` answers for: how a kernel behaves, whatever it computes.
UNSAFE = frozenset(
    {
        Verdict.REJECTED,  # at run time: a system call
        Verdict.INDEX_OVERFLOW,
        Verdict.OUT_OF_BOUNDS,
        Verdict.MISALIGNED,
        Verdict.INPUT_MODIFIED,
        Verdict.DIVERGENT_BARRIER,
        Verdict.RACE,
        Verdict.UNINITIALISED,
        Verdict.CRASH,
        Verdict.TIMEOUT,
        Verdict.OUTPUT_LIMIT,
    }
)
ANY_FAULT = frozenset(Verdict)

# `safe` looks at this many drawn shapes, because the pinned ones do not know the kernel's tile;
# when it fails, it tries more in search of a smaller one.
SAFE_DRAWN = 8
SAFE_SEARCHED = 25


# For all shapes of one submission on one device; good kernels need a tenth. Without it, a kernel
# that stays just below the limit of a single launch would keep a grading busy for an hour.
BUDGET_S = 300.0


@dataclass(frozen=True)
class Surroundings:
    """What all subjects of a session share besides the plan."""

    target: Target
    nvcc: CompilerCheck | None = None
    shrink_limit_s: float = SHRINK_LIMIT_S
    budget_s: float = BUDGET_S
    case_done: Callable[[Subject], None] = lambda subject: None
    timer: Callable[[TimingDevice, int], Timer] = Timer


class Subject:
    """Builds once, launches each shape once, and remembers what the checks so far gave.

    The methods that checks call raise KernelFault, NotGraded, GraderFault or PrerequisiteFailed.
    A time-out is final: it is not waited for again, and every later check fails with it.
    """

    def __init__(self, entry: Entry, device: Device, plan: Plan, around: Surroundings) -> None:
        self.entry = entry
        self.exercise = entry.exercise
        self.device = device
        self.outcomes: dict[str, Outcome] = {}
        self.timeout: tuple[Finding, ...] = ()
        self.counted: tuple[Shape, Counters] | None = None
        self.timing: Timing | None = None
        self.known: dict[Shape, tuple[Finding, ...]] = {}
        self._notes: dict[tuple[str, tuple[Location, ...]], Finding] = {}
        self._told: set[tuple[str, tuple[Location, ...]]] = set()
        self._meter = Meter(device)
        self._plan = plan
        self._around = around
        self._result: Compiled | Exception | None = None
        self._large: tuple[Blocks, ...] = ()

    def __str__(self) -> str:
        return f"{self.exercise.name}-{self.device.kind}"

    def needs(self, check: str) -> None:
        """Go on unless `check` failed before; what it could not decide stays undecided."""
        self._needs_file()
        before = self.outcomes.get(check)
        if before is None or before.status is Status.PASS or before.reason == "other_shape":
            return
        if before.status is Status.NOT_GRADED:
            raise NotGraded(before.reason, before.detail)
        if before.status is Status.GRADER_ERROR:
            raise GraderFault(before.detail)
        raise PrerequisiteFailed(check)

    def needs_stopwatch(self) -> None:
        """Go on only where launches can be timed, and where the exercise asks for it."""
        if not isinstance(self.device, TimingDevice):
            if self.device.kind == "gpu":  # one that could not be opened; `compiles` says why
                self.needs("compiles")
            raise NotGraded("no_gpu")
        if not self.exercise.speed_sizes:
            raise NotGraded("no_speed")

    def compiles(self) -> None:
        """Compile; where nvcc decides, a feature that the simulator lacks does not matter yet."""
        self._needs_file()
        compiled = self._compiled()
        if not compiled.accepted_by_nvcc:
            compiled.launchable()

    def is_safe(self) -> None:
        """Behave, as UNSAFE lists it, at the pinned shapes, one with whole tiles in several blocks,
        those ragged in one dimension, and the first drawn ones; note what goes wrong just beyond
        the contract's sizes."""
        shapes = [*self._pinned(), *self._whole_blocks(), *self._ragged(), *self._first_drawn()]
        drawing = self._drawing(SAFE_SEARCHED, only_to_shrink=True)
        FaultSearch(self._watched, UNSAFE).run(shapes, drawing)
        if self._plan.shape is None:
            build, _ = self._launchable()
            if findings := probe_large(self._large_blocks(build)):
                raise KernelFault(ordered(findings))
            note_overflow(self.device, build, self._note)

    def is_right_for_whole_tiles(self) -> None:
        """Give the right answer for shapes made of whole tiles."""
        FaultSearch(self._findings_at, ANY_FAULT).run(self._whole_tiles(), None)

    def is_right_for_any_shape(self) -> None:
        """Give the right answer for the pinned shapes, those ragged in one dimension, a deep one,
        then for drawn ones; compute the last tile of large ones. A grading goes deeper still."""
        drawing = self._drawing(self._plan.examples)
        shapes = [*self._pinned(), *self._ragged(), *self._deep()]
        FaultSearch(self._findings_at, ANY_FAULT).run(shapes, drawing)
        if self._plan.shape is None:
            build, config = self._launchable()
            if findings := wrong_tiles(self._large_blocks(build)) or self._at_deeper(config):
                raise KernelFault(ordered(findings))

    def is_efficient(self) -> None:
        """Waste no memory traffic: all counters for whole tiles, words loaded for a ragged shape,
        both drawn.

        Devices that do not count leave the check to those that do.
        """
        build, config = self._launchable()
        findings: tuple[Finding, ...] = ()
        edge = drawn_ragged(self._plan.seed, self.exercise, config)
        if self._plan.shape != edge:
            shape = self._counted_shape(config)
            counters = count_shape(self.device, build, shape, self._plan.seed)
            self.counted = (shape, counters)
            findings = judge_counters(build, shape, counters)
        right = self._right_for_any_shape()
        if self._plan.shape == edge and not right:
            raise PrerequisiteFailed("other_shape")
        if not findings and right and self._plan.shape in (None, edge):
            counters = count_shape(self.device, build, edge, self._plan.seed)
            findings = judge_traffic(build, edge, counters)
        if findings:
            place = build.submission.place_of("LAUNCH_CONFIG")  # of a finding about a tile's size
            placed = (replace(f, locations=f.locations or place) for f in findings)
            raise KernelFault(ordered(tuple(placed)))

    def is_fast(self) -> None:
        """Be as much faster than the baseline as the calibration of this GPU asks for."""
        if self._plan.shape is not None:
            raise PrerequisiteFailed("other_shape")
        build, _ = self._launchable()
        assert isinstance(self.device, TimingDevice), "asked for by needs_stopwatch"
        timer = self._around.timer(self.device, self._plan.seed)
        self.timing = timer.time(build, self._right_for_any_shape())
        judge(self.timing)

    def build(self) -> Build | None:
        """The build, if compiling succeeded; raises nothing."""
        return self._result.build if isinstance(self._result, Compiled) else None

    def take_notes(self) -> tuple[Finding, ...]:
        """What is no fault and still worth telling, since the last call; each line once."""
        fresh = tuple(note for key, note in self._notes.items() if key not in self._told)
        self._told.update(self._notes)
        return fresh

    def _note(self, finding: Finding) -> None:
        self._notes.setdefault((finding.kind, finding.locations), finding)

    def _right_for_any_shape(self) -> bool:
        before = self.outcomes.get("any_shape")
        return before is not None and before.status is Status.PASS

    def _needs_file(self) -> None:
        if self.entry.state != "started":
            raise PrerequisiteFailed(self.entry.state)

    def _compiled(self) -> Compiled:
        """Compiles once; the answer, or the exception that was it, stays the same."""
        if self._result is None:
            try:
                around = self._around
                self._result = compile_entry(self.entry, self.device, around.target, around.nvcc)
            except (KernelFault, NotGraded, GraderFault) as fault:
                self._result = fault
        if isinstance(self._result, Exception):
            raise self._result
        return self._result

    def _large_blocks(self, build: Build) -> tuple[Blocks, ...]:
        """Made once: two checks look at what the last block does."""
        self._large = self._large or large_blocks(self.device, build)
        return self._large

    def _launchable(self) -> tuple[Build, LaunchConfig]:
        build = self._compiled().launchable()
        return build, build.launch_config

    def _watched(self, shape: Shape) -> tuple[Finding, ...]:
        """As `_findings_at`, with every access followed; `safe` is the first to try a shape."""
        return self._findings_at(shape, watch=True)

    def _findings_at(self, shape: Shape, watch: bool = False) -> tuple[Finding, ...]:
        if shape in self.known or self.timeout:
            return self.known.get(shape, self.timeout)
        findings = self._try(shape, watch)
        if findings and not watch and not timed_out(findings):
            # Wrong values may have a cause that only shows when every access is followed.
            findings = self._try(shape, watch=True) or findings
        self._around.case_done(self)
        if timed_out(findings):
            self.timeout = findings
        self.known[shape] = findings
        return findings

    def _try(self, shape: Shape, watch: bool) -> tuple[Finding, ...]:
        build, config = self._launchable()
        place = build.submission.place_of("LAUNCH_CONFIG")
        if too_large := check_grid(config, shape.m, self._around.target, place):
            return too_large
        findings = try_shape(self._meter, build, shape, self._plan.seed, watch, self._note)
        if self._meter.spent_s > self._around.budget_s and not findings:
            facts = {"limit_s": self._around.budget_s, "shapes": len(self.known) + 1}
            return (Finding(Verdict.TIMEOUT, "timeout_all", facts, (), shape, self.device.kind),)
        return findings

    def _pinned(self) -> tuple[Shape, ...]:
        return (self._plan.shape,) if self._plan.shape else PINNED

    def _whole_blocks(self) -> list[Shape]:
        """Where every block has a whole tile of C to itself."""
        return [] if self._plan.shape else self._whole_tiles()[1:2]

    def _ragged(self) -> list[Shape]:
        _, config = self._launchable()
        return [] if self._plan.shape else ragged_shapes(config)

    def _deep(self) -> list[Shape]:
        _, config = self._launchable()
        return [] if self._plan.shape else [deep_shape(config)]

    def _at_deeper(self, config: LaunchConfig) -> tuple[Finding, ...]:
        """A launch that takes too long there proves nothing: it may just be slow on a CPU."""
        shape = deeper_shape(config)
        if shape is None or self._plan.examples < GRADING_EXAMPLES:
            return ()
        findings = self._try(shape, watch=False)
        return () if timed_out(findings) else findings

    def _whole_tiles(self) -> list[Shape]:
        _, config = self._launchable()
        if self._plan.shape is None:
            return whole_tile_shapes(config)
        if self._plan.shape.filled(config.tiles) != self._plan.shape:
            raise PrerequisiteFailed("other_shape")
        return [self._plan.shape]

    def _counted_shape(self, config: LaunchConfig) -> Shape:
        shape = self._plan.shape
        if shape is None:
            return drawn_aligned(self._plan.seed, self.exercise, config)
        if not is_aligned(config, shape):
            raise PrerequisiteFailed("other_shape")
        return shape

    def _drawing(self, count: int, only_to_shrink: bool = False) -> Drawing | None:
        if self._plan.shape:
            return None
        _, config = self._launchable()
        seed = draw_seed(self._plan.seed, self.exercise, config)
        limit_s = self._around.shrink_limit_s
        return Drawing(drawn_shapes(config), seed, count, limit_s, only_to_shrink)

    def _first_drawn(self) -> tuple[Shape, ...]:
        drawing = self._drawing(SAFE_DRAWN)
        return first_shapes(drawing.strategy, drawing.seed, drawing.count) if drawing else ()
