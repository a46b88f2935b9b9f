"""Which files nvcc opened for a submission, and whether it had any business there.

The text was looked through before; this asks the compiler itself afterwards, so that no trick of
the text can matter. Headers come from the toolkit, from the host's compiler, or are the grader's.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
from pathlib import Path

from grader.confined import files_opened
from grader.finding import Finding
from grader.toolchain import Nvcc, asked
from grader.verdict import Verdict

# Where headers lie on systems whose compiler does not say.
_USUAL = (Path("/usr"), Path("/opt"), Path("/Library"), Path("/Applications"))
_HOST = re.compile(r"^#\$ (?P<command>\S*(?:cc|\+\+|clang)\S*) .*\s-E\s", re.MULTILINE)
_FLAG = re.compile(r'"?(?:-I|-isystem"? *"?)(?P<folder>/[^"\n]+?)"?(?=\s|$)')
_SEARCHED = re.compile(r"search starts here:\n(?P<folders>.*?)^End of search list", re.M | re.S)


def foreign(listing: Path, compiler: Nvcc) -> Finding | None:
    """The finding for the first file of nvcc's list of dependencies that is nobody's header.

    The grader's own lie in the folder of `listing`.
    """
    if not listing.is_file():
        return None
    folder = listing.parent.resolve()
    places = (folder, *system_folders(compiler))
    for name in files_opened(listing):
        path = folder / name
        # By its name, too: a checkout may be made of links to files elsewhere.
        spelt = (Path(os.path.normpath(path)), path.resolve())
        if not any(one.is_relative_to(place) for place in places for one in spelt):
            facts = {"header": path.name, "allowed": [], "form": "opened", "nearest": ""}
            return Finding(Verdict.REJECTED, "forbidden_include", facts)
    return None


@functools.cache
def system_folders(compiler: Nvcc) -> tuple[Path, ...]:
    """The toolkit's folders and those that the host's compiler searches, all resolved."""
    plan = asked((str(compiler.path), "--dryrun", "-c", "-x", "cu", "/dev/null"), errors=True)[1]
    folders = [match["folder"] for match in _FLAG.finditer(plan)]
    host = _HOST.search(plan)
    words = tuple(shlex.split(host["command"])) if host else ()
    _, told = asked((*words, "-E", "-v", "-x", "c++", "/dev/null"), errors=True)
    searched = _SEARCHED.search(told)
    listed = searched["folders"].splitlines() if searched else []
    folders += [line.strip().removesuffix(" (framework directory)") for line in listed]
    absolute = {Path(folder).resolve() for folder in folders if folder.startswith("/")}
    return (compiler.root, *sorted(absolute if listed else _USUAL))
