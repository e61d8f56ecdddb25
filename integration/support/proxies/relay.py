"""Something between clients and a server that passes frames on, and looks at each of them."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING, Generic, TypeAlias, TypeVar

from support.proxies.commands import read_frame, with_size
from support.proxies.counting import Link, Tap

if TYPE_CHECKING:
    from collections.abc import Iterator

_BACKLOG = 100
# Frames after which a connection may be cut repeatedly: a client has connected, looked a topic up and gone on with it.
_GONE_ON = 20
_Queue: TypeAlias = "SimpleQueue[tuple[float, bytes] | None]"


@dataclass(eq=False, kw_only=True)
class Connection(Link):
    """A client's connection and the one to the server that belongs to it; counts the frames that came over them."""

    client: socket.socket
    server: socket.socket
    frames: int = 0

    def cut(self) -> None:
        for side in (self.client, self.server):
            with suppress(OSError):  # it is closed already
                side.shutdown(socket.SHUT_RDWR)
            side.close()


C = TypeVar("C", bound=Connection)


class Relay(Tap, Generic[C]):
    """Passes frames on, each of which begins with its size; a subclass looks into them.

    Attributes:
        delay_seconds: How long each frame is kept back, in both directions. Frames stay in order and do not wait for
            each other, as on a long line.
    """

    def __init__(self, server: tuple[str, int], listening: socket.socket, kind: type[C]) -> None:
        super().__init__()
        self.delay_seconds = 0.0
        self._most_frames, self._cuts = sys.maxsize, list[int]()
        self.port = int(listening.getsockname()[1])
        self._server = server
        self._listening = listening
        self._kind = kind
        self._connections: set[C] = set()
        self._is_down = threading.Event()
        self._lock = threading.Lock()

    def connected(self, connection: C) -> None:
        """Called once for each connection."""

    def passed(self, connection: C, frame: bytes, is_answer: bool) -> bytes | None:
        """What is passed on instead of a frame, both without their size; None to lose it."""
        raise NotImplementedError

    def cut(self, *, frames: int = 0) -> int:
        """Close every connection over which so many frames came; say how many there were."""
        with self._lock:
            cut = [one for one in self._connections if one.frames >= frames]
            self._connections.difference_update(cut)  # one that is still there at the next cut would count again
        for connection in cut:
            connection.cut()
        return len(cut)

    @contextmanager
    def down(self) -> Iterator[None]:
        """Cut all connections, and let no new one live inside."""
        self._is_down.set()
        self.cut()
        try:
            yield
        finally:
            self._is_down.clear()

    @contextmanager
    def cutting(self, seconds: float) -> Iterator[list[int]]:
        """Cut connections repeatedly at this interval; yields the number of connections of each cut.

        On a busy machine a client may need longer to connect and go on: it is not cut before that.
        """
        cuts: list[int] = []
        over = threading.Event()

        def cut() -> None:
            while not over.wait(seconds):
                cuts.append(self.cut(frames=_GONE_ON))

        thread = threading.Thread(target=cut, daemon=True)
        thread.start()
        try:
            yield cuts
        finally:
            over.set()
            thread.join()

    @contextmanager
    def cutting_after(self, frames: int) -> Iterator[list[int]]:
        """Cut each connection when so many frames came over it; yields the number of connections of each cut.

        What a client does inside is cut as often on a fast machine as on a slow one. It never ends if the client has
        more frames than this on their way, as it begins with them again each time.
        """
        self._cuts, self._most_frames = [], frames
        try:
            yield self._cuts
        finally:
            self._most_frames = sys.maxsize

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listening.accept()
            except OSError:
                return  # closed
            if self._is_down.is_set():
                client.close()
                continue
            try:
                server = socket.create_connection(self._server)
            except OSError:  # the server is not there, which a client sees by itself
                client.close()
                continue
            for side in (client, server):  # small frames would wait for acknowledgements of others, 40 ms
                side.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection = self._kind(client=client, server=server)
            with self._lock:
                self._connections.add(connection)
            if self._is_down.is_set():  # since a moment ago
                self.cut()
                continue
            self.connected(connection)
            for is_answer in (False, True):
                frames: _Queue = SimpleQueue()
                threading.Thread(target=self._take, args=(connection, is_answer, frames), daemon=True).start()
                threading.Thread(target=self._give, args=(connection, is_answer, frames), daemon=True).start()

    def _take(self, connection: C, is_answer: bool, frames: _Queue) -> None:
        source = connection.server if is_answer else connection.client
        with suppress(OSError), source.makefile("rb") as stream:
            while (frame := read_frame(stream)) is not None:
                connection.frames += 1
                if connection.frames >= (most := self._most_frames):
                    self._cuts.append(self.cut(frames=most))
                kept = self.passed(connection, frame, is_answer)
                if kept is not None:
                    frames.put((time.monotonic() + self.delay_seconds, kept))
        frames.put(None)

    def _give(self, connection: C, is_answer: bool, frames: _Queue) -> None:
        target = connection.client if is_answer else connection.server
        with suppress(OSError):
            while (item := frames.get()) is not None:
                due, frame = item
                time.sleep(max(0.0, due - time.monotonic()))
                target.sendall(with_size(frame))
        connection.cut()
        with self._lock:
            self._connections.discard(connection)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Take connections inside."""
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            # A socket that is closed alone would go on waiting in `accept`.
            self._listening.shutdown(socket.SHUT_RDWR)
            thread.join()
            self.cut()


@contextmanager
def listening() -> Iterator[socket.socket]:
    """A port of this machine."""
    with socket.create_server(("127.0.0.1", 0), backlog=_BACKLOG) as made:
        yield made
