"""A GitHub step summary: the score, one line a check, and why points were lost, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from grader.formats.escape import markdown, markdown_block
from grader.formats.reading import Check, Record

# GitHub refuses a summary of more than 1 MiB and then shows none.
LIMIT_BYTES = 1 << 20
_CUT = "\n\nThe rest is too long for this page; results.json has it.\n"


def write(record: Record, limit_bytes: int = LIMIT_BYTES) -> str:
    text = "\n".join(_lines(record)) + "\n"
    raw = text.encode()
    if len(raw) <= limit_bytes:
        return text
    kept = raw[: limit_bytes - len(_CUT) - 64].decode(errors="ignore")
    # Cut between two checks, so that no code block stays open; before the first one, in the table.
    between = kept.rfind("\n### ")
    return kept[: between if between >= 0 else kept.rfind("\n")] + _CUT


def _lines(record: Record) -> Iterator[str]:
    yield f"## {markdown(record.total_line)}"
    yield ""
    if record.untouched:
        yield "Nothing was handed in yet: every file is missing or as it was handed out."
        yield ""
    yield "| exercise | check | result | points |"
    yield "| --- | --- | --- | ---: |"
    for check in record.checks:
        cells = (check.exercise, check.name.replace("_", " "), _result(check), _points(check))
        yield f"| {' | '.join(markdown(cell) for cell in cells)} |"
    for check in record.checks:
        if check.message and not check.passed:
            yield f"\n### {markdown(check.title)}\n"
            yield markdown_block(check.why_and_where)
    yield ""
    yield markdown(f"Seed {record.seed}, grader {record.version}, {', '.join(record.devices)}.")


def _result(check: Check) -> str:
    words = check.status.replace("_", " ")
    detail = check.verdict or (check.reason if check.status != "grader_error" else "")
    return f"{words} ({detail.replace('_', ' ')})" if detail else words


def _points(check: Check) -> str:
    if check.undecided:
        return f"- of {check.points}" if check.points else ""
    return f"{check.earned} of {check.points}" if check.points else ""
