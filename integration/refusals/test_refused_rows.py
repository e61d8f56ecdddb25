"""Rows that no message is made of: columns that the topic's schema does not have, values that no field holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pulsar.schema as pulsar_schema
import pytest

from support.servers.servers import remove_namespace
from support.spark.errors import failing, no_job, refused
from support.topics.records import EVENT, PERSON, Person, event_topic

if TYPE_CHECKING:
    from support.servers.admin import Admin
    from support.topics.writing import Target


@pytest.mark.parametrize(
    ("change", "condition", "words"),
    [
        ("if(rand(1) < 2, null, 1L) as id", "PULSAR_WRITE_NULL_VALUE", ["`id`"]),
        ("'PURCHASE' as kind", "PULSAR_WRITE_VALUE_NOT_ALLOWED", ["`kind`", "PURCHASE"]),
        ("unhex('ab') as hash", "PULSAR_WRITE_VALUE_NOT_ALLOWED", ["`hash`"]),
        ("0.5D as id", "PULSAR_WRITE_NUMBER_NOT_EXACT", ["`id`", "0.5", "long"]),
        ("cast(1.005 as decimal(20, 3)) as price", "PULSAR_WRITE_NUMBER_NOT_EXACT", ["`price`", "1.005"]),
    ],
)
def test_a_value_that_its_field_cannot_hold_fails_the_task(
    target: Target, topic: str, change: str, condition: str, words: list[str]
) -> None:
    name = change.rsplit(" ", 1)[1]
    with failing(condition, topic, *words):
        target.append_sql(f"select * except ({name}), {change} from ({EVENT})", event_topic(target, topic))
    assert target.messages(topic) == []


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ("* except (kind)", ["`kind`"]),
        ("*, 1 as extra", ["`extra`"]),
        ("* except (id), 'x' as id", ["`id`", "STRING"]),
        ("* except (at), 1.5D as at", ["`at`", "DOUBLE"]),
        ("* except (price), true as price", ["`price`", "BOOLEAN"]),
    ],
)
def test_columns_that_do_not_fit_the_topic_are_rejected_by_name(
    target: Target, topic: str, columns: str, words: list[str]
) -> None:
    event_topic(target, topic)
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", topic, "AVRO", *words):
        target.append_sql(f"select {columns} from ({EVENT})", topic)


def test_a_nested_field_that_does_not_fit_is_named_by_its_path(target: Target, topic: str) -> None:
    target.client.create_producer(topic, schema=pulsar_schema.AvroSchema(Person)).close()
    person = (
        f"select * except (address), named_struct('zip_code', array(1), 'city', 'London') as address from ({PERSON})"
    )
    with no_job(target.spark), refused("PULSAR_WRITE_COLUMN_MISMATCH", "address.zip_code", topic):
        target.append_sql(person, topic)


@pytest.mark.parametrize(
    ("columns", "kind", "condition", "words"),
    [
        ("1 as id, 2 as x", "string", "PULSAR_WRITE_COLUMN_MISMATCH", ["`id`", "one value column"]),
        ("true as value", "int32", "PULSAR_WRITE_COLUMN_MISMATCH", ["`value`", "INT32", "BOOLEAN"]),
        ("1.5D as value", "date", "PULSAR_WRITE_COLUMN_MISMATCH", ["`value`", "DATE", "DOUBLE"]),
        ("map(1, 2) as m, 1 as x", "auto", "PULSAR_WRITE_COLUMN_MISMATCH", ["`m`", "MAP<INT, INT>"]),
        ("1 as `a b`, 1 as x", "auto", "PULSAR_WRITE_COLUMN_MISMATCH", ["`a b`"]),
    ],
)
def test_columns_that_no_schema_can_hold_are_rejected(
    target: Target, topic: str, columns: str, kind: str, condition: str, words: list[str]
) -> None:
    with no_job(target.spark), refused(condition, topic, *words):
        target.append_sql(f"select {columns}", topic, {"schemaType": kind})


def test_another_schema_type_than_the_topic_has_is_rejected(target: Target, topic: str) -> None:
    event_topic(target, topic)
    with no_job(target.spark), refused("PULSAR_WRITE_SCHEMA_TYPE", "JSON", topic, "AVRO"):
        target.append_sql(EVENT, topic, {"schemaType": "json"})


def test_a_protobuf_schema_without_numbers_of_fields_is_rejected(target: Target, topic: str) -> None:
    target.admin.create_topic(topic)
    target.admin.upload_schema(topic, "PROTOBUF", '{"type": "record", "name": "R", "fields": []}')
    with no_job(target.spark), refused("PULSAR_SCHEMA_NOT_READABLE", topic, "PROTOBUF", "__PARSING_INFO__"):
        target.append_sql("select current_timestamp() as value", topic)


def test_a_schema_that_the_topic_does_not_accept_is_rejected(target: Target, admin: Admin, namespace: str) -> None:
    own = f"{namespace}-strict"
    admin.create_namespace(own)
    admin.set_policy(own, "isAllowAutoUpdateSchema", value=False)
    topic = f"persistent://{own}/t"
    admin.create_topic(topic)
    try:
        with no_job(target.spark), refused("PULSAR_WRITE_SCHEMA_REFUSED", topic):
            target.append_sql("select 1 as id, 'x' as name", topic)
    finally:
        remove_namespace(admin, own)
