"""The listener in the jar: settings of Spark alone, and Prometheus reads what the Python package would serve."""

from __future__ import annotations

import socket
import urllib.request
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from pulsar_spark import condition_of, progress
from pulsar_spark.local.ports import Port
from support.spark.waiting import eventually
from support.topics.messages import produce
from support.topics.reading import stream

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

BATCH = 'pulsar_spark_batch_id{query="served"}'
LISTENERS, PORT = "spark.sql.streaming.streamingQueryListeners", "spark.pulsar.metrics.port"


@pytest.fixture
def port(spark: SparkSession) -> Iterator[int]:
    """A free port, where sessions that begin now serve their metrics."""
    with closing(Port.reserve()) as reserved:
        port = reserved.number
        yield from _serving_at(spark, port)


def _serving_at(spark: SparkSession, port: int) -> Iterator[int]:
    conf = spark.sparkContext._jsc.sc().conf()  # settings that every session begins with
    settings = {LISTENERS: "io.github.pulsarspark.progress.PrometheusListener", PORT: str(port)}
    for name, value in settings.items():
        conf.set(name, value)
    yield port
    for name in settings:
        conf.remove(name)


def samples(text: str) -> dict[str, float]:
    lines = [line.rpartition(" ") for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in lines}


def rows(found: dict[str, float]) -> float:
    return sum(value for name, value in found.items() if name.startswith("pulsar_spark_rows_total{"))


def test_a_query_of_a_session_with_the_listener_is_served_until_it_ends(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path, port: int
) -> None:
    produce(client, topic, [b"%d" % number for number in range(30)])
    frame = stream(spark.newSession(), service_url, topic=topic, startingOffsets="earliest", maxMessagesPerTrigger="10")
    query = frame.writeStream.format("noop").queryName("served").option("checkpointLocation", str(tmp_path)).start()

    def served() -> dict[str, float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=180) as response:
            assert response.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
            return samples(str(response.read(), "utf-8"))

    try:
        query.processAllAvailable()
        found = eventually(lambda: shown if rows(shown := served()) == 30 else None)
        reports = [samples(progress.prometheus_lines([one])) for one in progress.history(query)]
        # A query that is idle reports the number of its next batch again and again.
        possible = [one for one in reports if one[BATCH] == found[BATCH]]
        # In JSON, which Python reads, Spark rounds rates to one place behind the point.
        assert any(found == pytest.approx(one, rel=1e-12, abs=0.06) for one in possible), (found, possible)
    finally:
        query.stop()
    eventually(lambda: served() == {})


def test_a_port_in_use_is_named_before_a_query_starts(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path, port: int
) -> None:
    produce(client, topic, [b"1"])
    frame = stream(spark.newSession(), service_url, topic=topic)
    with socket.create_server(("127.0.0.1", port)), pytest.raises(Exception, match=str(port)) as failure:
        frame.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
    assert condition_of(failure.value) == "PULSAR_METRICS_ADDRESS"
