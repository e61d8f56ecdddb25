"""KEY_VALUE topics, read and written against the Java client: the key in the payload or as the key of the message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from support.spark.errors import no_job, refused
from support.topics.java_values import received, send
from support.topics.reading import batch, java_client

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.topics.writing import Target

_ENCODINGS = ["INLINE", "SEPARATED"]


def _common(spark: SparkSession) -> Any:  # noqa: ANN401 - what py4j gives has no type
    jvm: Any = spark.sparkContext._jvm
    return jvm.io.github.pulsarspark.shaded.org.apache.pulsar.common.schema


def _record(spark: SparkSession, kind: str) -> Any:  # noqa: ANN401
    """A schema of the Java client for records of two fields."""
    builder = java_client(spark).schema.SchemaBuilder.record("R")
    builder.field("a").type(_common(spark).SchemaType.INT32)
    builder.field("b").type(_common(spark).SchemaType.STRING)
    return java_client(spark).Schema.generic(builder.build(getattr(_common(spark).SchemaType, kind)))


def _pair(spark: SparkSession, key: Any, value: Any, encoding: str) -> Any:  # noqa: ANN401
    kind = getattr(_common(spark).KeyValueEncodingType, encoding)
    return java_client(spark).Schema.KeyValue(key, value, kind)


@pytest.mark.usefixtures("read_level")
@pytest.mark.parametrize("kind", ["AVRO", "JSON"])
@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_pairs_of_the_java_client_are_read(
    spark: SparkSession, service_url: str, topic: str, encoding: str, kind: str
) -> None:
    record = _record(spark, kind)

    def row(a: int, b: str) -> Any:  # noqa: ANN401
        return record.newRecordBuilder().set("a", a).set("b", b).build()

    pairs = [("k", row(1, "ä")), (None, row(2, "")), ("", row(3, "x")), ("k", None), (None, None)]
    schema = _pair(spark, java_client(spark).Schema.STRING, record, encoding)
    send(spark, service_url, topic, schema, [_common(spark).KeyValue(k, v) for k, v in pairs])
    frame = batch(spark, service_url, topic=topic)
    assert dict(frame.dtypes)["key"] == "string"
    assert dict(frame.dtypes)["value"] == "struct<a:int,b:string>"
    expected = [("k", (1, "ä")), (None, (2, "")), ("", (3, "x")), ("k", None), (None, None)]
    assert [(r[0], r[1] and tuple(r[1])) for r in frame.select("key", "value").collect()] == expected
    assert [r[0] for r in frame.select("value.b").collect()] == [v and v[1] for _, v in expected]
    assert [r[0] for r in frame.select("key").collect()] == [k for k, _ in expected]


@pytest.mark.usefixtures("read_level")
@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_a_record_can_be_the_key(spark: SparkSession, service_url: str, topic: str, encoding: str) -> None:
    record = _record(spark, "AVRO")
    java: Any = spark.sparkContext._jvm
    key = record.newRecordBuilder().set("a", 7).set("b", "key").build()
    schema = _pair(spark, record, java_client(spark).Schema.LOCAL_DATE, encoding)
    value = java.java.time.LocalDate.of(9999, 12, 31)
    send(spark, service_url, topic, schema, [_common(spark).KeyValue(key, value)])
    frame = batch(spark, service_url, topic=topic).selectExpr("key.b", "key.a", "string(value)")
    assert [tuple(row) for row in frame.collect()] == [("key", 7, "9999-12-31")]


@pytest.mark.parametrize("kind", ["avro", "json"])
@pytest.mark.parametrize("encoding", _ENCODINGS)
def test_pairs_are_written_for_the_java_client(target: Target, topic: str, encoding: str, kind: str) -> None:
    options = {"schemaType": "key_value", "keyValueEncoding": encoding.lower(), "valueSchemaType": kind}
    rows = target.spark.sql(
        "select string(id) as key, if(id = 2, null, named_struct('a', int(id), 'b', 'ä')) as value from range(4)"
        " union all select null, named_struct('a', 9, 'b', null)"
    )
    target.append(rows.coalesce(1), topic, options)
    target.append(target.spark.sql("select 'more' as key, named_struct('a', 5, 'b', 'x') as value"), topic)
    assert target.schema(topic)[0] == "KEY_VALUE"
    pairs = received(target.spark, target.service_url, topic, java_client(target.spark).Schema.AUTO_CONSUME())
    found = []
    for pair in (generic.getNativeObject() for generic in pairs):
        value = pair.getValue()
        found.append((pair.getKey(), value and (value.getField("a"), value.getField("b"))))
    expected = [("0", (0, "ä")), ("1", (1, "ä")), ("2", None), ("3", (3, "ä")), (None, (9, None)), ("more", (5, "x"))]
    assert [(k, v and (v[0], v[1] and str(v[1]))) for k, v in found] == expected
    keys = [message.key for message in target.messages(topic)]
    assert any(keys) == (encoding == "SEPARATED")
    read = target.read(topic)
    assert [(r[0], r[1] and tuple(r[1])) for r in read.select("key", "value").collect()] == expected
    twin = f"{topic}-twin"
    target.append(read.drop("__topic").coalesce(1), twin, options)
    again = target.read(twin).select("key", "value").collect()
    assert [(r[0], r[1] and tuple(r[1])) for r in again] == expected


def test_pairs_that_do_not_fit_are_rejected(target: Target, topic: str) -> None:
    target.append_sql("select 'k' as key, 1 as value", topic, {"schemaType": "key_value"})
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", "`key`", topic):
        target.append_sql("select 1 as value", topic)
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", "`value`", "INT32", topic):
        target.append_sql("select 'k' as key, 'v' as value", topic)
    with no_job(target.spark), refused("PULSAR_WRITE_SCHEMA_TYPE", "INLINE", topic):
        target.append_sql("select 'k' as key, 1 as value", topic, {"keyValueEncoding": "separated"})
