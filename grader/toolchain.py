"""The compilers of this machine: g++ or clang++ for the simulator, nvcc for the GPU.

`find_*` looks and never raises; `host_compiler` and `nvcc` raise GraderFault with the command that
mends the machine. The GPU's driver is in `grader.driver`.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.finding import NOT_YOURS, GraderFault

# The oldest releases the simulator's headers and flags are tested with.
OLDEST = {"g++": 11, "clang++": 14}
# Plain names first: they are the system's choice. The others serve systems whose default is older.
NAMES = (
    "g++",
    "clang++",
    *(f"g++-{major}" for major in range(16, 10, -1)),
    *(f"clang++-{major}" for major in range(22, 13, -1)),
)
# Asking a compiler for its version takes milliseconds; a network drive may take seconds.
ASK_TIMEOUT_S = 30.0


@dataclass(frozen=True)
class HostCompiler:
    """A C++ compiler for this machine. `command` may hold more than one word (`ccache g++`)."""

    command: tuple[str, ...]
    family: str  # "g++" or "clang++"
    version: tuple[int, int, int]
    machine: str  # what it compiles for: "x86_64", "aarch64" or ""

    @property
    def new_enough(self) -> bool:
        return self.version[0] >= OLDEST[self.family]

    def __str__(self) -> str:
        return f"{self.family} {'.'.join(map(str, self.version))} ({shlex.join(self.command)})"


@dataclass(frozen=True)
class Nvcc:
    """CUDA's compiler. `root` holds the toolkit's `include`; `origin` says how it was found."""

    path: Path
    version: tuple[int, int]
    root: Path
    origin: str
    architectures: tuple[int, ...]  # compute capabilities it compiles for: 90 for 9.0

    def knows(self, compute_capability: tuple[int, int]) -> bool:
        return compute_capability[0] * 10 + compute_capability[1] in self.architectures

    def __str__(self) -> str:
        return f"nvcc {self.version[0]}.{self.version[1]} ({self.path}, found by {self.origin})"


def find_host_compilers(
    environment: Mapping[str, str] | None = None,
) -> tuple[HostCompiler, ...]:
    """Every C++ compiler that is new enough, the preferred one first: CXX, g++, clang++."""
    found: dict[tuple[object, ...], HostCompiler] = {}
    for command in _host_commands(os.environ if environment is None else environment):
        compiler = identify(command)
        if compiler is not None and compiler.new_enough:
            # One entry a release: /usr/bin/g++ is often a link to g++-12.
            found.setdefault((compiler.family, compiler.version, compiler.machine), compiler)
    return tuple(found.values())


def host_compiler(
    family: str | None = None, environment: Mapping[str, str] | None = None
) -> HostCompiler:
    """The C++ compiler to use: the one CXX names, else the first found (of `family`, if given).

    Raises GraderFault when CXX names none that works, or when there is none.
    """
    environment = os.environ if environment is None else environment
    wanted = environment.get("CXX", "").strip()
    if wanted and family is None:
        return _named_by_cxx(wanted)
    for compiler in find_host_compilers(environment):
        if family in (None, compiler.family):
            return compiler
    name = family or "C++ compiler"
    raise GraderFault(
        f"No {name} found (g++ {OLDEST['g++']} or clang++ {OLDEST['clang++']}, or newer). "
        f"Next: {install_command(family or 'g++')}. {NOT_YOURS}"
    )


def _named_by_cxx(wanted: str) -> HostCompiler:
    compiler = identify(_split(wanted))
    if compiler is None:
        raise GraderFault(
            f"CXX={wanted} is set, but that is no C++ compiler that runs here. "
            f"Next: unset CXX, or point it at g++ or clang++. {NOT_YOURS}"
        )
    if not compiler.new_enough:
        raise GraderFault(
            f"CXX={wanted} is {compiler.family} {compiler.version[0]}, older than "
            f"{OLDEST[compiler.family]}. Next: unset CXX, or point it at a newer one. {NOT_YOURS}"
        )
    return compiler


def _host_commands(environment: Mapping[str, str]) -> Iterator[tuple[str, ...]]:
    if words := _split(environment.get("CXX", "")):
        yield words
    path = environment.get("PATH")
    for name in NAMES:
        if where := shutil.which(name, path=path):
            yield (where,)


def _split(command: str) -> tuple[str, ...]:
    """The words of CXX; one word if it is the path of a file, spaces or not."""
    if Path(command).is_file():
        return (command,)
    try:
        return tuple(shlex.split(command))
    except ValueError:  # an unbalanced quote
        return (command,)


@functools.cache
def identify(command: tuple[str, ...]) -> HostCompiler | None:
    """What `command` is, by the macros it predefines; None if it is no C++ compiler.

    The macros are the same for every vendor, whereas the text of `--version` is not, and `g++` on
    macOS is a clang.
    """
    text = _output((*command, "-dM", "-E", "-x", "c++", os.devnull))
    macros = dict(re.findall(r"^#define (__\w+) (.+)$", text, re.MULTILINE))
    if "__cplusplus" not in macros:
        return None
    clang = "__clang_major__" in macros
    names = ("clang_major", "clang_minor", "clang_patchlevel")
    if not clang:
        names = ("GNUC", "GNUC_MINOR", "GNUC_PATCHLEVEL")
    try:
        major, minor, patch = (int(macros[f"__{name}__"]) for name in names)
    except (KeyError, ValueError):
        return None
    machine = next((name for name in ("x86_64", "aarch64") if f"__{name}__" in macros), "")
    family = "clang++" if clang else "g++"
    return HostCompiler(command, family, (major, minor, patch), machine)


def find_nvcc(environment: Mapping[str, str] | None = None) -> Nvcc | None:
    """nvcc from PATH, CUDA_HOME, /usr/local or the package nvidia-cuda-nvcc, in this order."""
    for path, origin in _nvcc_places(os.environ if environment is None else environment):
        if path.is_file() and (compiler := _identify_nvcc(path, origin)):
            return compiler
    return None


def nvcc() -> Nvcc:
    """nvcc, or a GraderFault with the way to get it."""
    compiler = find_nvcc()
    if compiler is None:
        raise GraderFault(
            f"nvcc not found on PATH, in CUDA_HOME or in /usr/local/cuda. {NOT_YOURS} "
            f"Next: {NVCC_MEND}"
        )
    return compiler


NVCC_MEND = "install the CUDA toolkit and put its bin folder on PATH, or run: make nvcc"


def check_architecture(compiler: Nvcc, compute_capability: tuple[int, int]) -> None:
    """Raise GraderFault when `compiler` is older than the GPU."""
    if compiler.knows(compute_capability):
        return
    name = f"sm_{compute_capability[0]}{compute_capability[1]}"
    release = f"nvcc {compiler.version[0]}.{compiler.version[1]}"
    raise GraderFault(
        f"{release} ({compiler.path}) does not know {name}, the GPU of this machine. {NOT_YOURS} "
        f"Next: install a CUDA toolkit that supports {name}, or set CUDA_HOME to one you have."
    )


def _nvcc_places(environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    if where := shutil.which("nvcc", path=environment.get("PATH")):
        yield Path(where), "PATH"
    for variable in ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"):
        if folder := environment.get(variable):
            yield Path(folder) / "bin" / "nvcc", variable
    local = Path("/usr/local")
    yield local / "cuda" / "bin" / "nvcc", str(local / "cuda")
    for toolkit in sorted(local.glob("cuda-*"), key=_release, reverse=True):
        yield toolkit / "bin" / "nvcc", str(toolkit)
    for packages in (*site.getsitepackages(), *sys.path):
        for path in sorted(Path(packages).glob("nvidia/*/bin/nvcc"), reverse=True):
            yield path, "the package nvidia-cuda-nvcc"


def _release(folder: Path) -> tuple[int, ...]:
    """(12, 4) for cuda-12.4, so that 12.10 is newer than 12.4."""
    return tuple(int(digits) for digits in re.findall(r"\d+", folder.name))


@functools.cache
def _identify_nvcc(path: Path, origin: str) -> Nvcc | None:
    release = re.search(r"release (\d+)\.(\d+)", _output((str(path), "--version")))
    if release is None:
        return None
    # nvcc before 11.2 lists them only in its help.
    listing = _output((str(path), "--list-gpu-code")) or _output((str(path), "--help"))
    architectures = tuple(sorted({int(code) for code in re.findall(r"\bsm_(\d+)\b", listing)}))
    version = (int(release[1]), int(release[2]))
    return Nvcc(path, version, _toolkit(path), origin, architectures)


def _toolkit(path: Path) -> Path:
    """The toolkit's folder, which nvcc itself prints: `path` may be a script that calls it."""
    dry = _output((str(path), "--dryrun", "-c", "-x", "cu", os.devnull), errors=True)
    top = re.search(r"^#\$ TOP=(.+)$", dry, re.MULTILINE)
    return Path(top[1].strip() if top else path.parent.parent).resolve()


def asked(
    command: Sequence[str], *, errors: bool = False, timeout_s: float = ASK_TIMEOUT_S
) -> tuple[int, str]:
    """Exit status and output of a program (with stderr if `errors`); (-1, "") when it cannot run,
    or does not end in time."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors else subprocess.DEVNULL,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return -1, ""
    return done.returncode, done.stdout.decode(errors="replace")


def _output(command: tuple[str, ...], *, errors: bool = False) -> str:
    """What the command prints; empty when it fails."""
    status, output = asked(command, errors=errors)
    return output if status == 0 else ""


def install_command(package: str) -> str:
    """The command that installs a compiler with this machine's package manager."""
    if sys.platform == "darwin":
        return "xcode-select --install"
    name = {"g++": "g++", "clang++": "clang"}.get(package, package)
    if shutil.which("apt-get"):
        return f"sudo apt install {name}"
    if shutil.which("dnf"):
        return f"sudo dnf install {'gcc-c++' if name == 'g++' else name}"
    return f"install {package} with this system's package manager"
