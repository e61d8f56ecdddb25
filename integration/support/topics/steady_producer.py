"""A producer that counts at a steady rate, and goes on whatever happens to its broker."""

from __future__ import annotations

import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pulsar

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from support.topics.messages import Message

_STEP_SECONDS = 0.1
_TIMEOUT_MS = 20_000
_END_SECONDS = 90


class SteadyProducer:
    """Sends a message for each number in a thread of its own, each once: what fails is not sent again.

    Attributes:
        acknowledged: The numbers that brokers have, in the order of their answers.
        failed: How many messages were given up. The broker may have them.
    """

    def __init__(
        self,
        connect: Callable[[], pulsar.Client],
        topic: str,
        rate: int,
        message: Callable[[int], Message],
        **options: Any,  # noqa: ANN401
    ) -> None:
        """Prepare to send.

        Args:
            connect: Makes a client.
            topic: Its full name.
            rate: Messages per second.
            message: The message of a number.
            options: Further arguments of ``create_producer``.
        """
        self._connect, self._topic, self._rate, self._message = connect, topic, rate, message
        self._options = options
        self.acknowledged: list[int] = []
        self.failed = self._sent = 0
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> SteadyProducer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End when all that was sent is acknowledged or given up."""
        self._ending.set()
        self._thread.join(_END_SECONDS)
        assert not self._thread.is_alive(), "the producer does not end"

    def _run(self) -> None:
        """A client and a producer until one of its messages fails."""
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
            **self._options,
        )
        failed = self.failed
        while not self._ending.wait(_STEP_SECONDS) and failed == self.failed:
            for _ in range(max(1, round(self._rate * _STEP_SECONDS))):
                message = self._message(self._sent)
                producer.send_async(message.payload, self._answer(self._sent), partition_key=message.key)
                self._sent += 1
        producer.flush()

    def _answer(self, number: int) -> Callable[[pulsar.Result, pulsar.MessageId], None]:
        def answered(result: pulsar.Result, _: pulsar.MessageId) -> None:
            if result == pulsar.Result.Ok:
                self.acknowledged.append(number)
            else:
                self.failed += 1

        return answered
