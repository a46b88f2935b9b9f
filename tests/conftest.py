"""Gives the checks their `subject`s when pytest is called directly.

`python -m grader` brings its own plugin. `pytest tests/` checks the files in starter/ on the
simulator, with the shapes of `make test`; choose some with `-k tiled`.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from grader.checks.plugin import CheckPlugin
from grader.checks.practice import practice_subjects

_CLOSERS: pytest.StashKey[Callable[[], None]] = pytest.StashKey()


def pytest_configure(config: pytest.Config) -> None:
    plugins = config.pluginmanager.get_plugins()
    if any(isinstance(plugin, CheckPlugin) for plugin in plugins):
        return
    subjects, close = practice_subjects()
    config.stash[_CLOSERS] = close
    config.pluginmanager.register(CheckPlugin(subjects))


def pytest_unconfigure(config: pytest.Config) -> None:
    config.stash.get(_CLOSERS, lambda: None)()
