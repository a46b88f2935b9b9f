"""stdout, for reports: where nobody can be told, the grading goes on and is recorded."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any


class Output:
    """A text file that swallows what a full disk, a closed terminal, or a reader that left
    (`| head`) do to stdout, and remembers the first of it."""

    def __init__(self) -> None:
        self._fault: OSError | None = None

    def write(self, text: str) -> None:
        try:
            self._file.write(text)
        except OSError as fault:
            self._fault = self._fault or fault

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError as fault:
            self._fault = self._fault or fault

    def finish(self) -> None:
        """Raise what happened, as an OSError, at the end; nothing more is written then."""
        self.flush()
        fault, self._fault = self._fault, None
        if fault is None:
            return
        with suppress(OSError, ValueError):  # Python would try again, and exit with 120
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise fault

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    @property
    def _file(self) -> Any:
        """A moving line puts something in the place of stdout that leads here again."""
        return getattr(sys.stdout, "rich_proxied_file", sys.stdout)


OUTPUT = Output()
