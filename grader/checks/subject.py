"""A subject: one submission on one device, as the checks in `tests/` see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from grader.checks.build import Compiled, CompilerCheck, compile_entry
from grader.checks.choice import Choice
from grader.checks.drawing import SHRINK_LIMIT_S
from grader.checks.meter import Meter
from grader.checks.outcome import Outcome, PrerequisiteFailed, Status
from grader.checks.plan import Entry, Plan
from grader.checks.probing import (
    Blocks,
    large_blocks,
    note_overflow,
    probe_large,
    usual_blocks,
    wrong_tiles,
)
from grader.checks.search import FaultSearch, timed_out
from grader.checks.trial import count_shape, only_with, try_shape
from grader.counted_shapes import drawn_ragged
from grader.counters import Counters
from grader.course import Target
from grader.device import Build, Device, LaunchConfig
from grader.efficiency import judge_counters, judge_traffic
from grader.finding import Finding, GraderFault, KernelFault, Location, NotGraded, ordered
from grader.limits import check_grid
from grader.problems.matmul import Shape, smaller_like, whole_cases
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
    whole_cases: Callable[[LaunchConfig], tuple[Shape, ...]] = whole_cases  # on a GPU


class Subject:
    """Builds once, launches each shape once, and remembers what the checks so far gave.

    The methods that checks call raise KernelFault, NotGraded, GraderFault or PrerequisiteFailed.
    A time-out is not waited for again, and every later check fails with it; but whole tiles are
    tried where only ragged ones were.
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
        self._chosen: Choice | None = None
        self._blocks: tuple[tuple[Blocks, ...], ...] = ()

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
        """Behave, as UNSAFE lists it, at the shapes of Choice.safe and in the last block of large
        ones; note what goes wrong just beyond the contract's sizes."""
        FaultSearch(self._watched, UNSAFE).run(*self._choice().safe())
        if self._plan.shape is None:
            build, _ = self._launchable()
            self._probe(probe_large, UNSAFE)
            note_overflow(self.device, build, self._note)

    def is_right_for_whole_tiles(self) -> None:
        """Give the right answer for shapes made of whole tiles."""
        choice, before = self._choice(), self.timeout
        search = FaultSearch(self._findings_at, ANY_FAULT)
        if before and not self._holds_for_whole_tiles(before):
            self.timeout = ()
        try:
            search.run(choice.whole_tiles(), None, choice.telling)
        finally:
            self.timeout = self.timeout or before

    def is_right_for_any_shape(self) -> None:
        """Give the right answer for the shapes of Choice.any_shape; compute the last tile of large
        ones, and all tiles where a GPU does. A grading goes deeper still."""
        FaultSearch(self._findings_at, ANY_FAULT).run(*self._choice().any_shape())
        if self._plan.shape is None:
            self._probe(wrong_tiles, ANY_FAULT)
        if findings := self._at_deeper() or self._at_usual():
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
            shape = self._choice().counted()
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

    def _probe(
        self, look: Callable[[Sequence[Blocks]], tuple[Finding, ...]], wanted: frozenset[Verdict]
    ) -> None:
        """Raise KernelFault for what the last blocks of large shapes do, or for a small shape like
        them that shows it, too. Each block runs once, though two checks look at it."""
        build, _ = self._launchable()
        self._blocks = self._blocks or (
            usual_blocks(self.device, build),
            large_blocks(self.device, build),
        )
        found = next(filter(None, map(look, self._blocks)), ())
        if found:
            assert found[0].shape is not None, "given to each by the block that it is of"
            raise KernelFault(ordered(self._at_smaller(found[0].shape, wanted) or found))

    def _launchable(self) -> tuple[Build, LaunchConfig]:
        build = self._compiled().launchable()
        return build, build.launch_config

    def _choice(self) -> Choice:
        if self._chosen is None:
            _, config = self._launchable()
            limit_s = self._around.shrink_limit_s
            self._chosen = Choice(self._plan, self.exercise, config, limit_s)
        return self._chosen

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
        integers = self._choice().integers(shape)
        seed, note = self._plan.seed, self._note
        findings = try_shape(self._meter, build, shape, seed, watch, note, integers)
        if self._meter.spent_s > self._around.budget_s and not findings:
            facts = {"limit_s": self._around.budget_s, "shapes": len(self.known) + 1}
            return (Finding(Verdict.TIMEOUT, "timeout_all", facts, (), shape, self.device.kind),)
        return findings

    def _holds_for_whole_tiles(self, timeout: tuple[Finding, ...]) -> bool:
        """What hangs where a tile is ragged may well end where all are whole."""
        _, config = self._launchable()
        return any(
            one.shape is None
            or one.kind == "timeout_all"
            or one.shape.filled(config.tiles) == one.shape
            for one in timeout
        )

    def _at_deeper(self) -> tuple[Finding, ...]:
        shape = self._choice().deeper()
        return self._tried_in_time(shape) if shape is not None else ()

    def _at_usual(self) -> tuple[Finding, ...]:
        """A GPU runs large shapes whole; on the simulator, `_probe` ran their last blocks."""
        if not isinstance(self.device, TimingDevice) or self._plan.shape is not None:
            return ()
        _, config = self._launchable()
        for shape in self._around.whole_cases(config):
            if findings := self._tried_in_time(shape):
                return self._at_smaller(shape, ANY_FAULT) or only_with("large_sizes", findings)
        return ()

    def _tried_in_time(self, shape: Shape) -> tuple[Finding, ...]:
        """A launch that takes too long there proves nothing: the kernel may just be slow."""
        findings = self._try(shape, watch=False)
        return () if timed_out(findings) else findings

    def _at_smaller(self, shape: Shape, wanted: frozenset[Verdict]) -> tuple[Finding, ...]:
        """What goes wrong at the smallest shape like a large one that shows a fault, too."""
        _, config = self._launchable()
        for smaller in smaller_like(shape, config):
            findings = self._watched(smaller)
            if any(finding.verdict in wanted for finding in findings):
                return findings
        return ()
