"""Spark Connect: reads, streams and writes through a Connect server, from a Python that has no JVM.

It is not collected with the other tests: a process has either classic sessions or those of Connect, and these need the
packages of ``pyspark[connect]``. ``make connect-4.3`` runs it with them.
"""

from __future__ import annotations

import secrets
import urllib.request
from contextlib import redirect_stdout
from datetime import datetime, timezone
from io import StringIO
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import pulsar_spark
from examples import frames
from pulsar_spark import PulsarWriteOptions, functions, progress, sinks, testing
from pulsar_spark.triggers import ALLOW_LIST
from support.spark.catalogs import Catalog
from support.spark.errors import refused
from support.spark.facade import check_facade
from support.spark.waiting import eventually
from support.topics.messages import Message, produce, read_all
from support.topics.reading import run_available, running

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql.streaming.query import StreamingQuery

    from support.servers.servers import Addresses

# PySpark gives the settings of the server to the session as well, which says that it cannot change them.
pytestmark = pytest.mark.filterwarnings("ignore:Failed to set spark:UserWarning")


# As on the page about security: the server's events have the options of each query.
_REDACTED = r'(?i)key: "[^"]*(token|password|params|credentialsUrl)"\s*value: "(\\.|[^"\\])*"'


@pytest.fixture(scope="session")
def events(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the server's event log."""
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="session")
def spark(connector_jar: Path, events: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session of a server that Spark starts on this machine."""
    folder = tmp_path_factory.mktemp("spark")
    builder = SparkSession.builder.config("spark.eventLog.enabled", "true").config(
        "spark.eventLog.dir", events.as_uri()
    )
    builder = builder.config("spark.eventLog.compress", "false")
    builder = builder.config("spark.sql.redaction.string.regex", _REDACTED)
    builder = builder.remote("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "1g").config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.session.timeZone", "UTC")
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
    session = pulsar_spark.configure(builder, jar=connector_jar).getOrCreate()
    yield session
    session.stop()


def test_this_python_has_no_jvm(spark: SparkSession) -> None:
    assert type(spark).__module__.startswith("pyspark.sql.connect.")


def test_a_batch_by_options_alone(
    spark: SparkSession, client: pulsar_client.Client, pulsar: Addresses, topic: str
) -> None:
    sent = [Message(f"m{n}".encode(), key=f"k{n}", properties={"n": str(n)}) for n in range(50)]
    ids = produce(client, topic, sent, batch_size=7)
    options = {"service.url": pulsar.service_url, "topic": topic}
    for level in ("broker", "segment"):
        levels = {"readLevel": level, "admin.url": pulsar.admin_url}
        rows = spark.read.format("pulsar").options(**options, **levels).load()
        found = rows.selectExpr("string(value)", "string(__key)", "__messageProperties", "__position").collect()
        assert [tuple(row) for row in found] == [
            (f"m{n}", f"k{n}", {"n": str(n)}, ids[n].position) for n in range(50)
        ], level
    copy = f"{topic}-copy"
    rows.write.format("pulsar").mode("append").options(**{**options, "topic": copy}).save()
    assert [message.payload for message in read_all(client, copy)] == [message.payload for message in sent]


def test_a_stream_by_options_alone(
    spark: SparkSession, client: pulsar_client.Client, pulsar: Addresses, topic: str, tmp_path: Path
) -> None:
    options = {"service.url": pulsar.service_url, "startingOffsets": "earliest", "metadataColumns": "__position"}
    sink = {"service.url": pulsar.service_url, "topic": f"{topic}-copy"}
    for part in (range(10), range(10, 25)):
        produce(client, topic, [str(n).encode() for n in part], batch_size=4)
        rows = spark.readStream.format("pulsar").options(**options, topic=topic).load()
        writer = rows.select("value", "__position").writeStream.format("pulsar").options(**sink)
        run_available(writer.option("checkpointLocation", str(tmp_path)))
    assert [int(message.payload) for message in read_all(client, sink["topic"])] == list(range(25))


def test_topics_are_tables_of_a_catalog(spark: SparkSession, pulsar: Addresses, topic: str, tmp_path: Path) -> None:
    catalog = Catalog(spark, {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url})
    table, copy = catalog.table(topic), catalog.table(f"{topic}-copy")
    spark.range(5).selectExpr("id", "'k' as __key").writeTo(table).create()
    catalog.sql(f"insert into {table} (id) values (5L)")
    assert catalog.rows(f"select id from {table} where id > 2") == [(3,), (4,), (5,)]
    assert catalog.rows(f"select distinct string(__key) from {table} where id < 5") == [("k",)]
    assert catalog.rows(f"select * from {table} timestamp as of '2020-01-01'") == []
    assert topic.rpartition("/")[2] in [row[1] for row in catalog.rows(f"show tables in {{c}}.`{topic.split('/')[3]}`")]
    rows = spark.readStream.option("startingOffsets", "earliest").table(catalog.table(topic, "messages"))
    writer = rows.select("id", "__key").writeStream.option("checkpointLocation", str(tmp_path))
    assert writer.trigger(availableNow=True).toTable(copy).awaitTermination(300)
    assert spark.table(copy).count() == 6


def test_a_secret_is_seen_nowhere(
    spark: SparkSession, pulsar: Addresses, topic: str, tmp_path: Path, events: Path
) -> None:
    secret = f"canary{secrets.token_hex(8)}"
    mine = {"service.url": pulsar.service_url, "topic": topic, "auth.token": secret}
    spark.range(3).selectExpr("string(id) as value").write.format("pulsar").mode("append").options(**mine).save()
    rows = spark.read.format("pulsar").options(**mine).load()
    assert rows.count() == 3
    shown = StringIO()
    with redirect_stdout(shown):
        rows.explain(extended=True)
    stream = spark.readStream.format("pulsar").options(**mine, startingOffsets="earliest").load().select("value")
    copy = stream.writeStream.format("pulsar").options(**{**mine, "topic": f"{topic}-copy"})
    query = run_available(copy.option("checkpointLocation", str(tmp_path)))
    with refused("PULSAR_OPTION_UNKNOWN") as failure:
        spark.read.format("pulsar").options(**mine, misspelt="x").load().count()
    assert topic in shown.getvalue()
    seen = [shown.getvalue(), str(failure.value), str(query.recentProgress)]
    seen += [
        file.read_text(errors="replace")
        for folder in (tmp_path, events)
        for file in folder.rglob("*")
        if file.is_file()
    ]
    assert any("SparkListenerConnectOperationStarted" in text and topic in text for text in seen), "the control"
    assert [text[max(0, text.index(secret) - 300) :][:600] for text in seen if secret in text] == []


def test_the_functions_of_the_package(
    spark: SparkSession, client: pulsar_client.Client, pulsar: Addresses, topic: str, tmp_path: Path
) -> None:
    url = pulsar.service_url
    pulsar_spark.write_pulsar(spark.range(20).selectExpr("id", "concat('n', id) as name"), topic, service_url=url)
    rows = pulsar_spark.read_pulsar(spark, topic, service_url=url)
    assert sorted(tuple(row) for row in rows.select("id", "name").collect()) == [(n, f"n{n}") for n in range(20)]
    copy = f"{topic}-copy"
    stream = pulsar_spark.read_pulsar_stream(spark, topic, start="earliest", service_url=url).select("id", "name")
    query = pulsar_spark.write_pulsar_stream(stream, copy, checkpoint=tmp_path, available_now=True, service_url=url)
    assert query.awaitTermination(300)
    assert sorted(
        row[0] for row in pulsar_spark.read_pulsar(spark, copy, service_url=url).select("id").collect()
    ) == list(range(20))
    assert len(read_all(client, copy)) == 20


def test_real_time_mode_needs_spark_4_2(
    spark: SparkSession, client: pulsar_client.Client, pulsar: Addresses, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"one"])
    stream = pulsar_spark.read_pulsar_stream(spark, topic, start="earliest", service_url=pulsar.service_url)

    def start() -> StreamingQuery:
        return pulsar_spark.write_pulsar_stream(
            stream.select("value"),
            f"{topic}-copy",
            checkpoint=tmp_path,
            real_time="10min",
            service_url=pulsar.service_url,
        )

    if tuple(int(part) for part in spark.version.split(".")[:2]) < (4, 2):
        with refused("PULSAR_REAL_TIME_UNSUPPORTED", spark.version):
            start()
        return
    spark.conf.set(ALLOW_LIST, "false")
    with running(start()):
        eventually(lambda: [one.payload for one in read_all(client, f"{topic}-copy")] == [b"one"])


def test_a_cluster_in_a_session(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    check_facade(spark, pulsar, topic)


def test_the_progress_of_a_stream(
    spark: SparkSession, client: pulsar_client.Client, pulsar: Addresses, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [str(n).encode() for n in range(30)], batch_size=5)
    listener = progress.ProgressListener()
    spark.streams.addListener(listener)
    try:
        options = {"service.url": pulsar.service_url, "startingOffsets": "earliest", "maxMessagesPerTrigger": "10"}
        rows = spark.readStream.format("pulsar").options(**options, topic=topic).load()
        query = run_available(rows.writeStream.format("noop").option("checkpointLocation", str(tmp_path)))
        seen = [one for one in progress.watch(query) if one.rows]
        assert [one.sources[0].backlog.messages for one in seen] == [20, 10, 0]
        # Spark rounds the rates in events alone.
        metrics = [one.sources[0].metrics for one in seen]
        eventually(lambda: [one.sources[0].metrics for one in listener.history(query.runId) if one.rows] == metrics)
        with progress.serve_metrics(spark, 0) as server, urllib.request.urlopen(server.url, timeout=180) as answer:
            assert answer.read() == b"", "no query runs"
    finally:
        spark.streams.removeListener(listener)


def test_metadata_tables(spark: SparkSession, client: pulsar_client.Client, pulsar: Addresses, topic: str) -> None:
    produce(client, topic, [b"x"] * 3)
    options = {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url, "topic": topic}
    table = spark.read.format("pulsar").options(**options)
    assert [
        tuple(row) for row in table.option("metadata", "partitions").load().select("topic", "entries").collect()
    ] == [(topic, 3)]
    assert [row.state for row in table.option("metadata", "ledgers").load().where("entries > 0").collect()] == ["open"]


def test_sinks_are_shown(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    sink = topic.rpartition("/")[2]
    options = PulsarWriteOptions(delivery_guarantee="exactly-once", sink_id=sink, txn_version=7, schema_type="json")
    pulsar_spark.write_pulsar(spark.range(2), topic, service_url=pulsar.service_url, options=options)
    found = sinks.find(spark, topic=topic, service_url=pulsar.service_url)
    assert [(one.done, one.target) for one in found if one.sink == sink] == [(7, topic)]
    shown = sinks.status(spark, sink, topic=topic, service_url=pulsar.service_url, options=options)
    assert shown.done is not None
    assert (shown.done.rows, shown.drivers) == (2, None)
    with pytest.raises(pulsar_spark.PulsarSetupError, match="PULSAR_NO_JVM"):
        sinks.repair(spark, sink, topic=topic, service_url=pulsar.service_url)


def test_the_helpers_of_tests(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    rides = testing.Topic(topic, testing.PulsarServer(pulsar.service_url, pulsar.admin_url), spark)
    testing.produce(rides, [{"__key": "taxi-1", "km": 12.5}, {"__key": "taxi-2", "km": 8.0}])
    testing.assert_messages(rides, [{"__key": "taxi-1", "km": 12.5}, {"__key": "taxi-2", "km": 8.0}], in_order=True)
    stream = rides.pulsar.read_stream(topic, start="earliest").select("km")
    assert [row.km for row in testing.run_to_end(stream)] == [12.5, 8.0]
    query = stream.writeStream.format("noop").start()
    testing.run_to_end(query)
    query.stop()


def test_frames(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    server = testing.PulsarServer(pulsar.service_url, pulsar.admin_url)
    noon = datetime(2026, 1, 31, 12, tzinfo=timezone.utc)
    rides = [("taxi-1", noon, "Berlin", 12.5), ("taxi-2", noon, "Rome", 8.0), ("taxi-1", None, "Berlin", None)]
    columns = ["__key", "__eventTime", "city", "km"]
    rows = [dict(zip(columns, ride, strict=True)) for ride in rides]
    testing.produce(
        testing.Topic(topic, server, spark), rows, "__key STRING, __eventTime TIMESTAMP, city STRING, km DOUBLE"
    )
    table = frames.rides_since(server.cluster.on(spark), topic, "-1h")
    assert [str(kind) for kind in table.schema.types] == ["string", "string", "double", "timestamp[us, tz=UTC]"]
    assert sorted(table.to_pylist(), key=repr) == sorted(
        ({"taxi": taxi, "city": city, "km": km, "at": at} for taxi, at, city, km in rides), key=repr
    )
    assert frames.by_polars(table).rows() == frames.by_duckdb(table) == [("Berlin", 12.5), ("Rome", 8.0)]


def test_calls_that_need_the_jvm_are_rejected(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    pulsar_spark.write_pulsar(spark.range(2), topic, service_url=pulsar.service_url)
    rows = pulsar_spark.read_pulsar(spark, topic, service_url=pulsar.service_url)
    with pytest.raises(pulsar_spark.PulsarSetupError) as failure:
        pulsar_spark.plan(rows)
    assert failure.value.condition == "PULSAR_NO_JVM"
    with pytest.raises(pulsar_spark.PulsarSetupError) as failure:
        functions.register(spark, topic=topic, service_url=pulsar.service_url)
    assert failure.value.condition == "PULSAR_NO_JVM"


def test_errors_keep_their_condition(spark: SparkSession, pulsar: Addresses, topic: str) -> None:
    def read(**options: str) -> Callable[[], object]:
        given = {"service.url": pulsar.service_url, "topic": topic, **options}
        return spark.read.format("pulsar").options(**given).load().collect

    for options, condition in (
        ({"startingOffset": "earliest"}, "PULSAR_OPTION_UNKNOWN"),
        ({"topic": f"{topic}-missing"}, "PULSAR_TOPIC_NOT_FOUND"),
    ):
        with pytest.raises(PySparkException) as failure:
            read(**options)()
        assert pulsar_spark.condition_of(failure.value) == condition
        assert " What to do: " in str(failure.value)


def test_actions_raise_classes_of_this_package(
    spark: SparkSession,
    client: pulsar_client.Client,
    pulsar: Addresses,
    topic: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    produce(client, topic, [Message(b"x", event_time_ms=1_700_000_000_000_000_000)])
    monkeypatch.delenv("PULSAR_SPARK_PLAIN_ERRORS", raising=False)
    try:
        rows = pulsar_spark.read_pulsar(spark, topic, service_url=pulsar.service_url)
        with pytest.raises(pulsar_spark.PulsarDataError) as failure:
            rows.collect()
    finally:
        pulsar_spark.errors.uninstall()
    assert isinstance(failure.value, PySparkException)
    assert failure.value.condition == "PULSAR_TIME_OUT_OF_RANGE"
    assert "\n" not in str(failure.value)
