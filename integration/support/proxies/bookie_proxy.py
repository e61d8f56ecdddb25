"""A proxy of a bookie that counts connections and requests, delays them, or cuts connections."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from support.proxies.counting import Passed
from support.proxies.relay import Connection, Relay, listening

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

# Operations of version 2 of the bookies' protocol; requests of other versions count as OTHER.
_OPERATIONS = {1: "ADD_ENTRY", 2: "READ_ENTRY", 3: "AUTH", 4: "READ_LAC", 5: "WRITE_LAC", 6: "GET_BOOKIE_INFO"}
_OPERATIONS[7] = "BATCH_READ_ENTRY"
_VERSION = 2


class BookieProxy(Relay[Connection]):
    """Forwards frames between readers and a bookie.

    Attributes:
        addresses: The value of ``bookieAddresses`` that routes the bookie through this proxy.
    """

    def __init__(self, bookie_id: str, listening: socket.socket) -> None:
        host, _, port = bookie_id.rpartition(":")
        super().__init__((host, int(port)), listening, Connection)
        self.addresses = f"{bookie_id}=127.0.0.1:{self.port}"

    def connected(self, connection: Connection) -> None:
        self.report(Passed("CONNECTION", 0, "bookie", connection))

    def passed(self, connection: Connection, frame: bytes, is_answer: bool) -> bytes | None:
        kind = _OPERATIONS.get(frame[1], "OTHER") if frame[0] == _VERSION else "OTHER"
        self.report(Passed(kind, len(frame), "bookie", connection, is_answer))
        return frame


@contextmanager
def running_bookie_proxy(bookie_id: str) -> Iterator[BookieProxy]:
    """A proxy of the bookie with this id, ``host:port``, in the metadata of ledgers."""
    with listening() as port:
        proxy = BookieProxy(bookie_id, port)
        with proxy.running():
            yield proxy
