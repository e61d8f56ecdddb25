"""Options that the session, the environment or a job of another connector sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pulsar_spark import read_pulsar, read_pulsar_stream, write_pulsar, write_pulsar_stream
from support.spark.errors import refused
from support.spark.logs import warnings
from support.spark.settings import session_settings
from support.topics.messages import Message, produce, read_all

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    import pytest
    from pyspark.sql import SparkSession


def test_options_of_the_session_reach_reads_streams_and_writes(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, tmp_path: Path
) -> None:
    key = "spark.datasource.pulsar.service.url"
    with session_settings(spark, {key: service_url}):
        frame = spark.createDataFrame([("a", "1"), ("b", "2")], "`__key` string, value string")
        write_pulsar(frame, topic)
        stream = read_pulsar_stream(spark, topic, start="earliest").selectExpr("value", "__key")
        query = write_pulsar_stream(stream, f"{topic}-copy", checkpoint=tmp_path, available_now=True)
        assert query.awaitTermination(300)
        rows = read_pulsar(spark, f"{topic}-copy", metadata_columns="__position").collect()
    assert sorted((row["value"], bytes(row["__key"])) for row in rows) == [("1", b"a"), ("2", b"b")]
    assert len({row["__position"] for row in rows}) == 2
    assert sorted(message.payload for message in read_all(client, f"{topic}-copy")) == [b"1", b"2"]


def test_options_of_the_session_for_reads_do_not_disturb_writes_nor_those_for_writes_reads(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    own = {"service.url": service_url, "topic": topic}
    session = {"readLevel": "broker", "endingOffsets": "latest", "sendTimeoutMs": "50000"}
    with session_settings(spark, {f"spark.datasource.pulsar.{name}": value for name, value in session.items()}):
        rows = spark.sql("select 'x' as value")
        rows.write.format("pulsar").mode("append").options(**own).save()
        source = spark.readStream.format("pulsar").options(**own, startingOffsets="earliest").load().select("value")
        sink = {"service.url": service_url, "topic": f"{topic}-copy"}
        write = source.writeStream.format("pulsar").options(**sink, checkpointLocation=str(tmp_path))
        assert write.trigger(availableNow=True).start().awaitTermination(300)
        read = spark.read.format("pulsar").options(**{**own, "topic": f"{topic}-copy"}).load()
        assert [row["value"] for row in read.collect()] == ["x"]
        with refused("PULSAR_OPTION_WRONG_MODE", "`readLevel`", "batch write"):
            rows.write.format("pulsar").mode("append").options(**own, readLevel="auto").save()
        with refused("PULSAR_OPTION_WRONG_MODE", "`sendTimeoutMs`", "batch read"):
            spark.read.format("pulsar").options(**own, sendTimeoutMs="1000").load()


def test_a_job_of_streamnative_pulsar_spark_runs_unchanged_with_one_warning(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    client = {
        "service.url": service_url,
        "pulsar.client.operationTimeoutMs": "60000",
        "pulsar.client.tlsHostnameVerificationEnable": "false",
        "pulsar.client.useTls": "false",
        "pulsar.client.authPluginClassName": "org.apache.pulsar.client.impl.auth.AuthenticationToken",
        "pulsar.client.authParams": "token:hunter2",
        "pulsar.admin.authParams": "token:hunter2",
    }
    producer = {"pulsar.producer.blockIfQueueFull": "true", "pulsar.producer.sendTimeoutMs": "120000"}
    reader = {"pulsar.reader.subscriptionName": "mine", "allowDifferentTopicSchemas": "true"}
    with warnings(spark, tmp_path) as log:
        rows = spark.sql("select 'x' as value")
        rows.write.format("pulsar").mode("append").options(**client, **producer, topic=topic).save()
        source = spark.readStream.format("pulsar").options(**client, **reader, topic=topic, startingOffsets="earliest")
        sink = source.load().select("value").writeStream.format("pulsar").options(**client, **producer)
        query = sink.option("topic", f"{topic}-copy").option("checkpointLocation", str(tmp_path / "c"))
        assert query.trigger(availableNow=True).start().awaitTermination(300)
        read = spark.read.format("pulsar").options(**client, **reader, topic=f"{topic}-copy").load()
        assert [bytes(row["value"]) for row in read.select("value").collect()] == [b"x"]
        text = log()
    lines = [line for line in text.splitlines() if "Options of streamnative/pulsar-spark" in line]
    assert len(lines) == 4, lines  # two writes and two reads
    assert all("`pulsar.admin.authParams` as `pulsar.client.authParams`" in line for line in lines)
    assert sum("`allowDifferentTopicSchemas` as `schemaMode=raw`" in line for line in lines) == 2
    assert "hunter2" not in text


def test_the_service_url_of_the_environment(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    produce(client, topic, [Message(b"x")])
    monkeypatch.setenv("PULSAR_SERVICE_URL", service_url)
    assert [bytes(row["value"]) for row in read_pulsar(spark, topic).collect()] == [b"x"]
