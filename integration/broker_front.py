"""A broker that leaves a question unanswered."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from pulsar_spark._process import Port
from pulsar_spark.local import LocalPulsar

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

# BaseCommand.Type.GET_LAST_MESSAGE_ID_RESPONSE of Pulsar's protocol (PulsarApi.proto).
LAST_MESSAGE_ID = 30

_LISTENER = "front"
_SIZE = struct.Struct(">I")
_TYPE_FIELD = 0x08


class Front:
    """Passes on what clients and a broker say to each other, all but an answer that it is told to lose."""

    def __init__(self, server: LocalPulsar, port: int) -> None:
        self.server = server
        self.options = {"service.url": f"pulsar://127.0.0.1:{port}", "pulsar.client.listenerName": _LISTENER}
        self.has_lost = False
        self._kind: int | None = None
        self._lock = threading.Lock()

    def lose(self, kind: int) -> None:
        """Lose the next answer of a kind."""
        with self._lock:
            self._kind, self.has_lost = kind, False

    def serve(self, listening: socket.socket) -> None:
        """Take connections until the socket is closed."""
        broker = int(self.server.service_url.rpartition(":")[2])
        while True:
            try:
                client, _ = listening.accept()
            except OSError:
                return
            server = socket.create_connection(("127.0.0.1", broker))
            threading.Thread(target=self._pass_on, args=(client, server, False), daemon=True).start()
            threading.Thread(target=self._pass_on, args=(server, client, True), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, answers: bool) -> None:
        with source.makefile("rb") as frames, closing(target):
            try:
                while len(size := frames.read(_SIZE.size)) == _SIZE.size:
                    frame = frames.read(*_SIZE.unpack(size))
                    if not (answers and self._is_lost(frame)):
                        target.sendall(size + frame)
            except OSError:
                return  # either side is gone

    def _is_lost(self, frame: bytes) -> bool:
        """A frame begins with the size of its command, a command with its kind."""
        with self._lock:
            if self._kind is None or frame[4:6] != bytes((_TYPE_FIELD, self._kind)):
                return False
            self._kind, self.has_lost = None, True
            return True


@contextmanager
def running_front(folder: Path) -> Iterator[Front]:
    """A server of its own with a front, which only clients use that name its listener."""
    with closing(Port.reserve()) as reserved:
        broker_port = reserved.number
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        addresses = f"internal:pulsar://127.0.0.1:{broker_port},{_LISTENER}:pulsar://127.0.0.1:{port}"
        config = {"advertisedListeners": addresses, "internalListenerName": "internal"}
        with LocalPulsar(data_dir=folder / "pulsar", broker_port=broker_port, config=config) as server:
            front = Front(server, port)
            threading.Thread(target=front.serve, args=(listening,), daemon=True).start()
            yield front
