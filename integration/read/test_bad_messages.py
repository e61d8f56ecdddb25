"""Messages whose values do not decode: what each policy makes of them, in batches and streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from pulsar.schema import AvroSchema

from support.spark.errors import failing, no_job, refused
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.messages import Id, Message, Received, produce, read_all
from support.topics.reading import batch, metrics, read_available, stream

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import DataFrame, SparkSession

    from support.servers.admin import Admin

pytestmark = pytest.mark.usefixtures("read_level")

RECORD = {
    "type": "record",
    "name": "R",
    "fields": [{"name": "a", "type": "string"}, {"name": "n", "type": "long"}],
}
# The first is bad in both fields, the second in the last one alone, which a query for `a` does not look at by itself.
BAD = [
    Message(b"\x7f", key="first", event_time_ms=1_700_000_000_123, properties={"own": "ü"}),
    Message(b"\x02x" + b"\xff" * 11, key="second"),
]
GOOD = 20


@pytest.fixture
def mixed(client: pulsar_client.Client, topic: str) -> list[Id]:
    """A topic with good messages, bad ones and a tombstone; the positions of the bad ones."""
    schema = AvroSchema(None, RECORD)
    produce(client, topic, [Message({"a": f"a{n}", "n": n}) for n in range(GOOD // 2)], schema=schema, batch_size=7)
    bad = produce(client, topic, BAD)
    produce(client, topic, [Message(None, key="gone")])
    produce(client, topic, [Message({"a": f"a{n}", "n": n}) for n in range(GOOD // 2, GOOD)], schema=schema)
    return bad


def rows(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.select("a", "n").collect()), key=str)


GOOD_ROWS = sorted(((f"a{n}", n) for n in range(GOOD)), key=str)
TOMBSTONE = (None, None)


@AT_BOTH_LEVELS
def test_fail_names_the_first(spark: SparkSession, service_url: str, topic: str, mixed: list[Id]) -> None:
    with failing("PULSAR_VALUE_NOT_DECODABLE", topic, mixed[0].position, "AVRO"):
        batch(spark, service_url, topic=topic).collect()


def test_drop_leaves_them_out_whatever_is_selected(
    spark: SparkSession, service_url: str, topic: str, mixed: list[Id]
) -> None:
    frame = batch(spark, service_url, topic=topic, onDecodeError="drop")
    assert rows(frame) == sorted([*GOOD_ROWS, TOMBSTONE], key=str)
    assert frame.count() == GOOD + 1
    assert len(frame.select("a").collect()) == GOOD + 1
    assert len(frame.select("__position").collect()) == GOOD + 1
    assert len(frame.limit(GOOD + 1).collect()) == GOOD + 1
    positions = {row[0] for row in frame.select("__position").collect()}
    assert not positions & {one.position for one in mixed}
    assert metrics(frame)["DecodeErrors"] == 2


def test_null_keeps_the_row_and_reports_the_reason(
    spark: SparkSession, service_url: str, topic: str, mixed: list[Id]
) -> None:
    frame = batch(spark, service_url, topic=topic, onDecodeError="null", errorColumns="true")
    assert frame.columns[-2:] == ["_error", "_corrupt"]
    assert frame.count() == GOOD + 3
    assert rows(frame) == sorted([*GOOD_ROWS, TOMBSTONE, TOMBSTONE, TOMBSTONE], key=str)
    bad = frame.where("_error is not null").select("a", "n", "_error", "_corrupt", "__key", "__position").collect()
    assert [(row["a"], row["n"], bytes(row["_corrupt"]), bytes(row["__key"]).decode()) for row in bad] == [
        (None, None, message.payload, message.key) for message in BAD
    ]
    for row, position in zip(bad, mixed, strict=True):
        assert row["__position"] == position.position
        assert f"message {position.position} in topic {topic}" in row["_error"]
    assert frame.where("_corrupt is not null").count() == 2
    assert [row[0] for row in frame.where("__key = cast('second' as binary)").select("a").collect()] == [None]
    assert metrics(frame)["DecodeErrors"] == 2


def letters(client: pulsar_client.Client, topic: str) -> dict[str, Received]:
    """The dead letters by the position they came from, each of which is there once."""
    found = read_all(client, topic)
    by_origin = {one.properties["pulsarspark.position"]: one for one in found}
    assert len(by_origin) == len(found)
    return by_origin


def assert_copied(found: dict[str, Received], topic: str, mixed: list[Id]) -> None:
    assert set(found) == {one.position for one in mixed}
    for message, position in zip(BAD, mixed, strict=True):
        letter = found[position.position]
        assert (letter.payload, letter.key) == (message.payload, message.key)
        assert letter.event_time_ms == message.event_time_ms
        origin = {name: value for name, value in letter.properties.items() if name.startswith("pulsarspark.")}
        assert {**message.properties, **origin} == letter.properties
        assert origin["pulsarspark.topic"] == topic
        assert origin["pulsarspark.version"] == "none"
        assert origin["pulsarspark.error"].startswith("[PULSAR_VALUE_NOT_DECODABLE]")


def test_dead_letters_are_copied_with_their_origin(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, mixed: list[Id]
) -> None:
    options = {"topic": topic, "onDecodeError": "dlq"}
    frame = batch(spark, service_url, **options, dlqTopic=f"{topic}-dlq")
    assert rows(frame) == sorted([*GOOD_ROWS, TOMBSTONE], key=str)
    assert_copied(letters(client, f"{topic}-dlq"), topic, mixed)
    # A query that has enough before the end copies what it passed.
    early = batch(spark, service_url, **options, dlqTopic=f"{topic}-early")
    assert len(early.limit(GOOD // 2 + 1).collect()) == GOOD // 2 + 1
    assert_copied(letters(client, f"{topic}-early"), topic, mixed)


def test_a_stream_goes_on_and_counts(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, mixed: list[Id], tmp_path: Path
) -> None:
    found: list[tuple[Any, ...]] = []
    options = {"onDecodeError": "dlq", "dlqTopic": f"{topic}-dlq", "startingOffsets": "earliest"}
    query = read_available(
        stream(spark, service_url, topic=topic, **options), tmp_path, lambda frame, _: found.extend(rows(frame))
    )
    assert sorted(found, key=str) == sorted([*GOOD_ROWS, TOMBSTONE], key=str)
    assert_copied(letters(client, f"{topic}-dlq"), topic, mixed)
    counted = [progress.sources[0].metrics["pulsarDecodeErrors"] for progress in query.recentProgress]
    assert counted[-1] == "2"


@pytest.mark.usefixtures("mixed")
def test_a_copy_that_cannot_be_written_fails_the_task(
    spark: SparkSession, service_url: str, admin: Admin, client: pulsar_client.Client, topic: str
) -> None:
    closed = f"{topic}-closed"
    produce(client, closed, [b"x"])
    admin.terminate(closed)
    with failing("PULSAR_WRITE_REFUSED.TERMINATED", closed):
        batch(spark, service_url, topic=topic, onDecodeError="dlq", dlqTopic=closed).collect()


def test_the_topic_of_dead_letters_is_not_read(
    spark: SparkSession, service_url: str, namespace: str, topic: str
) -> None:
    with no_job(spark), refused("PULSAR_OPTION_INVALID", "`dlqTopic`", f"`{topic}`", "does not read"):
        batch(spark, service_url, topic=topic, onDecodeError="dlq", dlqTopic=topic)
    with no_job(spark), refused("PULSAR_OPTION_INVALID", "`dlqTopic`"):
        batch(spark, service_url, topicsPattern=f"{namespace}/.*", onDecodeError="dlq", dlqTopic=topic)


def test_an_event_time_in_nanoseconds_is_like_a_value_that_does_not_decode(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, topic: str, tmp_path: Path
) -> None:
    times = [5, 1_700_000_000_000_000_000, 7]
    ids = produce(client, topic, [Message(b"%d" % n, event_time_ms=time) for n, time in enumerate(times)], batch_size=2)
    plain = batch(spark, service_url, topic=topic)
    with failing("PULSAR_TIME_OUT_OF_RANGE", topic, ids[1].position, "onDecodeError"):
        plain.select("__eventTime").collect()
    assert [bytes(row[0]) for row in plain.select("value").collect()] == [b"0", b"1", b"2"]
    dropped = batch(spark, service_url, topic=topic, onDecodeError="drop")
    assert (dropped.count(), len(dropped.select("value").collect()), len(dropped.collect())) == (2, 2, 2)
    assert metrics(dropped)["DecodeErrors"] == 1
    kept = batch(spark, service_url, topic=topic, onDecodeError="null", errorColumns="true")
    shown = "string(value)", "unix_millis(__eventTime)", "_error is null", "_corrupt"
    assert [tuple(row) for row in kept.selectExpr(*shown).collect()] == [
        ("0", 5, True, None),
        ("1", None, False, None),
        ("2", 7, True, None),
    ]
    found: list[tuple[Any, ...]] = []
    options = {"topic": topic, "startingOffsets": "earliest", "onDecodeError": "dlq", "dlqTopic": f"{topic}-dlq"}
    query = read_available(
        stream(spark, service_url, **options).selectExpr("string(value)", "unix_millis(__eventTime)"),
        tmp_path,
        lambda frame, _: found.extend(tuple(row) for row in frame.collect()),
    )
    assert found == [("0", 5), ("2", 7)]
    assert query.recentProgress[-1].sources[0].metrics["pulsarDecodeErrors"] == "1"
    assert {one.payload for one in letters(client, f"{topic}-dlq").values()} == {b"1"}


def test_values_of_a_deleted_schema_version(
    spark: SparkSession, service_url: str, client: pulsar_client.Client, admin: Admin, topic: str
) -> None:
    added = {"name": "x", "type": ["null", "int"], "default": None}
    produce(client, topic, [Message({"a": "old", "n": 1})] * 3, schema=AvroSchema(None, RECORD))
    admin.call("DELETE", f"schemas/{topic.removeprefix('persistent://')}/schema")
    newer = AvroSchema(None, {**RECORD, "fields": [*RECORD["fields"], added]})
    produce(client, topic, [Message({"a": "new", "n": 2, "x": 3})], schema=newer)
    with failing("PULSAR_SCHEMA_VERSION_MISSING", topic, "version 0"):
        batch(spark, service_url, topic=topic).collect()
    shown = batch(spark, service_url, topic=topic, onDecodeError="null", errorColumns="true")
    assert rows(shown) == [("new", 2), *[(None, None)] * 3]
    assert shown.where("contains(_error, 'PULSAR_SCHEMA_VERSION_MISSING') and _corrupt is not null").count() == 3
    dropping = batch(spark, service_url, topic=topic, onDecodeError="drop")
    assert (rows(dropping), dropping.count()) == ([("new", 2)], 1)
