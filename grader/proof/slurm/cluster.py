"""A SLURM cluster of one node: Debian's own daemons, which leave nothing behind in the system.

Everything is in one folder: configuration, key, sockets, state and logs. The daemons are children
of this process and are ended however it ends, except by SIGKILL.
"""

from __future__ import annotations

import getpass
import os
import secrets
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from grader.finding import GraderFault

# Daemons are not on every user's PATH.
_PATH = os.pathsep.join((os.environ.get("PATH", os.defpath), "/usr/sbin", "/sbin"))
_PROGRAMS = ("munged", "slurmctld", "slurmd", "sinfo", "sbatch")
_MISSING = "{} not found. Next: sudo apt install slurm-wlm munge"
# A controller needs some seconds to see its node; a busy machine many.
_START_LIMIT_S = 60.0
_END_LIMIT_S = 10.0
# What is left to the system: a node that offers all its memory would be marked as too small.
_MEMORY_SHARE = 0.9
_MIB = 1 << 20
# More processors than the machine may have, so that SLURM runs several jobs side by side.
_JOBS = 2
_JOB_CPUS = 2
_KEY_BYTES = 1024  # what mungekey writes; munged refuses fewer than 32

_CONFIGURATION = """\
ClusterName=proof
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
SlurmdParameters=config_overrides
SchedulerParameters=sched_interval=2,batch_sched_delay=0
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory_mib} Gres=gpu:{gpus} State=UNKNOWN
PartitionName=grading Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


@contextmanager
def running(folder: Path, devices: Sequence[Path]) -> Iterator[dict[str, str]]:
    """Start munged, slurmctld and slurmd; yields the environment that SLURM's commands need.

    The node offers one GPU for each of `devices`, which SLURM takes for GPUs as long as they are
    device files. Raises GraderFault where a daemon is missing or does not start.
    """
    for program in _PROGRAMS:
        if shutil.which(program, path=_PATH) is None:
            raise GraderFault(_MISSING.format(program))
    folder.mkdir(parents=True)
    _configure(folder, devices)
    environment = _environment(folder)
    with ExitStack() as stack:
        for command, ready in _daemons(folder, environment):
            stack.enter_context(_daemon(folder, command, environment, ready))
        stack.callback(_cancel, environment)
        yield environment


def _cancel(environment: dict[str, str]) -> None:
    """End every job: a job outlives the daemon that started it."""
    subprocess.run(["scancel", "--partition=grading"], env=environment, check=False)
    end_s = time.monotonic() + _END_LIMIT_S
    while time.monotonic() < end_s:
        left = subprocess.run(["squeue", "-h"], env=environment, capture_output=True, check=False)
        if not left.stdout:
            return
        time.sleep(0.2)


def _environment(folder: Path) -> dict[str, str]:
    """SLURM_CONF, and an `srun` that knows it, too: Snakemake takes that variable from a job."""
    environment = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}
    srun = folder / "bin" / "srun"
    srun.parent.mkdir()
    program = shutil.which("srun", path=_PATH)
    srun.write_text(f'#!/bin/sh\nSLURM_CONF="{environment["SLURM_CONF"]}" exec {program} "$@"\n')
    srun.chmod(0o755)
    return environment | {"PATH": f"{srun.parent}{os.pathsep}{_PATH}"}


def _configure(folder: Path, devices: Sequence[Path]) -> None:
    for name in ("state", "spool"):
        (folder / name).mkdir()
    key = folder / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(_KEY_BYTES))
    controller_port, node_port = _free_ports(2)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / _MIB
    text = _CONFIGURATION.format(
        folder=folder, host=socket.gethostname().partition(".")[0], user=getpass.getuser(),
        controller_port=controller_port, node_port=node_port, cpus=_JOBS * _JOB_CPUS,
        memory_mib=int(memory * _MEMORY_SHARE), gpus=len(devices),
    )  # fmt: skip
    (folder / "slurm.conf").write_text(text, encoding="utf-8")
    gpus = "".join(f"Name=gpu File={path} Flags=nvidia_gpu_env\n" for path in devices)
    (folder / "gres.conf").write_text(gpus, encoding="utf-8")


def _free_ports(count: int) -> list[int]:
    """Ports of this machine that nobody uses now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]


def _daemons(
    folder: Path, environment: dict[str, str]
) -> Iterator[tuple[Sequence[str], Callable[[], bool]]]:
    """Each in the foreground, and how to see that it has started."""
    munged = ["munged", "--force", "--foreground", f"--socket={folder}/munge.socket"]
    munged += [f"--{what}-file={folder}/munge.{what}" for what in ("key", "pid", "log", "seed")]
    yield munged, (folder / "munge.socket").exists
    yield ["slurmctld", "-D"], lambda: _answers(["scontrol", "ping"], environment, "UP")
    node = ["sinfo", "--noheader", "--format=%T"]
    yield ["slurmd", "-D"], lambda: _answers(node, environment, "idle")


def _answers(command: Sequence[str], environment: dict[str, str], wanted: str) -> bool:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode == 0 and wanted in done.stdout


@contextmanager
def _daemon(
    folder: Path, command: Sequence[str], environment: dict[str, str], ready: Callable[[], bool]
) -> Iterator[None]:
    log = folder / f"{command[0]}.log"
    program = shutil.which(command[0], path=_PATH) or command[0]
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, *command[1:]], env=environment, stdin=subprocess.DEVNULL, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    try:
        _wait(process, ready, log)
        yield
    finally:
        end(process)


def end(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a session, and what it started there."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(_END_LIMIT_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(process: subprocess.Popen[bytes], ready: Callable[[], bool], log: Path) -> None:
    end_s = time.monotonic() + _START_LIMIT_S
    while not ready():
        if process.poll() is not None or time.monotonic() > end_s:
            last = log.read_text(errors="replace").strip().splitlines()[-3:]
            raise GraderFault(
                f"{log.stem} did not start:\n  " + "\n  ".join(last) + f"\nLog: {log}"
            )
        time.sleep(0.2)
