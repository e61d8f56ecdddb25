"""Where written rows go and what their messages carry, the official client being the judge."""

from __future__ import annotations

import base64
import time
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from support.spark.errors import failing
from support.topics.java_values import java_connection
from support.topics.messages import Message, produce
from support.topics.reading import java_client

if TYPE_CHECKING:
    from support.topics.writing import Target


def test_the_topic_option_goes_before_the_column(target: Target, topic: str, namespace: str) -> None:
    other = f"{topic}-other"
    target.append_sql(f"select 'x' as value, '{other}' as __topic", topic)
    assert [message.payload for message in target.messages(topic)] == [b"x"]
    assert other not in target.admin.topics(namespace)


def test_a_short_topic_name_is_in_the_default_namespace(target: Target, topic: str) -> None:
    short = topic.removeprefix("persistent://public/").replace("/", "-")
    full = f"persistent://public/default/{short}"
    target.append_sql("select 'by option' as value", short)
    target.append_sql(f"select 'by column' as value, '{short}' as __topic")
    assert [message.payload for message in target.messages(full)] == [b"by option", b"by column"]
    target.admin.delete_topic(full)


def test_rows_go_to_the_topics_they_name_in_the_schema_of_each(target: Target, topic: str) -> None:
    avro, json, new = f"{topic}-avro", f"{topic}-json", f"{topic}-new"
    fields = '{"name": "name", "type": ["null", "string"], "default": null}, {"name": "id", "type": "long"}'
    record = f'{{"type": "record", "name": "R", "fields": [{fields}]}}'
    for name, kind in ((avro, "AVRO"), (json, "JSON")):
        target.admin.create_topic(name)
        target.admin.upload_schema(name, kind, record)
    query = "select id, concat('name ', id) as name, element_at(array('{}', '{}', '{}'), int(id % 3) + 1) as __topic"
    target.append_sql(query.format(avro, json, new) + " from range(0, 30, 1, 2)")
    assert [target.schema(name)[0] for name in (avro, json, new)] == ["AVRO", "JSON", "AVRO"]
    for rest, name in enumerate((avro, json, new)):
        assert len(target.messages(name)) == 10
        read = target.read(name).selectExpr("id", "name", "__topic").collect()
        assert sorted(map(tuple, read)) == [(n, f"name {n}", name) for n in range(rest, 30, 3)]
    assert {b'{"name":"name 1","id":1}', b'{"name":"name 28","id":28}'} <= {m.payload for m in target.messages(json)}


def test_a_row_without_a_topic_fails_the_task(target: Target, topic: str) -> None:
    with failing("PULSAR_WRITE_TOPIC_NULL", "__topic"):
        target.append_sql(f"select 'x' as value, if(id < 5, '{topic}', null) as __topic from range(6)")


def test_a_row_with_an_invalid_topic_is_rejected(target: Target) -> None:
    with failing("PULSAR_TOPIC_NAME", "non-persistent"):
        target.append_sql("select 'x' as value, 'non-persistent://public/default/t' as __topic")


def test_a_text_key_is_the_key_of_a_native_client(target: Target, topic: str) -> None:
    keys = ["a", "key with spaces", "äöü €", "Zm9v", ""]
    rows = [(key,) for key in [*keys, None]]
    target.append(target.spark.createDataFrame(rows, "__key string").selectExpr("__key", "'v' as value"), topic)
    assert sorted(message.key for message in target.messages(topic)) == sorted([*keys, ""])
    read = [row[0] for row in target.read(topic).select("__key").collect()]
    assert sorted(key.decode() for key in read if key is not None) == sorted(keys)
    assert read.count(None) == 1


def test_a_binary_key_is_a_bytes_key_of_a_native_client(target: Target, topic: str) -> None:
    target.append_sql("select unhex('00ff80') as __key, 'v' as value", topic)
    message = target.messages(topic)[0]
    assert base64.b64decode(message.key) == b"\x00\xff\x80"
    assert [bytes(row[0]) for row in target.read(topic).select("__key").collect()] == [b"\x00\xff\x80"]


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_keys_go_to_the_partitions_the_java_client_picks(target: Target, topic: str, kind: str) -> None:
    """The comparison is with the Java client's default, JavaStringHash; the Python client's default is another hash."""
    twin = f"{topic}-twin"
    for name in (topic, twin):
        target.admin.create_topic(name, partitions=7)
    rows = target.spark.sql(
        f"select cast(concat('key ', id) as {kind}) as __key, 'v' as value from range(0, 150, 1, 2)"
    )
    target.append(rows, topic)
    produce_with_java_client(target, twin, [bytes(row[0]) if kind == "binary" else row[0] for row in rows.collect()])
    ours, theirs = places(target, topic), places(target, twin)
    assert ours == theirs
    assert len(ours) == 150
    assert {len(place) for place in ours.values()} == {1}
    assert len(set.union(*ours.values())) == 7


def test_the_comparison_of_partitions_can_fail(target: Target, topic: str) -> None:
    twin = f"{topic}-twin"
    for name in (topic, twin):
        target.admin.create_topic(name, partitions=7)
    keys = [f"key {number}" for number in range(20)]
    target.append(
        target.spark.createDataFrame([(k,) for k in keys], "__key string").selectExpr("*", "'v' as value"), topic
    )
    produce(target.client, twin, [Message(b"v", key=key) for key in keys])
    assert places(target, topic) != places(target, twin)


def places(target: Target, topic: str) -> dict[str, set[int]]:
    found = defaultdict(set)
    for message in target.messages(topic):
        found[message.key].add(message.id.partition)
    return dict(found)


def produce_with_java_client(target: Target, topic: str, keys: list[str] | list[bytes]) -> None:
    """With every setting of the producer but its time-out at its default; the client is the one inside our jar."""
    jvm = target.spark.sparkContext._jvm
    assert jvm is not None
    api = jvm.io.github.pulsarspark.shaded.org.apache.pulsar.client.api
    with java_connection(target.spark, target.service_url) as client:
        producer = client.newProducer(api.Schema.STRING).loadConf({"sendTimeoutMs": 0}).topic(topic).create()
        for key in keys:
            message = producer.newMessage().value("v")
            (message.key(key) if isinstance(key, str) else message.keyBytes(key)).sendAsync()
        producer.flush()


def test_event_times_are_exact(target: Target, topic: str) -> None:
    millis = [1, 999, 1_000, 1_700_000_000_123, 253_402_300_799_999]
    values = ", ".join(f"({number})" for number in millis)
    rows = target.spark.sql(
        f"select timestamp_millis(n) as __eventTime, string(n) as value from values {values} as t(n)"
    )
    target.append(rows.coalesce(1), topic)
    target.append_sql("select cast(null as timestamp) as __eventTime, '0' as value", topic)
    target.append_sql("select timestamp_micros(1700000000123999) as __eventTime, '1700000000123' as value", topic)
    messages = target.messages(topic)
    assert [(int(message.payload), message.event_time_ms) for message in messages] == [
        (n, n) for n in [*millis, 0, 1_700_000_000_123]
    ]
    read = target.read(topic).selectExpr("bigint(value)", "unix_micros(__eventTime)").collect()
    assert [(n, None if n == 0 else n * 1000) for n in [*millis, 0, 1_700_000_000_123]] == [tuple(row) for row in read]


def test_an_event_time_may_be_milliseconds_and_a_day_may_go_to_a_date_schema(target: Target, topic: str) -> None:
    row = "select date'2026-02-28' as value, 1700000000123L as __eventTime"
    target.append_sql(row, topic, {"schemaType": "date"})
    target.append_sql(row, topic)
    assert target.schema(topic)[0] == "DATE"
    read = target.read(topic).selectExpr("unix_millis(value)", "unix_millis(__eventTime)").collect()
    assert [tuple(one) for one in read] == [(1_772_236_800_000, 1_700_000_000_123)] * 2


def test_an_event_time_pulsar_cannot_keep_fails_the_task(target: Target, topic: str) -> None:
    with failing("PULSAR_WRITE_VALUE_NOT_ALLOWED", "`__eventTime`", topic, "-1 ms"):
        target.append_sql("select timestamp_millis(-1) as __eventTime, 'x' as value", topic)
    assert target.messages(topic) == []


def test_properties_arrive(target: Target, topic: str) -> None:
    target.append_sql("select map('a', '1', 'ä €', '', '', 'x') as __messageProperties, 'v' as value", topic)
    target.append_sql("select cast(map() as map<string, string>) as __messageProperties, 'v' as value", topic)
    target.append_sql("select cast(null as map<string, string>) as __messageProperties, 'v' as value", topic)
    expected = [{"a": "1", "ä €": "", "": "x"}, {}, {}]
    assert [message.properties for message in target.messages(topic)] == expected
    assert [row[0] for row in target.read(topic).select("__messageProperties").collect()] == expected


def test_a_property_without_a_value_fails_the_task(target: Target, topic: str) -> None:
    with failing("PULSAR_WRITE_VALUE_NOT_ALLOWED", "`__messageProperties`", "null for `b`", topic):
        target.append_sql("select map('a', '1', 'b', null) as __messageProperties, 'v' as value", topic)


@pytest.mark.parametrize("kind", ["string", "binary"])
def test_a_tombstone_is_not_an_empty_value(target: Target, topic: str, kind: str) -> None:
    for value in ("'x'", "null", "''"):
        target.append_sql(f"select 'k' as __key, cast({value} as {kind}) as value", topic)
    messages = target.messages(topic)
    assert [(message.payload, message.is_null) for message in messages] == [(b"x", False), (b"", True), (b"", False)]
    read = [row[0] for row in target.read(topic).select("value").collect()]
    assert read == (["x", None, ""] if kind == "string" else [b"x", None, b""])


def test_a_tombstone_in_a_topic_of_records(target: Target, topic: str) -> None:
    target.append_sql("select 'k' as __key, 1 as id, 'one' as name", topic)
    target.append_sql("select 'k' as __key, cast(null as binary) as value", topic, {"schemaType": "bytes"})
    assert [message.is_null for message in target.messages(topic)] == [False, True]
    assert [tuple(row) for row in target.read(topic).select("id", "name").collect()] == [(1, "one"), (None, None)]


def test_rows_can_be_written_as_they_were_read(target: Target, topic: str) -> None:
    sent = [
        Message(f"m{n}".encode(), key=f"k{n % 3}", event_time_ms=1_700_000_000_000 + n, properties={"n": str(n)})
        for n in range(20)
    ]
    produce(target.client, topic, sent, batch_size=7)
    copy = f"{topic}-copy"
    target.append(target.read(topic, {"metadataColumns": "__position,__producerName"}), copy)

    def content(name: str) -> list[tuple[object, ...]]:
        return [(m.payload, m.key, m.event_time_ms, m.properties) for m in target.messages(name)]

    assert content(copy) == content(topic)


def test_optional_parts_of_a_message_are_written(target: Target, topic: str) -> None:
    target.append_sql(
        "select 'full' as value, unhex('00ff') as __orderingKey, 41L as __sequenceId, "
        "timestamp_millis(1700000000123) as __deliverAt, array('standalone') as __replicationClusters",
        topic,
    )
    target.append_sql(
        "select 'local' as value, 'text ü' as __orderingKey, cast(null as bigint) as __sequenceId, "
        "cast(null as timestamp) as __deliverAt, cast(array() as array<string>) as __replicationClusters",
        topic,
    )
    api = java_client(target.spark)
    with java_connection(target.spark, target.service_url) as java:
        reader = java.newReader().topic(topic).startMessageId(api.MessageId.earliest).create()
        full, local = reader.readNext(), reader.readNext()
        assert (bytes(full.getOrderingKey()), full.getSequenceId()) == (b"\x00\xff", 41)
        assert (full.getDeliverAtTime(), list(full.getReplicateTo())) == (1_700_000_000_123, ["standalone"])
        assert (bytes(local.getOrderingKey()).decode(), local.getSequenceId()) == ("text ü", 0)
        assert (local.getDeliverAtTime(), list(local.getReplicateTo())) == (0, ["__local__"])
    columns = ("value", "__orderingKey", "__sequenceId", "unix_millis(__deliverAt)")
    read = [tuple(row) for row in target.read(topic).selectExpr(*columns).collect()]
    assert read == [("full", b"\x00\xff", 41, 1_700_000_000_123), ("local", "text ü".encode(), 0, None)]


def test_each_row_is_replicated_to_its_own_clusters(target: Target, topic: str) -> None:
    clusters = "if(id % 2 = 0, array('standalone'), cast(null as array<string>)) as __replicationClusters"
    target.append_sql(f"select string(id) as value, {clusters} from range(0, 6, 1, 1)", topic)
    api = java_client(target.spark)
    with java_connection(target.spark, target.service_url) as java:
        reader = java.newReader().topic(topic).startMessageId(api.MessageId.earliest).create()
        found = [list(reader.readNext().getReplicateTo()) for _ in range(6)]
    assert found == [["standalone"], []] * 3


def test_a_delay_begins_when_a_message_is_sent(target: Target, topic: str) -> None:
    before = time.time_ns() // 1_000_000
    target.append_sql("select 'v' as value, interval '1:00:00.0' hour to second as __deliverAfter", topic)
    after = time.time_ns() // 1_000_000
    [row] = target.read(topic).selectExpr("unix_millis(__deliverAt)").collect()
    assert before + 3_600_000 <= row[0] <= after + 3_600_000


def test_rows_choose_their_partition_or_leave_it_to_the_key(target: Target, topic: str) -> None:
    twin = f"{topic}-twin"
    for name in (topic, twin):
        target.admin.create_topic(name, partitions=5)
    rows = target.spark.sql("select concat('key ', id) as __key, string(id) as value from range(0, 60, 1, 2)")
    target.append(rows.selectExpr("*", "if(value % 2 = 0, int(value % 5), null) as __partition"), topic)
    target.append(rows, twin)
    by_key = places(target, twin)
    assert {message.payload for message in target.messages(topic)} == {b"%d" % number for number in range(60)}
    for message in target.messages(topic):
        number = int(message.payload)
        expected = {number % 5} if number % 2 == 0 else by_key[message.key]
        assert {message.id.partition} == expected, message


@pytest.mark.parametrize(("partitions", "why"), [(3, "partitions 0 to 2"), (0, "no partitions")])
def test_a_partition_that_is_not_there_fails_the_task(target: Target, topic: str, partitions: int, why: str) -> None:
    target.admin.create_topic(topic, partitions=partitions)
    with failing("PULSAR_WRITE_VALUE_NOT_ALLOWED", "`__partition`", "3", why, topic):
        target.append_sql("select 3 as __partition, 'v' as value", topic)


def test_sequence_ids_that_do_not_ascend_fail_the_task(target: Target, topic: str) -> None:
    with failing("PULSAR_WRITE_VALUE_NOT_ALLOWED", "`__sequenceId`", "1 after 1", topic):
        target.append_sql("select 1L as __sequenceId, 'v' as value from range(0, 2, 1, 1)", topic)
