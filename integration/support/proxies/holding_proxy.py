"""A proxy of a broker that holds commands back, or cuts connections in place of an acknowledgement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.proxies.broker_proxy import BrokerProxy
from support.proxies.commands import Command, with_size

if TYPE_CHECKING:
    import socket


class HoldingProxy(BrokerProxy):
    """Holds every command of a kind, or cuts all connections in place of an acknowledgement.

    Attributes:
        held: The kind of the commands that are held.
        connections: How many clients have made.
        cut_at: The number of the acknowledgement of a message that is dropped with all connections; 0 for none.
    """

    held = ""
    cut_at = 0

    def __init__(self, broker_url: str, listening: socket.socket) -> None:
        super().__init__(broker_url, listening)
        self.connections = 0
        self._kept: list[tuple[Any, bytes]] = []

    @property
    def has_held(self) -> bool:
        """Whether a command was held."""
        return bool(self._kept)

    def connected(self, connection: Any) -> None:  # noqa: ANN401
        super().connected(connection)
        self.connections += 1

    def deliver(self) -> None:
        """Pass on what was held, to the server of each connection."""
        for connection, frame in self._kept:
            connection.server.sendall(with_size(frame))

    def passed(self, connection: Any, frame: bytes, is_answer: bool) -> bytes | None:  # noqa: ANN401
        kind = Command.of(frame).kind
        if kind == "SEND_RECEIPT" and self.cut_at:
            self.cut_at -= 1
            if not self.cut_at:
                self.cut()
                return None
        if kind == self.held:
            self._kept.append((connection, frame))
            return None
        return super().passed(connection, frame, is_answer)
