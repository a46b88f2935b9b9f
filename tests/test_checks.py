"""The checks that grade a student, in the order they run. Each docstring is what a student reads.

`subject` is one submission on one device (see conftest.py). A check that raises nothing is passed;
`exercises/*/exercise.toml` says how many points it gives. `python -m grader test` runs this file,
and so does `pytest tests/`.
"""

from __future__ import annotations

from grader.checks.subject import Subject


def test_compiles(subject: Subject) -> None:
    """Compiles, defines the kernel as declared in launch.cuh, and can be launched as configured."""
    subject.compiles()


def test_safe(subject: Subject) -> None:
    """Stays inside its memory, changes no input, has no data race, reads only what was written,
    brings all threads to every barrier, and comes to an end."""
    subject.needs("compiles")
    subject.is_safe()


def test_whole_tiles(subject: Subject) -> None:
    """Gives the right answer when M, N and K are multiples of the tile."""
    subject.needs("compiles")
    subject.is_right_for_whole_tiles()


def test_any_shape(subject: Subject) -> None:
    """Gives the right answer for matrices of any shape."""
    subject.needs("whole_tiles")
    subject.is_right_for_any_shape()


def test_efficient(subject: Subject) -> None:
    """Wastes no memory traffic: coalesced accesses, each tile loaded once, no bank conflicts."""
    subject.needs("whole_tiles")
    subject.is_efficient()


def test_fast(subject: Subject) -> None:
    """Is as much faster than the grader's own naive kernel as this exercise asks for."""
    subject.needs_stopwatch()
    subject.needs("whole_tiles")
    subject.is_fast()
