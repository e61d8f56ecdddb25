"""What `readLevel=segment` says when it cannot have its way; `auto` reads the same messages through the broker."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from failing import failing, refused
from messages import produce, read_all
from reading import assert_exactly_once, batch, existing, seen

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from admin import Admin
    from pyspark.sql import SparkSession


def test_segments_without_the_admin_service(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [b"%d" % number for number in range(20)], batch_size=7)
    with refused("PULSAR_SEGMENT_UNAVAILABLE", topic, "admin.url is not set"):
        seen(batch(spark, service_url, topic=topic, readLevel="segment"))
    assert_exactly_once(seen(batch(spark, service_url, topic=topic)), existing(read_all(client, topic)))


def test_bookies_that_cannot_be_reached(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, topic, [b"%d" % number for number in range(20)], batch_size=7)
    admin.unload(topic)
    wanted = existing(read_all(client, topic))
    ensemble = re.search(r"ensembles=\{0=\[([^\],]+)", admin.internal_stats(topic)["ledgers"][0]["metadata"])
    assert ensemble is not None
    options = {
        "topic": topic,
        "admin.url": admin.url,
        "bookieAddresses": f"{ensemble[1]}=127.0.0.1:9",
        "bookkeeper.readEntryTimeoutSec": "1",
    }
    with failing("PULSAR_SEGMENT_READ_FAILED", topic):
        seen(batch(spark, service_url, readLevel="segment", **options))
    assert_exactly_once(seen(batch(spark, service_url, readLevel="auto", **options)), wanted)
