"""The grader's own kernels (`kernels/`), compiled by nvcc and cached as submissions are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from grader.finding import NOT_YOURS, GraderFault, KernelFault
from grader.gpu import nvcc
from grader.submission import Submission
from grader.toolchain import Nvcc

FOLDER = Path(__file__).resolve().parent / "kernels"
NAMES = ("baseline", "contents", "verification", "probe")

_INCLUDE = re.compile(r'^#include "(\w+\.cuh)"$', re.MULTILINE)


def text(name: str) -> str:
    """One kernel file with its header in place, so that its text is all that it depends on."""
    source = (FOLDER / f"{name}.cu").read_text(encoding="utf-8")
    return _INCLUDE.sub(lambda match: (FOLDER / match[1]).read_text(encoding="utf-8"), source)


def compile_all(compiler: Nvcc, architecture: str, cache: Path) -> Mapping[str, Path]:
    """The cubin of each, by name. Raises GraderFault."""
    with ThreadPoolExecutor(len(NAMES)) as pool:
        made = pool.map(lambda name: _make(name, compiler, architecture, cache), NAMES)
        return dict(zip(NAMES, made, strict=True))


def _make(name: str, compiler: Nvcc, architecture: str, cache: Path) -> Path:
    path = FOLDER / f"{name}.cu"
    try:
        return nvcc.compile_submission(
            Submission(path.name, path, text(name), ""), compiler, architecture, cache
        ).cubin
    except KernelFault as fault:
        why = fault.findings[0].facts.get("message", fault.findings[0].kind)
        raise GraderFault(
            f"{compiler} does not compile the grader's own {path.name}: {why}. {NOT_YOURS} "
            "Next: make doctor"
        ) from None
