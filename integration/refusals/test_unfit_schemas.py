"""Schemas that do not fit: those of users, those that no columns can be made of, and values that are none of theirs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pulsar.schema as pulsar_schema

from support.servers.servers import remove_namespace
from support.spark.actions import read
from support.spark.errors import failing, no_job, refused
from support.topics.messages import Message, produce, read_all

if TYPE_CHECKING:
    from support.topics.writing import Target


def test_a_user_schema_that_does_not_match_the_topic_is_rejected(target: Target, topic: str) -> None:
    produce(target.client, topic, [str(n).encode() for n in range(20)])
    reader = target.spark.read.format("pulsar").options(**target.options(topic))
    with no_job(target.spark), refused("PULSAR_USER_SCHEMA_MISMATCH", "`value`", "INT", "BINARY"):
        reader.schema("value int").load().collect()
    with no_job(target.spark), refused("PULSAR_USER_SCHEMA_MISMATCH", "`price`"):
        reader.schema("price double").load().collect()
    assert reader.schema("value binary, __key binary").load().count() == 20


def test_topics_that_do_not_fit_together(target: Target, topic: str) -> None:
    target.append_sql("select 1 as id", f"{topic}-a", {"schemaType": "avro"})
    target.append_sql("select 'x' as id", f"{topic}-b", {"schemaType": "avro"})
    options = target.options(None, {"topics": f"{topic}-a,{topic}-b"})
    with no_job(target.spark), refused("PULSAR_SCHEMAS_DIFFER", f"{topic}-a", f"{topic}-b", "`id`"):
        read(target, options)


def test_a_protobuf_schema_without_numbers_of_fields(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    target.admin.upload_schema(topic, "PROTOBUF", json.dumps({"type": "record", "name": "Ride", "fields": []}))
    with no_job(target.spark), refused("PULSAR_SCHEMA_NOT_READABLE", topic, "PROTOBUF", "__PARSING_INFO__"):
        read(target, target.options(topic))


def test_a_schema_that_has_no_columns(target: Target, topic: str) -> None:
    node = {"type": "record", "name": "Node", "fields": [{"name": "next", "type": ["null", "Node"], "default": None}]}
    target.admin.create_topic(topic)
    target.admin.upload_schema(topic, "AVRO", json.dumps(node))
    with no_job(target.spark), refused("PULSAR_SCHEMA_NOT_READABLE", topic, "AVRO", "Node"):
        read(target, target.options(topic))


class Reading(pulsar_schema.Record):  # type: ignore[misc]
    sensor = pulsar_schema.String(required=True)
    value = pulsar_schema.Double(required=True)


class Damaging(pulsar_schema.AvroSchema):  # type: ignore[misc]
    """Claims to be Avro and sends bytes that are not."""

    def __init__(self) -> None:
        super().__init__(Reading)

    def encode(self, obj: Reading) -> bytes:
        return b"\x08abcd\x00" if obj.sensor == "broken" else bytes(super().encode(obj))


def test_a_value_that_does_not_decode(target: Target, topic: str) -> None:
    good, broken = (Message(Reading(sensor=name, value=1.0)) for name in ("whole", "broken"))
    produce(target.client, topic, [good, good, broken, good], schema=Damaging(), batch_size=4)
    position = read_all(target.client, topic)[2].id.position
    with failing("PULSAR_VALUE_NOT_DECODABLE", topic, position, "AVRO", "schema version 0"):
        read(target, target.options(topic))
    assert target.read(topic).count() == 4, "what opens no value does not fail"


def test_a_message_of_a_schema_that_does_not_resolve(target: Target, namespace: str) -> None:
    own = f"{namespace}-loose"
    target.admin.create_namespace(own)
    target.admin.set_policy(own, "schemaCompatibilityStrategy", "ALWAYS_COMPATIBLE", method="PUT")
    topic = f"persistent://{own}/t"
    try:
        target.append_sql("select 1 as id", topic, {"schemaType": "avro"})
        target.admin.upload_schema(
            topic, "AVRO", '{"type": "record", "name": "Row", "fields": [{"name": "other", "type": "string"}]}'
        )
        with failing("PULSAR_SCHEMA_NOT_RESOLVABLE", topic, "version 0", "the newest version", "other"):
            read(target, target.options(topic))
    finally:
        remove_namespace(target.admin, own)
