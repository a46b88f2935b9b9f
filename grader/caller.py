"""How an option is named to whoever called: as make's variable, or as the program's option."""

from __future__ import annotations

import os
import re
import shlex

# Set by the Makefile for what it calls.
CALLER = "GRADER_WORDS"
# make's variables that are not called as the options are, and those that are.
_RENAMED = {"exercise": "EX", "values": "SWEEP"}
_SAME = ("shape", "device", "seed", "output", "kernel", "grid", "block", "args", "shared", "line",
         "svg", "sizes", "jobs", "profile", "reason")  # fmt: skip
_VARIABLES = _RENAMED | {name: name.upper() for name in _SAME}
_OPTION = re.compile(rf"--({'|'.join(_VARIABLES)})\b(?!-)( (?=[\"A-Z]))?")


def is_make() -> bool:
    """Whether it was this project's Makefile that called."""
    return os.environ.get(CALLER) == "make"


def make_variable(name: str, value: str) -> str:
    """`NAME='a value'`, as a student types it: a `$` would start a name of make's own."""
    return f"{name}={shlex.quote(value).replace('$', '$$')}"


def setting(name: str, value: str) -> str:
    """`DEVICE=simulator` under make, else `--device simulator`."""
    return f"{_VARIABLES[name]}={value}" if is_make() else f"--{name} {value}"


def reworded(text: str) -> str:
    """A message that names options, in the words of whoever called."""
    if not is_make():
        return text
    text = re.sub(r"See: (?:\.venv/bin/)?python -m grader(?: [a-z-]+)? --help", "See: make", text)
    return _OPTION.sub(lambda found: _VARIABLES[found[1]] + ("=" if found[2] else ""), text)
