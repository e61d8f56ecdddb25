"""A producer that counts, with keys, and goes on whatever happens to its broker."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pulsar
from nemesis.history import Row

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

KEYS = 20

_STEP_SECONDS = 0.1
_TIMEOUT_MS = 20_000
_END_SECONDS = 90


class Writer:
    """Sends numbers at a steady rate, each once: what fails is not sent again, and the broker may have it.

    Attributes:
        acknowledged: What the broker has, in the order of its answers.
        failed: How many messages were given up.
    """

    def __init__(self, connect: Callable[[], pulsar.Client], topic: str, rate: int) -> None:
        self._connect, self._topic, self._rate = connect, topic, rate
        self.acknowledged: list[Row] = []
        self.failed = self._sent = 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End when all that was sent is acknowledged or given up."""
        self._ending.set()
        self._thread.join(_END_SECONDS)
        assert not self._thread.is_alive(), "the writer does not end"

    def _run(self) -> None:
        while not self._ending.is_set():
            client = self._connect()
            with suppress(pulsar.PulsarException):  # the broker is away
                self._send_until_it_fails(client)
            with suppress(pulsar.PulsarException):
                client.close()

    def _send_until_it_fails(self, client: pulsar.Client) -> None:
        producer = client.create_producer(
            self._topic,
            block_if_queue_full=False,
            max_pending_messages=100_000,
            send_timeout_millis=_TIMEOUT_MS,
            batching_enabled=True,
            batching_type=pulsar.BatchingType.KeyBased,
        )
        failed = self.failed
        while not self._ending.wait(_STEP_SECONDS) and failed == self.failed:
            for _ in range(max(1, round(self._rate * _STEP_SECONDS))):
                row = Row(f"k{self._sent % KEYS}", self._sent)
                self._sent += 1
                producer.send_async(payload(row), self._answer(row), partition_key=row.key)
        producer.flush()

    def _answer(self, row: Row) -> Callable[[pulsar.Result, pulsar.MessageId], None]:
        def answered(result: pulsar.Result, _: pulsar.MessageId) -> None:
            if result == pulsar.Result.Ok:
                self.acknowledged.append(row)
            else:
                self.failed += 1

        return answered


def payload(row: Row) -> bytes:
    """A message's bytes: what it is, and when it was sent."""
    return f"{row.key} {row.number} {time.time_ns()}".encode()


def row_of(payload: bytes) -> Row:
    """The message of these bytes; one that nobody sent, for others."""
    parts = payload.decode(errors="replace").split(" ")
    return Row(parts[0], int(parts[1])) if len(parts) == 3 and parts[1].isdigit() else Row(repr(payload), -1)
