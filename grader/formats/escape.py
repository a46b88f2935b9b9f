"""Text that a student controls, made harmless for the format it goes into.

Names in a kernel, compiler messages and file names reach every report; none may end a table cell,
start a workflow command, or become a formula, a link or a tag.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence

from grader.report.words import visible

# What XML 1.0 cannot hold, however it is written.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A spreadsheet takes a cell that begins so for a formula; tab and CR are skipped before it looks.
_FORMULA = re.compile(r"[\s]*[=+\-@\uff1d\uff0b\uff0d\uff20|%]")
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~&@:$]|(?<=www)\.)", re.IGNORECASE)


def markdown(text: str) -> str:
    """One line of Markdown that shows `text` as it is: no links, tags, mentions or cell ends."""
    flat = " ".join(visible(text).split())
    return _MARKDOWN.sub(lambda match: f"&#{ord(match[1])};", flat)


def markdown_block(text: str) -> str:
    """`text` as a code block; its fence is longer than any run of backticks inside."""
    shown = visible(text)
    longest = max((len(run) for run in re.findall("`+", shown)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def workflow_data(text: str) -> str:
    """The message of a GitHub workflow command, which ends with its line."""
    escaped = visible(text).replace("%", "%25")
    return escaped.replace("\r", "%0D").replace("\n", "%0A")


def workflow_property(text: str) -> str:
    """A property (file=, title=) of a GitHub workflow command."""
    return workflow_data(text).replace(":", "%3A").replace(",", "%2C")


def xml(text: str) -> str:
    """`text` without the characters that no XML file can hold; the writer escapes the rest."""
    return _NO_XML.sub("\N{REPLACEMENT CHARACTER}", visible(text))


def csv_table(rows: Iterable[Sequence[object]]) -> str:
    """The lines of a CSV file; every text among the cells is made harmless."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in rows:
        writer.writerow([cell(value) if isinstance(value, str) else value for value in row])
    return text.getvalue()


def cell(text: str) -> str:
    """A cell of a CSV file, one line, that no spreadsheet takes for a formula."""
    flat = " ".join(visible(text).split())
    return f"'{flat}" if _FORMULA.match(flat) else flat
