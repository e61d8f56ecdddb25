"""Free ports of the local machine, each for one server at a time."""

from __future__ import annotations

import errno
import os
import socket
import tempfile
from contextlib import ExitStack, closing
from pathlib import Path

from pulsar_spark.local.locks import FileLock, InUseError

# Below the ranges from which operating systems take the ports of outgoing connections.
_FIRST_PORT, _LAST_PORT = 20_000, 32_000


class Port:
    """A free TCP port of 127.0.0.1, reserved against other users of this class on the machine until `close`."""

    def __init__(self, number: int, lock: FileLock) -> None:
        """Use `reserve` instead."""
        self.number = number
        self._lock = lock

    @classmethod
    def reserve(cls, number: int | None = None, *, preferred: int | None = None) -> Port:
        """Reserve ``number``, or by default ``preferred`` if that is free, else any free port.

        Raises:
            InUseError: ``number`` is in use.
        """
        if number is not None:
            port = cls._try(number)
            if port is None:
                raise InUseError(f"port {number} is in use by another process")
            return port
        span = _LAST_PORT - _FIRST_PORT
        # Processes start at different ports, so that they seldom compete for one.
        start = os.getpid() * 31 % span
        candidates = [preferred] if preferred is not None else []
        candidates += [_FIRST_PORT + (start + step) % span for step in range(span)]
        for candidate in candidates:
            port = cls._try(candidate)
            if port is not None:
                return port
        raise InUseError(f"no free port on 127.0.0.1 between {_FIRST_PORT} and {_LAST_PORT}")

    @classmethod
    def reserve_all(cls, *numbers: int | None) -> tuple[Port, ...]:
        """Reserve several as `reserve` does, all of them or none."""
        with ExitStack() as stack:
            ports = tuple(stack.enter_context(closing(cls.reserve(number))) for number in numbers)
            stack.pop_all()
        return ports

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
        """Release the port."""
        self._lock.close()


def is_port_free(number: int) -> bool:
    """True if a server can listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError as error:
            if error.errno in (errno.EADDRINUSE, errno.EACCES):
                return False
            raise
    return True
