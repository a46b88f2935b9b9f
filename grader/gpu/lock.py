"""One grading at a time on a GPU: a file lock with a queue that tells how many are before you.

The lock proper is one file under flock, which the system releases when its process ends, however
it ends. Beside it each process that waits keeps a ticket, locked as well, so that a ticket whose
owner died counts for nothing.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from grader.finding import NOT_YOURS, GraderFault

# Long enough not to load a shared login node, short enough not to be noticed between gradings.
_POLL_S = 0.1
# A waiting student wants to see that something moves, not a scrolling screen.
_REPEAT_S = 30.0
# Not TMPDIR, which differs between users and between jobs of a cluster.
_MEETING_PLACE = Path("/tmp")


def waiting_message(before: int) -> str:
    """What to show while waiting: `waiting for the GPU, 2 before you`."""
    return f"waiting for the GPU, {before} before you"


def default_folder(uuid: str) -> Path:
    """Where all users of this machine meet; the GPU's UUID keeps several GPUs apart."""
    return _MEETING_PLACE / f"matmul-grader-{uuid}"


class GpuLock:
    """Holds a GPU from `acquire` to `release`; `on_wait` gets a message when the queue moves."""

    def __init__(self, folder: Path, on_wait: Callable[[str], None] = lambda message: None) -> None:
        self._folder = folder
        self._on_wait = on_wait
        self._mutex: int | None = None
        self._ticket: tuple[int, Path] | None = None

    def acquire(self) -> None:
        """Wait until every earlier ticket is gone and the lock is ours."""
        if self._mutex is not None:
            return
        try:
            _make_shared(self._folder)
            self._ticket = _draw_ticket(self._folder)
            self._mutex = self._wait(_open_shared(self._folder / "lock"))
        except OSError as error:
            self.release()
            raise GraderFault(
                f"cannot lock the GPU in {self._folder}: {error.strerror}. "
                f"{NOT_YOURS} Next: remove that folder"
            ) from None
        except BaseException:  # Ctrl-C while waiting: leave the queue
            self.release()
            raise

    def release(self) -> None:
        """Give the GPU to the next one; may be called twice."""
        if self._ticket is not None:
            descriptor, path = self._ticket
            path.unlink(missing_ok=True)
            os.close(descriptor)
            self._ticket = None
        if self._mutex is not None:
            os.close(self._mutex)
            self._mutex = None

    def __enter__(self) -> GpuLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _wait(self, mutex: int) -> int:
        said, said_at = -1, 0.0
        try:
            while True:
                before = self._before()
                if before == 0 and _try_lock(mutex):
                    return mutex
                before = max(before, 1)  # a holder that drew its ticket after ours
                if before != said or time.monotonic() - said_at > _REPEAT_S:
                    self._on_wait(waiting_message(before))
                    said, said_at = before, time.monotonic()
                time.sleep(_POLL_S)
        except BaseException:
            os.close(mutex)
            raise

    def _before(self) -> int:
        """How many living tickets are older than ours; those of the dead are removed."""
        assert self._ticket is not None
        mine = self._ticket[1].name
        tickets = [path for path in self._folder.glob("ticket-*") if path.name < mine]
        return sum(_alive(path) for path in tickets)


def _draw_ticket(folder: Path) -> tuple[int, Path]:
    """A locked file whose name sorts by time; renamed into place once it is locked.

    The time since the machine started: the clock on the wall may be set back.
    """
    name = f"{time.monotonic_ns():020d}-{os.getpid():010d}-{os.urandom(4).hex()}"
    hidden = folder / f"new-{name}"
    descriptor = _create_shared(hidden)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    ticket = folder / f"ticket-{name}"
    hidden.rename(ticket)
    return descriptor, ticket


def _alive(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        if not _try_lock(descriptor):
            return True
        path.unlink(missing_ok=True)
        return False
    except PermissionError:  # another user's leftover: we may not remove it, it does not count
        return False
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_shared(folder: Path) -> None:
    """Sticky and open to all, as /tmp is: several users may share the GPU."""
    try:
        folder.mkdir(parents=True)
        folder.chmod(0o1777)
    except FileExistsError:
        pass


def _open_shared(path: Path) -> int:
    """Open a file that another user may have made.

    Without O_CREAT: Linux refuses that flag for other users' files in sticky folders.
    """
    try:
        return os.open(path, os.O_RDWR)
    except FileNotFoundError:
        pass
    try:
        return _create_shared(path)
    except FileExistsError:  # somebody else made it in between
        return os.open(path, os.O_RDWR)


def _create_shared(path: Path) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
    os.fchmod(descriptor, 0o666)  # whatever the umask says
    return descriptor
