"""Server processes that never outlive their owner, which `supervisor` ensures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pulsar_spark.local.locks import FileLock, is_locked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_SUPERVISOR = Path(__file__).with_name("supervisor.py")
_POLL_SECONDS = 0.02
_KILL_SECONDS = 30.0


@dataclass(frozen=True)
class ServerProcess:
    """A running server. It holds the lock on ``lock_file`` until its end, so other processes can see that it runs.

    Attributes:
        pid: The process id of the server itself.
        lock_file: The lock that the server inherited.
        child: The child process: the supervisor, the server, or None if another process started it.
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
        """Start a server that ends with this process, also after SIGKILL; any thread may call this.

        Args:
            command: The server's command line.
            folder: Its working directory.
            log: The file for its output, which is appended.
            lock: The lock that it inherits.
            discard: Whether the supervisor removes ``folder`` if it ends the server itself.
            environment: Environment variables in addition to those of this process.
        """
        script = [sys.executable, "-I", "-S", str(_SUPERVISOR), "--owner", str(os.getpid()), "--log", str(log)]
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
                # Ctrl-C at the terminal must not reach the server before its owner stops it.
                start_new_session=True,
            )
        assert child.stdout is not None
        with child.stdout:
            line = child.stdout.readline()
        if not line:
            raise OSError(f"the supervisor of {command[0]} ended with code {child.wait()}; see {log}")
        return cls(int(line), lock.path, child)

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
        """Start a server that continues after this process ends; arguments as in `supervised`."""
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
        """True if the server is running."""
        return self.child.poll() is None if self.child else is_locked(self.lock_file)

    @property
    def exit_code(self) -> int | None:
        """The exit code, 128 + signal after a signal; None if it is running or another process started it."""
        code = self.child.poll() if self.child else None
        return 128 - code if code is not None and code < 0 else code

    def stop(self, grace_seconds: float) -> None:
        """End the server with SIGTERM, after ``grace_seconds`` with SIGKILL. Returns when it has ended."""
        self._signal(signal.SIGTERM)
        if not self._ended_within(grace_seconds):
            self.kill()

    def kill(self) -> None:
        """End the server with SIGKILL. Returns when it has ended."""
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
