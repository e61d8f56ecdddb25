"""A producer that goes on whatever happens to its broker."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pulsar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

_STEP_SECONDS = 0.1
_TIMEOUT_MS = 10_000
_END_SECONDS = 60


class Producing:
    """Sends numbers at a steady rate to all partitions of a topic, in a thread of its own.

    Attributes:
        acknowledged: Messages that the broker has.
        failed: Messages that were given up. The broker may have them.
    """

    def __init__(self, connect: Callable[[], pulsar.Client], topic: str, rate: int) -> None:
        self._connect, self._topic, self._rate = connect, topic, rate
        self.acknowledged = self.failed = 0
        self._sent = 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Producing:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End when all that was sent is acknowledged or given up."""
        self._ending.set()
        self._thread.join(_END_SECONDS)

    def _run(self) -> None:
        """A client and a producer until one of its messages fails; neither is waited for after that."""
        while not self._ending.is_set():
            client = self._connect()
            with suppress(pulsar.PulsarException):  # the broker is away
                self._send_until_it_fails(client)

    def _send_until_it_fails(self, client: pulsar.Client) -> None:
        producer = client.create_producer(
            self._topic, block_if_queue_full=False, send_timeout_millis=_TIMEOUT_MS, batching_enabled=True
        )
        failed = self.failed
        while not self._ending.wait(_STEP_SECONDS):
            if failed != self.failed:
                return
            for _ in range(round(self._rate * _STEP_SECONDS)):
                producer.send_async(b"%d %d" % (self._sent, time.time_ns()), self._on_sent)
                self._sent += 1
        producer.flush()
        client.close()

    def _on_sent(self, result: pulsar.Result, _: pulsar.MessageId) -> None:
        if result == pulsar.Result.Ok:
            self.acknowledged += 1
        else:
            self.failed += 1
