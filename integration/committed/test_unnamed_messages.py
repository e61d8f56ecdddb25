"""Messages that the broker sends and does not name as the last ones.

A broker that is asked for the last message while transactions end may keep an earlier one, and name that until
something else happens in the topic.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest

from support.spark.waiting import eventually
from support.topics.reading import Batches, batch, read_available, read_rows, running, start, stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.topics.transactions import Sender

# The race is won by one of ten or twenty transactions.
pytestmark = pytest.mark.exhaustive


@contextmanager
def _asking(consumers: list[pulsar_client.Consumer]) -> Iterator[None]:
    """Asks for the last message all the time."""
    over = threading.Event()

    def ask(consumer: pulsar_client.Consumer) -> None:
        while not over.is_set():
            consumer.get_last_message_id()

    threads = [threading.Thread(target=ask, args=(consumer,)) for consumer in consumers]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


@pytest.fixture(scope="module")
def hidden(
    namespace: str, admin: Admin, client: pulsar_client.Client, sender: Sender
) -> Iterator[tuple[str, list[bytes]]]:
    """A topic whose last messages its broker does not name, and all payloads that are committed."""
    topic = f"persistent://{namespace}/hidden"
    admin.create_topic(topic)
    consumers = [client.subscribe(topic, f"asks-{number}") for number in range(3)]
    producer = sender.producer(topic, batch_size=1)
    numbers = (b"%d" % number for number in count())
    sent: list[bytes] = []

    def send(transaction: Any, messages: int) -> tuple[list[bytes], str]:  # noqa: ANN401
        values = [next(numbers) for _ in range(messages)]
        pending = [producer.newMessage(transaction).value(value).sendAsync() for value in values]
        return values, [str(one.join()) for one in pending][-1]

    def is_hidden() -> bool:
        with _asking(consumers):
            aborted, committed = sender.begin(), sender.begin()
            send(aborted, 20)
            values, last = send(committed, 5)
            ends = [aborted.abort(), committed.commit()]
            for end in ends:
                end.join()
        sent.extend(values)
        named = consumers[0].get_last_message_id()
        return (named.ledger_id(), named.entry_id()) < tuple(int(part) for part in last.split(":")[:2])

    eventually(is_hidden, seconds=300)
    yield topic, sent
    producer.close()
    for consumer in consumers:
        consumer.close()


def test_a_batch_reads_them(spark: SparkSession, service_url: str, hidden: tuple[str, list[bytes]]) -> None:
    topic, sent = hidden
    assert [row.payload for row in read_rows(batch(spark, service_url, topic=topic))] == sent


def test_a_batch_of_the_compacted_view_reads_them(
    spark: SparkSession, service_url: str, hidden: tuple[str, list[bytes]]
) -> None:
    topic, sent = hidden
    frame = batch(spark, service_url, topic=topic, readCompacted="true")
    assert [row.payload for row in read_rows(frame)] == sent


def test_a_stream_of_what_is_available_reads_them(
    spark: SparkSession, service_url: str, hidden: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    topic, sent = hidden
    batches = Batches()
    read_available(stream(spark, service_url, topic=topic, startingOffsets="earliest"), tmp_path, batches)
    assert [row.payload for row in batches.rows] == sent


def test_a_stream_reads_them_once_it_stands_still(
    spark: SparkSession, service_url: str, hidden: tuple[str, list[bytes]], tmp_path: Path
) -> None:
    topic, sent = hidden
    batches = Batches()
    frame = stream(spark, service_url, topic=topic, startingOffsets="earliest")
    with running(start(frame, tmp_path, batches)):
        eventually(lambda: len(batches.rows) >= len(sent))
    assert [row.payload for row in batches.rows] == sent
