"""Messages of the Java client, the one in the connector's jar: values of its schema classes, sent and received."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from support.topics.reading import java_client

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import SparkSession


@contextmanager
def java_connection(spark: SparkSession, service_url: str, *, transactions: bool = False) -> Iterator[Any]:
    """A Java client, closed in the background: its threads take two seconds to end."""
    client = java_client(spark).PulsarClient.builder().serviceUrl(service_url).enableTransaction(transactions).build()
    try:
        yield client
    finally:
        client.closeAsync()


def send(
    spark: SparkSession,
    service_url: str,
    topic: str,
    schema: Any,  # noqa: ANN401 - objects of the Java client have no type here
    values: Iterable[Any],
) -> None:
    """Send the values in their order, with every setting of the producer but its time-out at its default."""
    with java_connection(spark, service_url) as client:
        producer = client.newProducer(schema).loadConf({"sendTimeoutMs": 0}).topic(topic).create()
        for value in values:
            producer.newMessage().value(value).sendAsync()
        producer.flush()


def received(
    spark: SparkSession,
    service_url: str,
    topic: str,
    schema: Any,  # noqa: ANN401
) -> list[Any]:
    """The Java objects that a reader with the schema returns for the messages of the topic."""
    with java_connection(spark, service_url) as client:
        earliest = java_client(spark).MessageId.earliest
        reader = client.newReader(schema).topic(topic).startMessageId(earliest).create()
        found = []
        while reader.hasMessageAvailable():
            found.append(reader.readNext().getValue())
        return found
