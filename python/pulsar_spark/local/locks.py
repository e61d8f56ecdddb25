"""Locks on files, which the kernel releases when their holders end.

The package `filelock` has no lock that a child process inherits, and a server keeps the lock on its data folder for as
long as it lives, also when the process that started it has ended.
"""

from __future__ import annotations

import fcntl
import time
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_POLL_SECONDS = 0.02
_PATIENCE_SECONDS = 1.0


class InUseError(RuntimeError):
    """A file lock or a port belongs to another process."""


class FileLock:
    """An exclusive lock on a file; the kernel drops it when the last process that holds it ends, however it ends."""

    def __init__(self, path: Path, *, patience_seconds: float = _PATIENCE_SECONDS) -> None:
        """Take the lock, waiting at most ``patience_seconds``.

        Raises:
            InUseError: Another process holds it.
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
        """The descriptor to hand to a child process, which then holds the lock as well."""
        return self._file.fileno()

    def close(self) -> None:
        """Let go of the lock; children that were given the descriptor keep it."""
        self._file.close()

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _try_lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether some process holds the lock on ``path``."""
    try:
        with path.open("rb") as file:
            return not _try_lock(file)
    except FileNotFoundError:
        return False
