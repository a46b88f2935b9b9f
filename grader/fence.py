"""A wall around compilers, where the system can build one: the namespaces of bubblewrap.

Behind it a compiler sees the system's programs and libraries, its own installation, what its
command names, and the folder it works in; of the rest of the disk, of the network and of other
processes nothing. It comes on top of what `confined` limits anyway, so that a machine that cannot
have it goes without: no verdict may depend on it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import pwd
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from grader.settings import PROJECT

# A start takes milliseconds; one that takes this long never comes.
PROBE_S = 10.0

# Programs and libraries of all systems we know of; what one of them lacks is left out. Of /etc only
# what finds them: the rest tells of users and keys.
_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt"),
    *("/nix/store", "/gnu/store"),
    *("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"),
)
_WALLS = (
    *("--unshare-all", "--die-with-parent", "--cap-drop", "ALL"),
    *(word for place in _SYSTEM for word in ("--ro-bind-try", place, place)),
    *("--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
)
# What compilers call by name: nvcc the C++ compiler, and that its assembler and linker.
_CALLED = ("gcc", "g++", "as", "ld")
# Where compilers are told of further programs and libraries.
_TOLD = ("NVCC_APPEND_FLAGS", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS")

# By the path of bwrap: why it is not used any more though it worked at first.
_given_up: dict[str, str] = {}
# By bwrap and command: whether the compiler does behind the wall what it does in front of it.
_suited: dict[tuple[str, ...], bool] = {}


def problem() -> str:
    """Why there is no wall here, or ""."""
    program = shutil.which("bwrap")
    if program is None:
        return "bwrap is not installed"
    return _given_up.get(program) or _probe(program)


def installed() -> bool:
    return shutil.which("bwrap") is not None


def unsuited() -> list[str]:
    """The compilers that so far turned out not to work behind it."""
    return sorted({command[1] for command, suits in _suited.items() if not suits})


def around(command: Sequence[str], folder: Path) -> list[str]:
    """What to put before a command that runs in `folder`, the only place where it may write; empty
    where there is no wall, or where this command does not work behind it."""
    program = shutil.which("bwrap")
    if program is None or problem() or not _suited.get((program, *command), True):
        return []
    inside = str(folder.resolve())
    binds = [word for path in _needed(command) for word in ("--ro-bind-try", path, path)]
    hidden = [word for place in _hidden() for word in ("--tmpfs", place)]
    return [program, *_WALLS, *hidden, *binds, "--bind", inside, inside, "--chdir", inside, "--"]


def give_up(walls: Sequence[str], why: str) -> None:
    """Build no more of them in this process: `walls` of `around` did not stand."""
    _given_up[walls[0]] = why


def known_to_suit(walls: Sequence[str], command: Sequence[str]) -> bool:
    return _suited.get((walls[0], *command), False)


def note(walls: Sequence[str], command: Sequence[str], suits: bool) -> None:
    """Remember whether a command works behind them."""
    _suited[(walls[0], *command)] = suits


@functools.cache
def _probe(program: str) -> str:
    command = [program, *_WALLS, "--", "/bin/sh", "-c", ":"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=PROBE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"{program} does not answer"
    except OSError as error:
        return f"{program} cannot be started: {error.strerror}"
    if done.returncode == 0:
        return ""
    said = done.stdout.decode(errors="replace").strip().splitlines()
    return f"refused here ({said[0] if said else f'exit status {done.returncode}'})"


@functools.cache
def _hidden() -> tuple[str, ...]:
    """Places with other people's or our own files that would be seen with the system's."""
    return tuple(str(place) for place in _private() if _lies_in(str(place), _SYSTEM))


@functools.cache
def _private() -> tuple[Path, ...]:
    """Homes, this project, and where temporary files lie."""
    places = [PROJECT, Path(tempfile.gettempdir())]
    home = os.environ.get("HOME", "")
    if os.path.isabs(home):
        places.append(Path(home))
    with contextlib.suppress(KeyError):  # a container's user without a name
        places.append(Path(pwd.getpwuid(os.geteuid()).pw_dir))
    real = (place.resolve() for place in places)
    return tuple(place for place in dict.fromkeys(real) if place != Path("/"))


def _needed(command: Sequence[str]) -> Iterator[str]:
    """What a compiler needs besides the system's folders, outermost first."""
    found = {str(path) for path in _asked(command) if not _is_seen(path)}
    yield from sorted(found)


def _asked(command: Sequence[str]) -> Iterator[Path]:
    words = [*command, *(word for name in _TOLD for word in _words(os.environ.get(name, "")))]
    for word in (command[0], *_CALLED, *words):
        if not word.startswith("-") and (where := shutil.which(word)):
            yield from _installation(Path(os.path.abspath(where)))
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep)
    for word in (*words, *folders):
        path = Path(word[word.find("/") :] if "/" in word else "")  # -I/opt/include, --sysroot=/x
        if path.is_absolute() and path != Path("/") and path.exists():
            yield path


def _words(text: str) -> Iterable[str]:
    try:
        return shlex.split(text)
    except ValueError:  # an unbalanced quote
        return ()


def _installation(program: Path) -> Iterator[Path]:
    """The folder that was installed with a program: the parent of its `bin`, unless that is
    somebody's home or the like. A link may lead out of it."""
    for path in dict.fromkeys((program, program.resolve())):
        folder = path.parent
        prefix = folder.parent if folder.name in ("bin", "sbin") else folder
        yield next((one for one in (prefix, folder) if not _is_private(one)), path)


def _is_private(folder: Path) -> bool:
    real = folder.resolve()
    return real == Path("/") or any(place.is_relative_to(real) for place in _private())


def _is_seen(path: Path) -> bool:
    """Whether it lies among the system's folders, in no hidden place."""
    return _lies_in(str(path), _SYSTEM) and not _lies_in(str(path), _hidden())


def _lies_in(path: str, places: Iterable[str]) -> bool:
    """As Path.is_relative_to, and a hundred times as fast."""
    return any(path == place or path.startswith(f"{place}/") for place in places)
