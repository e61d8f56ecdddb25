"""Batch reads of topics with schemas: the columns are the values that the official client sent."""

from __future__ import annotations

import datetime
import json
import struct
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pulsar as pulsar_client
import pytest
from pulsar.schema import (
    Array,
    AvroSchema,
    Boolean,
    Double,
    Integer,
    JsonSchema,
    Long,
    Map,
    Record,
    String,
    StringSchema,
)
from pyspark.errors import IllegalArgumentException

from support.topics.messages import Message, produce
from support.topics.reading import batch

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")

_NUMBERS: dict[str, tuple[str, str, list[Any]]] = {
    "INT8": (">b", "tinyint", [0, 1, -1, 127, -128]),
    "INT16": (">h", "smallint", [0, 1, -1, 32767, -32768]),
    "INT32": (">i", "int", [0, 1, -1, 2**31 - 1, -(2**31)]),
    "INT64": (">q", "bigint", [0, 1, -1, 2**63 - 1, -(2**63)]),
    "FLOAT": (">f", "float", [0.0, -1.5, 3.4028234663852886e38, float("inf")]),
    "DOUBLE": (">d", "double", [0.0, -1.5, 1e-300, float("-inf")]),
    "BOOLEAN": (">?", "boolean", [True, False]),
}


def test_strings_and_bytes_of_the_official_client(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    texts = ["", "text", "ünï 鍵 🔑", "x" * 10_000]
    produce(client, topic, [*map(Message, texts), Message(None)], schema=StringSchema(), batch_size=2)
    frame = batch(spark, service_url, topic=topic)
    assert dict(frame.dtypes)["value"] == "string"
    assert [row["value"] for row in frame.collect()] == [*texts, None]
    plain = f"{topic}-bytes"
    produce(client, plain, [b"", b"\xff\x00"], schema=pulsar_client.schema.BytesSchema())
    frame = batch(spark, service_url, topic=plain)
    assert dict(frame.dtypes)["value"] == "binary"
    assert [bytes(row["value"]) for row in frame.collect()] == [b"", b"\xff\x00"]


@pytest.mark.parametrize("kind", list(_NUMBERS))
def test_primitives(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, kind: str
) -> None:
    """The official Python client has no schemas of these; their bytes are those of the Java client."""
    form, spark_type, values = _NUMBERS[kind]
    admin.create_topic(topic)
    admin.upload_schema(topic, kind)
    produce(client, topic, [*(Message(struct.pack(form, value)) for value in values), Message(None)], batch_size=2)
    frame = batch(spark, service_url, topic=topic)
    assert dict(frame.dtypes)["value"] == spark_type
    assert [row["value"] for row in frame.collect()] == [*values, None]


_EVENT = {
    "type": "record",
    "name": "Event",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "name", "type": ["null", "string"], "default": None},
        {"name": "ok", "type": "boolean"},
        {"name": "share", "type": "double"},
        {"name": "raw", "type": "bytes"},
        {"name": "code", "type": {"type": "fixed", "name": "Code", "size": 3}},
        {"name": "colour", "type": {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}},
        {"name": "tags", "type": {"type": "array", "items": ["null", "string"]}},
        {"name": "counts", "type": {"type": "map", "values": "int"}},
        {
            "name": "place",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "Place",
                    "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": ["null", "float"]}],
                },
            ],
        },
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "us", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 4}},
        {"name": "number", "type": ["int", "long"]},
    ],
}

_COLUMNS = (
    "id",
    "name",
    "ok",
    "share",
    "raw",
    "code",
    "colour",
    "tags",
    "counts",
    "place",
    "day",
    "unix_millis(ms)",
    "unix_micros(us)",
    "price",
    "number",
)
_MOMENT = datetime.datetime(2026, 1, 31, 12, 30, 15, 123456, tzinfo=datetime.timezone.utc)


def _event(number: int) -> dict[str, Any]:
    odd = number % 2 == 1
    return {
        "id": 2**62 + number,
        "name": None if odd else f"näme {number}",
        "ok": odd,
        "share": number / 7,
        "raw": bytes([number % 256, 255]),
        "code": b"c%02d" % (number % 100),
        "colour": "RED" if odd else "GREEN",
        "tags": [None, f"t{number}"] * (number % 3),
        "counts": {f"k{key}": key * number for key in range(number % 4)},
        "place": {"x": number, "y": None if number % 4 == 0 else 0.5} if odd else None,
        "day": datetime.date(1960, 1, 1) + datetime.timedelta(days=100 * number),
        "ms": _MOMENT.replace(microsecond=123_000) - datetime.timedelta(days=400 * number),
        "us": None if odd else _MOMENT,
        "price": Decimal(number * 12345 - 50).scaleb(-4),
        "number": 2**40 if odd else number,
    }


def _row(event: dict[str, Any]) -> tuple[object, ...]:
    epoch = datetime.datetime.fromtimestamp(0, datetime.timezone.utc)
    micro = datetime.timedelta(microseconds=1)
    micros = {key: None if event[key] is None else (event[key] - epoch) // micro for key in ("ms", "us")}
    place = None if event["place"] is None else tuple(event["place"].values())
    return tuple({**event, **micros, "ms": (micros["ms"] or 0) // 1000, "place": place}.values())


def test_avro_of_every_kind(spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str) -> None:
    events = [_event(number) for number in range(100)]
    produce(client, topic, [*map(Message, events), Message(None)], schema=AvroSchema(None, _EVENT), batch_size=7)
    frame = batch(spark, service_url, topic=topic)
    assert dict(frame.dtypes) | {"place": "struct<x:int,y:float>", "price": "decimal(20,4)", "day": "date"} == dict(
        frame.dtypes
    )
    rows = [tuple(row) for row in frame.selectExpr(*_COLUMNS).collect()]
    assert rows[:-1] == [_row(event) for event in events]
    assert rows[-1] == (None,) * len(_COLUMNS)


def test_avro_columns_are_pruned(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    events = [_event(number) for number in range(50)]
    produce(client, topic, map(Message, events), schema=AvroSchema(None, _EVENT), batch_size=7)
    frame = batch(spark, service_url, topic=topic).where("place IS NOT NULL").select("number", "place.x")
    session: Any = frame
    plan = str(session._jdf.queryExecution().executedPlan())
    assert "columns=[place, number]" in plan
    assert [tuple(row) for row in frame.collect()] == [
        (event["number"], event["place"]["x"]) for event in events if event["place"]
    ]


class _Inner(Record):  # type: ignore[misc]
    a = Integer()
    b = String()


class _Outer(Record):  # type: ignore[misc]
    id = Long(required=True)
    name = String()
    flag = Boolean()
    share = Double()
    inner = _Inner()
    numbers = Array(Integer())
    texts = Map(String())


@pytest.mark.parametrize("form", [AvroSchema, JsonSchema])
def test_records_of_the_official_client(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, form: type[Any]
) -> None:
    records = [
        _Outer(id=1, name="a", flag=True, share=0.5, inner=_Inner(a=1, b="x"), numbers=[1, 2], texts={"k": "ü"}),
        _Outer(id=2**60, numbers=[], texts={}),
    ]
    produce(client, topic, map(Message, records), schema=form(_Outer), batch_size=2)
    frame = batch(spark, service_url, topic=topic)
    assert {"id", "name", "flag", "share", "inner", "numbers", "texts"} < set(frame.columns)
    rows = frame.select("id", "name", "flag", "share", "inner.a", "inner.b", "numbers", "texts").collect()
    assert [tuple(row) for row in rows] == [
        (1, "a", True, 0.5, 1, "x", [1, 2], {"k": "ü"}),
        (2**60, None, False, None, None, None, [], {}),  # a Boolean of this client is False unless set
    ]


def test_json_with_logical_types(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    fields = [
        {"name": "id", "type": "int"},
        {"name": "colour", "type": ["null", {"type": "enum", "name": "Colour", "symbols": ["RED", "GREEN"]}]},
        {"name": "day", "type": {"type": "int", "logicalType": "date"}},
        {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "us", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "share", "type": "double"},
    ]
    admin.create_topic(topic)
    admin.upload_schema(topic, "JSON", json.dumps({"type": "record", "name": "R", "fields": fields}))
    values: list[dict[str, object]] = [
        {"id": 1, "colour": "RED", "day": 20_000, "ms": 1_700_000_000_123, "us": 1_700_000_000_123_456, "share": 0.25},
        {"share": 1, "unknown": {"to": ["the", "schema"]}, "us": None, "ms": -1, "day": -1, "id": 2},
        {},
    ]
    produce(client, topic, [json.dumps(value).encode() for value in values], batch_size=7)
    columns = ("id", "colour", "unix_date(day)", "unix_millis(ms)", "unix_micros(us)", "share")
    rows = batch(spark, service_url, topic=topic).selectExpr(*columns).collect()
    assert [tuple(row) for row in rows] == [
        (1, "RED", 20_000, 1_700_000_000_123, 1_700_000_000_123_456, 0.25),
        (2, None, -1, -1, None, 1.0),
        (None,) * 6,
    ]


@pytest.mark.parametrize("partitions", [0, 2])
def test_two_versions_of_a_schema_in_one_query(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str, partitions: int
) -> None:
    def version(*fields: dict[str, object]) -> AvroSchema:
        return AvroSchema(None, {"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}, *fields]})

    admin.create_topic(topic, partitions=partitions)
    old = version({"name": "left", "type": ["null", "string"], "default": None})
    new = version(
        {"name": "added", "type": "string", "default": "none"},
        {"name": "more", "type": ["null", "long"], "default": None},
    )
    produce(client, topic, [Message({"id": number, "left": "x"}) for number in range(20)], schema=old, batch_size=7)
    later = [Message({"id": number, "added": f"a{number}", "more": number}) for number in range(20, 40)]
    produce(client, topic, later, schema=new, batch_size=7)
    rows = batch(spark, service_url, topic=topic).select("id", "added", "more").collect()
    assert sorted(tuple(row) for row in rows) == [
        *((number, "none", None) for number in range(20)),
        *((number, f"a{number}", number) for number in range(20, 40)),
    ]
    versions = batch(spark, service_url, topic=topic).groupBy("__schemaVersion").count().collect()
    assert sorted((bytes(row[0]), row[1]) for row in versions) == [
        (struct.pack(">q", 0), 20),
        (struct.pack(">q", 1), 20),
    ]


def test_a_value_that_does_not_decode_is_named(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    schema = AvroSchema(None, {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]})
    produce(client, topic, [Message({"a": "good"})], schema=schema)
    bad = produce(client, topic, [b"\x7f"])[0]
    with pytest.raises(Exception, match=rf"PULSAR_VALUE_NOT_DECODABLE.*message {bad.position} in topic {topic}.*AVRO"):
        batch(spark, service_url, topic=topic).select("a").collect()


def test_records_of_several_topics_are_one_table(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    def table(name: str, *fields: dict[str, object]) -> str:
        definition = {"type": "record", "name": "R", "fields": [{"name": "id", "type": "int"}, *fields]}
        samples: dict[str, object] = {"s": {"x": 8}, "name": "text"}
        values = {str(field["name"]): samples[str(field["name"])] for field in fields if field["type"] != "int"}
        messages = [Message({"id": number, **values}) for number in range(3)]
        produce(client, f"{topic}-{name}", messages, schema=AvroSchema(None, definition))
        return f"{topic}-{name}"

    def struct(field: str) -> dict[str, object]:
        inner = {"type": "record", "name": "S", "fields": [{"name": field, "type": ["null", "int"], "default": None}]}
        return {"name": "s", "type": inner}

    topics = [table("1", struct("x")), table("2", struct("y"), {"name": "name", "type": "string"}), table("3")]
    frame = batch(spark, service_url, topics=",".join(topics))
    rows = frame.select("__topic", "id", "s.x", "s.y", "name").collect()
    expected = [("1", 8, None, None), ("2", None, None, "text"), ("3", None, None, None)]
    assert sorted((row[0][-1], *row[1:]) for row in rows) == sorted(
        (name, number, *rest) for name, *rest in expected for number in range(3)
    )
    other = table("4", {"name": "name", "type": "int", "default": 1})
    with pytest.raises(IllegalArgumentException, match=rf"{topics[1]} and {other} .*`name` is STRING .*INT"):
        batch(spark, service_url, topics=",".join([*topics, other]))


def test_topics_with_other_columns_are_not_one_table(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    produce(client, f"{topic}-1", [Message("text")], schema=StringSchema())
    produce(client, f"{topic}-2", [b"bytes"])
    with pytest.raises(IllegalArgumentException, match=r"\[PULSAR_SCHEMAS_DIFFER\].*`value`"):
        batch(spark, service_url, topics=f"{topic}-1,{topic}-2")


def test_a_schema_of_the_user_must_match(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str
) -> None:
    schema = AvroSchema(None, {"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}]})
    produce(client, topic, [Message({"a": "x"})], schema=schema)
    reader = spark.read.format("pulsar").option("service.url", service_url).option("topic", topic)
    assert reader.schema("a STRING").load().collect() == [("x",)]
    with pytest.raises(IllegalArgumentException, match=r"\[PULSAR_USER_SCHEMA_MISMATCH\] Column `a`"):
        reader.schema("a BIGINT").load().collect()
    with pytest.raises(IllegalArgumentException, match=r"\[PULSAR_USER_SCHEMA_MISMATCH\] Column `b`"):
        reader.schema("b STRING").load().collect()


def test_a_large_schema_of_many_tasks_reaches_each_executor_once(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    """Each of the tasks would be larger by the definition, which is above a limit of bytes in all of them."""
    fields = [{"name": "id", "type": "long", "doc": "x" * 100_000}]
    schema = AvroSchema(None, {"type": "record", "name": "Large", "fields": fields})
    produce(client, topic, [Message({"id": n}) for n in range(60)], schema=schema)
    frame = batch(spark, service_url, topic=topic, readLevel="segment", **{"admin.url": admin.url}, minPartitions="60")
    assert frame.rdd.getNumPartitions() >= 50
    assert sorted(row["id"] for row in frame.select("id").collect()) == list(range(60))
