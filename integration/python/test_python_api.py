"""The Python API against a real Pulsar, and the texts of errors on both sides of the JVM."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest
from errors import refused
from logs import warnings
from messages import Message, produce, read_all
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException

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
from pulsar_spark.options import checks

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

URL = "pulsar://localhost:1"
READ = {"service.url": URL, "topic": "t"}

WRONG_READS: list[dict[str, str]] = [
    {},
    {"service.url": URL},
    {"topic": "t"},
    {**READ, "topics": "t"},
    {**READ, "topics": "t", "topicsPattern": "t"},
    {**READ, "service.url": "localhost:6650"},
    {**READ, "Service.Url": " "},
    {**READ, "service.url": "[::1]:6650"},
    {**READ, "readLevel": "segmnt"},
    {**READ, "readLevel": "storage"},
    {**READ, "predefinedSubscripton": "s"},
    {**READ, "subscriptionName": "s"},
    {**READ, "startingOffset": "earliest"},
    {**READ, "STARTINGOFSETS": "earliest"},
    {**READ, "zzz": "1"},
    {**READ, "failOnDataLoss": "yes"},
    {**READ, "failondataloss": ""},
    {**READ, "pollTimeoutMs": "0"},
    {**READ, "pollTimeoutMs": "5x"},
    {**READ, "pollTimeoutMs": "15M"},
    {**READ, "pollTimeoutMs": "36501d"},
    {**READ, "pulsar.reader.subscriptonName": "s"},
    {**READ, "pollTimeoutMs": "9223372036854775808"},
    {**READ, "readAheadBytes": "0"},
    {**READ, "readAheadBytes": "12q"},
    {**READ, "subscriptionPrefix": " "},
    {"service.url": URL, "topicsPattern": " "},
    {"service.url": URL, "topics": " , "},
    {"service.url": URL, "topics": ","},
    {"service.url": URL, "topics": " "},
    {**READ, "topic": "a,b"},
    {**READ, "dlqTopic": "a,b"},
    {**READ, "schemaType": "avro"},
    {**READ, "startingOffsets": "earliest", "startingTime": "0"},
    {**READ, "endingOffsets": "latest", "endingTime": "0"},
    {**READ, "auth.token": "hunter2", "auth.tokenFile": "f"},
    {**READ, "auth.token": " "},
    {**READ, "auth.basic.userId": "u"},
    {**READ, "auth.basic.password": "hunter2"},
    {**READ, "auth.tls.certFile": "c"},
    {**READ, "auth.oauth2.credentialsUrl": "hunter2"},
    {**READ, "pulsar.client.numIoThread": "1"},
    {**READ, "pulsar.client.hunter2": "1"},
    {**READ, "Pulsar.Client.ServiceUrl": "x"},
    {**READ, "pulsar.client.useTls": "true"},
    {**READ, "pulsar.reader.topicName": "x"},
    {**READ, "pulsar.reader.readCompacted": "1"},
    {**READ, "pulsar.client.operationTimeoutMs": "0"},
    {**READ, "Pulsar.Client.OperationTimeoutMs": "5", "operationtimeoutms": "6"},
    {**READ, "pulsar.client.operationTimeoutMs": "5", "pulsar.client.lookupTimeoutMs": "6"},
    {**READ, "pulsar.client.tlsHostnameVerificationEnable": "yes"},
    {**READ, "pulsar.client.tlsHostnameVerificationEnable": "true", "tls.insecureSkipHostnameVerification": "TRUE"},
    {**READ, "pulsar.admin.authParams": "hunter2"},
    {**READ, "pulsar.admin.authParams": "hunter2", "pulsar.client.authParams": "token:x"},
    {**READ, "pulsar.admin.tlsTrustCertsFilePath": "/ca"},
    {**READ, "pulsar.admin.authParam": "hunter2"},
    {**READ, "allowDifferentTopicSchemas": "maybe"},
    {**READ, "allowDifferentTopicSchemas": "true", "schemaMode": "auto"},
    {**READ, "maxBytesPerTrigger": "-1"},
    {**READ, "maxMessagesPerTrigger": "0"},
    {**READ, "maxTriggerDelay": "soon"},
    {**READ, "maxTriggerDelay": "1s"},
    {**READ, "pulsar.reader.cryptoFailureAction": "CONSUME"},
    {**READ, "pulsar.producer.blockIfQueueFull": "true"},
    {**READ, "pulsar.producer.producerName": "x"},
    {**READ, "pulsar.client.authPluginClassName": "x", "auth.token": "hunter2"},
    {"zzz": "1", "aaa": "1", "pulsar.client.zzz": "1"},
    {"pulsar.client.zzz": "1", "startingOffsets": "earliest", "startingTime": "0"},
]

WRONG_WRITES: list[dict[str, str]] = [
    {},
    {"topic": "t"},
    {**READ, "topics": "t"},
    {**READ, "startingOffsets": "earliest"},
    {**READ, "topic": "a,b"},
    {**READ, "schemaType": "xml"},
    {**READ, "schematyp": "json"},
    {**READ, "sendTimeoutMs": "-1"},
    {**READ, "pulsar.producer.batchingMaxMessage": "1"},
    {**READ, "pulsar.producer.sendTimeoutMs": "0"},
    {**READ, "pulsar.producer.blockIfQueueFull": "false"},
    {**READ, "allowDifferentTopicSchemas": "true"},
    {**READ, "pulsar.producer.sendTimeoutMs": "5", "sendTimeoutMs": "6"},
    {**READ, "pulsar.reader.receiverQueueSize": "1"},
]


def python_text(options: dict[str, str], *scopes: str) -> str:
    with pytest.raises(PulsarOptionError) as raised:
        checks.check(options, scopes)
    return str(raised.value)


def name(options: dict[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in options.items())


@pytest.mark.parametrize("options", WRONG_READS, ids=name)
def test_a_wrong_read_has_the_same_text_in_python_and_in_the_jvm(spark: SparkSession, options: dict[str, str]) -> None:
    with pytest.raises(PySparkException) as raised:
        spark.read.format("pulsar").options(**options).load()
    text = python_text(options, "batchRead", "streamRead")
    assert str(raised.value) == text
    assert "hunter2" not in text or "hunter2" in "".join(options)


@pytest.mark.parametrize("options", WRONG_WRITES, ids=name)
def test_a_wrong_write_has_the_same_text_in_python_and_in_the_jvm(spark: SparkSession, options: dict[str, str]) -> None:
    with pytest.raises(PySparkException) as raised:
        spark.range(1).write.format("pulsar").options(**options).mode("append").save()
    assert str(raised.value) == python_text(options, "batchWrite")


def test_a_wrong_stream_has_the_same_text_in_python_and_in_the_jvm(spark: SparkSession, tmp_path: Path) -> None:
    options = {**READ, "endingOffsets": "latest"}
    stream = spark.readStream.format("pulsar").options(**options).schema("value binary").load()
    with pytest.raises(PySparkException) as raised:
        stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start().awaitTermination(60)
    assert python_text(options, "streamRead") in str(raised.value)


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
        query.awaitTermination(60)
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
            query.awaitTermination(60)
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


def test_options_of_the_session_reach_reads_streams_and_writes(
    spark: SparkSession, client: pulsar_client.Client, service_url: str, topic: str, tmp_path: Path
) -> None:
    key = "spark.datasource.pulsar.service.url"
    spark.conf.set(key, service_url)
    try:
        frame = spark.createDataFrame([("a", "1"), ("b", "2")], "`__key` string, value string")
        write_pulsar(frame, topic)
        stream = read_pulsar_stream(spark, topic, start="earliest").selectExpr("value", "__key")
        query = write_pulsar_stream(stream, f"{topic}-copy", checkpoint=tmp_path, available_now=True)
        assert query.awaitTermination(60)
        rows = read_pulsar(spark, f"{topic}-copy", metadata_columns="__position").collect()
    finally:
        spark.conf.unset(key)
    assert sorted((row["value"], bytes(row["__key"])) for row in rows) == [("1", b"a"), ("2", b"b")]
    assert len({row["__position"] for row in rows}) == 2
    assert sorted(message.payload for message in read_all(client, f"{topic}-copy")) == [b"1", b"2"]


def test_options_of_the_session_for_reads_do_not_disturb_writes_nor_those_for_writes_reads(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    own = {"service.url": service_url, "topic": topic}
    session = {"readLevel": "broker", "endingOffsets": "latest", "sendTimeoutMs": "50000"}
    for name, value in session.items():
        spark.conf.set(f"spark.datasource.pulsar.{name}", value)
    try:
        rows = spark.sql("select 'x' as value")
        rows.write.format("pulsar").mode("append").options(**own).save()
        source = spark.readStream.format("pulsar").options(**own, startingOffsets="earliest").load().select("value")
        sink = {"service.url": service_url, "topic": f"{topic}-copy"}
        write = source.writeStream.format("pulsar").options(**sink, checkpointLocation=str(tmp_path))
        assert write.trigger(availableNow=True).start().awaitTermination(60)
        read = spark.read.format("pulsar").options(**{**own, "topic": f"{topic}-copy"}).load()
        assert [row["value"] for row in read.collect()] == ["x"]
        with refused("PULSAR_OPTION_WRONG_MODE", "`readLevel`", "batch write"):
            rows.write.format("pulsar").mode("append").options(**own, readLevel="auto").save()
        with refused("PULSAR_OPTION_WRONG_MODE", "`sendTimeoutMs`", "batch read"):
            spark.read.format("pulsar").options(**own, sendTimeoutMs="1000").load()
    finally:
        for name in session:
            spark.conf.unset(f"spark.datasource.pulsar.{name}")


def test_a_job_of_streamnative_pulsar_spark_runs_unchanged_with_one_warning(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    client = {
        "service.url": service_url,
        "pulsar.client.operationTimeoutMs": "20000",
        "pulsar.client.tlsHostnameVerificationEnable": "false",
        "pulsar.client.useTls": "false",
        "pulsar.client.authPluginClassName": "org.apache.pulsar.client.impl.auth.AuthenticationToken",
        "pulsar.client.authParams": "token:hunter2",
        "pulsar.admin.authParams": "token:hunter2",
    }
    producer = {"pulsar.producer.blockIfQueueFull": "true", "pulsar.producer.sendTimeoutMs": "30000"}
    reader = {"pulsar.reader.subscriptionName": "mine", "allowDifferentTopicSchemas": "true"}
    with warnings(spark, tmp_path) as log:
        rows = spark.sql("select 'x' as value")
        rows.write.format("pulsar").mode("append").options(**client, **producer, topic=topic).save()
        source = spark.readStream.format("pulsar").options(**client, **reader, topic=topic, startingOffsets="earliest")
        sink = source.load().select("value").writeStream.format("pulsar").options(**client, **producer)
        query = sink.option("topic", f"{topic}-copy").option("checkpointLocation", str(tmp_path / "c"))
        assert query.trigger(availableNow=True).start().awaitTermination(60)
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
    assert values(spark, topic) == ["x"]


def test_the_jar_of_the_package_is_the_one_that_was_built() -> None:
    assert pulsar_spark.jar_path().name == f"pulsar-spark-connector_2.13-{pulsar_spark.__version__}.jar"
