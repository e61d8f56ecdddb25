"""A proxy of a broker that counts commands, delays or drops them, or cuts connections."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from support.proxies.commands import OF_CONSUMERS, OF_PRODUCERS, Command, with_broker_url
from support.proxies.counting import Passed
from support.proxies.relay import Connection, Relay, listening

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

_PRODUCER = "producer"


@dataclass(eq=False, kw_only=True)
class _Connection(Connection):
    consumers: dict[int, str] = field(default_factory=dict)

    def role(self, command: Command) -> str:
        """Who a command is from or for; remembers who subscribes."""
        if command.kind == "SUBSCRIBE":
            self.consumers[command.consumer] = command.role
            self.roles.add(command.role)
            return command.role
        if command.kind in OF_CONSUMERS:
            return self.consumers.get(command.consumer, "")
        if command.kind == "PRODUCER":
            self.roles.add(_PRODUCER)
        return _PRODUCER if command.kind == "PRODUCER" or command.kind in OF_PRODUCERS else ""


class BrokerProxy(Relay[_Connection]):
    """Forwards commands between clients and a broker, and replaces the broker's address in look-ups.

    Attributes:
        service_url: The address for clients.
        other_url: The address of another broker, which look-ups name where it is set.
        has_lost: Whether the response that `lose` names was dropped.
        is_advertised: Whether brokers name proxies by themselves, so that look-ups are passed on as they are.
    """

    def __init__(self, broker_url: str, listening: socket.socket, *, is_advertised: bool = False) -> None:
        broker = urlsplit(broker_url)
        super().__init__((str(broker.hostname), int(str(broker.port))), listening, _Connection)
        self.service_url = f"pulsar://127.0.0.1:{self.port}"
        self.other_url = ""
        self.is_advertised = is_advertised
        self.has_lost = False
        self._lost_kind = ""
        self._passing = 0

    def lose(self, kind: str, *, after: int = 0) -> None:
        """Drop the next response of a kind, ``after`` as many have passed."""
        with self._lock:
            self._lost_kind, self._passing, self.has_lost = kind, after, False

    def stop_losing(self) -> None:
        """Let responses pass from now on; whether one was lost stays known."""
        with self._lock:
            self._lost_kind = ""

    def passed(self, connection: _Connection, frame: bytes, is_answer: bool) -> bytes | None:
        command = Command.of(frame)
        self.report(Passed(command.kind, len(frame), connection.role(command), connection, is_answer))
        if is_answer and self._is_lost(command.kind):
            return None
        if command.kind != "LOOKUP_RESPONSE" or self.is_advertised:
            return frame
        return with_broker_url(frame, self.other_url or self.service_url, direct=bool(self.other_url))

    def _is_lost(self, kind: str) -> bool:
        with self._lock:
            if kind != self._lost_kind:
                return False
            if self._passing:
                self._passing -= 1
                return False
            self._lost_kind, self.has_lost = "", True
            return True


@contextmanager
def running_broker_proxy(broker_url: str) -> Iterator[BrokerProxy]:
    """A proxy of a broker. Its clients reach the broker through it alone; other clients are not affected."""
    with listening() as port:
        proxy = BrokerProxy(broker_url, port)
        with proxy.running():
            yield proxy
