"""A stream that starts at a time: what was published before is skipped, and what arrives later never is."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import produce
from support.topics.reading import Batches, java_client, running, start, stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("read_level")


def _send_with_a_slow_clock(spark: SparkSession, service_url: str, topic: str, payload: bytes) -> None:
    jvm: Any = spark.sparkContext._jvm
    clock = jvm.java.time.Clock.offset(jvm.java.time.Clock.systemUTC(), jvm.java.time.Duration.ofDays(-1))
    client = java_client(spark).PulsarClient.builder().serviceUrl(service_url).clock(clock).build()
    producer = client.newProducer().topic(topic).create()
    producer.send(bytearray(payload))
    client.closeAsync()


@AT_BOTH_LEVELS
def test_a_message_of_a_slow_clock_is_returned(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"before"])
    begin = int(time.time() * 1000) + 1
    while time.time() * 1000 <= begin:
        pass  # the clock of the producer is this one
    produce(client, topic, [b"after"])
    _send_with_a_slow_clock(spark, service_url, topic, b"not after by its clock")
    frame = stream(spark, service_url, topic=topic, startingTime=str(begin))
    sink = Batches()
    with running(start(frame, tmp_path, sink)) as query:
        wait_for(1, query, sink)
        _send_with_a_slow_clock(spark, service_url, topic, b"slow")
        wait_for(2, query, sink)
    with running(start(frame, tmp_path, sink)) as query:
        _send_with_a_slow_clock(spark, service_url, topic, b"slow again")
        wait_for(3, query, sink)
    assert [one.payload for one in sink.rows] == [b"after", b"slow", b"slow again"]
