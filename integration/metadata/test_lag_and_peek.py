"""How far behind a query is, by its checkpoint and by its progress; and the newest messages without a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from pulsar_spark import PulsarCheckpointError, PulsarCluster
from support.spark.catalogs import Catalog
from support.spark.errors import refused
from support.spark.inspecting import asked
from support.topics.messages import Message, produce
from support.topics.reading import Batches, read_available, running, start, stream, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pulsar as pulsar_client
    from pyspark.sql import SparkSession

    from support.servers.admin import Admin
    from support.servers.servers import Addresses


@pytest.fixture(scope="module")
def urls(pulsar: Addresses) -> dict[str, str]:
    return {"service.url": pulsar.service_url, "admin.url": pulsar.admin_url}


def test_the_lag_of_a_checkpoint_and_of_a_query(
    spark: SparkSession,
    client: pulsar_client.Client,
    admin: Admin,
    topic: str,
    urls: dict[str, str],
    tmp_path: Path,
) -> None:
    admin.create_topic(topic, partitions=2)
    parts = [f"{topic}-partition-{number}" for number in range(2)]
    first = produce(client, parts[0], [b"0", b"1", b"2", b"3"], batch_size=2)
    checkpoint = str(tmp_path / "checkpoint")
    session = PulsarCluster(urls["service.url"], admin_url=urls["admin.url"]).on(spark)
    options = {"admin.url": urls["admin.url"], "topic": topic, "startingOffsets": "earliest"}
    frame, batches = stream(spark, urls["service.url"], **options), Batches()
    query = read_available(frame, checkpoint, batches)
    more = produce(client, parts[0], [b"4", b"5"], batch_size=2)
    last, read_to = (f"{ids[-1].ledger}:{ids[-1].entry}" for ids in (more, first))
    found = session.lag(checkpoint=checkpoint)
    assert [(one.topic, one.partition, one.last, one.entries, one.messages) for one in found] == [
        (parts[0], 0, last, 1, 2),
        (parts[1], 1, None, 0, 0),
    ]
    assert found[0].position.startswith(read_to)
    assert (found[0].bytes or 0) > 0
    assert [(one.position, one.entries) for one in session.lag(query)] == [(one.position, one.entries) for one in found]
    assert session.lag(topic, checkpoint=checkpoint).to_df().drop("seconds").collect() == (
        found.to_df().drop("seconds").collect()
    )
    shown = asked(spark, "lag", {**urls, "checkpoint": checkpoint}, columns=["topic", "entries"])
    assert shown["rows"] == [[parts[0], 1], [parts[1], 0]]

    catalog = Catalog(spark, urls)
    select = f"SELECT partition, entries FROM {catalog.table(topic, 'lag')} WITH (checkpoint = '{checkpoint}')"
    assert catalog.rows(select) == [(0, 1), (1, 0)]

    admin.set_partitions(topic, 3)
    produce(client, f"{topic}-partition-2", [b"new"])
    assert [one.entries for one in session.lag(topic, checkpoint=checkpoint)] == [1, 0, 1]
    with running(start(frame, checkpoint, batches)) as again:
        wait_for(7, again, batches)
        again.processAllAvailable()
        assert [one.entries for one in session.lag(again)] == [0, 0, 0]
        assert [one.entries for one in session.lag(checkpoint=checkpoint)] == [0, 0, 0]

    produce(client, f"{topic}-other", [b"x"])
    with pytest.raises(PulsarCheckpointError, match=f"PULSAR_CHECKPOINT_WITHOUT_POSITION.*its query reads {topic}"):
        session.lag(f"{topic}-other", checkpoint=checkpoint)
    with pytest.raises(PulsarCheckpointError, match="PULSAR_CHECKPOINT_NOT_FOUND"):
        session.lag(checkpoint=tmp_path / "none")
    with refused("PULSAR_OPTION_CONFLICT", "`checkpoint`"):
        both = {**urls, "metadata": "lag", "checkpoint": checkpoint, "startingOffsets": "earliest"}
        spark.read.format("pulsar").options(**both).load()


def test_a_peek_shows_the_newest_rows_of_a_read(
    spark: SparkSession, client: pulsar_client.Client, admin: Admin, topic: str, urls: dict[str, str]
) -> None:
    admin.create_topic(topic, partitions=2)
    for number in range(4):
        messages = [Message(b"\xff%d" % n, key=f"k{n}", properties={"n": str(n)}) for n in (2 * number, 2 * number + 1)]
        produce(client, f"{topic}-partition-{number % 2}", messages, batch_size=2)

    def peek(number: int, **options: str) -> list[dict[str, Any]]:
        given = {**urls, "topic": topic, "startingOffsets": f"last {number}", **options}
        answer = asked(spark, "messages", given, limit=number)
        names = [one["name"] for one in answer["columns"]]
        return [dict(zip(names, row, strict=True)) for row in answer["rows"]]

    for level in ("broker", "segment"):
        found = peek(3, readLevel=level)
        assert [one["__messageProperties"] for one in found] == [{"n": "7"}, {"n": "6"}, {"n": "5"}], level
        session = PulsarCluster(urls["service.url"], admin_url=urls["admin.url"]).on(spark)
        rows = session.peek(topic, 3).selectExpr("to_json(struct(*), map('ignoreNullFields', 'false'))")
        expected = [json.loads(row[0]) for row in rows.collect()]
        assert [{name: one[name] for name in expected[0]} for one in found] == expected
    assert len(peek(100)) == 8
    assert [one["__position"].count(":") for one in found] == [2, 2, 2]
    assert peek(3, endingTime="2000-01-01T00:00:00Z") == []


def test_a_peek_decodes_values(spark: SparkSession, topic: str, urls: dict[str, str]) -> None:
    spark.sql(
        "SELECT 'Berlin' AS city, 12345678901234567.25BD AS amount, array(1, 2) AS stops, map('a', 1.5D) AS km, "
        "timestamp'2026-01-31T12:00:00Z' AS at, date'2026-01-31' AS day, unhex('00ff') AS photo, "
        "named_struct('x', CAST(NULL AS STRING)) AS inner"
    ).write.format("pulsar").options(**urls, topic=topic, schemaType="avro").mode("append").save()
    answer = asked(spark, "messages", {**urls, "topic": topic, "startingOffsets": "last 1"}, limit=1)
    found = dict(zip((one["name"] for one in answer["columns"]), answer["rows"][0], strict=True))
    names = ("city", "stops", "km", "at", "day", "photo", "inner")
    assert [found[name] for name in names] == [
        "Berlin",
        [1, 2],
        {"a": 1.5},
        "2026-01-31T12:00:00.000Z",
        "2026-01-31",
        "AP8=",
        {"x": None},
    ]
    error = asked(spark, "messages", {**urls, "topic": f"{topic}-missing"}, 1, limit=1)["error"]
    assert error["condition"] == "PULSAR_TOPIC_NOT_FOUND"
