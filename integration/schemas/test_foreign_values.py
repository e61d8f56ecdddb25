"""Values as other clients and languages write them: times and decimals in JSON, prefixes, empty payloads."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import TYPE_CHECKING

from messages import Message, produce

if TYPE_CHECKING:
    from writing import Target


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
