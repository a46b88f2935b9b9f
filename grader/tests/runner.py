"""A GitHub runner, as far as the workflows of this project need one: runs the `run:` steps of a job
in a folder, with the runner's environment files, and obeys the commands that they print."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

_EXPRESSION = re.compile(r"\$\{\{ *(.*?) *\}\}")
_COMMAND = re.compile(r"::([a-z-]+)(?: ([^:]*))?::(.*)")
_FILES = ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")
# Conditions of steps that hold after a failure.
_ALWAYS = ("always()", "${{ !cancelled() }}")


@dataclass(frozen=True)
class Command:
    """`::error file=f,line=3::text` as the runner understands it: unescaped."""

    name: str
    properties: Mapping[str, str]
    text: str


@dataclass(frozen=True)
class Step:
    name: str
    status: int
    log: str
    environment: Mapping[str, str]

    @property
    def commands(self) -> tuple[Command, ...]:
        return tuple(_commands(self.log))


@dataclass
class Job:
    """What became of a job. `files` are the runner's environment files."""

    steps: list[Step] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def succeeded(self) -> bool:
        return all(step.status == 0 for step in self.steps)

    @property
    def summary(self) -> str:
        return self.files["GITHUB_STEP_SUMMARY"]

    def step(self, name: str) -> Step:
        return next(step for step in self.steps if step.name == name)


def load(path: Path) -> Any:
    return YAML(typ="safe").load(path.read_text(encoding="utf-8"))


def steps(workflow: Any) -> Iterator[tuple[str, Any]]:
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            yield name, step


def run(workflow: Any, name: str, workspace: Path, tools: Path, values: Mapping[str, str]) -> Job:
    """Run the job's `run:` steps in `workspace`. `tools` holds programs that stand in for real
    ones; `values` are those of the expressions (`inputs.commit`), of which none may be unknown."""
    job, done = workflow["jobs"][name], Job()
    folder = workspace / job.get("defaults", {}).get("run", {}).get("working-directory", ".")
    files = {key: workspace / f".runner-{key.lower()}" for key in _FILES}
    for path in files.values():
        path.touch()
    for step in job["steps"]:
        told = step.get("if", "success()")
        if "run" not in step or not (done.succeeded or told in _ALWAYS):
            continue
        assert told in ("success()", *_ALWAYS), told
        own = {**job.get("env", {}), **step.get("env", {})}
        environment = {key: _evaluated(str(value), values) for key, value in own.items()}
        assert "${{" not in step["run"], "values reach a step through env only"
        ran = subprocess.run(
            ["bash", "-e", "-c", step["run"]],
            cwd=folder,
            env={
                "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
                "HOME": str(workspace),
                "GITHUB_ACTIONS": "true",
                **{key: str(path) for key, path in files.items()},
                **environment,
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        log = ran.stdout.decode(errors="replace")
        done.steps.append(Step(step["name"], ran.returncode, log, environment))
    done.files = {key: path.read_text(encoding="utf-8") for key, path in files.items()}
    return done


def _evaluated(text: str, values: Mapping[str, str]) -> str:
    return _EXPRESSION.sub(lambda match: values[match[1]], text)


def _commands(log: str) -> Iterator[Command]:
    """Those that the runner obeys: none between stop-commands and its token."""
    token = ""
    for line in log.splitlines():
        if token:
            token = "" if line.strip() == f"::{token}::" else token
            continue
        found = _COMMAND.match(line.strip())
        if found is None:
            continue
        if found[1] == "stop-commands":
            token = found[3]
            continue
        pairs = (pair.partition("=") for pair in (found[2] or "").split(",") if pair)
        yield Command(found[1], {key: _plain(value) for key, _, value in pairs}, _plain(found[3]))


def _plain(text: str) -> str:
    for code, char in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        text = text.replace(code, char)
    return text
