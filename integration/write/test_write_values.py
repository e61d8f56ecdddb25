"""What written values are: the topic's schema or the columns', read back by us and by the official client."""

from __future__ import annotations

import datetime as dt
import json
import struct
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pulsar.schema as pulsar_schema
import pytest

from support.spark.errors import failing
from support.topics.records import EVENT, PERSON, Person, event_topic

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from support.topics.writing import Target

UTC = dt.timezone.utc

# A row of everything that can be a field, and a row without anything.
EVERYTHING = """
select 1 as id, true as b, tinyint(-8) as i8, smallint(-300) as i16, 70000 as i32, 5000000000 as i64, float(1.5) as f,
  -2.25D as d, 'text ä€' as s, unhex('00ff') as bin, date'2026-01-31' as day,
  timestamp'2026-01-31 12:34:56.123456' as ts,
  timestamp_ntz'2026-01-31 12:34:56.123456' as local, -12345.678BD as amount,
  array(1, null, 3) as numbers, map('x', 1.5D, 'y', null) as weights,
  named_struct('name', 'n', 'tags', array('a', 'b'), 'more', named_struct('deep', 7L)) as nested,
  array(named_struct('k', 'one'), null) as records
union all
select 2, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null
"""

# The primitives: SQL type, Pulsar's name, values in SQL, what the official client must find.
PRIMITIVES = {
    "boolean": ("BOOLEAN", ["true", "false"], [b"\x01", b"\x00"]),
    "tinyint": ("INT8", ["-128", "127"], [struct.pack(">b", n) for n in (-128, 127)]),
    "smallint": ("INT16", ["-32768", "258"], [struct.pack(">h", n) for n in (-32768, 258)]),
    "int": ("INT32", ["-2147483648", "16909060"], [struct.pack(">i", n) for n in (-2147483648, 16909060)]),
    "bigint": ("INT64", ["-1", "5000000000"], [struct.pack(">q", n) for n in (-1, 5000000000)]),
    "float": ("FLOAT", ["1.5", "-0.25"], [struct.pack(">f", n) for n in (1.5, -0.25)]),
    "double": ("DOUBLE", ["1e300", "-0.1"], [struct.pack(">d", n) for n in (1e300, -0.1)]),
    "string": ("STRING", ["'a'", "'ä€'"], [b"a", "ä€".encode()]),
    "binary": ("BYTES", ["unhex('00ff')", "unhex('01')"], [b"\x00\xff", b"\x01"]),
}


def plain(rows: DataFrame, columns: DataFrame) -> list[dict[str, Any]]:
    """The value columns as dictionaries, in the order of ``id``."""
    return [row.asDict(recursive=True) for row in rows.select(*columns.columns).orderBy("id").collect()]


def official(target: Target, topic: str) -> list[Any]:
    """What the official client decodes by the schema that the topic has."""
    kind, definition = target.schema(topic)
    assert kind == "AVRO"
    return target.values(topic, pulsar_schema.AvroSchema(None, schema_definition=definition))


@pytest.mark.parametrize("kind", PRIMITIVES)
def test_one_column_becomes_a_primitive(target: Target, topic: str, kind: str) -> None:
    schema, values, expected = PRIMITIVES[kind]
    for value in values:
        target.append_sql(f"select cast({value} as {kind}) as value", topic)
    if kind != "binary":
        assert target.schema(topic) == (schema, None)
    assert [message.payload for message in target.messages(topic)] == expected
    rows = target.spark.sql(
        f"select cast(v as {kind}) as value from values {', '.join(f'({v})' for v in values)} as t(v)"
    )
    read = target.read(topic).select("value")
    assert read.dtypes == [("value", kind)]
    assert read.collect() == rows.collect()


@pytest.mark.parametrize(
    ("schema", "kind", "layout"), [("INT64", "tinyint", ">q"), ("INT32", "smallint", ">i"), ("DOUBLE", "float", ">d")]
)
def test_a_smaller_number_fits_the_primitive_of_the_topic(
    target: Target, topic: str, schema: str, kind: str, layout: str
) -> None:
    target.admin.create_topic(topic)
    target.admin.upload_schema(topic, schema)
    target.append_sql(f"select cast(-7 as {kind}) as value", topic)
    assert [struct.unpack(layout, message.payload)[0] for message in target.messages(topic)] == [-7]


def test_a_schema_of_the_requested_type_is_created(target: Target, topic: str) -> None:
    target.append_sql("select 'x' as value", topic, {"schemaType": "AVRO"})
    kind, definition = target.schema(topic)
    assert (kind, [field["name"] for field in definition["fields"]]) == ("AVRO", ["value"])
    assert official(target, topic) == [{"value": "x"}]


@pytest.mark.parametrize("kind", ["auto", "json"])
def test_columns_become_a_record(target: Target, topic: str, kind: str) -> None:
    rows = target.spark.sql(EVERYTHING)
    target.append(rows.coalesce(1), topic, {"schemaType": kind})
    assert target.schema(topic)[0] == ("AVRO" if kind == "auto" else "JSON")
    read = target.read(topic)
    assert plain(read, rows) == plain(rows, rows)
    types = dict(rows.dtypes)
    changed = {name: kind for name, kind in read.select(*rows.columns).dtypes if types[name] != kind}
    assert changed == {"i8": "int", "i16": "int"}, "Avro has no smaller integers"


def test_the_official_client_reads_every_avro_field(target: Target, topic: str) -> None:
    target.append(target.spark.sql(EVERYTHING).coalesce(1), topic)
    full, empty = official(target, topic)
    assert full == {
        "id": 1, "b": True, "i8": -8, "i16": -300, "i32": 70000, "i64": 5000000000, "f": 1.5, "d": -2.25,
        "s": "text ä€", "bin": b"\x00\xff", "day": dt.date(2026, 1, 31),
        "ts": dt.datetime(2026, 1, 31, 12, 34, 56, 123456, UTC),
        "local": dt.datetime(2026, 1, 31, 12, 34, 56, 123456),
        "amount": Decimal("-12345.678"), "numbers": [1, None, 3], "weights": {"x": 1.5, "y": None},
        "nested": {"name": "n", "tags": ["a", "b"], "more": {"deep": 7}}, "records": [{"k": "one"}, None],
    }  # fmt: skip
    assert empty == {"id": 2, **dict.fromkeys(set(full) - {"id"})}


def test_json_records_are_plain_json(target: Target, topic: str) -> None:
    query = "select 1 as id, 'ä\"' as s, cast(null as string) as n, array(1, 2) as a, map('k', 1L) as m"
    target.append_sql(f"{query}, named_struct('x', true, 'y', 1.5D) as o", topic, {"schemaType": "json"})
    payload = json.loads(target.messages(topic)[0].payload)
    assert {name: value for name, value in payload.items() if value is not None} == {
        "id": 1, "s": 'ä"', "a": [1, 2], "m": {"k": 1}, "o": {"x": True, "y": 1.5},
    }  # fmt: skip


@pytest.mark.parametrize(
    "schema", [pulsar_schema.AvroSchema(Person), pulsar_schema.JsonSchema(Person)], ids=["avro", "json"]
)
def test_rows_are_written_to_a_topic_of_the_official_client(
    target: Target, topic: str, schema: pulsar_schema.Schema
) -> None:
    target.client.create_producer(topic, schema=schema).close()
    before = target.schema(topic)
    target.append_sql(PERSON, topic)
    assert target.schema(topic) == before
    [person] = target.values(topic, schema)
    assert (person.name, person.age, person.score, person.tags, person.counts) == ("Ada", 36, 1.5, ["x", "y"], {"a": 1})
    address = person.address if isinstance(person.address, dict) else person.address.__dict__
    assert (address["city"], address["zip_code"]) == ("London", 12345)


def test_columns_take_the_types_of_the_topic(target: Target, topic: str) -> None:
    target.append_sql(EVENT, event_topic(target, topic))
    assert official(target, topic) == [
        {
            "id": 1,
            "kind": "VIEW",
            "at": dt.datetime(2026, 1, 31, 12, 0, 0, 123000, UTC),
            "hash": b"\xab\xcd",
            "price": Decimal("12.50"),
            "note": None,
        }
    ]
    [row] = target.read(topic).collect()
    assert (row["id"], row["kind"], row["price"], row["note"]) == (1, "VIEW", Decimal("12.50"), None)


MICROS = f"select * except (at), timestamp'2026-01-31 12:00:00.123999' as at from ({EVENT})"


def test_parts_of_a_millisecond_fail_the_task_where_the_topic_keeps_none(target: Target, topic: str) -> None:
    loss = ("`at`", "2026-01-31T12:00:00.123999", "timestamp-millis", "timestampPrecision")
    with failing("PULSAR_WRITE_PRECISION_LOSS", topic, *loss):
        target.append_sql(MICROS, event_topic(target, topic))
    assert target.messages(topic) == []


def test_fractions_of_a_millisecond_are_truncated_on_request(target: Target, topic: str) -> None:
    target.append_sql(MICROS, event_topic(target, topic), {"timestampPrecision": "truncate"})
    assert [event["at"] for event in official(target, topic)] == [dt.datetime(2026, 1, 31, 12, 0, 0, 123000, UTC)]


def test_microseconds_that_the_schema_has_are_kept(target: Target, topic: str) -> None:
    target.append_sql(f"select at, 1 as id from ({MICROS})", topic)
    assert [event["at"] for event in official(target, topic)] == [dt.datetime(2026, 1, 31, 12, 0, 0, 123999, UTC)]


@pytest.mark.parametrize("kind", ["date", "timestamp"])
def test_a_primitive_of_milliseconds_holds_no_parts_of_one(target: Target, topic: str, kind: str) -> None:
    value = f"select at as value from ({MICROS})"
    with failing("PULSAR_WRITE_PRECISION_LOSS", topic, "`value`", kind.upper()):
        target.append_sql(value, topic, {"schemaType": kind})
    target.append_sql(value, topic, {"schemaType": kind, "timestampPrecision": "truncate"})
    assert [row[0] for row in target.read(topic).selectExpr("unix_micros(value)").collect()] == [1769860800123000]


def test_a_day_in_a_date_schema_is_midnight_in_utc(target: Target, topic: str) -> None:
    target.append_sql("select date'2026-01-31' as value", topic, {"schemaType": "date"})
    assert [row[0] for row in target.read(topic).selectExpr("unix_micros(value)").collect()] == [1769817600000000]
