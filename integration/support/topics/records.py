"""Records of two schemas, and queries of a row of each: an event, and a person as the official client describes it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pulsar.schema as pulsar_schema

if TYPE_CHECKING:
    from support.topics.writing import Target

RECORD = {
    "type": "record",
    "name": "Event",
    "namespace": "com.example",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "kind", "type": {"type": "enum", "name": "Kind", "symbols": ["CLICK", "VIEW"]}},
        {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
        {"name": "hash", "type": {"type": "fixed", "name": "Hash", "size": 2}},
        {"name": "price", "type": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]},
        {"name": "note", "type": ["null", "string"], "default": None},
    ],
}
EVENT = """select 1 as id, 'VIEW' as kind, timestamp'2026-01-31 12:00:00.123' as at, unhex('abcd') as hash,
  cast(12.5 as decimal(10, 2)) as price"""


def event_topic(target: Target, topic: str) -> str:
    """Create the topic with the schema of an event."""
    target.admin.create_topic(topic)
    target.admin.upload_schema(topic, "AVRO", json.dumps(RECORD))
    return topic


class Address(pulsar_schema.Record):  # type: ignore[misc]
    city = pulsar_schema.String()
    zip_code = pulsar_schema.Integer()


class Person(pulsar_schema.Record):  # type: ignore[misc]
    name = pulsar_schema.String()
    age = pulsar_schema.Integer()
    score = pulsar_schema.Double()
    tags = pulsar_schema.Array(pulsar_schema.String())
    counts = pulsar_schema.Map(pulsar_schema.Long())
    address = Address()


PERSON = """select map('a', 1L) as counts, 'Ada' as name, 36 as age, 1.5D as score, array('x', 'y') as tags,
  named_struct('zip_code', 12345, 'city', 'London') as address"""
