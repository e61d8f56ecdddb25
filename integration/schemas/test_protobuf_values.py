"""PROTOBUF_NATIVE and PROTOBUF topics of the Java client: its own message classes, as columns."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pytest

from support.spark.errors import no_job, refused
from support.topics.java_values import received, send
from support.topics.reading import batch, java_client

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from support.topics.writing import Target


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
def test_proto2_reports_missing_fields_as_null(spark: SparkSession, service_url: str, topic: str) -> None:
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


def test_columns_that_do_not_fit_the_message_are_rejected(target: Target, topic: str) -> None:
    schema = java_client(target.spark).Schema.PROTOBUF_NATIVE(
        _protobuf(target.spark).Timestamp.getDefaultInstance().getClass()
    )
    send(target.spark, target.service_url, topic, schema, [])
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", "`nanos`", "int32", topic):
        target.append_sql("select 1L as seconds, true as nanos", topic)
    with no_job(target.spark), refused("PULSAR_WRITE_SCHEMA_TYPE", "PROTOBUF_NATIVE", f"{topic}-new"):
        target.append_sql("select 1L as seconds", f"{topic}-new", {"schemaType": "protobuf_native"})


def _descriptor_file(message: Any, folder: Path) -> dict[str, str]:  # noqa: ANN401
    """What ``protoc --include_imports --descriptor_set_out`` makes; the options with it."""
    every: dict[str, bytes] = {}

    def collect(file: Any) -> None:  # noqa: ANN401
        for needed in file.getDependencies():
            collect(needed)
        every[file.getName()] = bytes(file.toProto().toByteArray())

    collect(message.getDescriptorForType().getFile())
    path = folder / "message.desc"
    # A set is a message that has the files as its field 1.
    path.write_bytes(b"".join(b"\x0a" + _varint(len(file)) + file for file in every.values()))
    name = message.getDescriptorForType().getFullName()
    return {"protobuf.descriptorFile": str(path), "protobuf.message": name}


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 0x80 else bytes([number & 0x7F | 0x80]) + _varint(number >> 7)


def _types(spark: SparkSession) -> tuple[Any, list[Any]]:
    """The client's schema of a class, and values of it."""
    protobuf = _protobuf(spark)
    field = protobuf.Field.newBuilder().setKindValue(9).setNumber(3).setName("näme").setPacked(True).build()
    full = protobuf.Type.newBuilder().setName("full").addFields(field).addOneofs("x").setSyntaxValue(1).build()
    messages = [full, protobuf.Type.getDefaultInstance()]
    return java_client(spark).Schema.PROTOBUF(full.getClass()), messages


@pytest.mark.usefixtures("read_level")
def test_protobuf_without_native_shows_simple_fields_and_with_a_descriptor_all(
    spark: SparkSession, service_url: str, topic: str, tmp_path: Path
) -> None:
    schema, messages = _types(spark)
    send(spark, service_url, topic, schema, [*messages, None])
    simple = batch(spark, service_url, topic=topic)
    rows = simple.select("name", "oneofs").collect()
    assert [tuple(row) for row in rows] == [("full", ["x"]), ("", []), (None, None)]
    for name in ("fields", "options", "source_context", "syntax"):
        with no_job(spark), refused("PULSAR_PROTOBUF_FIELD_UNKNOWN", f"`{name}`", topic, "protobuf.descriptorFile"):
            simple.select("name", name).collect()
    full = batch(spark, service_url, topic=topic, **_descriptor_file(messages[0], tmp_path))
    rows = full.select("name", "fields.name", "fields.kind", "oneofs", "source_context", "syntax").collect()
    assert [tuple(row) for row in rows] == [
        ("full", ["näme"], ["TYPE_STRING"], ["x"], None, "SYNTAX_PROTO3"),
        ("", [], [], [], None, "SYNTAX_PROTO2"),
        (None,) * 6,
    ]


def test_protobuf_without_native_is_written_for_the_java_client(target: Target, topic: str, tmp_path: Path) -> None:
    schema, messages = _types(target.spark)
    send(target.spark, target.service_url, topic, schema, messages)
    version = target.admin.schema(topic)["version"]
    options = _descriptor_file(messages[0], tmp_path)
    target.append(target.read(topic, options).drop("__topic").coalesce(1), topic, options)
    target.append_sql("select 'simple' as name, array('y') as oneofs", topic, {"schemaType": "protobuf"})
    simple = _protobuf(target.spark).Type.newBuilder().setName("simple").addOneofs("y").build()
    found = received(target.spark, target.service_url, topic, schema)
    assert [str(message) for message in found] == [str(message) for message in [*messages, *messages, simple]]
    assert target.admin.schema(topic)["version"] == version
    with no_job(target.spark), refused("PULSAR_PROTOBUF_FIELD_UNKNOWN", "`syntax`", topic):
        target.append_sql("select 'a' as name, 'SYNTAX_PROTO2' as syntax", topic)


def test_a_descriptor_of_another_message_is_rejected(target: Target, topic: str, tmp_path: Path) -> None:
    schema, messages = _types(target.spark)
    send(target.spark, target.service_url, topic, schema, messages)
    other = _descriptor_file(_protobuf(target.spark).Field.getDefaultInstance(), tmp_path)
    with no_job(target.spark), refused("PULSAR_PROTOBUF_DESCRIPTOR", "google.protobuf.Field", topic, "1 name string"):
        target.read(topic, other)
    missing = {"protobuf.descriptorFile": str(tmp_path / "none"), "protobuf.message": "google.protobuf.Type"}
    with no_job(target.spark), refused("PULSAR_FILE_UNREADABLE", "protobuf.descriptorFile", str(tmp_path / "none")):
        target.read(topic, missing)
