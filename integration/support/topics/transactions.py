"""Transactions of producers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from support.topics.reading import java_client

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SECONDS = 180


def named(transaction: Any) -> dict[str, int]:  # noqa: ANN401
    """The id of a transaction, as the records of a sink have it."""
    number = transaction.getTxnID()
    return {"most": number.getMostSigBits(), "least": number.getLeastSigBits()}


class Sender:
    """Sends within transactions by the Java client, which our jar carries; the official Python client has none."""

    def __init__(self, spark: SparkSession, service_url: str) -> None:
        jvm: Any = spark.sparkContext._jvm
        self._units = jvm.java.util.concurrent.TimeUnit
        self._java: Any = (
            java_client(spark).PulsarClient.builder().serviceUrl(service_url).enableTransaction(True).build()
        )

    def begin(self) -> Any:  # noqa: ANN401 - what py4j gives has no type
        started = self._java.newTransaction().withTransactionTimeout(10, self._units.MINUTES).build()
        return started.get(_SECONDS, self._units.SECONDS)

    def end(self, transaction: Any, *, commit: bool) -> None:  # noqa: ANN401
        (transaction.commit() if commit else transaction.abort()).get(_SECONDS, self._units.SECONDS)

    def register(self, transaction: Any, topic: str) -> None:  # noqa: ANN401
        """What precedes the first message to a topic, without one."""
        transaction.registerProducedTopic(topic).get(_SECONDS, self._units.SECONDS)

    def send(self, transaction: Any, topic: str, value: bytes) -> None:  # noqa: ANN401
        producer = self.producer(topic, batch_size=1)
        producer.newMessage(transaction).value(value).send()
        producer.close()

    def producer(self, topic: str, *, batch_size: int) -> Any:  # noqa: ANN401
        builder = (
            self._java.newProducer().topic(topic).sendTimeout(0, self._units.SECONDS).enableBatching(batch_size > 1)
        )
        if batch_size > 1:
            builder = builder.batchingMaxMessages(batch_size).batchingMaxPublishDelay(5, self._units.MILLISECONDS)
        return builder.create()

    def close(self) -> None:
        self._java.closeAsync()
