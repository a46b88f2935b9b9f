"""How many processor cores this process has."""

from __future__ import annotations

import os


def usable() -> int:
    """The cores that it may use, where the system tells: a cluster's job often has few of many."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
