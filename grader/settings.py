"""A TOML file read strictly: an error names file, key, what was found and what is allowed."""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.finding import GraderFault

PROJECT = Path(__file__).resolve().parents[1]
STARTER = PROJECT / "starter"  # where students work

_TOML_NAMES = {str: "a string", bool: "a boolean", int: "an integer", float: "a number"}


def shown(path: Path) -> str:
    """The path as messages show it: relative to the project where it lies inside."""
    try:
        return path.resolve().relative_to(PROJECT).as_posix()
    except (ValueError, OSError, RuntimeError):
        return str(path)


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """The known word that `word` was probably meant to be; "" when none is near.

    `likeness` is the least ratio of difflib to count: 1 for equal words, 0 for unlike ones.
    """
    folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), list(folded), n=1, cutoff=likeness)
    return folded[close[0]] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`Did you mean "tiled"? ` or nothing, ready to stand before the next sentence."""
    near = nearest(word, known)
    return f'Did you mean "{near}"? ' if near else ""


@dataclass(frozen=True)
class Table:
    """One table of a TOML file. Its readers raise `error` (a GraderFault) with file and key."""

    path: Path
    entries: Mapping[str, Any]
    error: type[GraderFault]
    prefix: str = ""  # "points." inside [points]

    def fault(self, key: str, problem: str) -> GraderFault:
        """The error about one key, for the caller to raise."""
        return self.error(f"{shown(self.path)}: {self.prefix}{key} {problem}")

    def only(self, known: Sequence[str]) -> None:
        """Raise when the table has a key that is not in `known`."""
        for key in self.entries:
            if key not in known:
                raise self.error(
                    f'{shown(self.path)}: unknown key "{self.prefix}{key}". '
                    f"{did_you_mean(key, known)}Known keys: {', '.join(known)}."
                )

    def text(self, key: str) -> str:
        """A string of one line that is not blank."""
        value: str = self._typed(key, str, "a string")
        if not value.strip() or not value.isprintable():
            raise self.fault(key, f"is {_value(value)}; it must be one line of text.")
        return value

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        """One of the strings of `allowed`."""
        value = self.text(key)
        if value not in allowed:
            raise self.fault(
                key,
                f"is {_value(value)}. {did_you_mean(value, allowed)}"
                f"Allowed: {', '.join(map(_value, allowed))}.",
            )
        return value

    def flag(self, key: str) -> bool:
        """true or false; true when the key is absent."""
        if key not in self.entries:
            return True
        value: bool = self._typed(key, bool, "true or false")
        return value

    def count(self, key: str, least: int = 0) -> int:
        """An integer, at least `least`."""
        value: int = self._typed(key, int, "an integer")
        if value < least:
            raise self.fault(key, f"is {value}; it must be at least {least}.")
        return value

    def number(self, key: str, least: float, most: float = math.inf) -> float:
        """A finite number from `least` to `most`."""
        value = float(self._typed(key, (int, float), "a number"))
        if not math.isfinite(value) or not least <= value <= most:
            bounds = f"at least {least:g}" + (f", at most {most:g}" if math.isfinite(most) else "")
            raise self.fault(key, f"is {value:g}; it must be {bounds}.")
        return value

    def counts(self, key: str, least: int = 1) -> tuple[int, ...]:
        """An array of different integers, each at least `least`, in rising order."""
        values = self._typed(key, list, "an array of integers")
        if not values or not all(type(value) is int and value >= least for value in values):
            raise self.fault(key, f"is {_value(values)}; it must hold integers from {least} on.")
        if sorted(set(values)) != values:
            raise self.fault(key, f"is {_value(values)}; it must rise from number to number.")
        return tuple(values)

    def table(self, key: str) -> Table:
        """The table [key]; an empty one when it is absent."""
        value = self.entries.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(key, f"is {_value(value)}; it must be a table, [{self.prefix}{key}].")
        return Table(self.path, value, self.error, f"{self.prefix}{key}.")

    def tables(self, key: str) -> list[Table]:
        """The tables [[key]], each called by its `name` in errors; none when they are absent."""
        rows = self.entries.get(key, [])
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise self.fault(key, f"must be tables, [[{self.prefix}{key}]].")
        names = [row.get("name", number) for number, row in enumerate(rows, 1)]
        return [
            Table(self.path, row, self.error, f"{self.prefix}{key}[{name}].")
            for name, row in zip(names, rows, strict=True)
        ]

    def _typed(self, key: str, wanted: type | tuple[type, ...], allowed: str) -> Any:
        if key not in self.entries:
            raise self.fault(key, f"is missing; it must be {allowed}.")
        value = self.entries[key]
        # bool is a subclass of int in Python; in TOML `true` is not a number.
        if not isinstance(value, wanted) or (isinstance(value, bool) and wanted is not bool):
            raise self.fault(key, f"is {_value(value)} ({_kind(value)}); it must be {allowed}.")
        return value


def read(path: Path, error: type[GraderFault]) -> Table:
    """The top table of a TOML file; raises `error` when it cannot be read or is not TOML."""
    try:
        entries = tomllib.loads(path.read_bytes().decode("utf-8"))
    except OSError as fault:
        raise error(f"{shown(path)}: cannot be read: {fault.strerror or fault}.") from fault
    except UnicodeDecodeError as fault:
        raise error(
            f"{shown(path)}: byte {fault.start} is not UTF-8 text. Save the file as UTF-8."
        ) from fault
    except tomllib.TOMLDecodeError as fault:
        raise error(f"{shown(path)}: not valid TOML: {fault}.") from fault
    except RecursionError as fault:
        raise error(f"{shown(path)}: not valid TOML: nested too deeply.") from fault
    return Table(path, entries, error)


def _kind(value: object) -> str:
    if isinstance(value, dict):
        return "a table"
    return "an array" if isinstance(value, list) else _TOML_NAMES.get(type(value), "a date or time")


def _value(value: object) -> str:
    """A value as TOML spells it, cut to a length that fits in a message."""
    if isinstance(value, bool):
        spelt = str(value).lower()
    elif isinstance(value, str):
        spelt = '"' + value.replace("\n", "\\n") + '"'
    else:
        spelt = str(value)
    return spelt if len(spelt) <= 60 else spelt[:57] + "..."
