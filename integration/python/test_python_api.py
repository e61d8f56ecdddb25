"""The Python API against a real Pulsar, and the classes of its errors."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql import SparkSession

import pulsar_spark
from pulsar_spark import (
    PulsarDataError,
    PulsarOptionError,
    PulsarReadOptions,
    PulsarSchemaError,
    PulsarTopicNotFoundError,
    after,
    read_pulsar,
    read_pulsar_stream,
    write_pulsar,
    write_pulsar_stream,
)
from support.topics.messages import Message, produce, read_all

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client


def test_errors_of_the_driver_have_the_class_of_their_family(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    with pytest.raises(PulsarTopicNotFoundError) as missing:
        read_pulsar(spark, topic=topic, service_url=service_url)
    assert missing.value.parameters["topic"] == topic
    assert missing.value.sql_state == "42704"
    with pytest.raises(PulsarOptionError, match=r"PULSAR_FILE_UNREADABLE.*Option `auth_token_file` names"):
        read_pulsar(spark, topic, service_url=service_url, auth_token_file=str(tmp_path / "none"))
    with pytest.raises(PulsarSchemaError, match="PULSAR_WRITE_NO_VALUE_COLUMN"):
        write_pulsar(spark.sql("select 'k' as __key"), topic, service_url=service_url)


def test_a_stream_is_no_batch_and_a_session_is_no_frame(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    produce(client, topic, [b"x"])
    stream: Any = read_pulsar_stream(spark, topic, service_url=service_url)
    batch: Any = read_pulsar(spark, topic, service_url=service_url)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_ARGUMENT_TYPE.*one of a stream.*`write_pulsar_stream`"):
        write_pulsar(stream, topic, service_url=service_url)
    with pytest.raises(PulsarOptionError, match=r"PULSAR_ARGUMENT_TYPE.*one of a batch.*`write_pulsar`"):
        write_pulsar_stream(batch, topic, checkpoint=tmp_path, service_url=service_url)
    wrong: list[Any] = [None, "rides", spark, spark.sparkContext, batch.write, batch.schema]
    for value in wrong:
        with pytest.raises(PulsarOptionError, match="PULSAR_ARGUMENT_TYPE"):
            write_pulsar(value, topic, service_url=service_url)
    sessions: list[Any] = [None, "local[2]", batch, spark.sparkContext, SparkSession, SparkSession.builder]
    for value in sessions:
        with pytest.raises(PulsarOptionError, match="PULSAR_ARGUMENT_TYPE"):
            read_pulsar(value, topic, service_url=service_url)


def test_errors_of_tasks_and_streams_are_found_with_their_values(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    rows = spark.sql("select cast(null as string) as __topic, 'x' as value")
    with pytest.raises(PulsarDataError) as failed:
        write_pulsar(rows, service_url=service_url)
    assert failed.value.condition == "PULSAR_WRITE_TOPIC_NULL"
    assert len(str(failed.value)) < 500
    write_pulsar(spark.sql("select 'x' as value"), topic, service_url=service_url)
    stream = read_pulsar_stream(spark, topic, start="earliest", service_url=service_url)
    nulls = stream.selectExpr("cast(null as string) as __topic", "value")
    query = write_pulsar_stream(nulls, checkpoint=tmp_path, available_now=True, service_url=service_url)
    with pytest.raises(PulsarDataError) as ended, pulsar_spark.errors.translated():
        query.awaitTermination(300)
    assert ended.value.condition == "PULSAR_WRITE_TOPIC_NULL"
    found = pulsar_spark.error_of(query.exception() or ValueError())
    assert type(found) is PulsarDataError


def test_actions_raise_classes_of_this_package_with_one_line(
    spark: SparkSession,
    service_url: str,
    client: pulsar_client.Client,
    topic: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (id_,) = produce(client, topic, [Message(b"x", event_time_ms=1_700_000_000_000_000_000)])
    monkeypatch.delenv("PULSAR_SPARK_PLAIN_ERRORS", raising=False)
    try:
        rows = read_pulsar(spark, topic, service_url=service_url)
        with pytest.raises(PulsarDataError) as failed:
            rows.collect()
        stream = read_pulsar_stream(spark, topic, start="earliest", service_url=service_url)
        query = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start()
        with pytest.raises(PulsarDataError) as ended:
            query.awaitTermination(300)
        with pytest.raises(AnalysisException) as other:
            spark.table("no_such_table")
    finally:
        pulsar_spark.errors.uninstall()
    assert isinstance(ended.value, StreamingQueryException)
    for error in (failed.value, ended.value):
        assert isinstance(error, PySparkException)
        assert str(error).startswith(f"[PULSAR_TIME_OUT_OF_RANGE] Message {id_.position} in topic {topic}")
        assert "\n" not in str(error)
        assert "\n\tat " in vars(error)["jvm_stack"]
        assert error.getCondition() == error.condition == "PULSAR_TIME_OUT_OF_RANGE"
    assert not isinstance(other.value, pulsar_spark.PulsarSparkError)


def values(spark: SparkSession, *arguments: Any, **named: Any) -> list[str]:  # noqa: ANN401
    rows = read_pulsar(spark, *arguments, **named).select("value").collect()
    return sorted(bytes(row.value).decode() for row in rows)


def test_reading_from_and_to(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, namespace: str
) -> None:
    ids = produce(client, topic, [f"{n}".encode() for n in range(6)])
    published = [message.publish_time_ms for message in read_all(client, topic)]
    options = PulsarReadOptions(service_url=service_url)
    everything = [str(n) for n in range(6)]

    assert values(spark, topic, options=options) == everything
    assert values(spark, [topic], options=options, start="-1h", end=timedelta(0)) == everything
    assert values(spark, [topic, topic.removeprefix("persistent://"), topic], options=options) == everything
    assert values(spark, options=options, topics_pattern=f"{namespace}/test.reading.from.*") == everything
    assert values(spark, topic, options=options, start=ids[1].position, end=ids[3].position) == ["1", "2", "3"]
    assert values(spark, topic, options=options, start=after(ids[1].position), end=ids[3].position) == ["2", "3"]
    assert values(spark, topic, options=options, start={topic: after(ids[3].position)}, end="latest") == ["4", "5"]
    assert values(spark, topic, options=options, start="now") == []
    assert values(spark, topic, options=options, end=timedelta(hours=1)) == []
    epoch = datetime(1970, 1, 1, tzinfo=timezone.utc)
    middle = epoch + timedelta(milliseconds=published[3])
    assert values(spark, topic, options=options, start=middle) == [
        str(n) for n in range(6) if published[n] >= published[3]
    ]
    assert values(spark, topic, options=options, end={topic: middle}) == [
        str(n) for n in range(6) if published[n] < published[3]
    ]


def test_the_jar_of_the_package_is_the_one_that_was_built() -> None:
    assert pulsar_spark.jar_path().name == f"pulsar-spark-connector_2.13-{pulsar_spark.__version__}.jar"
