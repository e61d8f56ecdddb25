"""Writing and reading messages with the official Python client, which is the oracle on both sides of Spark."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pulsar

from support.topics.remaining import remaining

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

_SECONDS = 180
_READINGS = 5
_WITHOUT_BATCH_LIMIT_BYTES = 4 * 1024 * 1024
_NEVER_BY_TIME_MS = 3_600_000


@dataclass(frozen=True, order=True)
class Id:
    """Where a message is; ``batch`` is -1 for a message that was sent without a batch."""

    ledger: int
    entry: int
    batch: int
    partition: int = -1

    @classmethod
    def of(cls, message_id: pulsar.MessageId) -> Id:
        return cls(message_id.ledger_id(), message_id.entry_id(), message_id.batch_index(), message_id.partition())

    @property
    def position(self) -> str:
        """The text form ``ledger:entry:batch``, ``ledger:entry`` for a message that was sent without a batch."""
        return f"{self.ledger}:{self.entry}" + (f":{self.batch}" if self.batch >= 0 else "")


@dataclass(frozen=True)
class Message:
    """What a test sends; times are milliseconds since the epoch, 0 is no event time."""

    payload: Any
    key: str | None = None
    event_time_ms: int = 0
    properties: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Received:
    """What the official client reads."""

    id: Id
    id_bytes: bytes
    topic: str
    payload: bytes
    key: str
    properties: Mapping[str, str]
    event_time_ms: int
    publish_time_ms: int
    is_null: bool
    producer: str


@contextmanager
def connected(service_url: str, folder: Path, *, seconds: int = 180) -> Iterator[pulsar.Client]:
    """A client of its own for a server that may fail; it logs to a file."""
    logger = pulsar.FileLogger(pulsar.LoggerLevel.Error, str(folder / "client.log"))
    with closing(pulsar.Client(service_url, logger=logger, operation_timeout_seconds=seconds)) as client:
        yield client


def produce(
    client: pulsar.Client,
    topic: str,
    messages: Iterable[Message | bytes],
    *,
    batch_size: int | None = None,
    compression: str = "NONE",
    schema: pulsar.schema.Schema | None = None,
    **producer_options: object,
) -> list[Id]:
    """Send the messages and return their ids in the same order, when the broker has all of them.

    Args:
        client: The client to send with.
        topic: Its full name.
        messages: What to send; a payload alone stands for a message with nothing else.
        batch_size: Every batch holds exactly so many messages of a partition, the last one the rest; None sends each
            message by itself.
        compression: ``NONE``, ``LZ4``, ``ZLib``, ``ZSTD`` or ``SNAPPY``.
        schema: A schema of the client; payloads are then its values.
        producer_options: Further arguments of ``create_producer``.
    """
    options: dict[str, Any] = {
        "compression_type": pulsar.CompressionType.__members__[compression],
        "send_timeout_millis": int(_SECONDS * 1000),
        **producer_options,
    }
    if batch_size == 1:
        # The client does not take 1 as the limit of a batch, so every message is flushed by itself.
        options |= {"batching_enabled": True, "batching_max_publish_delay_ms": _NEVER_BY_TIME_MS}
    elif batch_size is not None:
        # Only the number of messages and the flush at the end may close a batch.
        options |= {"batching_enabled": True, "batching_max_messages": batch_size}
        options |= {"batching_max_allowed_size_in_bytes": _WITHOUT_BATCH_LIMIT_BYTES}
        options |= {"batching_max_publish_delay_ms": _NEVER_BY_TIME_MS}
    if schema is not None:
        options["schema"] = schema
    producer = client.create_producer(
        topic, block_if_queue_full=batch_size is None, max_pending_messages=_pending(batch_size), **options
    )
    try:
        return _send_all(producer, messages, flush_each=batch_size == 1)
    finally:
        producer.close()


def read_encrypted(client: pulsar.Client, topic: str, private: Path, public: Path, count: int) -> list[bytes]:
    """The first messages of a topic, decrypted with a pair of key files; it fails when one does not arrive in time."""
    keys = pulsar.CryptoKeyReader(str(public), str(private))
    with closing(client.create_reader(topic, pulsar.MessageId.earliest, crypto_key_reader=keys)) as reader:
        return [reader.read_next(timeout_millis=int(_SECONDS * 1000)).data() for _ in range(count)]


def _pending(batch_size: int | None) -> int:
    # A batch that waits for more messages must never meet a full queue.
    return 0 if batch_size is not None else 1000


def _send_all(producer: pulsar.Producer, messages: Iterable[Message | bytes], *, flush_each: bool) -> list[Id]:
    sent: dict[int, Id] = {}
    failed: list[str] = []
    count = 0
    done = threading.Semaphore(0)

    def on_sent(index: int, result: pulsar.Result, message_id: pulsar.MessageId) -> None:
        if result == pulsar.Result.Ok:
            sent[index] = Id.of(message_id)
        else:
            failed.append(f"message {index}: {result}")
        done.release()

    for index, item in enumerate(messages):
        message = item if isinstance(item, Message) else Message(item)
        producer.send_async(
            message.payload,
            lambda result, message_id, index=index: on_sent(index, result, message_id),
            properties=dict(message.properties) or None,
            partition_key=message.key,
            event_timestamp=message.event_time_ms or None,
        )
        count = index + 1
        if flush_each:
            producer.flush()
    producer.flush()
    for _ in range(count):
        if not done.acquire(timeout=_SECONDS):
            raise TimeoutError(f"only {len(sent)} of {count} messages were acknowledged within {_SECONDS:g} s")
    if failed:
        raise RuntimeError(f"{len(failed)} of {count} messages were not sent: {failed[0]}")
    return [sent[index] for index in range(count)]


def read_all(client: pulsar.Client, topic: str) -> list[Received]:
    """Read every message of the topic from its first to the one that is last now, partition by partition in order."""
    return [
        message for partition in client.get_topic_partitions(topic) for message in _read_partition(client, partition)
    ]


def read_growing(client: pulsar.Client, partition: str) -> list[Received]:
    """Read a partition that is written meanwhile up to any message."""
    return _read_partition(client, partition, is_growing=True)


def _read_partition(client: pulsar.Client, partition: str, *, is_growing: bool = False) -> list[Received]:
    """What two readers in a row agree on: after an unload, under load, one was seen to leave messages out."""
    first = _read_once(client, partition)
    for _ in range(_READINGS):
        second = _read_once(client, partition)
        ids = [message.id for message in second]
        if [message.id for message in first] == (ids[: len(first)] if is_growing else ids):
            return first
        first = second
    raise AssertionError(f"the official client read {partition} differently each of {_READINGS} times")


def _read_once(client: pulsar.Client, partition: str) -> list[Received]:
    reader = client.create_reader(partition, pulsar.MessageId.earliest)
    try:
        return [_received(message) for message in remaining(reader)]
    finally:
        reader.close()


def _received(message: pulsar.Message) -> Received:
    return Received(
        id=Id.of(message.message_id()),
        id_bytes=message.message_id().serialize(),
        topic=message.topic_name(),
        payload=message.data(),
        key=message.partition_key(),
        properties=message.properties(),
        event_time_ms=message.event_timestamp(),
        publish_time_ms=message.publish_timestamp(),
        is_null=message.has_null_value(),
        producer=message.producer_name(),
    )
