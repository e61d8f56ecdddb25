"""Wrong options have the same text in Python and in the JVM, and the same first mistake."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from pulsar_spark import PulsarOptionError
from pulsar_spark.options import checks

if TYPE_CHECKING:
    from pathlib import Path

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
    {**READ, "topic": " topic://public/default/t"},
    {**READ, "topic": "segment://public/default/t/0-7"},
    {**READ, "dlqTopic": "topic://public/default/t,b"},
    {"service.url": URL, "topics": "t, topic://public/default/u"},
    {"service.url": URL, "topicsPattern": "topic://public/default/t-.*"},
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
    {**READ, "pulsar.client.NumIOThreads": "1001"},
    {**READ, "bookkeeper.numWorkerThreads": "hunter2"},
    {**READ, "minPartitions": "100001"},
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
        stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path)).start().awaitTermination(300)
    assert python_text(options, "streamRead") in str(raised.value)
