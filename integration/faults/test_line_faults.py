"""A bad line between Spark and its servers, slow or cut again and again: rows as promised, and nothing left behind."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from support.proxies.bookie_proxy import running_bookie_proxy
from support.proxies.bookie_relay import bookie_of
from support.proxies.broker_proxy import running_broker_proxy
from support.spark.blocking_batch import LARGE
from support.spark.leaks import no_leaks
from support.topics.messages import produce, read_all
from support.topics.reading import (
    Batches,
    assert_exactly_once,
    batch,
    by_level,
    existing,
    metrics,
    running,
    seen,
    start,
    stream,
    wait_for,
)

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses
    from support.topics.writing import Target

_DELAY_SECONDS = 0.02
_CUT_SECONDS = 1.0
_MESSAGES = 2000
# A task has requests for eight entries of `LARGE` on their way, so that some have arrived when a connection is cut.
_LARGE_MESSAGES, _FRAMES = 150, 20
# The broker may be only a little ahead, so that a read that takes its time is cut in its middle.
_LITTLE_AHEAD = {"pulsar.reader.receiverQueueSize": "50"}


def _payloads(count: int) -> list[bytes]:
    return [b"%d " % number + b"x" * 100 for number in range(count)]


def _slowly(frame: DataFrame) -> DataFrame:
    """The same rows, each of which takes a millisecond in its task."""
    pause = "java_method('java.lang.Thread', 'sleep', 1L)"
    return frame.selectExpr("__topic", "__position", f"CASE WHEN {pause} IS NULL THEN value ELSE value END AS value")


@pytest.mark.parametrize("line", ["slow", "cut"])
def test_a_batch_and_a_stream_over_a_bad_line(
    spark: SparkSession,
    pulsar: Addresses,
    admin: Admin,
    client: pulsar_client.Client,
    namespace: str,
    topic: str,
    tmp_path: Path,
    line: str,
) -> None:
    streamed = f"{topic}-streamed"
    for name in (topic, streamed):
        admin.create_topic(name, partitions=2)
        produce(client, name, _payloads(_MESSAGES), batch_size=7)
    wanted = existing(read_all(client, topic))
    with running_broker_proxy(pulsar.service_url) as proxy, ThreadPoolExecutor(1) as pool:
        frame = batch(spark, proxy.service_url, topic=topic, **_LITTLE_AHEAD)
        assert frame.count() == _MESSAGES
        with no_leaks(spark, admin, proxy.service_url, namespace):
            with ExitStack() as trouble:
                if line == "slow":
                    proxy.delay_seconds = _DELAY_SECONDS
                cuts = trouble.enter_context(proxy.cutting(_CUT_SECONDS)) if line == "cut" else []
                rows = pool.submit(seen, _slowly(frame))
                batches = Batches()
                options = {"topic": streamed, "startingOffsets": "earliest", **_LITTLE_AHEAD}
                with running(start(_slowly(stream(spark, proxy.service_url, **options)), tmp_path, batches)) as query:
                    for turn in range(1, 4):
                        wait_for(_MESSAGES + 200 * (turn - 1), query, batches)
                        produce(client, streamed, _payloads(200), batch_size=7)
                    wait_for(_MESSAGES + 600, query, batches)
                    assert_exactly_once(rows.result(timeout=300), wanted)
            proxy.delay_seconds = 0
    assert_exactly_once(batches.rows, existing(read_all(client, streamed)))
    assert line == "slow" or sum(cuts) >= 3, cuts


@pytest.mark.parametrize("line", ["slow", "cut"])
def test_a_direct_read_over_a_bad_line(
    spark: SparkSession, pulsar: Addresses, admin: Admin, client: pulsar_client.Client, topic: str, line: str
) -> None:
    """The only bookie that has the entries is reached again after each cut, so neither a broker nor a plan helps."""
    produce(client, topic, [b"%d " % number + LARGE for number in range(_LARGE_MESSAGES)])
    admin.unload(topic)
    with running_bookie_proxy(bookie_of(admin, topic)) as proxy, ExitStack() as trouble:
        options = {"readLevel": "segment", "admin.url": pulsar.admin_url, "minPartitions": "1"}
        frame = batch(spark, pulsar.service_url, topic=topic, bookieAddresses=proxy.addresses, **options)
        if line == "slow":
            proxy.delay_seconds = _DELAY_SECONDS
        cuts = trouble.enter_context(proxy.cutting_after(_FRAMES)) if line == "cut" else []
        assert_exactly_once(seen(frame), existing(read_all(client, topic)))
        assert by_level(metrics(frame), "Entries") == {"broker": 0, "bookies": _LARGE_MESSAGES, "tiered": 0}
    assert line == "slow" or sum(cuts) > _LARGE_MESSAGES / _FRAMES, cuts


@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_a_write_over_a_slow_line(target: Target, topic: str, guarantee: str) -> None:
    target.admin.create_topic(topic, partitions=2)
    with running_broker_proxy(target.service_url) as proxy:
        proxy.delay_seconds = _DELAY_SECONDS
        more = {
            "service.url": proxy.service_url,
            "deliveryGuarantee": guarantee,
            "pulsar.producer.batchingMaxMessages": "7",
        }
        target.append_sql(f"select string(id) as value from range({_MESSAGES})", topic, more)
    written = sorted(int(message.payload) for message in target.messages(topic))
    assert (written if guarantee == "exactly-once" else sorted(set(written))) == list(range(_MESSAGES))
