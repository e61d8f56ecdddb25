"""How far a stream is behind, as its progress shows it: a backlog falls to exactly 0, unknown is not 0."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING

from pulsar_spark import progress
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import Batches, read_available, running, start, stream

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses


def _messages(count: int) -> list[bytes]:
    return [b"%d" % number for number in range(count)]


def _earliest(spark: SparkSession, service_url: str, topic: str, **options: str) -> DataFrame:
    return stream(spark, service_url, topic=topic, startingOffsets="earliest", **options)


def test_a_known_backlog_falls_to_exactly_0(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    admin.create_topic(topic, partitions=2)
    small, large = (f"{topic}-partition-{number}" for number in range(2))
    produce(client, small, _messages(20), batch_size=5)
    produce(client, large, _messages(100), batch_size=5)
    listener = progress.ProgressListener()
    spark.streams.addListener(listener)
    try:
        batches = Batches()
        query = read_available(_earliest(spark, service_url, topic, maxMessagesPerTrigger="40"), tmp_path, batches)
        seen = progress.history(query)
        sources = [one.sources[0] for one in seen if one.rows]
        assert [one.rows for one in sources] == [40, 40, 40]
        assert [one.backlog.entries for one in sources] == [16, 8, 0]
        assert [one.backlog.messages for one in sources] == [80, 40, 0], "5 messages in each entry"
        assert [one.partitions_behind for one in sources] == [1, 1, 0]
        assert [one.worst_partition for one in sources] == [large, large, None]
        ages = [one.backlog.seconds for one in sources]
        assert ages[0] is not None
        assert ages[0] > 0
        assert ages[2] == 0
        sizes = [one.backlog.bytes for one in sources]
        assert sizes[0] is not None
        assert sizes[1] is not None
        assert sizes[0] > sizes[1] > 0 == sizes[2]
        assert sum(sources[-1].rows_by_level.values()) == 120
        assert sources[-1].end == sources[-1].latest
        assert (sources[-1].lost_ranges, sources[-1].reconnects, sources[-1].decode_errors) == (0, 0, 0)
        assert sources[0].description == f"Pulsar[{topic}]"
        reported = [(one.time, one.sources[0].metrics) for one in seen if one.rows]

        def heard() -> list[object]:
            kept = listener.history(str(query.runId))
            return [(one.time, one.sources[0].metrics) for one in kept if one.rows]

        eventually(lambda: heard() == reported)
    finally:
        spark.streams.removeListener(listener)


def test_the_exporter_serves_what_a_running_query_reports(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, _messages(30), batch_size=5)
    with progress.serve_metrics(spark, 0) as server:

        def served() -> str:
            with urllib.request.urlopen(server.url, timeout=180) as answer:
                return str(answer.read(), "utf-8")

        frame = _earliest(spark, service_url, topic)
        with running(start(frame, tmp_path, Batches())) as query:
            labels = f'{{query="{query.id}",source="Pulsar[{topic}]"}}'
            text = eventually(lambda: shown if labels in (shown := served()) else "")
            assert f"pulsar_spark_backlog_messages{labels} 0\n" in text
            assert f'pulsar_spark_rows_total{labels[:-1]},level="broker"}} 30\n' in text
        eventually(lambda: served() == "")


def _three_ledgers(admin: Admin, client: pulsar_client.Client, topic: str) -> None:
    """Ten entries in each of three ledgers."""
    for number in range(3):
        if number:
            admin.unload(topic)
        produce(client, topic, _messages(10))


def test_a_backlog_over_several_ledgers_is_unknown_without_an_admin_service(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    _three_ledgers(admin, client, topic)
    frame = _earliest(spark, service_url, topic, maxMessagesPerTrigger="8")
    seen = progress.history(read_available(frame, tmp_path, Batches()))
    sources = [one.sources[0] for one in seen if one.rows]
    assert [one.backlog.entries for one in sources] == [None, None, 6, 0]
    assert [one.backlog.messages for one in sources] == [None, None, 6, 0]
    assert [one.metrics["pulsarBacklogEntries"] for one in sources] == ["unknown", "unknown", "6", "0"]
    assert [one.partitions_behind for one in sources] == [1, 1, 1, 0]
    assert [one.worst_partition for one in sources] == [topic, topic, topic, None]
    lines = progress.prometheus_lines(seen[:1])
    assert "pulsar_spark_partitions_behind{" in lines
    assert "pulsar_spark_backlog_messages{" not in lines


def test_a_backlog_over_several_ledgers_is_exact_with_an_admin_service(
    spark: SparkSession, pulsar: Addresses, admin: Admin, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    _three_ledgers(admin, client, topic)

    class Looking(Batches):
        """Makes requests of its own, so that the one of the driver is answered meanwhile."""

        def __call__(self, frame: DataFrame, batch_id: int) -> None:
            super().__call__(frame, batch_id)
            admin.stats(topic)

    levels = {"admin.url": pulsar.admin_url, "readLevel": "broker"}
    frame = _earliest(spark, pulsar.service_url, topic, maxMessagesPerTrigger="2", **levels)
    query = read_available(frame, tmp_path, Looking())
    left = [one.sources[0].backlog.entries for one in progress.history(query) if one.rows]
    exact = list(range(28, -1, -2))
    assert [known for known in left if known is not None] == exact[left.count(None) :]
    assert left.count(None) < 8, "the list of ledgers arrives while two ledgers are left"
