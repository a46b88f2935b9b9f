"""The verb `export`: results.json in another system's format."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping

from grader.cli import OK
from grader.finding import GraderFault
from grader.formats import (
    classroom50,
    classroom_reporter,
    gradescope,
    junit,
    reading,
    step_summary,
    table,
    workflow_commands,
)
from grader.formats.options import FORMATS

_WRITERS: Mapping[str, Callable[[reading.Record], str]] = {
    "gradescope": gradescope.write,
    "classroom50": lambda record: classroom50.write(record, os.environ),
    "classroom-reporter": classroom_reporter.write,
    "junit": junit.write,
    "step-summary": step_summary.write,
    "annotations": workflow_commands.write,
    "csv": table.write,
}
assert tuple(_WRITERS) == FORMATS


def main(options: argparse.Namespace) -> int:
    """Exit status 0 when the format was written, whatever the score."""
    text = _WRITERS[options.format](reading.read(options.record))
    if options.output is None:
        sys.stdout.write(text)
        return OK
    try:
        options.output.parent.mkdir(parents=True, exist_ok=True)
        options.output.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise GraderFault(
            f"{options.output} cannot be written: {fault.strerror}. Next: name another --output"
        ) from None
    return OK
