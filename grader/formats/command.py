"""The verbs `export` and `check-run`: results.json in another system's format."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from grader.atomic import write_text
from grader.classroom.taking import read_note
from grader.cli import ERROR, FAILED, OK
from grader.formats import (
    check_run,
    classroom50,
    classroom_reporter,
    gradescope,
    junit,
    reading,
    step_summary,
    table,
    validation,
    workflow_commands,
)
from grader.formats.options import FORMATS
from grader.handout.contents import STARTER
from grader.machine_fault import unwritable

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
    """Exit status 0 when the format was written, whatever the score, unless that was asked for."""
    if options.verb == "check-run":
        record = validation.read(options.record, options.submission / STARTER)
        text = check_run.write(record, options.commit, read_note(options.submission))
        _write(options.output, text)
        return OK
    record = reading.read(options.record)
    _write(options.output, _WRITERS[options.format](record))
    return _exit_status(record) if options.exit_status else OK


def _exit_status(record: reading.Record) -> int:
    if record.failed_by_grader:
        return ERROR
    return OK if record.complete else FAILED


def _write(output: Path | None, text: str) -> None:
    if output is None:
        sys.stdout.write(text)
        return
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        if output.is_symlink() or (output.exists() and not output.is_file()):
            output.write_text(text, encoding="utf-8")  # a pipe, /dev/stdout: not to be replaced
        else:
            write_text(output, text)
    except OSError as fault:
        raise unwritable(output, fault, "--output FILE") from None
