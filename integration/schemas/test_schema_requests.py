"""Which schemas are asked for, how often, and that what is kept of them is never mistaken for another topic's."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.proxies.broker_proxy import BrokerProxy, running_broker_proxy
from support.proxies.counting import counted, requests_of
from support.spark.waiting import becomes, eventually
from support.topics.levels import AT_BOTH_LEVELS
from support.topics.reading import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame

    from support.servers.servers import Addresses
    from support.topics.writing import Target

AVRO = {"schemaType": "avro"}


@pytest.fixture
def proxy(pulsar: Addresses) -> Iterator[BrokerProxy]:
    with running_broker_proxy(pulsar.service_url) as proxy:
        yield proxy


def definition(*fields: str) -> str:
    columns = [{"name": name, "type": ["null", "int"], "default": None} for name in fields]
    return json.dumps({"type": "record", "name": "Row", "fields": columns})


def points(frame: DataFrame) -> list[tuple[int, int]]:
    return sorted((row.x, row.y) for row in frame.select("x", "y").collect())


def two_versions(target: Target, topic: str, first: tuple[str, str], offset: int) -> None:
    """Two rows in version 0, whose fields are in that order, and two in version 1."""
    assert target.admin.upload_schema(topic, "AVRO", definition(*first)) == 0
    for n in range(2):
        target.append_sql(f"select {offset + n} as x, {offset + n + 10} as y", topic)
    assert target.admin.upload_schema(topic, "AVRO", definition("x", "y", "z")) == 1
    for n in range(2, 4):
        target.append_sql(f"select {offset + n} as x, {offset + n + 10} as y, 0 as z", topic)


def expected(offset: int) -> list[tuple[int, int]]:
    return [(offset + n, offset + n + 10) for n in range(4)]


# Each level requests schemas in its own place.
@AT_BOTH_LEVELS
@pytest.mark.usefixtures("read_level")
def test_a_topic_that_is_created_again_counts_its_versions_anew(target: Target, topic: str) -> None:
    for offset, first in ((0, ("x", "y")), (100, ("y", "x")), (200, ("x", "y"))):
        target.admin.create_topic(topic)
        two_versions(target, topic, first, offset)
        for _ in range(2):
            assert points(target.read(topic)) == expected(offset)
        target.admin.delete_topic(topic)


def test_a_stream_reads_on_when_its_topic_is_created_again(target: Target, topic: str, tmp_path: Path) -> None:
    more = {
        "startingOffsets": "earliest",
        "failOnDataLoss": "false",
        "topicsPattern": topic.removeprefix("persistent://"),
    }
    seen: list[tuple[int, int]] = []
    target.admin.create_topic(topic)
    two_versions(target, topic, ("x", "y"), 0)
    frame = target.spark.readStream.format("pulsar").options(**target.options(None, more)).load()

    def take(rows: DataFrame, _: int) -> None:
        seen.extend(points(rows))

    with running(frame.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path)).start()) as query:
        eventually(lambda: query.exception() or sorted(seen) == expected(0))
        target.admin.delete_topic(topic)
        target.admin.create_topic(topic)
        two_versions(target, topic, ("y", "x"), 100)
        eventually(lambda: query.exception() or sorted(seen) == expected(0) + expected(100))
        assert query.exception() is None


@AT_BOTH_LEVELS
@pytest.mark.usefixtures("read_level")
def test_a_batch_asks_for_the_newest_schema_alone_and_once_for_each_older_version(
    target: Target, proxy: BrokerProxy, topic: str
) -> None:
    target.admin.create_topic(topic, partitions=4)
    two_versions(target, topic, ("x", "y"), 0)
    read = {"service.url": proxy.service_url}
    with counted(proxy) as counts:
        assert points(target.read(topic, read)) == expected(0)
    # When the table is loaded, when the read is planned, and version 0.
    # A request may be repeated (`CurrentLookup`).
    assert 3 <= counts.requests()["GET_SCHEMA"] <= 2 * (2 + 4), counts
    assert points(target.read(topic, read)) == expected(0)
    becomes(lambda: requests_of(proxy, lambda: points(target.read(topic, read)))["GET_SCHEMA"], 2)


def test_a_stream_asks_for_no_schema_once_it_is_known(
    target: Target, proxy: BrokerProxy, topic: str, tmp_path: Path
) -> None:
    target.admin.create_topic(topic, partitions=2)
    target.append_sql("select 0 as x, 10 as y", topic, AVRO)
    more = {"service.url": proxy.service_url, "startingOffsets": "earliest"}
    seen: list[tuple[int, int]] = []
    frame = target.spark.readStream.format("pulsar").options(**target.options(topic, more)).load()

    def take(rows: DataFrame, _: int) -> None:
        seen.extend(points(rows))

    def add(x: int) -> None:
        target.append_sql(f"select {x} as x, {x + 10} as y", topic, AVRO)
        eventually(lambda: query.exception() or len(seen) == x + 1)
        assert query.exception() is None

    with running(frame.writeStream.foreachBatch(take).option("checkpointLocation", str(tmp_path)).start()) as query:
        eventually(lambda: query.exception() or len(seen) == 1)
        with counted(proxy) as counts:
            for x in range(1, 8):
                add(x)
        assert counts.requests()["GET_SCHEMA"] == 0, counts
        with counted(proxy) as counts:
            target.admin.unload(topic)
            for x in range(8, 16):
                add(x)
        assert counts.requests()["GET_SCHEMA"] <= 2 * 2, counts  # one for each ledger that began, perhaps repeated
    assert sorted(seen) == [(x, x + 10) for x in range(16)]


def test_schemas_of_many_topics_are_requested_in_parallel(target: Target, proxy: BrokerProxy, topic: str) -> None:
    topics = [f"{topic}-{n}" for n in range(20)]
    for n, one in enumerate(topics):
        target.admin.create_topic(one)
        target.admin.upload_schema(one, "AVRO", definition("x", "y") if n % 2 else definition("y", "x"))
    target.append_sql("select 1 as x, 2 as y", topics[3], AVRO)
    options = {"service.url": proxy.service_url, "topics": ",".join(topics)}

    def read() -> list[tuple[int, int]]:
        return points(target.spark.read.format("pulsar").options(**options).load())

    assert read() == [(1, 2)]
    # Of so many lookups some may be repeated in each run (`CurrentLookup`).
    twice, often = 2 * len(topics), 3 * len(topics)
    eventually(lambda: twice <= requests_of(proxy, read)["GET_SCHEMA"] < often)
