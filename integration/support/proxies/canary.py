"""A listener that nobody should call: it counts connections and bytes."""

from __future__ import annotations

import socket
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


class Canary:
    """A listening port of this machine.

    Attributes:
        address: Host and port.
        connections: How many there were.
        received: All that was sent to it.
    """

    def __init__(self, listening: socket.socket) -> None:
        self.port = int(listening.getsockname()[1])
        self.address = f"{listening.getsockname()[0]}:{self.port}"
        self.connections = 0
        self.received = b""
        self._lock = threading.Lock()
        self._listening = listening

    def accept(self) -> None:
        """Accept connections until the listener is closed."""
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
            threading.Thread(target=self._read, args=(connection,), daemon=True).start()

    def _read(self, connection: socket.socket) -> None:
        with connection, suppress(OSError):  # the other side may break the connection
            while sent := connection.recv(65536):
                with self._lock:
                    self.received += sent


@contextmanager
def running_canary(host: str = "127.0.0.1") -> Iterator[Canary]:
    """A canary that listens until the end."""
    with socket.create_server((host, 0)) as listening:
        canary = Canary(listening)
        threading.Thread(target=canary.accept, daemon=True).start()
        try:
            yield canary
        finally:
            with suppress(OSError):  # wakes the thread
                listening.shutdown(socket.SHUT_RDWR)
