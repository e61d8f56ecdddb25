"""PROTOBUF_NATIVE topics of the Java client: its own message classes, as columns."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest
from failing import no_job, refused
from java_values import received, send
from reading import batch, java_client
from writing import Target

if TYPE_CHECKING:
    import pulsar as pulsar_client
    from admin import Admin
    from pyspark.sql import SparkSession


@pytest.fixture
def target(spark: SparkSession, client: pulsar_client.Client, admin: Admin, service_url: str) -> Target:
    return Target(spark, client, admin, service_url)


def _protobuf(spark: SparkSession) -> Any:  # noqa: ANN401 - what py4j gives has no type
    jvm: Any = spark.sparkContext._jvm
    return jvm.io.github.pulsarspark.shaded.com.google.protobuf


def _send(spark: SparkSession, service_url: str, topic: str, messages: list[Any]) -> None:
    schema = java_client(spark).Schema.PROTOBUF_NATIVE(messages[0].getClass())
    send(spark, service_url, topic, schema, [*messages, None])


@pytest.mark.usefixtures("read_level")
def test_proto3_with_arrays_enums_and_nested_messages(spark: SparkSession, service_url: str, topic: str) -> None:
    protobuf = _protobuf(spark)
    field = protobuf.Field.newBuilder().setKindValue(9).setNumber(3).setName("näme").setPacked(True).build()
    option = protobuf.Option.newBuilder().setName("o").setValue(protobuf.Any.newBuilder().setTypeUrl("u")).build()
    source = protobuf.SourceContext.newBuilder().setFileName("f").build()
    full = protobuf.Type.newBuilder().setName("full").addFields(field).addOneofs("x").addOneofs("").addOptions(option)
    unknown = protobuf.Type.newBuilder().setSyntaxValue(77)
    empty = protobuf.Type.getDefaultInstance()
    _send(spark, service_url, topic, [full.setSourceContext(source).setSyntaxValue(1).build(), unknown.build(), empty])
    frame = batch(spark, service_url, topic=topic)
    columns = ("name", "fields.name", "fields.kind", "fields.packed", "oneofs", "options.value.type_url")
    rows = frame.select(*columns, "source_context.file_name", "syntax").collect()
    nothing: tuple[object, ...] = ("", [], [], [], [], [], None)
    assert [tuple(row) for row in rows] == [
        ("full", ["näme"], ["TYPE_STRING"], [True], ["x", ""], ["u"], "f", "SYNTAX_PROTO3"),
        (*nothing, "77"),
        (*nothing, "SYNTAX_PROTO2"),
        (None,) * 8,
    ]


@pytest.mark.usefixtures("read_level")
def test_proto2_says_what_is_not_there(spark: SparkSession, service_url: str, topic: str) -> None:
    protos = _protobuf(spark).DescriptorProtos
    kinds = protos.FieldDescriptorProto.Type
    fields = [
        protos.FieldDescriptorProto.newBuilder().setName("a").setNumber(-1).setType(kinds.TYPE_BYTES).build(),
        protos.FieldDescriptorProto.newBuilder().setNumber(0).setProto3Optional(False).build(),
    ]
    _send(spark, service_url, topic, fields)
    rows = batch(spark, service_url, topic=topic).select("name", "number", "type", "proto3_optional").collect()
    expected = [("a", -1, "TYPE_BYTES", None), (None, 0, None, False), (None,) * 4]
    assert [tuple(row) for row in rows] == expected


@pytest.mark.usefixtures("read_level")
def test_numbers_of_a_well_known_type_alone_are_columns(spark: SparkSession, service_url: str, topic: str) -> None:
    moment = dt.datetime(9999, 12, 31, tzinfo=dt.timezone.utc)
    seconds = int(moment.timestamp())
    stamp = _protobuf(spark).Timestamp.newBuilder().setSeconds(seconds).setNanos(999_999_999).build()
    _send(spark, service_url, topic, [stamp])
    rows = batch(spark, service_url, topic=topic).select("seconds", "nanos").collect()
    assert [tuple(row) for row in rows] == [(seconds, 999_999_999), (None, None)]


def test_columns_are_written_for_the_java_client(target: Target, topic: str) -> None:
    spark = target.spark
    protobuf = _protobuf(spark)
    empty = protobuf.Type.getDefaultInstance()
    schema = java_client(spark).Schema.PROTOBUF_NATIVE(empty.getClass())
    field = protobuf.Field.newBuilder().setKindValue(9).setNumber(3).setName("näme").setPacked(True).build()
    source = protobuf.SourceContext.newBuilder().setFileName("f").build()
    full = protobuf.Type.newBuilder().setName("full").addFields(field).addOneofs("x").setSyntaxValue(77)
    messages = [full.setSourceContext(source).build(), empty]
    send(spark, target.service_url, topic, schema, messages)
    target.append(target.read(topic).drop("__topic").coalesce(1), topic)
    written = "select 'less' as name, named_struct('file_name', '') as source_context, 'SYNTAX_PROTO3' as syntax"
    target.append_sql(written, topic, {"schemaType": "protobuf_native"})
    less = protobuf.Type.newBuilder().setName("less").setSyntaxValue(1)
    expected = [*messages, *messages, less.setSourceContext(protobuf.SourceContext.getDefaultInstance()).build()]
    found = received(spark, target.service_url, topic, schema)
    assert [str(message) for message in found] == [str(message) for message in expected]


def test_columns_that_do_not_fit_the_message_are_refused(target: Target, topic: str) -> None:
    schema = java_client(target.spark).Schema.PROTOBUF_NATIVE(
        _protobuf(target.spark).Timestamp.getDefaultInstance().getClass()
    )
    send(target.spark, target.service_url, topic, schema, [])
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", "`nanos`", "int32", topic):
        target.append_sql("select 1L as seconds, 1L as nanos", topic)
    with no_job(target.spark), refused("PULSAR_WRITE_SCHEMA_TYPE", "PROTOBUF_NATIVE", f"{topic}-new"):
        target.append_sql("select 1L as seconds", f"{topic}-new", {"schemaType": "protobuf_native"})
