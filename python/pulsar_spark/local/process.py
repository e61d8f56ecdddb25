"""Server processes that never outlive their owner, and the locks and ports they hold.

Started as a script this file is the supervisor: it runs one command and ends it as soon as the owning process is gone;
should the supervisor itself be killed, the Linux kernel ends the command. The owner cannot ask the kernel for that
itself: "signal me when my parent dies" fires when the parent *thread* ends, so a server started from a helper thread
would die with that thread. The supervisor imports the standard library only.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_POLL_SECONDS = 0.02
_OWNER_CHECK_SECONDS = 0.2
_ORPHAN_GRACE_SECONDS = 5.0
_KILL_SECONDS = 30.0
_LOCK_PATIENCE_SECONDS = 1.0
_PR_SET_PDEATHSIG = 1

# Below the ranges from which operating systems take the ports of outgoing connections.
_FIRST_PORT, _LAST_PORT = 20_000, 32_000


class InUseError(RuntimeError):
    """A file lock or a port belongs to another process."""


class FileLock:
    """An exclusive lock on a file; the kernel drops it when the last process that holds it ends, however it ends."""

    def __init__(self, path: Path, *, patience_seconds: float = _LOCK_PATIENCE_SECONDS) -> None:
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


class Port:
    """A free TCP port of 127.0.0.1, kept from every other user of this class on the machine until `close`."""

    def __init__(self, number: int, lock: FileLock) -> None:
        """Use `reserve` instead."""
        self.number = number
        self._lock = lock

    @classmethod
    def reserve(cls, number: int | None = None, *, preferred: int | None = None) -> Port:
        """Reserve ``number``; without it ``preferred`` when that is free, else any free port.

        Raises:
            InUseError: ``number`` is taken.
        """
        if number is not None:
            port = cls._try(number)
            if port is None:
                raise InUseError(f"port {number} is in use by another process")
            return port
        span = _LAST_PORT - _FIRST_PORT
        # Processes begin at different places, so that they seldom have to step over each other's ports.
        start = os.getpid() * 31 % span
        candidates = [preferred] if preferred is not None else []
        candidates += [_FIRST_PORT + (start + step) % span for step in range(span)]
        for candidate in candidates:
            port = cls._try(candidate)
            if port is not None:
                return port
        raise InUseError(f"no free port on 127.0.0.1 between {_FIRST_PORT} and {_LAST_PORT}")

    @classmethod
    def _try(cls, number: int) -> Port | None:
        folder = Path(tempfile.gettempdir()) / f"pulsar-spark-ports-{os.getuid()}"
        folder.mkdir(mode=0o700, exist_ok=True)
        try:
            lock = FileLock(folder / str(number), patience_seconds=0)
        except InUseError:
            return None
        if is_port_free(number):
            return cls(number, lock)
        lock.close()
        return None

    def close(self) -> None:
        """Give the port back."""
        self._lock.close()


def is_port_free(number: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True


@dataclass(frozen=True)
class ServerProcess:
    """A running server. Other processes see that it lives by the lock on ``lock_file``, which it holds until its end.

    Attributes:
        pid: The server's own process id.
        lock_file: The lock the server inherited.
        child: What this process waits for: the supervisor, the server itself, or None when another process started it.
    """

    pid: int
    lock_file: Path
    child: subprocess.Popen[bytes] | None = None

    @classmethod
    def supervised(
        cls,
        command: Sequence[str],
        *,
        folder: Path,
        log: Path,
        lock: FileLock,
        discard: bool,
        environment: Mapping[str, str] | None = None,
    ) -> ServerProcess:
        """Start a server that ends when this process ends, also by SIGKILL, whichever thread calls.

        Args:
            command: The server's command line.
            folder: Its working directory.
            log: The file its output is added to.
            lock: The lock it inherits.
            discard: Whether the supervisor removes ``folder`` should it have to end the server itself.
            environment: What it finds in its environment besides ours.
        """
        script = [sys.executable, "-I", "-S", __file__, "--owner", str(os.getpid()), "--log", str(log)]
        script += ["--lock", str(lock.fileno()), *(["--discard", str(folder)] if discard else []), "--", *command]
        with log.open("ab") as output:
            child = subprocess.Popen(
                script,
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                pass_fds=[lock.fileno()],
                # A Ctrl-C at the terminal must not reach the server before its owner has decided to stop it.
                start_new_session=True,
            )
        assert child.stdout is not None
        with child.stdout:
            answer = child.stdout.readline()
        if not answer:
            raise OSError(f"the supervisor of {command[0]} ended with code {child.wait()}; see {log}")
        return cls(int(answer), lock.path, child)

    @classmethod
    def detached(
        cls,
        command: Sequence[str],
        *,
        folder: Path,
        log: Path,
        lock: FileLock,
        environment: Mapping[str, str] | None = None,
    ) -> ServerProcess:
        """Start a server that goes on when this process ends; the arguments are those of `supervised`."""
        with log.open("ab") as output:
            child = subprocess.Popen(
                list(command),
                cwd=folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                pass_fds=[lock.fileno()],
                start_new_session=True,
            )
        return cls(child.pid, lock.path, child)

    @property
    def running(self) -> bool:
        """Whether the server is alive."""
        return self.child.poll() is None if self.child else is_locked(self.lock_file)

    @property
    def exit_code(self) -> int | None:
        """How the server ended, when this process started it and it has ended; 128 + signal when a signal ended it."""
        code = self.child.poll() if self.child else None
        return 128 - code if code is not None and code < 0 else code

    def stop(self, grace_seconds: float) -> None:
        """End the server: ask it to, and after ``grace_seconds`` make it. Returns when it is gone."""
        self._signal(signal.SIGTERM)
        if not self._ended_within(grace_seconds):
            self.kill()

    def kill(self) -> None:
        """End the server at once, as a power cut would. Returns when it is gone."""
        self._signal(signal.SIGKILL)
        if not self._ended_within(_KILL_SECONDS):
            raise OSError(f"process {self.pid} does not end after SIGKILL")

    def _signal(self, number: signal.Signals) -> None:
        if self.running:
            try:
                os.kill(self.pid, number)
            except ProcessLookupError:
                return

    def _ended_within(self, seconds: float) -> bool:
        deadline = time.monotonic() + seconds
        while self.running:
            if time.monotonic() > deadline:
                return False
            time.sleep(_POLL_SECONDS)
        return True


def _supervise(arguments: list[str]) -> int:
    """Run the command until it ends or the owner does; returns the command's exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--owner", type=int, required=True, help="the process whose end ends the command")
    parser.add_argument("--log", type=Path, required=True, help="the file for the command's output")
    parser.add_argument(
        "--lock", type=int, required=True, help="the descriptor of the lock that only the command keeps"
    )
    parser.add_argument("--discard", type=Path, help="the folder to remove when the owner is gone")
    parser.add_argument("command", nargs="+")
    chosen = parser.parse_args(arguments)
    with chosen.log.open("ab") as output:
        server = subprocess.Popen(
            chosen.command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[chosen.lock],
            # Safe here and not in the owner: this process has one thread, and it lives as long as the process.
            preexec_fn=_die_with_parent,
        )
    os.close(chosen.lock)
    os.write(sys.stdout.fileno(), b"%d\n" % server.pid)
    while True:
        try:
            code = server.wait(timeout=_OWNER_CHECK_SECONDS)
            return code if code >= 0 else 128 - code
        except subprocess.TimeoutExpired:
            if os.getppid() != chosen.owner:
                break
    server.terminate()
    try:
        server.wait(timeout=_ORPHAN_GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
    if chosen.discard is not None:
        shutil.rmtree(chosen.discard, ignore_errors=True)
    return 1


def _die_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(_supervise(sys.argv[1:]))
