"""A relay in front of a bookie that counts connections and can stop responding."""

from __future__ import annotations

import re
import socket
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from support.servers.admin import Admin

_CHUNK = 1 << 16


class BookieRelay:
    """Passes bytes on between clients and a bookie.

    Attributes:
        bookie: The bookie's id, ``host:port``.
        address: Where it is reached through this.
        connections: How many clients have made.
    """

    def __init__(self, bookie: str, listening: socket.socket) -> None:
        self.bookie = bookie
        self.address = f"127.0.0.1:{listening.getsockname()[1]}"
        self.connections = 0
        self._listening = listening
        self._is_silent = threading.Event()

    def fall_silent(self) -> None:
        """Accept connections and requests from now on, but respond to none."""
        self._is_silent.set()

    def serve(self) -> None:
        """Take connections until the socket is closed."""
        host, _, port = self.bookie.rpartition(":")
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.create_connection((host, int(port)))
            for source, target in ((client, server), (server, client)):
                threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with closing(target):
            try:
                while data := source.recv(_CHUNK):
                    if not self._is_silent.is_set():
                        target.sendall(data)
            except OSError:
                return  # either side is gone


def bookie_of(admin: Admin, topic: str) -> str:
    """The bookie that has the first ledger of a topic."""
    ensemble = re.search(r"ensembles=\{0=\[([^\],]+)", admin.internal_stats(topic)["ledgers"][0]["metadata"])
    assert ensemble is not None
    return ensemble[1]


@contextmanager
def running_bookie_relay(bookie: str) -> Iterator[BookieRelay]:
    """Serve the bookie of this id at another address."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        relay = BookieRelay(bookie, listening)
        threading.Thread(target=relay.serve, daemon=True).start()
        yield relay
