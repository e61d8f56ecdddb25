"""Exclusive locks on files.

A server inherits the lock on its data folder and holds it until its end, also after the process that started it has
ended. The package `filelock` has no public API for that.
"""

from __future__ import annotations

import time
from typing import IO, TYPE_CHECKING

from pulsar_spark.local.errors import ServerUnavailableError

try:
    import fcntl
except ImportError:  # Windows; the rest of the package works there
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from pathlib import Path

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 1.0


class InUseError(RuntimeError):
    """Another process holds a file lock or a port."""


class FileLock:
    """An exclusive lock on a file. The kernel releases it when the last process that holds it ends."""

    def __init__(self, path: Path, *, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        """Acquire the lock; waits at most ``patience_seconds``.

        Raises:
            InUseError: Another process holds it.
            ServerUnavailableError: This system has no such locks.
        """
        self.path = path
        self._file: IO[bytes] = path.open("ab")
        deadline = time.monotonic() + patience_seconds
        while not _try_lock(self._file):
            if time.monotonic() > deadline:
                self._file.close()
                raise InUseError(f"{path} is locked by another process")
            time.sleep(_POLL_SECONDS)

    def fileno(self) -> int:
        """The descriptor to pass to a child process, which then holds the lock as well."""
        return self._file.fileno()

    def close(self) -> None:
        """Release the lock; child processes with the descriptor keep it."""
        self._file.close()

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _try_lock(file: IO[bytes]) -> bool:
    if fcntl is None:
        raise ServerUnavailableError("A local Pulsar needs Linux or macOS: this Python has no module `fcntl`.")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """True if a process holds the lock on ``path``."""
    try:
        with path.open("rb") as file:
            return not _try_lock(file)
    except FileNotFoundError:
        return False
