"""Values as other clients and languages write them: times and decimals in JSON, prefixes, empty payloads."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING

from pulsar.schema import AvroSchema

from support.spark.errors import refused
from support.spark.settings import session_settings
from support.topics.messages import Message, produce
from support.topics.reading import run_available

if TYPE_CHECKING:
    from pathlib import Path

    from support.topics.writing import Target


def _schema(target: Target, topic: str, kind: str, fields: list[dict[str, object]], **properties: str) -> None:
    target.admin.create_topic(topic)
    definition = json.dumps({"type": "record", "name": "R", "fields": fields})
    target.admin.upload_schema(topic, kind, definition, properties=properties)


def _field(name: str, base: str, logical: str, **more: object) -> dict[str, object]:
    return {"name": name, "type": ["null", {"type": base, "logicalType": logical, **more}]}


def test_json_of_java_and_of_other_languages(target: Target, topic: str) -> None:
    connect: dict[str, object] = {"precision": 20, "scale": 2, "connect.name": "org.apache.kafka.connect.data.Decimal"}
    fields = [
        _field("at", "long", "timestamp-micros"),
        _field("day", "int", "date"),
        _field("local", "long", "local-timestamp-millis"),
        _field("price", "bytes", "decimal", **connect),
    ]
    _schema(target, topic, "JSON", fields)
    values = [
        '{"at":1704110400.000000000,"day":[2024,2,29],"local":[2024,1,1,12,0],"price":"AMQ="}',
        '{"at":"2024-01-01T12:00:00Z","day":"2024-02-29","local":"2024-01-01T12:00:00","price":"1234"}',
        '{"at":1704110400000000,"day":19782,"local":1704110400000,"price":12.34}',
    ]
    produce(target.client, topic, [value.encode() for value in values])
    rows = target.read(topic).select("at", "day", "local", "price").collect()
    noon = datetime(2024, 1, 1, 12)
    assert [row["at"].astimezone(timezone.utc).replace(tzinfo=None) for row in rows] == [noon] * 3
    assert [row["day"] for row in rows] == [date(2024, 2, 29)] * 3
    assert [row["local"] for row in rows] == [noon] * 3
    assert [row["price"] for row in rows] == [Decimal("1.96"), Decimal("-26588.24"), Decimal("12.34")]


def test_bytes_before_a_value_and_empty_payloads(target: Target, topic: str) -> None:
    _schema(target, topic, "AVRO", [{"name": "id", "type": "int"}], __AVRO_READ_OFFSET__="5")
    produce(target.client, topic, [Message(bytes([0, 0, 0, 0, 7, 84]), key="k1"), Message(b"", key="k1")])
    rows = target.read(topic).selectExpr("string(__key)", "id").collect()
    assert [tuple(row) for row in rows] == [("k1", 42), ("k1", None)]


def test_json_schema_is_read_by_a_definition_of_the_user(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    definition = {"type": "object", "id": "urn:jsonschema:Trip", "properties": {"id": {"type": "integer"}}}
    target.admin.upload_schema(topic, "JSON", json.dumps(definition))
    produce(target.client, topic, [b'{"id":7,"city":"Bern"}', b'{"city":"Ulm"}'])
    with refused("PULSAR_SCHEMA_NOT_READABLE", topic, "is JSON Schema", "schemaMode=raw", "schemaMode=pinned"):
        target.read(topic)
    mine = {"type": "record", "name": "R", "fields": [{"name": n, "type": ["null", t]} for n, t in _TRIP]}
    rows = target.read(topic, {"schemaMode": "pinned", "readerSchema": json.dumps(mine)})
    assert [tuple(row) for row in rows.select("id", "city").collect()] == [(7, "Bern"), (None, "Ulm")]


_TRIP = (("id", "long"), ("city", "string"))


def test_a_field_wins_over_a_metadata_column_of_its_name(target: Target, topic: str, tmp_path: Path) -> None:
    fields = [{"name": "__ledgerId", "type": "long"}, {"name": "__key", "type": "string"}]
    schema = AvroSchema(None, {"type": "record", "name": "R", "fields": fields})
    values = [{"__ledgerId": n, "__key": f"k{n}"} for n in range(3)]
    produce(target.client, topic, [Message(value, key="other") for value in values], schema=schema)
    wanted = [(n, f"k{n}") for n in range(3)]
    rows = target.read(topic, {"metadataColumns": "all"})
    assert rows.columns[:2] == ["__ledgerId", "__key"]
    assert len(set(rows.columns)) == len(rows.columns)
    assert [tuple(row) for row in rows.select("__ledgerId", "__key").collect()] == wanted
    assert [tuple(row) for row in rows.where("__ledgerId = 1").select("__key", "__entryId").collect()] == [("k1", 1)]
    with refused("PULSAR_USER_SCHEMA_MISMATCH", "`__ledgerId`"):
        target.spark.read.format("pulsar").schema("__ledgerId BIGINT").options(**target.options(topic)).load().collect()
    options = target.options(topic, {"startingOffsets": "earliest"})
    stream = target.spark.readStream.format("pulsar").options(**options).load().select("__key", "__ledgerId")
    sink = target.options(f"{topic}-copy")
    run_available(stream.writeStream.format("pulsar").options(**sink).option("checkpointLocation", str(tmp_path)))
    copied = target.read(f"{topic}-copy").select("__ledgerId", "__key").collect()
    assert [tuple(row) for row in copied] == wanted
    target.append(rows.select("__ledgerId", "__key"), topic)
    assert [value["__key"] for value in target.values(topic, schema)] == [*(key for _, key in wanted)] * 2
    with refused("PULSAR_WRITE_COLUMN_MISMATCH", "`__ledgerId`", "metadata column"):
        target.append_sql("select 5L as `__ledgerId`, 'k' as `__key`, 1 as x", topic)


def test_a_field_hides_a_metadata_column_in_another_case_unless_case_counts(
    target: Target, topic: str, tmp_path: Path
) -> None:
    schema = AvroSchema(None, {"type": "record", "name": "R", "fields": [{"name": "__KEY", "type": "string"}]})
    produce(target.client, topic, [Message({"__KEY": "field"}, key="key")], schema=schema)
    rows = target.read(topic)
    assert (rows.columns[0], "__key" in rows.columns) == ("__KEY", False)
    assert [tuple(row) for row in rows.select("__key").collect()] == [("field",)]
    with session_settings(target.spark, {"spark.sql.caseSensitive": "true"}):
        rows = target.read(topic)
        assert rows.columns[:2] == ["__KEY", "__key"]
        assert [tuple(row) for row in rows.select("__KEY", "__key").collect()] == [("field", b"key")]
        assert rows.where("__key = cast('key' as binary) and __KEY = 'field'").count() == 1
        assert rows.where("__key = cast('field' as binary)").count() == 0
        options = target.options(topic, {"startingOffsets": "earliest"})
        stream = target.spark.readStream.format("pulsar").options(**options).load().select("__KEY", "__key")
        sink = target.options(f"{topic}-copy")
        run_available(stream.writeStream.format("pulsar").options(**sink).option("checkpointLocation", str(tmp_path)))
        assert [tuple(row) for row in target.read(f"{topic}-copy").select("__KEY", "__key").collect()] == [
            ("field", b"key")
        ]
