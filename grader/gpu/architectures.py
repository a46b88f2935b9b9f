"""What becomes of a submission on other GPUs than the course's: compiled for each, run on none.

One call of nvcc compiles for all architectures; only where it fails is each one compiled alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from types import MappingProxyType

from grader import cache_folder
from grader.finding import GraderFault, KernelFault
from grader.gpu import diagnostics, inspection, nvcc
from grader.submission import Submission
from grader.toolchain import Nvcc

# From Turing, the oldest that current toolkits compile for, to Blackwell: T4, A100, H100, B200.
USUAL = ("sm_75", "sm_80", "sm_90", "sm_100")
# Four architectures of a large kernel take 3 s; a file that needs longer has other troubles.
LIMIT_S = 30.0
_FLAGS = ("-std=c++17", "--expt-relaxed-constexpr", "-Xptxas", "-v")
# Without it nvcc names its own files with their folder, and stumbles over a comma in that.
_KEEP = ("--keep", "--keep-dir", ".")
# nvcc before this release compiles for one architecture after the other.
_THREADS_SINCE = (11, 2)
_SURVEY = "survey.json"
_NICE = ("nice", "-n", "10")  # the checks, which somebody waits for, go first


@dataclass(frozen=True)
class Compilation:
    """One architecture. `resources` as in Build, empty where it does not compile: `problem` is
    then nvcc's first error, and `line` the submission's line or 0."""

    architecture: str
    resources: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    problem: str = ""
    line: int = 0


@dataclass(frozen=True)
class Survey:
    """What nvcc says of one submission, the oldest architecture first."""

    compiler: str  # "nvcc 13.0"
    compilations: tuple[Compilation, ...]

    def facts(self) -> dict[str, object]:
        """The entry `nvcc` of `build` in results.json."""
        return {
            "compiler": self.compiler,
            "architectures": {
                one.architecture: {"problem": one.problem, "line": one.line}
                if one.problem
                else {"resources": dict(sorted(one.resources.items()))}
                for one in self.compilations
            },
        }


def architectures(compiler: Nvcc, target: str) -> tuple[str, ...]:
    """The usual ones and the course's, as far as `compiler` knows them."""
    wanted = sorted({*USUAL, target}, key=nvcc.capability)
    return tuple(name for name in wanted if compiler.knows(nvcc.capability(name)))


def survey(
    kernel: str,
    submission: Submission,
    compiler: Nvcc,
    names: Sequence[str],
    cache: Path = nvcc.CACHE,
    stop: Event | None = None,
) -> Survey:
    """Compile for all `names`, or take from the cache what was compiled before from the same text.

    Raises GraderFault where nvcc fails for reasons of its own, or `stop` was set meanwhile.
    """
    told = f"nvcc {compiler.version[0]}.{compiler.version[1]}"
    entry = cache / nvcc.key(submission, compiler, (kernel, *names, *_FLAGS))
    if cache_folder.is_whole(entry):
        kept = json.loads((entry / _SURVEY).read_text(encoding="utf-8"))
        return Survey(told, tuple(Compilation(**one) for one in kept))
    with cache_folder.workplace(cache) as folder:
        source = nvcc.write_source(submission, folder)
        job = _Job(kernel, submission, compiler, told, source, stop or Event())
        compilations = job.together(names) or tuple(job.alone(name) for name in names)
    with cache_folder.making(entry) as folder:
        text = json.dumps([{**vars(one), "resources": dict(one.resources)} for one in compilations])
        (folder / _SURVEY).write_text(text, encoding="utf-8")
    return Survey(told, compilations)


@dataclass(frozen=True)
class _Job:
    """One submission before one nvcc."""

    kernel: str
    submission: Submission
    compiler: Nvcc
    told: str
    source: Path
    stop: Event

    def together(self, names: Sequence[str]) -> tuple[Compilation, ...]:
        """All in one call; () where one of them fails, since the others are then unknown."""
        threads = ("--threads", "0") if self.compiler.version >= _THREADS_SINCE else ()
        try:
            output, status = self._run((*threads, *_targets(names)))
        except KernelFault:  # too slow together; each alone says which one it is
            return ()
        logs = _by_architecture(output)
        if status != 0 or not all(self._resources(logs.get(name, "")) for name in names):
            return ()
        return tuple(Compilation(name, self._resources(logs[name])) for name in names)

    def alone(self, name: str) -> Compilation:
        options = _targets((name,))
        try:
            output, status = self._run(options)
            if status == 0:
                return Compilation(name, self._resources(output))
            finding = diagnostics.explain(
                output,
                self.submission.name,
                self.told,
                self.compiler.root,
                is_sound=lambda: nvcc.is_sound(self._command(options), self.source.parent, LIMIT_S),
            )
        except KernelFault as fault:
            finding = fault.findings[0]
        line = finding.locations[0].line if finding.locations else 0
        problem = finding.facts.get("message") or "too much static shared memory"
        return Compilation(name, problem=str(problem), line=line)

    def _command(self, options: Sequence[str]) -> tuple[str, ...]:
        command = (*_NICE, str(self.compiler.path), "-fatbin", *_FLAGS, *nvcc.FIND_HEADERS, *_KEEP)
        return (*command, *options, "-o", "kernel.fatbin", self.source.name)

    def _run(self, options: Sequence[str]) -> tuple[str, int]:
        command = self._command(options)
        answer = nvcc.run(command, self.source.parent, self.told, LIMIT_S, self.stop)
        if self.stop.is_set():
            raise GraderFault(f"{self.told} was stopped.")
        return answer

    def _resources(self, log: str) -> dict[str, int]:
        return inspection.resources(log, self.kernel)


def _targets(names: Iterable[str]) -> tuple[str, ...]:
    codes = (name.removeprefix("sm_") for name in names)
    return tuple(f"-gencode=arch=compute_{code},code=sm_{code}" for code in codes)


def _by_architecture(output: str) -> dict[str, str]:
    """ptxas's report by architecture; every entry function has a paragraph for each."""
    logs: dict[str, str] = {}
    mark = "Compiling entry function '"
    for paragraph in output.split(mark)[1:]:
        name = paragraph.partition("' for '")[2].partition("'")[0]
        logs[name] = logs.get(name, "") + mark + paragraph
    return logs
