"""One topic is copied to another while it is written to: every message arrives once."""

from __future__ import annotations

import os
import threading
import time
from typing import TYPE_CHECKING

from support.spark.waiting import eventually
from support.topics.messages import read_all
from support.topics.reading import running, stream

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

_SECONDS = int(os.environ.get("PULSAR_SPARK_TEST_COPY_SECONDS", "20"))
_PER_SECOND = 1000
_COPIED_SECONDS = 300


def _send_steadily(client: pulsar_client.Client, topic: str) -> None:
    """Send numbers at a steady rate; a slow machine lets it fall behind, not send less."""
    producer = client.create_producer(topic, batching_enabled=True, block_if_queue_full=True, send_timeout_millis=0)
    began = time.monotonic()
    for number in range(_SECONDS * _PER_SECOND):
        ahead = number / _PER_SECOND - (time.monotonic() - began)
        if ahead > 0:
            time.sleep(ahead)  # the rate is what is tested
        producer.send_async(b"%d" % number, lambda *_: None)
    producer.flush()
    producer.close()


def test_a_copy_of_a_topic_that_is_written_to(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, admin: Admin, topic: str, tmp_path: Path
) -> None:
    source, copy = f"{topic}-source", f"{topic}-copy"
    for name in (source, copy):
        admin.create_topic(name, partitions=2)
    frame = stream(spark, service_url, topic=source, readLevel="broker", startingOffsets="earliest")
    writer = frame.select("value").writeStream.format("pulsar").option("service.url", service_url).option("topic", copy)
    query = writer.option("checkpointLocation", str(tmp_path)).start()
    sender = threading.Thread(target=_send_steadily, args=(client, source))
    sent = _SECONDS * _PER_SECOND

    def is_copied() -> bool:
        assert query.exception() is None, query.exception()
        return int(admin.stats(copy)["msgInCounter"]) >= sent

    with running(query):
        sender.start()
        sender.join()
        eventually(is_copied, seconds=_COPIED_SECONDS)
        query.processAllAvailable()
    numbers = sorted(int(message.payload) for message in read_all(client, copy))
    assert len(numbers) == sent, f"{len(numbers)} messages in the copy of {sent}"
    assert numbers == list(range(sent))
